package gfsvi

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/optimize"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/internal/subset"
	"github.com/functionspace/bo/surrogate/internal/train"
	"github.com/functionspace/bo/surrogate/internal/variational"
)

// train lowers F by Adam. Each step draws new measurement points and, for more than Batch
// observations, takes the next batch. The rate falls along half a cosine to a hundredth. σ has a
// lower bound.
//
// As published, the rate is constant, Adam changes ρ in s = softplus(ρ) and the same for σ, and σ
// has no lower bound.
func (p *problem) train(ctx context.Context, v *variational.Gaussian, rng *rand.Rand) error {
	opt, grad, least := optimize.Adam{}, v.Like(), math.Inf(-1)
	if !p.published() {
		least = min(v.LogSD[0], math.Log(variational.LeastSD(false))) // σ starts at the fit of the prior
	}
	descend := p.descent(v)
	var held *validation
	if p.held.Y != nil {
		held = newValidation(p, random.Split(rng, "held out", 0))
	}
	err := p.course().Run(ctx, func(step int, rate float64) error {
		if held != nil && step%validateEvery == 0 {
			if err := held.see(v); err != nil {
				return err
			}
			if held.Stale() >= train.HeldOutPatience {
				return train.ErrDone
			}
		}
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
		descend(&opt, rate, grad)
		v.LogSD[0] = max(v.LogSD[0], least)
		return nil
	})
	if err != nil || held == nil {
		return err
	}
	if err := held.see(v); err != nil {
		return err
	}
	copy(v.Vector, held.Best)
	return nil
}

// descent returns a function that changes v by a step of Adam along its gradient.
func (p *problem) descent(v *variational.Gaussian) func(opt *optimize.Adam, rate float64, grad *variational.Gaussian) {
	if !p.published() {
		return func(opt *optimize.Adam, rate float64, grad *variational.Gaussian) {
			opt.Step(rate, v.Vector, grad.Vector)
		}
	}
	c := variational.NewSoftplus(v)
	return func(opt *optimize.Adam, rate float64, grad *variational.Gaussian) {
		c.Pull(grad)
		opt.Step(rate, c.At.Vector, c.Bar.Vector)
		c.Push(v)
	}
}

func (p *problem) course() train.Schedule {
	s := train.Schedule{Phase: "train", Steps: p.Steps, Every: 20, Rate: p.Rate, End: 0.01}
	if p.published() {
		s.End = 1
	}
	return s
}

// nextBatch draws measurement points from the box or the source, and Batch observations. With more
// than Context observations it draws their order, because the first ones are measurement points.
func (p *problem) nextBatch(rng *rand.Rand) (batch, error) {
	n, _ := p.data.Dims()
	size, c := min(n, p.Batch), p.source.Points(p.box, p.Context, rng, p.box.Uniform)
	if size < n || n > p.Context {
		subset.Draw(p.order, size, rng)
	}
	x, y := subset.TakeBoth(p.data.X, p.data.Y, p.order[:size])
	return p.join(c, x, y), p.source.Err()
}

// join returns the batch of the measurement points c and the observations. Unless Measure is
// "box", the first Context observations are measurement points too.
func (p *problem) join(c, x *mat.Dense, y []float64) batch {
	n, _ := p.data.Dims()
	b := batch{x: new(mat.Dense), y: y, weight: float64(n) / float64(len(y)), measure: c.RawMatrix().Rows}
	b.x.Stack(c, x)
	if p.Measure == measureAll {
		b.measure += min(len(y), p.Context)
	}
	return b
}

const validateEvery = 10 // steps

// validation evaluates F at the held-out observations and new measurement points.
type validation struct {
	*problem
	train.Early
	objective objective
	rng       *rand.Rand
}

func newValidation(p *problem, rng *rand.Rand) *validation {
	return &validation{problem: p, objective: p.objective, rng: rng}
}

func (h *validation) see(v *variational.Gaussian) error {
	c := h.source.Points(h.box, h.Context, h.rng, h.box.Uniform)
	value, err := h.objective.eval(v, h.join(c, h.held.X, h.held.Y), nil)
	if err == nil {
		h.Observe(value, v.Vector)
	}
	return err
}
