package mfvi

import (
	"context"
	"math/rand/v2"

	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/mapnet"
)

// Model is mean-field variational inference. The zero value is the default: a 50-50 tanh
// network with learned prior precision and noise variance. Training starts at a maximum of the
// posterior, computed with the defaults of package mapnn.
type Model struct {
	mapnet.Sampled
}

var _ surrogate.WarmStarter = Model{}

// Fit implements surrogate.Model.
func (m Model) Fit(ctx context.Context, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
	return m.FitFrom(ctx, nil, d, rng)
}

// FitFrom implements surrogate.WarmStarter. q, the precision and the noise variance start at
// the result of an earlier fit.
func (m Model) FitFrom(ctx context.Context, start surrogate.State, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
	return mapnet.FitSampled(ctx, "mfvi", m, Model.bound, start, d, rng)
}

// bound returns the training problem for p. All fields of m are set.
func (m Model) bound(p *mapnet.Problem) *mapnet.Stochastic {
	return m.Stochastic(p, gaussians{p.Net.NumParams()}, "bound")
}
