package report

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/benchmarks/runner"
)

// A suite whose table is not the papers' has what they print beside its own, without
// a verdict.
func TestPapers(t *testing.T) {
	r, err := NewRegression([]runner.Record{{
		Suite: "paper/mauna-loa", Problem: "mauna-loa", Method: "gp", Seed: 1, Date: "2026-01-02T03:04:05Z",
		Score: &runner.Score{Train: 361, Test: 155, LogDensity: -2, LogLikelihood: -300, RMSE: 0.3, RMSERaw: 4},
	}})
	require.NoError(t, err)
	var text strings.Builder
	require.NoError(t, r.WriteMarkdown(&text))
	assert.Regexp(t, `\| gp +\| fsp-laplace +\| +-2123.9 ± 0 \| +35.66 ± 0 \| +5.97 \|`, text.String())
	assert.Regexp(t, `\| method \| splits \| E log-lik. \| log density \| +RMSE \| RMSE raw \| +fit \| predict \|`, text.String())
	assert.NotContains(t, text.String(), "✓")
	for _, p := range papers() {
		_, err := runner.ParseMethod(p.Method)
		assert.NoError(t, err)
	}
}
