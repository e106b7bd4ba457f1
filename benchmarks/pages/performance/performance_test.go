package performance

import (
	"context"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
)

// The fastest of several times counts, and tables have ratios.
func TestResults(t *testing.T) {
	var now, before results
	now.add("goos: linux\nBenchmarkA/gp/n=50/q=1-2   1  2000000 ns/op  5 B/op\nBenchmarkA/gp/n=50/q=64-2  1  8000000 ns/op\nPASS\n")
	now.add("BenchmarkA/gp/n=50/q=64   1  6000000 ns/op\n")
	before.add("BenchmarkA/gp/n=50/q=1   1  4000000 ns/op\n")
	require.Equal(t, [][]string{{"case", "q=1", "q=64", "ratio"}, {"gp, n=50", "2.0 ms", "6.0 ms", "3.00"}}, now.pivot())
	require.Equal(t, [][]string{
		{"case", "before", "after", "ratio"},
		{"gp, n=50, q=1", "4.0 ms", "2.0 ms", "0.50"},
		{"gp, n=50, q=64", "", "6.0 ms", ""},
	}, now.list(&before))
	require.Equal(t, []string{"gp, n=50, q=1", "2.0 ms"}, now.list(nil)[1])
	var each results
	each.add("BenchmarkM-2  1  12.2 cross-ns/pair  5.0 gram-ns/pair\nBenchmarkF/exp-2  1  0.52 ns/element\n")
	require.Equal(t, [][]string{{"case", "time"}, {"cross", "12 ns"}, {"gram", "5 ns"}, {"exp", "0.52 ns"}}, each.list(nil))
}

func TestColumns(t *testing.T) {
	text := "dense: avx512\ncase         dense ratio\ngemm NN      1.5   2.00\n                 \n"
	require.Equal(t, [][]string{{"case", "dense", "ratio"}, {"gemm NN", "1.5", "2.00"}}, columns(text, 12))
}

// A section whose program is absent says so.
func TestPage(t *testing.T) {
	page, err := Page(t.Context(), Options{Rounds: 1, Python: "no-such-python", Only: "BoTorch", Log: io.Discard})
	require.NoError(t, err)
	require.Contains(t, page, "## BoTorch")
	require.Contains(t, page, "Not measured: ")
	require.NotContains(t, page, "## Suggestions")
	_, err = Page(t.Context(), Options{Rounds: 1, Only: "(", Log: io.Discard})
	require.Error(t, err)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = Page(cancelled, Options{Rounds: 1, Only: "BoTorch", Log: io.Discard})
	require.ErrorIs(t, err, context.Canceled)
}

// The summary has the range of the column "ratio".
func TestSpan(t *testing.T) {
	require.Equal(t, "0.50 to 2.00", span([][]string{{"case", "ratio", "median"}, {"a", "2.00", "9"}, {"b", "", "9"}, {"c", "0.50", "9"}}))
	require.Empty(t, span([][]string{{"case", "time"}, {"a", "2 ms"}}))
	require.Empty(t, span([][]string{{"case", "ratio"}, {"a", ""}}))
}
