package prior

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Settings of Draws. A sweep updates every hyperparameter once.
const (
	warmSweeps = 5    // before the first draw
	sweeps     = 4    // from draw to draw
	sliceWidth = 4.0  // first width of a slice in a log hyperparameter
	leastSlice = 1e-9 // width below which the hyperparameter keeps its value
)

// Draws returns k draws from the posterior density of the hyperparameters θ that s does not fix,
//
//	p(θ | y) ∝ N(y; μ1, K + σ²I) p(θ),
//
// as States of Fitted, with the arguments of Fit. A learned μ has its estimate at each θ. Hyperparameters without a
// hyperprior keep the value of start, the State of a fit, and so does the noise with noiseFree. The result is nil if
// nothing is left to draw. The chain updates one log θ after the other by slice sampling with shrinkage and without
// stepping out (Neal 2003, "Slice sampling", sections 3 and 4.1), from start. It visits few modes. With h
// hyperparameters it costs about 12kh likelihoods of n³/3 flops. The error is the context's, or an error of Fit.
func (s Spec) Draws(ctx context.Context, x *mat.Dense, y []float64, noiseFree bool, start []float64, k int, rng *rand.Rand) ([][]float64, error) {
	if err := checkData(x, y); err != nil {
		return nil, err
	}
	_, dim := x.Dims()
	m, err := s.model(dim, noiseFree)
	if err != nil {
		return nil, err
	}
	checkLen("start", len(start), len(m.free))
	var drawn []int
	for i, at := range m.free {
		// The noise of exact data is a residual of the fit: predictions at observations keep the values.
		residual := noiseFree && at == len(m.params)-1
		if proper := m.params[at].Prior != nil && !m.flat; proper && !residual {
			drawn = append(drawn, i)
		}
	}
	if drawn == nil {
		return nil, nil
	}
	c := chain{objective: newObjective(m, s.observations(x, y)), at: slices.Clone(start)}
	c.tape = valuesOnly(c.tape, len(m.params)-1)
	c.lo, c.hi = m.bounds()
	c.density = c.logDensity(ctx)
	draws := make([][]float64, 0, k)
	for sweep := 1; len(draws) < k; sweep++ {
		for _, i := range drawn {
			c.update(ctx, i, rng)
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if sweep > warmSweeps && (sweep-warmSweeps)%sweeps == 0 {
			draws = append(draws, slices.Clone(c.at))
		}
	}
	return draws, nil
}

// chain is a Markov chain of free log hyperparameters.
type chain struct {
	*objective
	at, lo, hi []float64
	density    float64 // logarithm at the state, up to a constant
}

// logDensity returns the log density of the log hyperparameters at the state: the loss is of a density of θ.
func (c *chain) logDensity(ctx context.Context) float64 {
	sum := -c.loss(ctx, c.at, nil)
	for _, v := range c.at {
		sum += v
	}
	return sum
}

// update draws log hyperparameter i from the part of an interval around it whose density is above a random level.
func (c *chain) update(ctx context.Context, i int, rng *rand.Rand) {
	was, level := c.at[i], c.density+math.Log(rng.Float64())
	low := was - sliceWidth*rng.Float64()
	low, high := max(low, c.lo[i]), min(low+sliceWidth, c.hi[i])
	for high-low > leastSlice {
		c.at[i] = low + (high-low)*rng.Float64()
		if density := c.logDensity(ctx); density > level {
			c.density = density
			return
		}
		if c.at[i] < was {
			low = c.at[i]
		} else {
			high = c.at[i]
		}
	}
	c.at[i] = was
}
