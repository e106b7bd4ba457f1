package catalog_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/internal/catalog"
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

func ExampleSurrogate() {
	_, err := catalog.Surrogate("gpp")
	fmt.Println(err, errors.Is(err, catalog.ErrUnknown))
	// Output: unknown surrogate "gpp": did you mean gp? true
}
