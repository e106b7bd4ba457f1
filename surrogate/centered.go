package surrogate

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// Centered is a Model with a fixed prior mean function: it fits Model to the standardised
// differences y - m(x), and adds m to the predictions.
//
// Its posteriors have the capabilities of Scaled's, and the same units of hyperparameters and
// states: standardised differences. The prior is stated.
type Centered struct {
	Model Model
	Mean  Path // m; it is called by several goroutines
}

// Fit subtracts the mean function and fits the model.
func (c Centered) Fit(ctx context.Context, d Dataset, rng *rand.Rand) (Posterior, error) {
	return c.FitFrom(ctx, nil, d, rng)
}

// FitFrom is Fit from start if the model is a WarmStarter. The error wraps ErrNotFinite if the
// mean function is not finite at a row of d.
func (c Centered) FitFrom(ctx context.Context, start State, d Dataset, rng *rand.Rand) (Posterior, error) {
	if err := d.Validate(); err != nil {
		return nil, err
	}
	p := &scaled{n: len(d.Y), m: c.Mean, trained: make([]float64, len(d.Y))}
	c.Mean.Eval(p.trained, nil, d.X)
	for i, v := range p.trained {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("%w: the mean function is %v at row %d", ErrNotFinite, v, i)
		}
	}
	d.Y = slices.Clone(d.Y)
	floats.Sub(d.Y, p.trained)
	p.output = Standardize(d.Y)
	d.Y = p.output.Apply(nil, d.Y)
	var err error
	if p.inputs, err = NewInputMap(Raw, d.X, nil, nil); err != nil {
		return nil, err
	}
	if warm, ok := c.Model.(WarmStarter); ok && start != nil {
		p.inner, err = warm.FitFrom(ctx, start, d, rng)
	} else {
		p.inner, err = c.Model.Fit(ctx, d, rng)
	}
	if err != nil {
		return nil, err
	}
	return p.withOptional(), nil
}

// Check calls the Check of the model.
func (c Centered) Check(dim int) error { return Check(c.Model, dim) }

// Stated returns true.
func (Centered) Stated() bool { return true }
