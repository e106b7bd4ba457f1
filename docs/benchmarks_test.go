package docs_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/benchmarks/pages/suites"
)

// The page of benchmarks and its tables equal the output of the command that makes
// them from the summaries.
func TestBenchmarks(t *testing.T) {
	documents, err := suites.Documents("benchmarks")
	require.NoError(t, err)
	for _, d := range documents {
		text, err := os.ReadFile(d.Path)
		require.NoError(t, err)
		require.Equal(t, d.Text, string(text), "%s is not up to date: go run ./benchmarks/pages suites", d.Path)
	}
}
