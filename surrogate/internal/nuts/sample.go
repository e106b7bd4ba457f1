package nuts

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/functionspace/bo/internal/linalg"
)

// ErrStart reports a start at which the log density or its gradient is not finite.
var ErrStart = errors.New("the density is not finite where sampling starts")

// Settings holds the settings of a chain.
type Settings struct {
	Warmup, Draws int
	Accept        float64 // target of the mean acceptance probability
	Depth         int     // a trajectory has fewer than 2^Depth steps
}

// Chain is the result of Sample. Counts and means exclude the warm-up.
type Chain struct {
	Draws     [][]float64
	Divergent int     // draws whose trajectory diverged
	Saturated int     // draws whose trajectory reached the largest size
	Accept    float64 // mean acceptance probability
	Steps     float64 // mean number of leapfrog steps of a trajectory
}

// Sample runs a chain. It calls tick after each iteration, warm-up included, and checks
// ctx before each gradient.
func Sample(ctx context.Context, target Target, start []float64, s Settings, rng *rand.Rand, tick func()) (*Chain, error) {
	d := len(start)
	w := &walker{target: target, rng: rng, step: 1, variance: make([]float64, d)}
	linalg.Fill(w.variance, 1)
	grad := make([]float64, d)
	logp := target(grad, start)
	if bad(logp) || slices.ContainsFunc(grad, bad) {
		return nil, ErrStart
	}
	at := &point{q: slices.Clone(start), grad: grad, logp: logp}
	w.guess(ctx, at)
	averaging := newDualAveraging(s.Accept, w.step)
	first, ends := windows(s.Warmup)
	seen := newMoments(d)
	c := &Chain{}
	for k := range s.Warmup + s.Draws {
		next, saturated, err := w.next(ctx, at, s.Depth)
		if err != nil {
			return nil, err
		}
		at = next
		accept := w.accept / float64(max(w.leaps, 1))
		if k < s.Warmup {
			w.step = averaging.update(accept)
			if k >= first {
				seen.add(at.q)
			}
			if ends[k+1] && seen.n > 1 {
				seen.variance(w.variance)
				seen = newMoments(d)
				w.guess(ctx, at)
				averaging = newDualAveraging(s.Accept, w.step)
			}
			if k == s.Warmup-1 && averaging.t > 0 {
				w.step = averaging.final()
			}
		} else {
			c.Draws = append(c.Draws, at.q)
			c.Accept += accept / float64(s.Draws)
			c.Steps += float64(w.leaps) / float64(s.Draws)
			if w.divergent {
				c.Divergent++
			}
			if saturated {
				c.Saturated++
			}
		}
		tick()
	}
	return c, nil
}

func bad(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }

// guess halves or doubles the step size until the acceptance probability of one step
// crosses ½ (Hoffman and Gelman 2014, algorithm 4).
func (w *walker) guess(ctx context.Context, at *point) {
	a := w.at(at.q, at.grad, at.logp)
	grows := func() bool { return a.energy-w.leap(a, w.step).energy > math.Log(0.5) }
	up := grows()
	for range 50 {
		if ctx.Err() != nil {
			return
		}
		if up {
			w.step *= 2
		} else {
			w.step /= 2
		}
		if grows() != up {
			return
		}
	}
}
