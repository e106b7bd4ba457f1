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
		Score: &runner.Score{Train: 277, Test: 31, LogDensity: density, LogLikelihood: density - 1, RMSE: rmse, RMSERaw: 15 * rmse, Noise: 0.01, Spread: 0.02, Fit: 2, Predict: 0.001},
	}
}

func TestRegressionByHand(t *testing.T) {
	records := []runner.Record{
		scored("yacht", "svgp", 2, 0.7, 0.1), scored("yacht", "svgp", 1, 0.9, 0.1),
		scored("yacht", "gfsvi:steps=10", 1, 0.8, 0.2),
		{Suite: "uci", Problem: "yacht", Method: "gfsvi:steps=10", Seed: 2, Error: "no\nluck"},
	}
	records[1].Commit = "0123456789ab"
	records[0].Warnings, records[1].Warnings = []string{"stopped after 20 steps"}, []string{"stopped after 10 steps", "stopped after 11 steps"}
	raw := []Raw{
		{Dataset: "yacht", Method: "fBNN", Source: "fBNN", LogDensity: "-1.033 ± 0.033", RMSE: "0.607 ± 0.068"},
		{Dataset: "yacht", Method: "GWI-net", Source: "GWI", LogDensity: "-0.29 ± 0.1"},
		{Dataset: "boston", Method: "GWI-net", Source: "GWI", LogDensity: "-2.27 ± 0.06"},
	}
	papers := Literature{Raw: raw, Published: []Published{
		{Dataset: "yacht", Method: "svgp", Source: "gfsvi", LogLikelihood: -0.976, LogLikelihoodSE: 0.092, MSE: new(0.4), MSESE: 0.1},
		{Dataset: "yacht", Method: "svgp", Source: "fsp-laplace", LogLikelihood: 1.532, LogLikelihoodSE: 0.139},
		{Dataset: "yacht", Method: "gfsvi", Source: "gfsvi", LogLikelihood: 1.2, LogLikelihoodSE: 0.1, MSE: new(0.01), MSESE: 0.001},
		{Dataset: "yacht", Method: "svgp", Source: "other", LogLikelihood: 0.7, LogLikelihoodSE: 0.1},
		{Dataset: "boston", Method: "svgp", Source: "gfsvi"},
	}}
	r, err := NewRegression(records, papers)
	require.NoError(t, err)
	d := r.Datasets[0]
	assert.Equal(t, []string{"svgp", "gfsvi:steps=10"}, []string{d.Methods[0].Name, d.Methods[1].Name}, "the methods of the suite come first")
	assert.InDelta(t, 0.8, d.Methods[0].LogDensity.Mean, 1e-12)
	assert.InDelta(t, 0.1, d.Methods[0].LogDensity.SE, 1e-12)
	yacht := []string{"yacht"}
	assert.Equal(t, []Tally{
		{Method: "svgp", Source: "gfsvi", Likelihood: Count{Better: 1}, Density: Count{Better: 1}, Error: Count{Better: 1}},
		{Method: "svgp", Source: "fsp-laplace", Likelihood: Count{Worse: yacht}, Density: Count{Worse: yacht}},
		{Method: "svgp", Source: "other", Likelihood: Count{Worse: yacht}, Density: Count{Within: 1}},
		{Method: "gfsvi:steps=10", Source: "gfsvi", Likelihood: Count{Worse: yacht}, Density: Count{Worse: yacht}, Error: Count{Worse: yacht}},
	}, r.Tallies)
	assert.InDelta(t, 0.8-math.Log(15), d.Methods[0].DensityRaw.Mean, 1e-12)
	assert.InDelta(t, 1, d.Methods[0].VarianceTerm.Mean, 1e-12)
	assert.InDelta(t, math.Log(10)-0.5*math.Log(2*math.Pi*math.E), d.Methods[0].ErrorsAlone.Mean, 1e-12)
	assert.Nil(t, d.Methods[0].Against, "the baseline")
	assert.Equal(t, &Comparison{Losses: 1, P: 1}, d.Methods[1].Against)
	assert.Equal(t, []string{"0123456789ab", ""}, d.Methods[0].Commits)
	assert.Equal(t, []Warning{{"yacht", "svgp", "stopped after … steps", 2}}, r.Warnings)

	var text strings.Builder
	require.NoError(t, r.WriteMarkdown(&text))
	assert.Contains(t, text.String(), "### yacht: 6 inputs, 277 training rows, 31 test rows")
	assert.Contains(t, text.String(), "-0.976 ± 0.092 [g] +, 1.532 ± 0.139 [f] -, 0.700 ± 0.100 [o] - | 0.800 ± 0.100 | 0.100 ± 0.000 | 0.632 + |")
	assert.Regexp(t, `\| yacht +\| gfsvi:steps=10 +\| +2 \| +no; luck \|`, text.String())
	for _, want := range []string{
		`\| expected log likelihood, the papers' metric +\| +4 \| +1 \| +0 \| +3 \|`,
		`\| yacht +\| +svgp \| +1.532 \[f\] \| +-0.200 \| +1 \| +0.800 \| +0.884 \| +errors \|`,
		`\| yacht +\| +svgp \| +0.700 \[o\] \| +-0.200 \| +1 \| +0.800 \| +0.884 \| variances \|`,
		`\| squared error +\| +2 \| +1 \| +0 \| +1 \|`,
		`\| svgp +\| +gfsvi \| +1 of 1 \| +\| +1 of 1 \|`,
		`\| fBNN \[fBNN\] +\| 0.607 ± 0.068 \|`,
		`\| GWI-net \[GWI\] +\| +-0.29 ± 0.1 \|`,
		`\| 0123456, unknown \|`,
		`\| gfsvi:steps=10 \| 0 of 1 \(1\) \|`,
	} {
		assert.Regexp(t, want, text.String())
	}
	assert.NotContains(t, text.String(), "-2.27", "a dataset without records")
	var summary, tables strings.Builder
	require.NoError(t, r.WriteSummary(&summary))
	require.NoError(t, r.WriteTables(&tables))
	assert.Equal(t, text.String(), summary.String()+"\n"+tables.String())
	var datasets strings.Builder
	require.NoError(t, r.WriteDatasets(&datasets))
	assert.True(t, strings.HasPrefix(tables.String(), datasets.String()+"\n### Splits with a larger log density than svgp"))
	_, err = NewRegression(nil, papers)
	assert.ErrorIs(t, err, ErrReport)
}

func TestStanding(t *testing.T) {
	// The tolerance is 2·5 + 0.0005.
	for _, c := range []struct {
		mean float64
		want Standing
	}{{11, Better}, {10.0004, Within}, {-10.0004, Within}, {-10.0006, Worse}, {math.NaN(), Worse}} {
		assert.Equal(t, c.want, standing(c.mean, 3, 0, 4), "%v", c.mean)
	}
}
