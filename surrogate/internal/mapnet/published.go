package mapnet

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/optimize"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/internal/specfn"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/domain"
	"github.com/functionspace/bo/surrogate/internal/train"
)

// publishedNoise is the initial noise variance of the published training, 0.3².
const publishedNoise = 0.09

// publishedSteps is the largest number of steps of Adam to a maximum of the posterior, as with the
// published preset of package laplace.
const publishedSteps = 10_000

// NewPublished returns the problem of a dataset as in the experiments of Cinquin et al. (2024):
// inputs have mean 0 and standard deviation 1 over the observations, and targets are unchanged. Biases start at
// 0, and Adam trains the noise with the weights. Inputs of an architecture are unchanged too.
func NewPublished(s Settings, d surrogate.Dataset) (*Problem, error) {
	p, err := New(s, d)
	if err != nil {
		return nil, err
	}
	p.Inputs = domain.ZScore(d.X).For(p.Net)
	p.X, p.Y, p.Shift = p.Inputs.Apply(d.X), slices.Clone(d.Y), 0
	p.published, p.bias, p.noiseStart = true, 0, publishedNoise
	p.lastX, p.lastY = p.X, p.Y
	return p, nil
}

// HoldOut lets the observations of held, which are not in the dataset of p, end the published training. They take the place
// and the weight of the others in the objective, and training ends after 1000 steps without a new minimum.
func (p *Problem) HoldOut(held surrogate.Dataset) {
	p.lastX, p.lastY, p.patience = p.Inputs.Apply(held.X), held.Y, train.HeldOutPatience
}

// Published trains a Stochastic as in the experiments of Cinquin et al. (2024): Adam with a
// constant rate minimises, over (ρ, θ) and for constant δ,
//
//	(n/(B|z|)) Σ_z Σ_batch -log N(y_i; f(x_i, w(θ,z)), s²) + penalty(θ, δ),  s = softplus(ρ).
//
// Training ends early by the objective on all observations, or on the observations that are held out.
type Published struct {
	train.Early
	V []float64 // (ρ, θ)

	of         *Stochastic
	opt        optimize.Adam
	full, grad []float64 // a vector of the Stochastic and a gradient
}

// Published returns the training of s from the vector v.
func (s *Stochastic) Published(v []float64) *Published {
	p := &Published{of: s, V: slices.Clone(v[1:]), full: slices.Clone(v), grad: make([]float64, len(v))}
	p.V[0] = specfn.SoftplusInverse(math.Exp(v[1] / 2))
	p.Patience = s.patience
	return p
}

// Run trains, and returns the vector of the Stochastic with the smallest objective.
func (p *Published) Run(ctx context.Context, rng *rand.Rand) (v []float64, warnings []string, err error) {
	warnings, err = p.Early.Run(ctx, p.of.Schedule.Steps, func(check bool) error {
		p.Step(check, rng)
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	return slices.Clone(p.vector(p.Best)), warnings, nil
}

// Step takes a step of Adam. With check it first observes the objective.
func (p *Published) Step(check bool, rng *rand.Rand) {
	s := p.of
	if check {
		p.Observe(s.Loss(p.grad, p.vector(p.V), s.lastX, s.lastY, s.Family.Noise(s.Draws, rng)), p.V)
	}
	x, y := Minibatch(rng, s.X, s.Y, s.Batch)
	s.Loss(p.grad, p.vector(p.V), x, y, s.Family.Noise(s.Draws, rng))
	sd, slope := specfn.Softplus(p.V[0])
	p.grad[1] *= 2 * slope / sd // d log s²/dρ
	p.opt.Step(s.Schedule.Rate, p.V, p.grad[1:])
}

// vector returns the vector of the Stochastic at (ρ, θ), until the next call.
func (p *Published) vector(v []float64) []float64 {
	copy(p.full[1:], v)
	sd, _ := specfn.Softplus(v[0])
	p.full[1] = 2 * math.Log(sd)
	return p.full
}

// Maximum returns the training of the weights and the noise to a maximum of the posterior, from w
// and h.
func (p *Problem) Maximum(w []float64, h Hypers) *Published {
	s := &Stochastic{Problem: p, Family: point{}, Draws: 1, Flat: true, Schedule: train.Schedule{Steps: p.Steps, Rate: p.Rate}}
	return s.Published(slices.Concat([]float64{math.Log(h.Precision), math.Log(h.Noise)}, w))
}

// publishedAdam trains to a maximum of the posterior as published.
func (p *Problem) publishedAdam(ctx context.Context, curvature string, w []float64, h Hypers, rng *rand.Rand) (*Fitted, error) {
	run := p.Maximum(w, h)
	v, warnings, err := run.Run(ctx, rng)
	if err != nil {
		return nil, err
	}
	surrogate.Report(ctx, surrogate.Progress{Phase: "covariance"})
	f := &Fitted{W: v[2:], Hypers: run.of.Hypers(v), Warnings: warnings}
	if f.Curvature, err = p.NewCurvature(ctx, curvature, f.W); err != nil {
		return nil, err
	}
	r := make([]float64, len(p.Y))
	p.Residuals(r, f.W)
	f.Evidence, _, _, err = Evidence(f.Hypers, len(r), linalg.Dot(r, r), linalg.Dot(f.W, f.W), f.Curvature)
	return f, err
}

// point is the family of single networks.
type point struct{}

func (point) Params(w []float64) []float64          { return slices.Clone(w) }
func (point) Noise(n int, _ *rand.Rand) [][]float64 { return make([][]float64, n) }
func (point) At(theta []float64) Law                { return pointLaw(theta) }

// pointLaw holds the weights of a network.
type pointLaw []float64

func (l pointLaw) Weights(w, _ []float64)            { copy(w, l) }
func (l pointLaw) WeightsVJP(grad, _, bar []float64) { linalg.Axpy(1, bar, grad) }

// Penalty returns ½ δ|w|². The precision is constant.
func (l pointLaw) Penalty(grad []float64, _ *float64, precision float64) float64 {
	linalg.Axpy(precision, l, grad)
	return 0.5 * precision * linalg.Dot(l, l)
}

// FitPublished trains the family of m, whose fields are all set, by Published, and draws the
// networks of the posterior. Errors begin with name.
func FitPublished(ctx context.Context, name string, m Sampled, f func(*Problem) Family, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
	own := Settings{Network: m.Network, Batch: m.Batch} // for a start at a maximum of the posterior
	if len(d.Y) > gaussNewtonRows {
		own.Steps = publishedSteps
	}
	p, err := NewPublished(own, d)
	if err != nil {
		return nil, err
	}
	s := m.Stochastic(p, f(p), "train")
	s.Flat = true
	v, missed, err := s.Start(ctx, nil, random.Split(rng, "start", 0))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	v, warnings, err := s.Published(v).Run(ctx, random.Split(rng, "training", 0))
	if err == nil {
		err = train.Diverged("rate", v)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return s.posterior(v, m.Samples, slices.Concat(missed, warnings), random.Split(rng, "samples", 0)), nil
}
