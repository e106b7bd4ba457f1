// Package train runs gradient descent on minibatches: steps with a learning rate
// that falls along half a cosine, reports of progress and cancellation. It also controls the
// damping of Levenberg–Marquardt steps.
package train

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/functionspace/bo/internal/optimize"
	"github.com/functionspace/bo/surrogate"
)

// WithPhase returns a context in which reports of progress have the given phase.
func WithPhase(ctx context.Context, phase string) context.Context {
	return surrogate.WithProgress(ctx, func(p surrogate.Progress) {
		p.Phase = phase
		surrogate.Report(ctx, p)
	})
}

// Schedule holds the number of training steps and their learning rates. The rate falls from
// Rate at the first step to End·Rate along half a cosine; with End = 1 it is constant.
type Schedule struct {
	Phase string // phase in reports of progress
	Steps int
	Every int // steps between reports of progress
	Rate  float64
	End   float64
	Fall  int // number of steps over which the rate falls; 0 is Steps
}

// ErrDone ends a Run early, without an error.
var ErrDone = errors.New("training is done")

// Run calls step with the number of each step, from 0, and its learning rate. It
// returns the first error, of step or of the context. ErrDone ends it and returns nil.
func (s Schedule) Run(ctx context.Context, step func(i int, rate float64) error) error {
	fall := cmp.Or(s.Fall, s.Steps)
	for i := range s.Steps {
		if err := ctx.Err(); err != nil {
			return err
		}
		if i%s.Every == 0 {
			surrogate.Report(ctx, surrogate.Progress{Phase: s.Phase, Done: i, Total: s.Steps})
		}
		if err := step(i, s.Rate*optimize.Cosine(s.End, i, fall)); err != nil {
			if errors.Is(err, ErrDone) {
				return nil
			}
			return err
		}
	}
	return nil
}

// Diverged reports parameters that are not finite after training at the learning
// rate of the named setting.
func Diverged(rate string, v []float64) error {
	for _, w := range v {
		if math.IsNaN(w) || math.IsInf(w, 0) {
			return fmt.Errorf("training diverged: a smaller %s may help", rate)
		}
	}
	return nil
}
