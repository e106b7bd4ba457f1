package svgp

import (
	"context"
	"math/rand/v2"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/internal/settings"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate"
)

// Model is the sparse variational Gaussian process. The zero value is the default: inducing points by
// k-means, one for seven observations within 300 and 1000, or all inputs if there are fewer. Beyond 10 000
// observations there are 300. The hyperparameters maximise the collapsed bound for up to 10 000
// observations, else the bound of minibatches.
type Model struct {
	prior.Spec `range:"noise=(0,inf)"`

	Inducing      int    `set:"inducing" auto:"300 to 1000" range:"[1,20000]" help:"largest number of inducing points (a seventh of the observations, from 300 to 1000; 300 beyond 10000 observations)"`
	Selection     string `set:"selection" default:"kmeans" oneof:"kmeans,pivoted" help:"inducing points: kmeans, centres of clusters; pivoted, points of largest remaining variance"`
	LearnInducing bool   `set:"learn-inducing" default:"false" help:"optimise the inducing points together with the hyperparameters"`

	Bound string  `set:"bound" auto:"by size" oneof:"collapsed,minibatch" help:"objective: collapsed, all data at every step (up to 10000 observations); minibatch, a part of the data"`
	Steps int     `set:"steps" auto:"100 or 1000" range:"[1,100000000]" help:"largest number of steps (collapsed 100, minibatch 1000)"`
	Batch int     `set:"batch" default:"1000" range:"[1,1000000]" help:"observations of a minibatch"`
	Rate  float64 `set:"rate" default:"0.01" range:"(0,1]" help:"learning rate of adam on minibatches"`
}

var _ surrogate.WarmStarter = Model{}

// collapsedRows is the largest number of observations with the collapsed bound as
// default.
const collapsedRows = 10_000

const (
	leastInducing, mostInducing = 300, 1000
	rowsPerInducing             = 7
)

// inducing returns the number of inducing points for n observations. A fit to minibatches has the least
// number, because its steps cost O(m³).
func (m Model) inducing(n int) int {
	switch {
	case m.Inducing > 0:
		return m.Inducing
	case n > collapsedRows:
		return leastInducing
	}
	return min(max(n/rowsPerInducing, leastInducing), mostInducing)
}

// Fit implements surrogate.Model. The posterior is an *inducing.Posterior.
func (m Model) Fit(ctx context.Context, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
	return m.FitFrom(ctx, nil, d, rng)
}

// FitFrom implements surrogate.WarmStarter: the search starts from the hyperparameters of
// an earlier fit.
func (m Model) FitFrom(ctx context.Context, start surrogate.State, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
	m, err := settings.Resolve("svgp", m)
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
