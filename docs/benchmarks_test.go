package docs_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/benchmarks/report"
)

// The page of benchmarks and its tables are what bo bench page makes of the
// summaries, and its plots are there.
func TestBenchmarks(t *testing.T) {
	documents, err := report.Documents("benchmarks")
	require.NoError(t, err)
	for _, d := range documents {
		text, err := os.ReadFile(d.Path)
		require.NoError(t, err)
		require.Equal(t, d.Text, string(text), "%s is not up to date: go run ./cmd/bo bench page", d.Path)
	}
}
