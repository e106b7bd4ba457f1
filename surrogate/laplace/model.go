package laplace

import (
	"cmp"
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

	Curvature string `set:"curvature" default:"full" help:"full, kron (Kronecker factors for each layer) or diagonal"`
	Restarts  int    `set:"restarts" default:"2 or 1" help:"trainings from new weights, of which that of the largest evidence is kept (2 up to 1000 observations); the last fit of a study takes the place of the first"`
}

var _ surrogate.WarmStarter = Model{}

// manyRows is the number of observations above which one training is the default.
const manyRows = 1000

func (m Model) withDefaults() (Model, error) {
	var err error
	m.Settings, err = m.Settings.WithDefaults()
	if err = cmp.Or(err,
		settings.Choose("curvature", &m.Curvature, mapnet.Full, mapnet.Kron, mapnet.Diagonal),
		settings.Positive("restarts", m.Restarts),
	); err != nil {
		return m, fmt.Errorf("laplace: %w", err)
	}
	return m, nil
}

// Check reports settings that cannot be fitted, whatever the data: Fit would
// return the same error.
func (m Model) Check(int) error {
	_, err := m.withDefaults()
	return err
}

// Fit implements surrogate.Model.
func (m Model) Fit(ctx context.Context, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
	return m.FitFrom(ctx, nil, d, rng)
}

// FitFrom implements surrogate.WarmStarter: weights, precision and noise of the
// first training start where an earlier fit ended.
func (m Model) FitFrom(ctx context.Context, start surrogate.State, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
	m, err := m.withDefaults()
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
