package ibnn

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/functionspace/bo/internal/settings"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/gp"
)

// Model is a Gaussian process with the kernel of an infinitely wide ReLU network. The
// zero value has the published settings.
type Model struct {
	Depth  int     `set:"depth" default:"3" range:"[1,64]" help:"hidden layers"`
	Weight float64 `set:"weight" default:"10" range:"(0,inf)" help:"variance of the weights times their fan-in"`
	Bias   float64 `set:"bias" default:"1.3" range:"(0,inf)" help:"variance of the biases (published: 1.6 for 200 inputs and more)"`
	Learn  bool    `set:"learn" default:"false" help:"fit the variances of weights and biases to the data"`

	Noise    *float64 `set:"noise" auto:"learned" range:"[0,inf)" help:"fixes the variance of the observation noise, as a share of the variance of the values, or of their differences from prior_mean; of raw outputs in their squared unit"`
	Mean     string   `set:"mean" default:"constant" oneof:"constant,zero" help:"mean of the prior: constant, which is learned, or zero"`
	Restarts int      `set:"restarts" auto:"3 or 2" range:"[1,1000]" help:"starts of the hyperparameter fit (2 from 500 observations)"`
}

// exactLimit is the largest gp.Model.Exact: the posterior is exact.
const exactLimit = 100_000

var _ surrogate.WarmStarter = Model{}

// Stated implements surrogate.PriorStater. It reports whether the noise variance or a zero
// mean is fixed; the variances of weights and biases have no effect on it.
func (m Model) Stated() bool { return prior.Spec{Noise: m.Noise, Mean: m.Mean}.Stated() }

// gp returns the equivalent model of package gp.
func (m Model) gp() (gp.Model, error) {
	if m.Learn && (m.Weight != 0 || m.Bias != 0) {
		return gp.Model{}, settings.Errorf("ibnn: learn excludes weight and bias: remove learn, or the two variances")
	}
	m, err := settings.Resolve("ibnn", m)
	if err != nil {
		return gp.Model{}, err
	}
	kernel := fmt.Sprintf("arccos(depth=%d,weight=%v,bias=%v)", m.Depth, m.Weight, m.Bias)
	if m.Learn {
		kernel = fmt.Sprintf("arccos(depth=%d)", m.Depth)
	}
	return gp.Model{Spec: prior.Spec{Kernel: kernel, Noise: m.Noise, Mean: m.Mean, Restarts: m.Restarts}, Exact: exactLimit}, nil
}

// Check implements surrogate.Checker.
func (m Model) Check(dim int) error {
	g, err := m.gp()
	if err != nil {
		return err
	}
	return g.Check(dim)
}

// Fit implements surrogate.Model, in O(n³).
func (m Model) Fit(ctx context.Context, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
	return m.FitFrom(ctx, nil, d, rng)
}

// FitFrom implements surrogate.WarmStarter: the search starts from the hyperparameters of
// an earlier fit.
func (m Model) FitFrom(ctx context.Context, start surrogate.State, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
	g, err := m.gp()
	if err != nil {
		return nil, err
	}
	return g.FitFrom(ctx, start, d, rng)
}
