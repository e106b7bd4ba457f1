package mapnet

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/nn"
	"github.com/functionspace/bo/internal/optimize"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/internal/settings"
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
	Flat     bool // omit the hyperpriors and the bounds of the hyperparameters
	Schedule train.Schedule

	tape  nn.Tape
	w, dw []float64
}

// Hypers returns the hyperparameters in the vector v, within their bounds.
func (s *Stochastic) Hypers(v []float64) Hypers {
	h := Hypers{Precision: math.Exp(v[0]), Noise: math.Exp(v[1])}
	if s.Flat {
		return s.fix(h)
	}
	return s.Clamp(h)
}

// unconverged is the warning of a start at a maximum of the posterior. The model's own setting of the
// steps is no limit of the search for this maximum.
const unconverged = "the start of training, a maximum of the posterior, did not converge, the fit may be poor: set start=random and steps higher"

// Start returns the initial vector: the state of an earlier fit if its length matches, else a
// vector for a maximum of the posterior, or for initial weights.
func (s *Stochastic) Start(ctx context.Context, state []float64, rng *rand.Rand) (v []float64, warnings []string, err error) {
	start := s.Problem.Start
	if s.FromMAP {
		start = s.StartStrong
	}
	w, h := start(nil, rng)
	v = append(make([]float64, 2), s.Family.Params(w)...)
	if len(state) == len(v) {
		copy(v, state)
		return v, nil, nil
	}
	if s.FromMAP {
		f, err := s.Problem.FitStrong(ctx, s.Cheap(), w, h, rng)
		if err != nil {
			return nil, nil, err
		}
		if h = f.Hypers; f.Warnings != nil {
			warnings = []string{unconverged}
		}
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
	var value, dprecision, dnoise float64
	if !s.Flat {
		lp, dlp, dln := s.LogPrior(h)
		value, dprecision, dnoise = -lp, -dlp, -dln
	}
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
		x, y := Minibatch(rng, s.X, s.Y, s.Batch)
		s.Loss(grad, v, x, y, s.Family.Noise(s.Draws, rng))
		opt.Step(rate, v, grad)
		h := s.Hypers(v)
		v[0], v[1] = math.Log(h.Precision), math.Log(h.Noise)
		return nil
	})
}

// Sampled declares a network with a distribution of its weights that is trained as a
// Stochastic, and the networks drawn from it.
type Sampled struct {
	Network

	Steps   int     `set:"steps" default:"1000" range:"[1,100000000]" help:"training steps of adam"`
	Rate    float64 `set:"rate" default:"0.005" range:"(0,1]" help:"learning rate, lowered to 0 along a cosine"`
	Batch   int     `set:"batch" default:"500" range:"[1,1000000]" help:"observations in a step"`
	Draws   int     `set:"draws" default:"4" range:"[1,10000]" help:"networks drawn at each step"`
	Samples int     `set:"samples" default:"100" range:"[2,100000]" help:"number of networks in the posterior"`
	Start   string  `set:"start" default:"map" oneof:"map,random" help:"initial weights: map, a maximum of the posterior; random, as published"`
}

// Stochastic returns the training problem of a family for p. All fields of m are set.
func (m Sampled) Stochastic(p *Problem, f Family, phase string) *Stochastic {
	return &Stochastic{
		Problem: p, Family: f, Draws: m.Draws, FromMAP: m.Start == "map",
		Schedule: train.Schedule{Phase: phase, Steps: m.Steps, Every: 20, Rate: m.Rate},
	}
}

func (m Sampled) sampled() Sampled { return m }

// FitSampled resolves the options m, which embed Sampled, trains the problem of(m, p) for the
// network p on d, and draws the networks of the posterior. Errors begin with name.
func FitSampled[M interface{ sampled() Sampled }](ctx context.Context, name string, m M, of func(M, *Problem) *Stochastic, start surrogate.State, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
	m, err := settings.Resolve(name, m)
	if err != nil {
		return nil, err
	}
	own := m.sampled()
	p, err := New(Settings{Network: own.Network, Batch: own.Batch}, d)
	if err != nil {
		return nil, err
	}
	s := of(m, p)
	v, warnings, err := s.Start(ctx, start, random.Split(rng, "start", 0))
	if err == nil {
		err = s.Train(ctx, v, random.Split(rng, "training", 0))
	}
	if err := cmp.Or(err, train.Diverged("rate", v)); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return s.posterior(v, own.Samples, slices.Concat(warnings, p.FewForSpread()), random.Split(rng, "samples", 0)), nil
}

// posterior draws the networks of the posterior at v.
func (s *Stochastic) posterior(v []float64, samples int, warnings []string, rng *rand.Rand) *mixture.Posterior {
	h, law := s.Hypers(v), s.Family.At(v[2:])
	post := &mixture.Posterior{
		Net: s.Net, Inputs: s.Inputs, Shift: s.Shift,
		Summary: summary.Summary{
			NoiseVariance: h.Noise, Learned: v, Notes: warnings,
			Parameters: append(h.Describe(), surrogate.Hyper{Name: "networks", Value: float64(samples)}),
		},
	}
	for _, z := range s.Family.Noise(samples, rng) {
		law.Weights(z, z)
		post.Weights = append(post.Weights, z)
	}
	return post
}
