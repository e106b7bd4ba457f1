package gfsvi

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/optimize"
	"github.com/functionspace/bo/internal/subset"
	"github.com/functionspace/bo/surrogate/internal/train"
	"github.com/functionspace/bo/surrogate/internal/variational"
)

// train lowers F by Adam. Each step draws new measurement points and, for more than Batch
// observations, takes the next batch. The rate falls along half a cosine to a hundredth.
func (p *problem) train(ctx context.Context, v *variational.Gaussian, rng *rand.Rand) error {
	opt := optimize.Adam{}
	grad := v.Like()
	least := min(v.LogSD[0], math.Log(variational.LeastSD(false))) // σ starts at the fit of the prior
	return p.course().Run(ctx, func(_ int, rate float64) error {
		b, err := p.nextBatch(rng)
		if err != nil {
			return fmt.Errorf("gfsvi: %w", err)
		}
		if _, err := p.objective.eval(v, b, grad); err != nil {
			return err
		}
		if p.PriorNoise {
			grad.LogSD[0] = 0
		}
		opt.Step(rate, v.Vector, grad.Vector)
		v.LogSD[0] = max(v.LogSD[0], least)
		return nil
	})
}

func (p *problem) course() train.Schedule {
	return train.Schedule{Phase: "train", Steps: p.Steps, Every: 20, Rate: p.Rate, End: 0.01}
}

// nextBatch draws measurement points from the box or the source and takes Batch observations.
// Unless Measure is "box", the first Context of them are measurement points too.
func (p *problem) nextBatch(rng *rand.Rand) (batch, error) {
	n, _ := p.data.Dims()
	size, c := min(n, p.Batch), p.source.Points(p.box, p.Context, rng, p.box.Uniform)
	if n > p.Context {
		subset.Draw(p.order, size, rng)
	}
	x, y := subset.TakeBoth(p.data.X, p.data.Y, p.order[:size])
	b := batch{x: new(mat.Dense), y: y, weight: float64(n) / float64(size), measure: c.RawMatrix().Rows}
	b.x.Stack(c, x)
	if p.Measure == measureAll {
		b.measure += min(size, p.Context)
	}
	return b, p.source.Err()
}
