package figures

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestStudies(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	for _, s := range Studies() {
		var table bytes.Buffer
		told := 0
		require.NoError(t, s.Run(t.Context(), dir, 1, &table, func(string) { told++ }))
		require.NotContains(t, table.String(), "failed")
		lines, err := os.ReadFile(filepath.Join(dir, s.Name+".jsonl"))
		require.NoError(t, err)
		require.Equal(t, told, strings.Count(string(lines), "\n"))
		for _, ext := range []string{".png", ".svg"} {
			require.FileExists(t, filepath.Join(dir, s.Name+ext))
		}
		ctx, stop := context.WithCancel(t.Context())
		stop()
		require.ErrorIs(t, s.Run(ctx, dir, 1, &table, func(string) {}), context.Canceled)
	}
}

// The eigenvalues sum to the trace, the number of points. The rough kernel has more
// large eigenvalues.
func TestSpectrum(t *testing.T) {
	count := map[string]int{}
	for _, kernel := range spectrumKernels {
		s, err := spectrum(kernel, 1, 1, 2)
		require.NoError(t, err)
		var sum float64
		for i, v := range s.Values {
			sum += v
			require.True(t, i == 0 || v <= s.Values[i-1])
		}
		require.InDelta(t, spectrumPoints, sum, 1e-9)
		require.Equal(t, s.Points, s.above(-1))
		require.Equal(t, 1, s.share(s.Values[0]/spectrumPoints-1e-9))
		count[kernel] = s.share(0.99)
	}
	require.Less(t, 5*count["rbf"], count["matern12"])
}

// More context points bring the default closer to the exact process.
func TestContextPoints(t *testing.T) {
	p := Priors()[0]
	want, err := exact(p, 1)
	require.NoError(t, err)
	var far, near ContextRecord
	far.Points, near.Points = 3, 40
	for _, r := range []*ContextRecord{&far, &near} {
		r.Seed = 1
		require.NoError(t, r.measure(t.Context(), p, want, nil))
		require.Empty(t, r.Error)
		require.Positive(t, r.Rank)
	}
	require.Less(t, 10*near.Distance, far.Distance)
	failing := ContextRecord{Points: 3, Seed: 1}
	require.NoError(t, failing.measure(t.Context(), p, want, []string{"kernel=rbff"}))
	require.Contains(t, failing.Error, `"rbff"`)
	require.Error(t, failing.measure(t.Context(), p, want, []string{"none=1"}))
}
