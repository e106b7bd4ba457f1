package train

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/functionspace/bo/surrogate"
)

const (
	checkEvery = 10 // steps between two values of the objective
	patience   = 5  // values without a new minimum that end training
)

// HeldOutPatience is the number of values at held-out observations without a new minimum that end training.
const HeldOutPatience = 100

// Early is training that ends when the objective stops falling, as published by Cinquin et al.
// (2024): after five values in a row, ten steps apart, without a new minimum. The zero value is
// ready for one run.
type Early struct {
	Patience int // values without a new minimum that end training; 0 is five

	Best  []float64 // parameters with the smallest objective; nil before the first finite value
	Least float64   // the smallest objective

	stale int // values since the minimum
}

// Stale returns the number of values since the minimum.
func (e *Early) Stale() int { return e.stale }

// Observe compares the objective at theta with its smallest value so far.
func (e *Early) Observe(value float64, theta []float64) {
	switch {
	case math.IsNaN(value) || math.IsInf(value, 1) || e.Best != nil && value >= e.Least:
		e.stale++
	default:
		e.Least, e.stale = value, 0
		e.Best = append(e.Best[:0], theta...)
	}
}

// Run calls step until training ends, but at most the given number of times, with a warning. It
// calls step at least once.
// With check, step calls Observe before it changes the parameters. The error of an objective
// that is never finite wraps surrogate.ErrNotPositiveDefinite.
func (e *Early) Run(ctx context.Context, steps int, step func(check bool) error) (warnings []string, err error) {
	for i := 0; e.stale < cmp.Or(e.Patience, patience); i++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if i == max(steps, 1) {
			warnings = []string{fmt.Sprintf("training stopped at %d steps before it converged, the fit may be poor: set steps higher", steps)}
			break
		}
		if i%50 == 0 {
			surrogate.Report(ctx, surrogate.Progress{Phase: "train", Done: i, Total: steps})
		}
		if err := step(i%checkEvery == 0); err != nil {
			return nil, err
		}
	}
	if e.Best == nil {
		return nil, fmt.Errorf("the training objective is finite nowhere: %w", surrogate.ErrNotPositiveDefinite)
	}
	return warnings, nil
}
