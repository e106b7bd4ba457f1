package svgp

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/internal/settings"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate"
)

// Model is the sparse variational Gaussian process. The zero value is the default: 300
// inducing points by k-means, or all inputs if there are fewer, and hyperparameters
// that maximise the collapsed bound up to 10 000 observations and the bound of
// minibatches beyond.
type Model struct {
	prior.Spec

	Inducing      int    `set:"inducing" default:"300" help:"largest number of inducing points"`
	Selection     string `set:"selection" default:"kmeans" help:"how inducing points are chosen: kmeans, or pivoted (largest remaining variance)"`
	LearnInducing bool   `set:"learn-inducing" default:"false" help:"move the inducing points with the hyper-parameters"`

	// Bound is "collapsed" or "minibatch"; empty is collapsed up to 10 000
	// observations.
	Bound string  `set:"bound" default:"by size" help:"collapsed (all data at every step) or minibatch"`
	Steps int     `set:"steps" default:"100 or 1000" help:"largest number of steps (collapsed 100, minibatch 1000)"`
	Batch int     `set:"batch" default:"1000" help:"observations of a minibatch"`
	Rate  float64 `set:"rate" default:"0.01" help:"learning rate of adam on minibatches"`
}

var _ surrogate.WarmStarter = Model{}

// collapsedRows is the number of observations from which on minibatches are the
// default.
const collapsedRows = 10_000

func (m Model) withDefaults() (Model, error) {
	if err := cmp.Or(
		settings.Choose("selection", &m.Selection, "kmeans", "pivoted"),
		settings.Choose("bound", &m.Bound, "", "collapsed", "minibatch"),
		settings.Positive("inducing", m.Inducing), settings.Positive("steps", m.Steps),
		settings.Positive("batch", m.Batch), settings.Rate("rate", m.Rate),
	); err != nil {
		return m, fmt.Errorf("svgp: %w", err)
	}
	if m.Noise != nil && *m.Noise == 0 {
		return m, fmt.Errorf("svgp: a noise variance of 0 leaves the bound without a value")
	}
	m.Inducing = cmp.Or(m.Inducing, 300)
	m.Batch = cmp.Or(m.Batch, 1000)
	m.Rate = cmp.Or(m.Rate, 0.01)
	return m, nil
}

// Check reports settings that cannot be fitted to data of dim inputs, whatever
// the data: Fit would return the same error.
func (m Model) Check(dim int) error {
	if _, err := m.withDefaults(); err != nil {
		return err
	}
	_, err := m.Process(dim)
	return err
}

// Fit implements surrogate.Model, by an *inducing.Posterior.
func (m Model) Fit(ctx context.Context, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
	return m.FitFrom(ctx, nil, d, rng)
}

// FitFrom implements surrogate.WarmStarter: the hyper-parameters start where an
// earlier fit ended.
func (m Model) FitFrom(ctx context.Context, start surrogate.State, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
	m, err := m.withDefaults()
	if err != nil {
		return nil, err
	}
	if err := d.Validate(); err != nil {
		return nil, err
	}
	p, err := newProblem(m, d)
	if err != nil {
		return nil, err
	}
	post, err := p.solve(ctx, start, random.Split(rng, "svgp", 0))
	if err != nil {
		return nil, err
	}
	return post, nil
}
