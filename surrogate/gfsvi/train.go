package gfsvi

import (
	"context"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/optimize"
	"github.com/functionspace/bo/internal/subset"
	"github.com/functionspace/bo/surrogate"
)

// train lowers F by Adam, with new measurement points at every step and, where
// there are more than Batch observations, a new batch of them. The rate falls
// along half a cosine to a hundredth.
func (p *problem) train(ctx context.Context, v *variational, rng *rand.Rand) error {
	opt := optimize.Adam{}
	grad := newVariational(len(v.m), v.rank())
	least := min(v.logSD[0], math.Log(leastNoiseSD))
	for step := range p.Steps {
		if err := ctx.Err(); err != nil {
			return err
		}
		if step%20 == 0 {
			surrogate.Report(ctx, surrogate.Progress{Phase: "train", Done: step, Total: p.Steps})
		}
		if _, err := p.objective.eval(v, p.nextBatch(rng), grad); err != nil {
			return err
		}
		if p.PriorNoise {
			grad.logSD[0] = 0
		}
		opt.Rate = p.Rate * optimize.Cosine(0.01, step, p.Steps)
		opt.Step(v.vector, grad.vector)
		v.logSD[0] = max(v.logSD[0], least)
	}
	return nil
}

// leastNoiseSD is the floor under a noise standard deviation that is learned,
// unless the prior's fit went below.
const leastNoiseSD = 1e-2

// nextBatch draws measurement points from the box and Batch observations, of
// which the first Context are measured too unless Measure is "box".
func (p *problem) nextBatch(rng *rand.Rand) batch {
	n, d := p.data.Dims()
	size := min(n, p.Batch)
	b := batch{x: mat.NewDense(p.Context+size, d, nil), y: make([]float64, size), weight: float64(n) / float64(size), measure: p.Context}
	head(b.x, p.Context).Copy(p.box.Uniform(p.Context, rng))
	if n > p.Context {
		subset.Draw(p.order, size, rng)
	}
	for i, r := range p.order[:size] {
		b.x.SetRow(p.Context+i, p.data.X.RawRowView(r))
		b.y[i] = p.data.Y[r]
	}
	if p.Measure == measureAll {
		b.measure += min(size, p.Context)
	}
	return b
}
