package laplace

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/internal/settings"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/linearized"
	"github.com/functionspace/bo/surrogate/internal/mapnet"
	"github.com/functionspace/bo/surrogate/internal/summary"
)

// Model is the linearised Laplace approximation. The zero value is the default: a
// 50-50 tanh network, the full curvature, precision of the weights and noise by
// the evidence. The published baselines are curvature=kron or diagonal with
// trainer=adam.
type Model struct {
	mapnet.Settings

	Curvature string `set:"curvature" default:"full" oneof:"full,kron,diagonal" help:"approximation of the Hessian; kron has Kronecker factors for each layer"`
	Restarts  int    `set:"restarts" auto:"2 or 1" range:"[1,1000]" help:"trainings from new weights, of which the one with the largest evidence is kept (2 up to 1000 observations); a warm start takes the place of the first"`
}

var _ surrogate.WarmStarter = Model{}

// manyRows is the number of observations above which one training is the default.
const manyRows = 1000

// Fit implements surrogate.Model.
func (m Model) Fit(ctx context.Context, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
	return m.FitFrom(ctx, nil, d, rng)
}

// FitFrom implements surrogate.WarmStarter: weights, precision and noise of the
// first training start where an earlier fit ended.
func (m Model) FitFrom(ctx context.Context, start surrogate.State, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
	m, err := settings.Resolve("laplace", m)
	if err != nil {
		return nil, err
	}
	p, err := mapnet.New(m.Settings, d)
	if err != nil {
		return nil, err
	}
	restarts := m.Restarts
	if restarts == 0 {
		restarts = 1
		if len(d.Y) <= manyRows {
			restarts = 2
		}
	}
	var best *mapnet.Fitted
	for i := range restarts {
		rng := random.Split(rng, "training", i)
		w, h := p.Start(start, rng)
		start = nil
		f, err := p.Fit(ctx, m.Curvature, w, h, rng)
		if err != nil {
			return nil, fmt.Errorf("laplace: %w", err)
		}
		if best == nil || f.Evidence > best.Evidence {
			best = f
		}
	}
	cov, err := best.Curvature.Covariance(best.Hypers)
	if err != nil {
		return nil, fmt.Errorf("laplace: %w", err)
	}
	return &posterior{linearized.Posterior{
		Network: linearized.Network{Net: p.Net, Inputs: p.Inputs, W: best.W, Shift: p.Shift}, Cov: cov,
		Summary: summary.Summary{
			NoiseVariance: best.Hypers.Noise, Learned: best.State(), Notes: best.Warnings,
			Parameters: append(best.Hypers.Describe(), surrogate.Hyper{Name: "mean", Value: p.Shift}),
		},
	}, best.Evidence}, nil
}
