package mapnet

import (
	"context"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/internal/subset"
	"github.com/functionspace/bo/surrogate/internal/mixture"
	"github.com/functionspace/bo/surrogate/internal/summary"
)

// Constant reports whether all targets are equal. Every maximum of the posterior is then the same
// constant function.
func (p *Problem) Constant() bool {
	return !slices.ContainsFunc(p.Y, func(y float64) bool { return y != p.Y[0] })
}

// vanishingSteps is the number of training steps of Vanishing.
const vanishingSteps = 30

// Vanishing returns a posterior of n networks for constant targets, whose maxima of the posterior have
// no variance. The networks are near the constant at the observations, and elsewhere as different as
// initial networks. For initial weights a, the weights w minimise
//
//	|f(X,w)|²/(2σ²) + ½ δ|w-a|²
//
// (Pearce, Leibfried and Brintrup 2020, eq. 9) at the initial hyperparameters. change, unless nil, then
// changes w. The networks are pairs f and -f, so that the mean of an even number is the
// constant. An architecture need not have -f, and then all networks are drawn.
func (p *Problem) Vanishing(ctx context.Context, n int, change func(w []float64, rng *rand.Rand), rng *rand.Rand) (*mixture.Posterior, error) {
	h := p.start()
	post := &mixture.Posterior{
		Net: p.Net, Inputs: p.Inputs, Shift: p.Shift,
		Summary: summary.Summary{NoiseVariance: h.Noise, Parameters: h.Describe()},
	}
	few := p
	if len(p.Y) > gaussNewtonRows {
		few = p.Subset(subset.Draw(subset.All(len(p.Y)), gaussNewtonRows, random.Split(rng, "rows", 0)))
	}
	outputs := p.Net.NumParams() - p.Net.Outputs()
	for k := 0; len(post.Weights) < n; k++ {
		rng := random.Split(rng, "vanishing", k)
		lm := newLevenbergMarquardt(few, few.Initial(rng))
		lm.anchor = slices.Clone(lm.w)
		for range vanishingSteps {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if _, err := lm.step(h); err != nil {
				return nil, err
			}
			if lm.damping.Stalled() {
				break
			}
		}
		w := slices.Clone(lm.w)
		if change != nil {
			change(w, rng)
		}
		post.Weights = append(post.Weights, w)
		if p.Net.Custom == nil {
			mirrored := slices.Clone(w)
			floats.Scale(-1, mirrored[outputs:])
			post.Weights = append(post.Weights, mirrored)
		}
	}
	post.Weights = post.Weights[:n]
	return post, nil
}
