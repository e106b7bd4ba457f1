package gfsvi

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/optimize"
	"github.com/functionspace/bo/internal/subset"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/train"
	"github.com/functionspace/bo/surrogate/internal/variational"
)

const (
	// A share of 1/heldOut of the observations, at most mostHeld, is held out. It chooses among
	// the weights during the fit.
	heldOut  = 10
	mostHeld = 1000

	adamSteps    = 4000 // steps of Adam, plus one for every four observations
	adamRate     = 1e-2 // initial learning rate, which falls to a hundredth along half a cosine
	adamMeasured = 10   // steps with the same measurement points
	adamLook     = 100  // steps between evaluations of the held-out observations

	newtonSteps    = 60
	newtonPatience = 5     // steps without a smaller error on the held-out observations
	newtonWeights  = 3000  // largest number of weights for Gauss–Newton steps
	newtonRows     = 10000 // largest number of observations in a Gauss–Newton step
)

// startMean sets m and σ from all observations if they are too many for the exact process. It
// holds a tenth out. Adam lowers meanLoss on batches of the others, and Gauss–Newton steps on
// all of them follow. m is set to the weights with the smallest held-out mean squared error.
// This error is σ², unless the noise is fixed.
func (p *problem) startMean(ctx context.Context, v *variational.Gaussian, rng *rand.Rand) error {
	n, _ := p.data.Dims()
	order := rng.Perm(n)
	k := min(n/heldOut, mostHeld)
	f := &meanFit{problem: p, fitted: order[k:], held: selection{meanLoss: p.meanLoss()}, loss: p.meanLoss(), rng: rng}
	f.held.x, f.held.y = f.rows(order[:k])
	f.held.see(v.M)
	learn := func() {
		if !p.PriorNoise {
			v.LogSD[0] = max(0.5*math.Log(f.held.least), math.Log(variational.LeastSD(false)))
		}
	}
	learn()
	if err := f.adam(ctx, v); err != nil {
		return err
	}
	if len(v.M) <= newtonWeights {
		if err := f.newton(ctx, v); err != nil {
			return err
		}
	}
	copy(v.M, f.held.best)
	learn()
	return nil
}

// meanFit is a run of startMean.
type meanFit struct {
	*problem
	fitted []int // observations that are not held out
	held   selection
	loss   meanLoss
	rng    *rand.Rand
}

func (p *problem) meanLoss() meanLoss {
	n, _ := p.data.Dims()
	return meanLoss{net: p.net, inputs: p.inputs, process: p.process, gamma: p.gamma, n: n}
}

// rows returns the observations with the given indices, with inputs in network units.
func (f *meanFit) rows(index []int) (*mat.Dense, []float64) {
	x, y := subset.TakeBoth(f.data.X, f.data.Y, index)
	return f.inputs.Apply(x), y
}

// measure draws measurement points: twice Context from the box or the source and, unless Measure
// is "box", as many observed inputs.
func (f *meanFit) measure() error {
	size := 2 * f.Context
	c := f.source.Points(f.box, size, f.rng, f.box.Uniform)
	if err := f.source.Err(); err != nil {
		return err
	}
	if f.Measure == measureAll {
		k := min(size, len(f.fitted))
		both := new(mat.Dense)
		both.Stack(c, subset.Take(f.data.X, subset.Draw(f.fitted, k, f.rng)))
		c = both
	}
	return f.loss.measure(c)
}

// adam lowers G over m and σ. It sets both to the last step.
func (f *meanFit) adam(ctx context.Context, v *variational.Gaussian) error {
	n, _ := f.data.Dims()
	last := len(v.M)
	theta, grad := append(slices.Clone(v.M), v.LogSD[0]), make([]float64, last+1)
	opt, s := optimize.Adam{}, train.Schedule{Phase: "mean", Steps: adamSteps + n/4, Every: adamLook, Rate: adamRate, End: 0.01}
	err := s.Run(ctx, func(step int, rate float64) error {
		if step%adamMeasured == 0 {
			if err := f.measure(); err != nil {
				return err
			}
		}
		f.loss.x, f.loss.y = f.rows(subset.Draw(f.fitted, min(f.Batch, len(f.fitted)), f.rng))
		grad[last] = f.loss.gradient(grad[:last], theta[:last], theta[last])
		if f.PriorNoise {
			grad[last] = 0
		}
		opt.Step(rate, theta, grad)
		if (step+1)%adamLook == 0 || step+1 == s.Steps {
			f.held.see(theta[:last])
		}
		return nil
	})
	copy(v.M, theta)
	v.LogSD[0] = theta[last]
	return err
}

// newton lowers G over m by Gauss–Newton steps. At each step σ² is the mean squared error.
func (f *meanFit) newton(ctx context.Context, v *variational.Gaussian) error {
	f.loss.x, f.loss.y = f.rows(f.fitted[:min(len(f.fitted), newtonRows)])
	q := newGaussNewton(&f.loss)
	f.held.stale = 0
	for step := 0; step < newtonSteps && f.held.stale < newtonPatience; step++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		surrogate.Report(ctx, surrogate.Progress{Phase: "mean", Done: step, Total: newtonSteps})
		if !f.PriorNoise {
			v.LogSD[0] = max(0.5*math.Log(f.loss.squaredError(v.M)/float64(len(f.loss.y))), math.Log(variational.LeastSD(false)))
		}
		lower, err := q.step(v.M, v.LogSD[0])
		if err != nil {
			return fmt.Errorf("Gauss–Newton step: %w", err)
		}
		if !lower {
			return nil
		}
		f.held.see(v.M)
	}
	return nil
}

// selection stores the weights with the smallest mean squared error on its batch.
type selection struct {
	meanLoss
	best  []float64
	least float64
	stale int // number of weights compared since the minimum
}

func (s *selection) see(m []float64) {
	mse := s.squaredError(m) / float64(len(s.y))
	if s.best != nil && mse >= s.least {
		s.stale++
		return
	}
	s.best, s.least, s.stale = append(s.best[:0], m...), mse, 0
}
