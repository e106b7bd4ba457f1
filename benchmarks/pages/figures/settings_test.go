package figures

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/surrogate"
)

// The variants name surrogates and settings of the catalog.
func TestVariants(t *testing.T) {
	require.Len(t, SettingsSurrogates(), len(variants))
	for name, list := range variants {
		for _, settings := range list {
			m, err := model(name, Priors()[0], strings.Split(settings, ";")...)
			require.NoError(t, err, "%s %s", name, settings)
			require.NoError(t, surrogate.Check(m, 1), "%s %s", name, settings)
		}
	}
}

func TestSettingsTable(t *testing.T) {
	dir := t.TempDir()
	_, err := SettingsTable(dir, "rff")
	require.ErrorIs(t, err, ErrSettings)
	var records []SettingsRecord
	for seed, distance := range []float64{0.1, 0.3} {
		for _, p := range Priors() {
			r := SettingsRecord{Spread: 0.5, Record: Record{Surrogate: "rff", Prior: p.Name, Seed: uint64(seed), Distance: distance, Seconds: 2, Commit: "abc"}}
			other := r
			other.Settings, other.Error = "features=4000", "no luck"
			records = append(records, r, other)
		}
	}
	require.NoError(t, writeLines(dir+"/"+settingsFile, records))
	table, err := SettingsTable(dir, "rff")
	require.NoError(t, err)
	lines := strings.Split(table, "\n")
	require.True(t, slices.Contains(lines, "| default | 0.200 ± 0.100 (0.50) | 0.200 ± 0.100 (0.50) | 0.200 ± 0.100 (0.50) | 2.0 s |"), table)
	require.True(t, slices.Contains(lines, "| `features=4000` | failed | failed | failed |  |"), table)
	require.Contains(t, table, "of 2 datasets")
	require.Contains(t, table, "Commit abc.")
}
