package mapnn

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/internal/settings"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/mapnet"
	"github.com/functionspace/bo/surrogate/internal/mixture"
	"github.com/functionspace/bo/surrogate/internal/summary"
)

// Model is a network at a maximum of the posterior of its weights. The zero value is the
// default: two hidden layers of 50 tanh units, with weight decay and noise variance
// fitted by marginal likelihood. Fields of the embedded struct are assigned, as in m.Hidden = []int{20}:
// Hidden, Activation, Architecture, Precision, Noise, Trainer, Steps, Batch and Rate.
type Model struct {
	mapnet.Settings
}

var _ surrogate.WarmStarter = Model{}

// Fit implements surrogate.Model.
func (m Model) Fit(ctx context.Context, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
	return m.FitFrom(ctx, nil, d, rng)
}

// FitFrom implements surrogate.WarmStarter: training starts from the weights, the
// precision and the noise variance of an earlier fit.
func (m Model) FitFrom(ctx context.Context, start surrogate.State, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
	m, err := settings.Resolve("map", m)
	if err != nil {
		return nil, err
	}
	p, err := mapnet.New(m.Settings, d)
	if err != nil {
		return nil, err
	}
	w, h := p.StartStrong(start, random.Split(rng, "weights", 0))
	f, err := p.FitStrong(ctx, p.Cheap(), w, h, random.Split(rng, "training", 0))
	if err != nil {
		return nil, fmt.Errorf("map: %w", err)
	}
	return &mixture.Posterior{
		Net: p.Net, Inputs: p.Inputs, Shift: p.Shift, Weights: [][]float64{f.W},
		Summary: summary.Summary{NoiseVariance: f.Hypers.Noise, Parameters: f.Hypers.Describe(), Learned: f.State(), Notes: f.Warnings},
	}, nil
}
