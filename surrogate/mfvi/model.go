package mfvi

import (
	"context"
	"math/rand/v2"

	"github.com/functionspace/bo/internal/settings"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/mapnet"
)

// Model is mean-field variational inference. The zero value is the default: a 50-50 tanh
// network with learned prior precision and noise variance. Training starts at a maximum of the
// posterior, computed with the defaults of package mapnn. Fields of the embedded struct are assigned, as
// in m.Hidden = []int{20}: Hidden, Activation, Architecture, Precision, Noise, Steps, Rate, Batch, Draws,
// Samples and Start.
type Model struct {
	// Preset is "default" or surrogate.Published: the baseline of the GFSVI paper, with a
	// constant precision and independent draws.
	Preset string `set:"preset" default:"default" oneof:"default,published" help:"default, or published: the baseline of the GFSVI paper, except for settings beside it"`

	mapnet.Sampled `published:"hidden=30,30;precision=1.7777777777777777;steps=10000;batch=2000;draws=10;start=random" help:"rate=learning rate, by default lowered to 0 along a cosine, with the published preset constant;start=initial weights: a maximum of the posterior (map), or random"`
}

var _ surrogate.WarmStarter = Model{}

// Fit implements surrogate.Model.
func (m Model) Fit(ctx context.Context, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
	return m.FitFrom(ctx, nil, d, rng)
}

// Stated implements surrogate.PriorStater. It reports whether the precision or the noise
// variance is fixed; the published preset fixes the precision.
func (m Model) Stated() bool { return m.Preset == surrogate.Published || m.Network.Stated() }

// FitFrom implements surrogate.WarmStarter. q, the precision and the noise variance start at
// the result of an earlier fit, but not with the published preset.
func (m Model) FitFrom(ctx context.Context, start surrogate.State, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
	if m.Preset == surrogate.Published {
		m, err := settings.Resolve("mfvi", m)
		if err != nil {
			return nil, err
		}
		return mapnet.FitPublished(ctx, "mfvi", m.Sampled, independent, d, rng)
	}
	return mapnet.FitSampled(ctx, "mfvi", m, Model.bound, start, d, rng)
}

// bound returns the training problem for p. All fields of m are set.
func (m Model) bound(p *mapnet.Problem) *mapnet.Stochastic {
	return m.Stochastic(p, gaussians{weights: p.Net.NumParams()}, "bound")
}

// independent returns the family with independent draws.
func independent(p *mapnet.Problem) mapnet.Family {
	return gaussians{weights: p.Net.NumParams(), independent: true}
}
