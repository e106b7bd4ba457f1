package catalog_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/catalog"
	"github.com/functionspace/bo/internal/nn"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/internal/settings"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
)

// The allowed values of a setting activation are the activations of package nn.
func TestActivations(t *testing.T) {
	for _, e := range catalog.Surrogates() {
		m, err := catalog.NewMethod(e.Name)
		require.NoError(t, err)
		for _, s := range m.Settings() {
			if s.Key == "activation" {
				for i, name := range s.Values {
					f, err := nn.ByName(name)
					require.NoError(t, err, e.Name)
					require.Equal(t, nn.Activation(i), f, e.Name)
				}
				n := len(s.Values)
				require.Equal(t, fmt.Sprintf("activation(%d)", n), nn.Activation(n).String(), "%s lacks an activation", e.Name)
			}
		}
	}
}

// Declared defaults equal the recorded defaults. Package settings tests that a zero value
// stands for the declared default.
func TestDefaults(t *testing.T) {
	defaults := map[string]map[string]string{}
	record := func(name string, list []catalog.Setting) {
		defaults[name] = map[string]string{}
		for _, s := range list {
			defaults[name][s.Key] = s.Default
		}
	}
	for _, e := range catalog.Surrogates() {
		m, err := catalog.NewMethod(e.Name)
		require.NoError(t, err)
		record("surrogate "+e.Name, m.Settings())
	}
	for _, e := range catalog.Acquisitions() {
		m, err := catalog.NewMethod("gp")
		require.NoError(t, err)
		ofSurrogate := len(m.Settings())
		require.NoError(t, m.Choose(e.Name))
		record("acquisition "+e.Name, m.Settings()[ofSurrogate:])
	}
	got, err := json.MarshalIndent(defaults, "", "  ")
	require.NoError(t, err)
	want, err := os.ReadFile("testdata/defaults.json")
	require.NoError(t, err)
	require.JSONEq(t, string(want), string(got))
}

// Every surrogate model fits with a known variance of the noise, and has it.
func TestFixNoise(t *testing.T) {
	x := space.Sobol(8, 1, random.New(1, "points", 0))
	y := []float64{-1, 0.3, 1.2, -0.4, 0.2, 0.8, -1.1, 0}
	for _, e := range catalog.Surrogates() {
		t.Run(e.Name, func(t *testing.T) {
			learned, err := catalog.Surrogate(e.Name)
			require.NoError(t, err)
			m, err := surrogate.FixNoise(learned, new(0.09))
			require.NoError(t, err)
			p, err := m.Fit(t.Context(), surrogate.Dataset{X: x, Y: y}, random.New(1, "fit", 0))
			require.NoError(t, err)
			require.InEpsilon(t, 0.09, p.Noise(), 1e-9)
		})
	}
}

// Every call returns new options. Every entry has a summary, and every setting a
// help text and a default.
func TestEntries(t *testing.T) {
	explained := func(name string, options any) {
		for _, s := range settings.List(options) {
			require.NotEmpty(t, s.Help, "%s: %s", name, s.Key)
			require.NotEmpty(t, s.Default, "%s: %s", name, s.Key)
		}
	}
	for _, e := range catalog.Surrogates() {
		require.NotEmpty(t, e.Summary, e.Name)
		m, err := catalog.Surrogate(e.Name)
		require.NoError(t, err)
		explained(e.Name, m)
		require.NoError(t, settings.Set(m, "noise", "0.5"), e.Name)
		again, err := catalog.Surrogate(e.Name)
		require.NoError(t, err)
		text, err := settings.Get(again, "noise")
		require.NoError(t, err)
		require.Equal(t, settings.Learned, text, e.Name)
	}
	for _, e := range catalog.Acquisitions() {
		require.NotEmpty(t, e.Summary, e.Name)
		a, err := catalog.Acquisition(e.Name)
		require.NoError(t, err)
		explained(e.Name, a)
	}
}

// Every surrogate rejects values that are invalid for all data.
func TestSenselessSettings(t *testing.T) {
	senseless := map[string][]string{
		"samples": {"1", "-1"}, "members": {"1", "-1"}, "rate": {"10", "-1"},
		"noise": {"-1"}, "precision": {"0", "1e-300", "1e300"}, "steps": {"-1", "0"}, "batch": {"-1"}, "hidden": {"0", "1000000000"},
		"features": {"-1", "1000000000"}, "inducing": {"0", "1000000000"}, "context": {"1000000000"}, "mean": {"none"},
		"trainer": {"nonsense"}, "start": {"nonsense"}, "activation": {"nonsense"}, "kernel": {"nonsense"},
	}
	for _, e := range catalog.Surrogates() {
		m, err := catalog.NewMethod(e.Name)
		require.NoError(t, err)
		for _, s := range settings.List(m.Surrogate) {
			for _, value := range senseless[s.Key] {
				m, err := catalog.NewMethod(e.Name)
				require.NoError(t, err)
				err = m.Set(s.Key + "=" + value)
				if s.Key == "kernel" {
					require.NoError(t, err)
					err = m.Check(2)
				}
				require.Error(t, err, "%s: %s=%s", e.Name, s.Key, value)
				require.NotContains(t, err.Error(), "did you mean ?")
				require.NotContains(t, err.Error(), "\n")
			}
		}
	}
}

func ExampleSurrogate() {
	_, err := catalog.Surrogate("gpp")
	fmt.Println(err, errors.Is(err, catalog.ErrUnknown))
	// Output: unknown surrogate "gpp": did you mean gp? true
}

func TestNames(t *testing.T) {
	require.Equal(t, []string{"a", "b"}, catalog.Names([]catalog.Entry{{Name: "a", Summary: "first"}, {Name: "b"}}))
	require.Empty(t, catalog.Names(nil))
}
