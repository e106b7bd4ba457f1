package insight

import (
	"context"
	"math"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/internal/subset"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/gp"
)

// explainRows bounds the observations of the fits of explaining.
const explainRows = 500

// explaining returns the posterior of which Importance computes indices. It is the posterior
// of v, unless the surrogate model is a gp.Model without a stated prior. The model is then
// fitted to the complete trials, whose values are not winsorised, with the kernel matern52 or
// rbf, whichever has the larger marginal likelihood: the rough paths of the default kernel
// look like interactions if the objective is smooth (ADR 23).
func explaining(ctx context.Context, v *loop.View) (surrogate.Posterior, error) {
	switch v.Options.Surrogate.(type) {
	case gp.Model, *gp.Model:
	default:
		return v.Posterior, nil
	}
	if surrogate.StatesPrior(v.Options.Surrogate) {
		return v.Posterior, nil
	}
	var complete []int
	d := v.Data
	d.Y = nil
	for i, row := range v.Rows {
		if t := &v.Trials[row]; t.State == loop.Complete {
			z := v.Units.Target(t.Value)
			if math.IsInf(z, 0) {
				z = v.Data.Y[i]
			}
			complete, d.Y = append(complete, i), append(d.Y, z)
		}
	}
	d.X = rows(v.Data.X, complete)
	d.X, d.Y = subset.AtMost(d.X, d.Y, explainRows, random.New(v.Options.Seed, "importance rows", 0))
	best, likelihood := v.Posterior, math.Inf(-1)
	for _, kernel := range []string{"matern52", "rbf"} {
		p, err := gp.Model{Spec: prior.Spec{Kernel: kernel}}.Fit(ctx, d, random.New(v.Options.Seed, "importance", 0))
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			continue // use the other kernel, or the posterior of v
		}
		if l := p.(surrogate.Evidence).LogMarginalLikelihood(); l > likelihood {
			best, likelihood = p, l
		}
	}
	return best, nil
}
