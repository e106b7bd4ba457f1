package report

import (
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
	papers := Literature{Published: []Published{
		{Dataset: "yacht", Method: "svgp", Source: "gfsvi", LogLikelihood: -0.976, LogLikelihoodSE: 0.092, MSE: new(0.4), MSESE: 0.1},
		{Dataset: "yacht", Method: "svgp", Source: "fsp-laplace", LogLikelihood: 1.532, LogLikelihoodSE: 0.139},
		{Dataset: "yacht", Method: "gfsvi", Source: "gfsvi", LogLikelihood: 1.2, LogLikelihoodSE: 0.1, MSE: new(0.01), MSESE: 0.001},
		{Dataset: "boston", Method: "svgp", Source: "gfsvi"},
	}}
	r, err := NewRegression(records, papers)
	require.NoError(t, err)
	d := r.Datasets[0]
	assert.Equal(t, []string{"svgp", "gfsvi:steps=10"}, []string{d.Methods[0].Name, d.Methods[1].Name}, "the methods of the suite come first")
	assert.InDelta(t, 0.8, d.Methods[0].LogDensity.Mean, 1e-12)
	assert.InDelta(t, 0.1, d.Methods[0].LogDensity.SE, 1e-12)
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
	_, err = NewRegression(nil, papers)
	assert.ErrorIs(t, err, ErrReport)
}
