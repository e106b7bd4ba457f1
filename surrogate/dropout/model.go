package dropout

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/functionspace/bo/internal/settings"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/domain"
	"github.com/functionspace/bo/surrogate/internal/mapnet"
)

// Model is Monte Carlo dropout. The zero value is the default: a 50-50 tanh network with a
// dropout probability of 5 %. Training starts at a maximum of the posterior, computed with
// the defaults of package mapnn. Fields of the embedded struct are assigned, as in m.Hidden = []int{20}:
// Hidden, Activation, Precision, Noise, Steps, Rate, Batch, Draws, Samples and Start.
type Model struct {
	mapnet.Sampled

	Drop float64 `set:"drop" default:"0.05" range:"(0,1)" help:"probability that a hidden unit is set to 0"`
}

var _ surrogate.WarmStarter = Model{}

// Fit implements surrogate.Model.
func (m Model) Fit(ctx context.Context, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
	return m.FitFrom(ctx, nil, d, rng)
}

// FitFrom implements surrogate.WarmStarter. Weights, precision and noise variance start at
// the result of an earlier fit.
func (m Model) FitFrom(ctx context.Context, start surrogate.State, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
	if err := domain.FullyConnected("dropout", m.Architecture); err != nil {
		return nil, err
	}
	m, err := settings.Resolve("dropout", m)
	if err != nil {
		return nil, err
	}
	p, err := mapnet.New(mapnet.Settings{Network: m.Network}, d)
	if err != nil {
		return nil, err
	}
	if p.Constant() {
		post, err := p.Vanishing(ctx, m.Samples, masked{p.Net, m.Drop}.apply, rng)
		if err != nil {
			return nil, fmt.Errorf("dropout: %w", err)
		}
		return post, nil
	}
	return mapnet.FitSampled(ctx, "dropout", m, Model.objective, start, d, rng)
}

// objective returns the training problem for p. All fields of m are set.
func (m Model) objective(p *mapnet.Problem) *mapnet.Stochastic {
	s := m.Stochastic(p, masked{p.Net, m.Drop}, "dropout")
	s.Fixed = true
	return s
}
