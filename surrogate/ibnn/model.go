package ibnn

import (
	"cmp"
	"context"
	"errors"
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
	Depth  int     `set:"depth" default:"3" help:"hidden layers"`
	Weight float64 `set:"weight" default:"10" help:"variance of the weights times their fan-in"`
	Bias   float64 `set:"bias" default:"1.3" help:"variance of the biases (published: 1.6 for 200 inputs and more)"`
	Learn  bool    `set:"learn" default:"false" help:"fit the variances of weights and biases to the data, instead of the two above"`

	Noise    *float64 `set:"noise" default:"learned" help:"fixes the variance of the observation noise"`
	Mean     string   `set:"mean" default:"constant" help:"mean of the prior: constant (learned) or zero"`
	Restarts int      `set:"restarts" default:"0" help:"starts of the hyper-parameter fit; 0 is 3, or 2 from 1000 observations"`
}

var _ surrogate.WarmStarter = Model{}

// Stated is that of prior.Spec; the variances of weights and biases do not count.
func (m Model) Stated() bool { return prior.Spec{Noise: m.Noise, Mean: m.Mean}.Stated() }

// gp returns the Gaussian process that the model is.
func (m Model) gp() (gp.Model, error) {
	if err := cmp.Or(settings.Positive("depth", m.Depth), settings.Positive("weight", m.Weight), settings.Positive("bias", m.Bias)); err != nil {
		return gp.Model{}, fmt.Errorf("ibnn: %w", err)
	}
	if m.Learn && (m.Weight != 0 || m.Bias != 0) {
		return gp.Model{}, errors.New("ibnn: weight and bias cannot be fixed and learned")
	}
	depth, weight, bias := cmp.Or(m.Depth, 3), cmp.Or(m.Weight, 10), cmp.Or(m.Bias, 1.3)
	kernel := fmt.Sprintf("arccos(depth=%d,weight=%v,bias=%v)", depth, weight, bias)
	if m.Learn {
		kernel = fmt.Sprintf("arccos(depth=%d)", depth)
	}
	return gp.Model{Spec: prior.Spec{Kernel: kernel, Noise: m.Noise, Mean: m.Mean, Restarts: m.Restarts}}, nil
}

// Check reports settings that cannot be fitted to data of dim inputs, whatever
// the data: Fit would return the same error.
func (m Model) Check(dim int) error {
	g, err := m.gp()
	if err != nil {
		return err
	}
	_, err = g.Process(dim)
	return err
}

// Fit implements surrogate.Model, in O(n³).
func (m Model) Fit(ctx context.Context, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
	return m.FitFrom(ctx, nil, d, rng)
}

// FitFrom implements surrogate.WarmStarter: what is learned starts where an
// earlier fit ended.
func (m Model) FitFrom(ctx context.Context, start surrogate.State, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
	g, err := m.gp()
	if err != nil {
		return nil, err
	}
	return g.FitFrom(ctx, start, d, rng)
}
