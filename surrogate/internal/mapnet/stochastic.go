package mapnet

import (
	"context"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/nn"
	"github.com/functionspace/bo/internal/optimize"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/mixture"
	"github.com/functionspace/bo/surrogate/internal/summary"
	"github.com/functionspace/bo/surrogate/internal/train"
)

// Family is a family of distributions of a network's weights w(θ, z), with parameters θ and a
// random vector z.
type Family interface {
	// Params returns parameters θ whose weights are near w.
	Params(w []float64) []float64
	// Noise draws n vectors z.
	Noise(n int, rng *rand.Rand) [][]float64
	// At returns the distribution at θ.
	At(theta []float64) Law
}

// Law is the distribution in a Family at given parameters.
type Law interface {
	// Weights writes w(θ, z).
	Weights(w, z []float64)
	// WeightsVJP adds to grad the gradient of Σ_i bar_i w_i(θ, z) with respect to θ.
	WeightsVJP(grad, z, bar []float64)
	// Penalty returns the regularisation term of the objective, from the prior N(0, I/δ). It
	// adds its gradient to grad and its derivative with respect to log δ to dprecision.
	Penalty(grad []float64, dprecision *float64, precision float64) float64
}

// Stochastic trains the parameters of a Family. It minimises, over (log δ, log σ², θ),
//
//	(n/(B|z|)) Σ_z Σ_batch -log N(y_i; f(x_i, w(θ,z)), σ²) + penalty(θ, δ) - log p(δ) - log p(σ²).
type Stochastic struct {
	*Problem
	Family   Family
	Draws    int  // vectors z in a step
	Fixed    bool // keep δ constant
	FromMAP  bool // start at a maximum of the posterior instead of at initial weights
	Schedule train.Schedule

	tape  nn.Tape
	w, dw []float64
}

// Hypers returns the hyperparameters in the vector v, within their bounds.
func (s *Stochastic) Hypers(v []float64) Hypers {
	return s.Clamp(Hypers{Precision: math.Exp(v[0]), Noise: math.Exp(v[1])})
}

// Start returns the initial vector: the state of an earlier fit if its length matches, else a
// vector for a maximum of the posterior, or for initial weights.
func (s *Stochastic) Start(ctx context.Context, state []float64, rng *rand.Rand) (v []float64, warnings []string, err error) {
	w, h := s.Problem.Start(nil, rng)
	v = append(make([]float64, 2), s.Family.Params(w)...)
	if len(state) == len(v) {
		copy(v, state)
		return v, nil, nil
	}
	if s.FromMAP {
		f, err := s.Problem.Fit(ctx, s.Cheap(), w, h, rng)
		if err != nil {
			return nil, nil, err
		}
		h, warnings = f.Hypers, f.Warnings
		copy(v[2:], s.Family.Params(f.W))
	}
	v[0], v[1] = math.Log(h.Precision), math.Log(h.Noise)
	return v, warnings, nil
}

// Loss returns the objective for a batch and vectors z, and writes its gradient.
func (s *Stochastic) Loss(grad, v []float64, x *mat.Dense, y []float64, noise [][]float64) float64 {
	if s.w == nil {
		s.w, s.dw = make([]float64, s.Net.NumParams()), make([]float64, s.Net.NumParams())
	}
	h, law := s.Hypers(v), s.Family.At(v[2:])
	lp, dlp, dln := s.LogPrior(h)
	value, dprecision, dnoise := -lp, -dlp, -dln
	clear(grad)
	scale := float64(len(s.Y)) / float64(len(y)*len(noise))
	for _, z := range noise {
		law.Weights(s.w, z)
		s.tape.Record(s.Net, s.w, x)
		clear(s.dw)
		misfit, dn := Misfit(s.dw, &s.tape, y, h.Noise, scale)
		value += misfit
		dnoise += dn
		law.WeightsVJP(grad[2:], z, s.dw)
	}
	value += law.Penalty(grad[2:], &dprecision, h.Precision)
	if s.Precision == nil && !s.Fixed {
		grad[0] = dprecision
	}
	if s.Noise == nil {
		grad[1] = dnoise
	}
	return value
}

// Train minimises the objective from v, in place, by Adam on minibatches.
func (s *Stochastic) Train(ctx context.Context, v []float64, rng *rand.Rand) error {
	opt, grad := optimize.Adam{}, make([]float64, len(v))
	return s.Schedule.Run(ctx, func(_ int, rate float64) error {
		x, y := s.Minibatch(rng)
		s.Loss(grad, v, x, y, s.Family.Noise(s.Draws, rng))
		opt.Step(rate, v, grad)
		h := s.Hypers(v)
		v[0], v[1] = math.Log(h.Precision), math.Log(h.Noise)
		return nil
	})
}

// Fit returns the posterior without its Weights, and θ.
func (s *Stochastic) Fit(ctx context.Context, state surrogate.State, rng *rand.Rand) (*mixture.Posterior, []float64, error) {
	v, warnings, err := s.Start(ctx, state, random.Split(rng, "start", 0))
	if err != nil {
		return nil, nil, err
	}
	if err := s.Train(ctx, v, random.Split(rng, "training", 0)); err != nil {
		return nil, nil, err
	}
	if err := train.Diverged("rate", v); err != nil {
		return nil, nil, err
	}
	h := s.Hypers(v)
	return &mixture.Posterior{
		Net: s.Net, Inputs: s.Inputs, Shift: s.Shift,
		Summary: summary.Summary{NoiseVariance: h.Noise, Learned: v, Notes: warnings, Parameters: h.Describe()},
	}, v[2:], nil
}
