package vip

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/functionspace/bo/internal/optimize"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/internal/settings"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/domain"
	"github.com/functionspace/bo/surrogate/internal/mapnet"
	"github.com/functionspace/bo/surrogate/linear"
)

// Model is a variational implicit process with a Bayesian neural network as its prior.
// The zero value is the default: 100 networks of two layers of 20 tanh units, 500 beyond 1000 observations.
type Model struct {
	surrogate.Network `default:"hidden=20,20"`

	Noise *float64 `set:"noise" auto:"learned" range:"[1e-10,1e100]" help:"fixes the variance of the observation noise, as a share of the variance of the values, or of their differences from prior_mean; of raw outputs in their squared unit"`

	Functions int    `set:"functions" auto:"100 or 500" range:"[2,100000]" help:"number of functions drawn from the prior (100; 500 beyond 1000 observations)"`
	Prior     string `set:"prior" default:"layers" oneof:"layers,weights" help:"learned prior: layers, a scale for the weights and one for the biases of each layer; weights, a mean and a scale for each weight (as published)"`
	Steps     int    `set:"steps" default:"50" range:"[1,100000000]" help:"largest number of iterations on the evidence"`
}

var _ surrogate.WarmStarter = Model{}

// Stated implements surrogate.PriorStater. It reports whether the noise variance is fixed, in
// the units of the given targets.
func (m Model) Stated() bool { return m.Noise != nil }

const (
	fitRows = 1000 // largest number of observations in the fit of the prior

	// The posterior mean of many observations needs more functions: it is a combination of them.
	fewFunctions, manyFunctions = 100, 500
)

// Fit implements surrogate.Model.
func (m Model) Fit(ctx context.Context, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
	return m.FitFrom(ctx, nil, d, rng)
}

// FitFrom implements surrogate.WarmStarter. The prior and the noise variance start at the
// result of an earlier fit.
func (m Model) FitFrom(ctx context.Context, start surrogate.State, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
	m, err := settings.Resolve("vip", m)
	if err != nil {
		return nil, err
	}
	if m.Functions == 0 {
		m.Functions = fewFunctions
		if len(d.Y) > fitRows {
			m.Functions = manyFunctions
		}
	}
	if err := domain.FullyConnected("vip", m.Architecture); err != nil {
		return nil, err
	}
	all, err := mapnet.New(m.network(), d)
	if err != nil {
		return nil, err
	}
	p := all
	if n := len(d.Y); n > fitRows {
		p = all.Subset(random.Split(rng, "rows", 0).Perm(n)[:fitRows])
	}
	o := newObjective(p, m.Functions, m.Prior == "weights", random.Split(rng, "functions", 0))
	v, warnings, err := m.train(ctx, o, start, random.Split(rng, "start", 0))
	if err != nil {
		return nil, fmt.Errorf("vip: %w", err)
	}
	surrogate.Report(ctx, surrogate.Progress{Phase: "regression"})
	b := &basis{net: p.Net, inputs: p.Inputs, shift: p.Shift}
	for s := range o.eps {
		b.weights = append(b.weights, o.weights(v, s))
	}
	post, err := linear.Regress(ctx, b, o.noise(v), d)
	if err != nil {
		return nil, fmt.Errorf("vip: %w", err)
	}
	post.Learned, post.Notes = v, warnings
	post.Parameters = []surrogate.Hyper{{Name: "noise", Value: o.noise(v)}, {Name: "functions", Value: float64(m.Functions)}}
	if m.Prior == "layers" {
		for l := range len(m.Hidden) + 1 {
			post.Parameters = append(post.Parameters,
				surrogate.Hyper{Name: fmt.Sprintf("weight scale %d", l+1), Value: math.Exp(v[1+2*l])},
				surrogate.Hyper{Name: fmt.Sprintf("bias scale %d", l+1), Value: math.Exp(v[2+2*l])})
		}
	}
	return post, nil
}

// network declares the networks of the prior, with weights of unit precision.
func (m Model) network() mapnet.Settings {
	return mapnet.Settings{Network: mapnet.Network{Hidden: m.Hidden, Activation: m.Activation, Precision: new(1.), Noise: m.Noise}}
}

// train maximises the evidence plus the log priors from an earlier state, if its length
// matches, or from the default start.
func (m Model) train(ctx context.Context, o *objective, state surrogate.State, rng *rand.Rand) (v []float64, warnings []string, err error) {
	v = o.start(rng)
	if len(state) == len(v) {
		copy(v, state)
	}
	if o.p.Noise != nil {
		v[0] = math.Log(*o.p.Noise)
	}
	lo, hi := o.bounds()
	evaluations := 0
	loss := func(v, grad []float64) float64 {
		surrogate.Report(ctx, surrogate.Progress{Phase: "evidence", Done: evaluations, Total: 2 * m.Steps})
		evaluations++
		return o.loss(v, grad)
	}
	result, err := optimize.Minimize(ctx, loss, v, lo, hi, optimize.Settings{MaxIter: m.Steps, MaxEval: 2 * m.Steps, GradTol: 1e-2, FuncTol: 1e-5})
	switch {
	case err != nil:
		return nil, nil, err
	case math.IsInf(result.F, 1):
		return nil, nil, fmt.Errorf("%w: covariance of the functions drawn at the start", surrogate.ErrNotPositiveDefinite)
	case !result.Converged:
		warnings = []string{fmt.Sprintf("training stopped at %d steps before it converged, the fit may be poor: set steps higher", result.Iterations)}
	}
	return result.X, warnings, nil
}
