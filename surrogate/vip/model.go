package vip

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/functionspace/bo/internal/optimize"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/internal/settings"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/linear"
	"github.com/functionspace/bo/surrogate/internal/mapnet"
)

// Model is a variational implicit process with a Bayesian neural network as its prior.
// The zero value is the default: 100 networks of two layers of 20 tanh units.
type Model struct {
	Hidden     []int    `set:"hidden" default:"20,20" help:"widths of the hidden layers"`
	Activation string   `set:"activation" default:"tanh" help:"tanh, relu, gelu, erf or sin"`
	Noise      *float64 `set:"noise" default:"learned" help:"fixes the variance of the observation noise"`

	Functions int    `set:"functions" default:"100" help:"number of functions drawn from the prior, at least 2"`
	Prior     string `set:"prior" default:"layers" help:"what of the prior is learned: layers (a scale for the weights and one for the biases of each) or weights (a mean and a scale for each weight, as published)"`
	Steps     int    `set:"steps" default:"50" help:"largest number of iterations on the evidence"`
}

var _ surrogate.WarmStarter = Model{}

const fitRows = 1000 // observations that the prior is fitted to

func (m Model) withDefaults() (Model, mapnet.Settings, error) {
	if m.Hidden == nil {
		m.Hidden = []int{20, 20}
	}
	s, err := mapnet.Settings{Hidden: m.Hidden, Activation: m.Activation, Noise: m.Noise, Precision: new(1.)}.WithDefaults()
	if err = cmp.Or(err,
		settings.Choose("prior", &m.Prior, "layers", "weights"),
		settings.Positive("functions", m.Functions), settings.Positive("steps", m.Steps),
	); err != nil {
		return m, s, fmt.Errorf("vip: %w", err)
	}
	m.Functions = cmp.Or(m.Functions, 100)
	m.Steps = cmp.Or(m.Steps, 50)
	if m.Functions < 2 {
		return m, s, fmt.Errorf("vip: functions is %d, want at least 2", m.Functions)
	}
	return m, s, nil
}

// Check reports settings that cannot be fitted, whatever the data: Fit would
// return the same error.
func (m Model) Check(int) error {
	_, _, err := m.withDefaults()
	return err
}

// Fit implements surrogate.Model.
func (m Model) Fit(ctx context.Context, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
	return m.FitFrom(ctx, nil, d, rng)
}

// FitFrom implements surrogate.WarmStarter: the prior and the noise start where an
// earlier fit ended.
func (m Model) FitFrom(ctx context.Context, start surrogate.State, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
	m, settings, err := m.withDefaults()
	if err != nil {
		return nil, err
	}
	all, err := mapnet.New(settings, d)
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
	post, err := linear.New(ctx, "vip", b, o.noise(v), d.X, d.Y)
	if err != nil {
		return nil, err
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

// train maximises the evidence.
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
		return nil, nil, fmt.Errorf("%w: that of the functions drawn at the start", surrogate.ErrNotPositiveDefinite)
	case !result.Converged:
		warnings = []string{fmt.Sprintf("the evidence was still rising after %d iterations", result.Iterations)}
	}
	return result.X, warnings, nil
}
