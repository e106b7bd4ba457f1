package tfsvi

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/internal/settings"
	"github.com/functionspace/bo/surrogate"
)

// All settings of the preset "published", beside their source: a section of the paper, or the
// authors' code for regression with one input.
func TestSettingsOfThePreset(t *testing.T) {
	const code = "authors' code"
	m, err := Model{Preset: surrogate.Published}.resolve()
	require.NoError(t, err)
	want := []struct{ key, value, source string }{
		{"preset", "published", ""},
		{"hidden", "100,100", code},
		{"activation", "tanh", code},
		{"spread", "0", "inputs of mean 0 and standard deviation 1"},
		{"bias", "0", ""},
		{"prior", "fixed", code},
		{"prior-scale", "3.1622776601683795", code + ": variance 10"},
		{"covariance", "diagonal", "3.3: mean field"},
		{"divergence", "diagonal", code},
		{"jitter", "1e-10", code},
		{"sets", "1", code},
		{"context", "10", code},
		{"measure", "half", code},
		{"box", "data", ""},
		{"stop-gradient", "false", ""},
		{"noise", "0.01", code + ": set for each dataset"},
		{"draws", "5", code},
		{"start", "random", code},
		{"steps", "200000", code},
		{"rate", "0.0005", code},
		{"batch", "1000000", code + ": all observations"},
		{"samples", "100", ""},
	}
	listed := settings.List(&m)
	require.Len(t, listed, len(want))
	for i, w := range want {
		value, err := settings.Get(&m, w.key)
		require.NoError(t, err)
		require.Equal(t, w.key, listed[i].Key)
		require.Equal(t, w.value, value, "%s (%s)", w.key, w.source)
	}
}

// Other settings replace published values.
func TestSettingsBesideThePreset(t *testing.T) {
	m, err := Model{Preset: surrogate.Published, Prior: "bnn", Divergence: "full", Context: 40, Noise: new(0.1)}.resolve()
	require.NoError(t, err)
	require.Equal(t, []any{"bnn", "full", 1e-3, 40, 0.1, 200000}, []any{m.Prior, m.Divergence, m.Jitter, m.Context, *m.Noise, m.Steps})
}
