package published

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/benchmarks/report"
	"github.com/functionspace/bo/benchmarks/runner"
)

// Results on similar data are listed beside the measured results, without a verdict.
func TestSimilar(t *testing.T) {
	r, err := report.NewRegression([]runner.Record{{
		Suite: "paper/mauna-loa", Problem: "mauna-loa", Method: "gp", Seed: 1, Date: "2026-01-02T03:04:05Z",
		Score: &runner.Score{Train: 361, Test: 155, LogDensity: -2, LogLikelihood: -300, RMSE: 0.3, RMSERaw: 4},
	}}, Literature())
	require.NoError(t, err)
	var text strings.Builder
	require.NoError(t, r.WriteMarkdown(&text))
	assert.Regexp(t, `\| gp +\| fsp-laplace +\| +-2123.9 ± 0 \| +35.66 ± 0 \| +5.97 \|`, text.String())
	assert.Regexp(t, `\| method \| splits \| E log-lik. \| log density \| +RMSE \| RMSE raw \| +fit \| predict \| +commit \|`, text.String())
	assert.NotContains(t, text.String(), "within two standard errors")
	for _, p := range Literature().Similar {
		_, err := runner.ParseMethod(p.Method)
		assert.NoError(t, err)
	}
}

// The printed results are possible: with one noise variance no log likelihood exceeds
// the best one for the squared error.
func TestPublished(t *testing.T) {
	suite, err := runner.Lookup("uci")
	require.NoError(t, err)
	counts := map[[2]string]int{}
	for _, p := range Literature().Published {
		assert.Contains(t, suite.Folders(), p.Dataset)
		counts[[2]string{p.Method, p.Source}]++
		// 0.000 has no digits to check. Folds that differ much give means of
		// logarithms above the logarithm of the mean.
		const rounding = 0.0005
		if p.MSE != nil && *p.MSE > 0.002 && p.MSESE < *p.MSE/5 {
			best := -math.Log(2*math.Pi*(*p.MSE-rounding))/2 - 0.5
			assert.LessOrEqual(t, p.LogLikelihood, best+0.02, "%s %s", p.Dataset, p.Method)
		}
	}
	for _, m := range suite.Methods {
		source := "gfsvi"
		if m == "fsp-laplace" {
			source = m
		}
		assert.Equal(t, 9, counts[[2]string{m, source}], m)
	}
}
