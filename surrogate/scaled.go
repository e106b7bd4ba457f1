package surrogate

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// Scaling names an affine map from the user's units to a model's.
type Scaling string

// The scalings.
const (
	Raw    Scaling = "raw"    // the identity
	Unit   Scaling = "unit"   // each side of the dataset's box to [0,1]; for inputs only
	ZScore Scaling = "zscore" // mean 0 and standard deviation 1 (n-1) over the observations
)

// Scaled is a Model in the user's units that fits Model in scaled units. Constant
// inputs and constant targets keep their scale.
//
// With a mean function m it fits Model to the scaled differences y - m(x), and adds m to the
// predictions. The prior is stated.
//
// Its posteriors are a Describer, a Stater, an Unscaler, an Anchorer, an Averager and a MeanPredictor. Hyperparameters
// and states are in scaled units, and empty if Model's posterior has none. A posterior is a Conditioner,
// LeaveOneOut or Evidence if Model's posterior is, and a Whitener if Model's posterior is all four. Anchor and
// PredictMean save time, and Averaged averages, if Model's posterior does. Conditioning and leaving out keep the
// scaling of the fit. The evidence is the density of the targets in the user's units.
// FitFrom equals Fit if Model is no WarmStarter. Check calls Model's, and Stated without a mean
// function.
type Scaled struct {
	Model   Model
	Inputs  Scaling // "" is Unit
	Outputs Scaling // "" is ZScore
	Mean    Path    // m in the user's units, called by several goroutines; nil is 0

	noise *float64 // known noise variance in the squared unit of the targets, by FixNoise
}

// Fit scales d and fits the model.
func (s Scaled) Fit(ctx context.Context, d Dataset, rng *rand.Rand) (Posterior, error) {
	return s.FitFrom(ctx, nil, d, rng)
}

// FitFrom scales d and fits the model, from start if the model is a WarmStarter. The error wraps
// ErrNotFinite if the mean function is not finite at a row of d.
func (s Scaled) FitFrom(ctx context.Context, start State, d Dataset, rng *rand.Rand) (Posterior, error) {
	if err := d.ValidateNoisy(); err != nil {
		return nil, err
	}
	lo, hi := d.Box()
	inputs, err := NewInputMap(s.Inputs, d.X, lo, hi)
	if err != nil {
		return nil, err
	}
	if err := checkOutput(s.Outputs); err != nil {
		return nil, err
	}
	if err := s.checkModel(); err != nil {
		return nil, err
	}
	p := &scaled{inputs: inputs, output: Standardization{SD: 1}, n: len(d.Y), m: s.Mean}
	if s.Mean != nil {
		p.trained = make([]float64, len(d.Y))
		s.Mean.Eval(p.trained, nil, d.X)
		if v := floats.Sum(p.trained); math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("%w: the mean function at the observations adds up to %v", ErrNotFinite, v)
		}
		d.Y = slices.Clone(d.Y)
		floats.Sub(d.Y, p.trained)
	}
	if s.Outputs != Raw {
		p.output = StandardizeNoisy(d.Y, d.Noise)
	}
	inner := Dataset{X: inputs.Apply(d.X), Y: p.output.Apply(nil, d.Y), NoiseFree: d.NoiseFree}
	for _, v := range d.Noise {
		inner.Noise = append(inner.Noise, v/p.output.SD/p.output.SD)
	}
	if d.Lo != nil {
		inner.Lo, inner.Hi = make([]float64, len(inputs)), make([]float64, len(inputs))
		for j, in := range inputs {
			inner.Lo[j], inner.Hi[j] = in.scale(d.Lo[j]), in.scale(d.Hi[j])
		}
	}
	model := s.Model
	if s.noise != nil {
		if model, err = FixNoise(model, new(*s.noise/p.output.SD/p.output.SD)); err != nil {
			return nil, err
		}
	}
	if warm, ok := model.(WarmStarter); ok && start != nil {
		p.inner, err = warm.FitFrom(ctx, start, inner, rng)
	} else {
		p.inner, err = model.Fit(ctx, inner, rng)
	}
	if err != nil {
		return nil, err
	}
	return p.withOptional(), nil
}
