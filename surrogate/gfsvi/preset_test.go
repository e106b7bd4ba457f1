package gfsvi

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/internal/settings"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/autodiff"
	"github.com/functionspace/bo/surrogate/internal/plain"
	"github.com/functionspace/bo/surrogate/internal/toy"
	"github.com/functionspace/bo/surrogate/internal/train"
)

// All settings of the preset "published", beside the section of the paper that states them.
func TestSettingsOfThePreset(t *testing.T) {
	m, err := Model{Preset: surrogate.Published}.resolve()
	require.NoError(t, err)
	p, v, _, err := m.begin(t.Context(), nil, toy.Sines(12, 2), random.New(1, "fit", 0))
	require.NoError(t, err)
	want := []struct{ key, value, source string }{
		{"preset", "published", ""},
		{"kernel", "matern52", "A.3.3: one of six, by validation"},
		{"lengthscale", "learned", "A.3.1"},
		{"isotropic", "false", ""},
		{"variance", "learned", "A.3.1"},
		{"noise", "learned", "A.3.3"},
		{"mean", "zero", "A.3.1"},
		{"restarts", "0", ""},
		{"hidden", "30,30", "A.3.1"},
		{"activation", "tanh", "A.3.1"},
		{"bias", "0", ""},
		{"covariance", "diagonal", "A.3.1: fully factorised"},
		{"rank", "0", "A.3.1: fully factorised"},
		{"gamma", "1e-10", "3.1 and A.3.1"},
		{"context", "500", "A.3.1 and A.3.3"},
		{"measure", "box", "3.1: uniform points"},
		{"box", "data", "A.3.4, for pixels"},
		{"start", "random", ""},
		{"steps", "10000", ""},
		{"rate", "0.005", "A.3.3: by validation"},
		{"batch", "2000", "A.3.3"},
		{"held-out", "0.1", "A.3.3"},
		{"prior-noise", "false", "A.3.3: a learned scale"},
	}
	listed := settings.List(&p.Model)
	require.Len(t, listed, len(want))
	for i, w := range want {
		value, err := settings.Get(&p.Model, w.key)
		require.NoError(t, err)
		require.Equal(t, w.key, listed[i].Key)
		require.Equal(t, w.value, value, "%s (%s)", w.key, w.source)
	}
	require.Equal(t, 1e-10, p.objective.gamma)
	require.Equal(t, []int{100, 10, 1000}, []int{train.HeldOutPatience, validateEvery, priorRows})
	require.InDelta(t, -5, math.Log(math.Expm1(v.Scales()[0])), 1e-12, "ρ at the start")
}

// Other settings replace published values.
func TestSettingsBesideThePreset(t *testing.T) {
	m, err := Model{Preset: surrogate.Published, Context: 50, Gamma: 1e-15, Steps: 7, HeldOut: new(0.)}.resolve()
	require.NoError(t, err)
	require.Equal(t, []any{50, 1e-15, 7, 0., 2000}, []any{m.Context, m.Gamma, m.Steps, *m.HeldOut, m.Batch})
}

// With the preset "published" the hyperparameters maximise the marginal likelihood alone, except
// at a bound, and the mean is 0 (A.3.1).
func TestPublishedPriorMaximisesTheLikelihood(t *testing.T) {
	m, err := Model{Preset: surrogate.Published}.resolve()
	require.NoError(t, err)
	for dim, n := range map[int]int{1: 30, 2: 45} {
		d := toy.Sines(n, dim)
		for i := range d.Y {
			d.Y[i] -= 3
		}
		p, _, fitted, err := m.begin(t.Context(), nil, d, random.New(1, "fit", 0))
		require.NoError(t, err)
		require.Zero(t, fitted.Mean)
		require.Zero(t, p.process.Mean)

		h := map[string]float64{}
		for _, q := range fitted.Hypers {
			h[q.Name] = q.Value
		}
		theta, free := plain.Theta(dim, h)
		slopes := plain.LikelihoodSlopes(theta, func(v []float64) func(a, b []float64) float64 { return autodiff.Matern52(v[dim], v[:dim]) }, autodiff.Rows(p.data.X), p.data.Y)
		for i, slope := range slopes {
			if free[i] {
				require.InDelta(t, 0, slope, 0.02, "hyperparameter %d of %d inputs", i, dim)
			}
		}
		require.True(t, free[dim] && free[dim+1])
	}
}

// The published covariance has no low-rank part, so a warning does not advise a higher rank.
func TestWarningOfThePreset(t *testing.T) {
	post, err := Model{Preset: surrogate.Published, Steps: 20, Context: 30}.Fit(t.Context(), toy.Sines(12, 2), random.New(1, "fit", 0))
	require.NoError(t, err)
	require.Len(t, post.Warnings(), 1)
	require.Contains(t, post.Warnings()[0], "the variance may be too small: use the default preset, or gp")
}
