package insight

import (
	"context"
	"math"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/gp"
)

const (
	// explainRows bounds the observations of the fits of explaining.
	explainRows = 500
	// fewRows is the number of observations up to which a fit of explaining has two starts.
	fewRows = 200
)

// explaining returns the posterior of which Importance computes indices. It is the posterior
// of v, unless the surrogate model is a gp.Model without a stated prior. The model is then fitted to the
// complete trials, whose values are not winsorised. Its kernel is matern52 or rbf, whichever has the larger
// marginal likelihood: the rough paths of the default kernel look like interactions if the objective is smooth
// (ADR 23).
func explaining(ctx context.Context, v *loop.View) (surrogate.Posterior, error) {
	switch v.Options.Surrogate.(type) {
	case gp.Model, *gp.Model:
	default:
		return v.Posterior, nil
	}
	stated, known := v.Options.Surrogate, v.Options.NoiseSD > 0 || v.Options.StandardError != ""
	if known { // its noise is no statement about the function
		if m, err := surrogate.FixNoise(stated, nil); err == nil {
			stated = m
		}
	}
	if surrogate.StatesPrior(stated) {
		return v.Posterior, nil
	}
	d, same := unwinsorized(v)
	same = same && !known
	if n := len(d.Y); n > explainRows {
		d = d.AtMost(explainRows, random.New(v.Options.Seed, "importance rows", 0))
		same = false
	}
	var start surrogate.State
	if p, ok := v.Posterior.(surrogate.Stater); ok {
		start = p.State()
	}
	restarts := 1
	if len(d.Y) <= fewRows {
		restarts = 2 // the likelihood of few values may have several maxima
	}
	best, likelihood := v.Posterior, math.Inf(-1)
	kernels := []string{"matern52", "rbf"}
	if same { // the posterior of v is the fit with matern52
		likelihood, kernels = v.Posterior.(surrogate.Evidence).LogMarginalLikelihood(), kernels[1:]
	}
	for _, kernel := range kernels {
		m := gp.Model{Spec: prior.Spec{Kernel: kernel, Restarts: restarts}}
		p, err := m.FitFrom(ctx, start, d, random.New(v.Options.Seed, "importance", 0))
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

// unwinsorized returns the complete trials of v with their own targets, and whether these are all data of v.
func unwinsorized(v *loop.View) (d surrogate.Dataset, same bool) {
	same = len(v.Rows) == len(v.Data.Y)
	var complete []int
	var targets []float64
	for i, row := range v.Rows {
		t := &v.Trials[row]
		if t.State != loop.Complete {
			same = false
			continue
		}
		z := v.Units.Target(t.Value)
		if math.IsInf(z, 0) {
			z = v.Data.Y[i]
		}
		same = same && math.Abs(z-v.Data.Y[i]) <= 1e-9*(1+math.Abs(z))
		complete, targets = append(complete, i), append(targets, z)
	}
	d = v.Data.Take(complete)
	d.Y = targets
	return d, same
}
