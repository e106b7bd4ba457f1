package fvi

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
	"github.com/functionspace/bo/surrogate/internal/variational"
)

// All settings of the preset "published", beside their source: a section of the paper, or the
// authors' code for its small regression datasets.
func TestSettingsOfThePreset(t *testing.T) {
	const code = "authors' code"
	m, err := Model{Preset: surrogate.Published}.resolve()
	require.NoError(t, err)
	p, err := newProblem(m, toy.Sines(47, 2))
	require.NoError(t, err)
	_, err = p.fitProcess(t.Context(), nil, random.New(1, "fit", 0))
	require.NoError(t, err)
	v := variational.NewLowRank(p.net.NumParams(), 0)
	_, err = p.start(t.Context(), v, nil, random.New(1, "start", 0))
	require.NoError(t, err)
	want := []struct{ key, value, source string }{
		{"preset", "published", ""},
		{"kernel", "rbf", code},
		{"lengthscale", "learned", "E.2.1"},
		{"isotropic", "false", code},
		{"variance", "learned", "E.2.1"},
		{"noise", "learned", code},
		{"mean", "zero", code},
		{"restarts", "0", ""},
		{"hidden", "50", "E.2.1"},
		{"activation", "relu", "appendix E"},
		{"bias", "0", ""},
		{"prior", "gp", "E.2.1"},
		{"changes", "3", "E.1"},
		{"range", "-1.7320508075688772,1.7320508075688772", ""},
		{"draws", "100", code},
		{"score", "plain", "eq. 8"},
		{"eigenvalues", "0.99", code},
		{"inject", "0.01", code},
		{"context", "5", "E.2.1"},
		{"box", "data", "appendix E"},
		{"batch", "20", "E.2.1"},
		{"weight", "batch", "eq. 10"},
		{"anneal", "0", ""},
		{"start", "random", code},
		{"steps", "4000", "E.2.1: 2000 epochs, of two batches for 47 observations"},
		{"rate", "0.001", code},
		{"samples", "100", ""},
	}
	listed := settings.List(&p.Model)
	require.Len(t, listed, len(want))
	for i, w := range want {
		value, err := settings.Get(&p.Model, w.key)
		require.NoError(t, err)
		require.Equal(t, w.key, listed[i].Key)
		require.Equal(t, w.value, value, "%s (%s)", w.key, w.source)
	}
	require.Equal(t, method{share: 0.99, plain: true, ridge: 1e-4}, p.objective.method)
	require.Equal(t, 1000, priorRows)
	require.Equal(t, []float64{-2, math.Log(0.5)}, []float64{v.LogS[0], v.LogSD[0]}, "authors' code")
	require.InDelta(t, math.Log(max(0.05, math.Sqrt(p.process.Noise))), p.leastLogSD, 1e-12, "authors' code")
}

// Other settings replace published values.
func TestSettingsBesideThePreset(t *testing.T) {
	m, err := Model{Preset: surrogate.Published, Batch: 30, Context: 30, Box: "search", Steps: 7, Anneal: 0.5}.resolve()
	require.NoError(t, err)
	require.Equal(t, []any{30, 30, "search", 7, 0.5, 0.001, 100}, []any{m.Batch, m.Context, m.Box, m.Steps, m.Anneal, m.Rate, m.Draws})
}

// With the preset "published" the hyperparameters maximise the marginal likelihood alone, except
// at a bound, and the mean is 0 (E.2.1 and the authors' code).
func TestPublishedPriorMaximisesTheLikelihood(t *testing.T) {
	m, err := Model{Preset: surrogate.Published}.resolve()
	require.NoError(t, err)
	for dim, n := range map[int]int{1: 30, 2: 45} {
		d := toy.Sines(n, dim)
		for i := range d.Y {
			d.Y[i] -= 3
		}
		p, err := newProblem(m, d)
		require.NoError(t, err)
		fitted, err := p.fitProcess(t.Context(), nil, random.New(1, "fit", 0))
		require.NoError(t, err)
		require.Zero(t, fitted.Mean)
		require.Zero(t, p.process.Mean)

		h := map[string]float64{}
		for _, q := range fitted.Hypers {
			h[q.Name] = q.Value
		}
		theta, free := plain.Theta(dim, h)
		slopes := plain.LikelihoodSlopes(theta, func(v []float64) func(a, b []float64) float64 { return autodiff.RBF(v[dim], v[:dim]) }, autodiff.Rows(d.X), d.Y)
		for i, slope := range slopes {
			if free[i] {
				require.InDelta(t, 0, slope, 0.02, "hyperparameter %d of %d inputs", i, dim)
			}
		}
		require.True(t, free[dim] && free[dim+1])
	}
}
