package catalog_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/catalog"
	"github.com/functionspace/bo/internal/settings"
)

// Every entry is fresh each time, has a summary, and settings that are explained.
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

// What no data can make sense of is refused by every surrogate that has the setting.
func TestSenselessSettings(t *testing.T) {
	senseless := map[string][]string{
		"samples": {"1", "-1"}, "members": {"1", "-1"}, "rate": {"10", "-1"}, "pace": {"10", "-1"},
		"noise": {"-1"}, "precision": {"0", "1e-300", "1e300"}, "steps": {"-1"}, "batch": {"-1"},
		"trainer": {"nonsense"}, "start": {"nonsense"}, "activation": {"nonsense"}, "kernel": {"nonsense"},
	}
	for _, e := range catalog.Surrogates() {
		m, err := catalog.NewMethod(e.Name)
		require.NoError(t, err)
		for _, s := range settings.List(m.Surrogate) {
			for _, value := range senseless[s.Key] {
				m, err := catalog.NewMethod(e.Name)
				require.NoError(t, err)
				require.NoError(t, m.Set(s.Key+"="+value))
				err = m.Check(t.Context(), 2)
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
