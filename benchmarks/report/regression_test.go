package report

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/benchmarks/runner"
)

func scored(problem, method string, seed uint64, density, rmse float64) runner.Record {
	return runner.Record{
		Suite: "uci", Problem: problem, Method: method, Seed: seed, Dim: 6, Date: "2026-01-02T03:04:05Z",
		Score: &runner.Score{Train: 277, Test: 31, LogDensity: density, LogLikelihood: density - 1, RMSE: rmse, RMSERaw: 15 * rmse, Fit: 2, Predict: 0.001},
	}
}

func TestRegressionByHand(t *testing.T) {
	records := []runner.Record{
		scored("yacht", "svgp", 2, 0.7, 0.1), scored("yacht", "svgp", 1, 0.9, 0.1),
		scored("yacht", "gfsvi:steps=10", 1, 0.8, 0.2),
		{Suite: "uci", Problem: "yacht", Method: "gfsvi:steps=10", Seed: 2, Error: "no\nluck"},
	}
	r, err := NewRegression(records)
	require.NoError(t, err)
	d := r.Datasets[0]
	assert.Equal(t, []string{"svgp", "gfsvi:steps=10"}, []string{d.Methods[0].Name, d.Methods[1].Name}, "the order of the suite, others behind")
	assert.InDelta(t, 0.8, d.Methods[0].LogDensity.Mean, 1e-12)
	assert.InDelta(t, 0.1, d.Methods[0].LogDensity.SE, 1e-12)
	// One paper has -0.976 ± 0.092 for it, the other 1.532 ± 0.139.
	assert.Equal(t, []Tally{
		{Method: "svgp", Source: "gfsvi", Reached: 1, ReachedLikelihood: 1, Datasets: 1, ReachedMSE: 1, WithMSE: 1},
		{Method: "svgp", Source: "fsp-laplace", Datasets: 1, MissedLikelihood: []string{"yacht"}, Missed: []string{"yacht"}},
		{Method: "gfsvi:steps=10", Source: "gfsvi", Datasets: 1, WithMSE: 1, MissedLikelihood: []string{"yacht"}, Missed: []string{"yacht"}, MissedMSE: []string{"yacht"}},
	}, r.Tallies)

	var text strings.Builder
	require.NoError(t, r.WriteMarkdown(&text))
	assert.Contains(t, text.String(), "### yacht: 6 inputs, 277 training rows, 31 test rows")
	assert.Contains(t, text.String(), "-0.976 ± 0.092 [g] ✓, 1.532 ± 0.139 [f] ✗ | 0.800 ± 0.100 | 0.100 ± 0.000 | 0.632 ✓ |")
	assert.Regexp(t, `\| yacht +\| gfsvi:steps=10 +\| +2 \| +no; luck \|`, text.String())
	_, err = NewRegression(nil)
	assert.ErrorIs(t, err, ErrReport)
}

// What the papers print is possible: with one noise variance no log-likelihood is
// above that of the best one for the squared error.
func TestPublished(t *testing.T) {
	suite, err := runner.Lookup("uci")
	require.NoError(t, err)
	counts := map[[2]string]int{}
	for _, p := range published() {
		assert.Contains(t, suite.Folders(), p.Dataset)
		counts[[2]string{p.Method, p.Source}]++
		// The decimals of 0.000 say nothing, and folds that differ much give means
		// of logarithms above the logarithm of the mean.
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
