package report

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/benchmarks/runner"
)

// The held-out rows of the folds choose the setting of a dataset. A setting that misses a split takes no part.
func TestChoiceByHand(t *testing.T) {
	record := func(problem, kernel string, seed uint64, held, test float64) runner.Record {
		r := scored(problem, "gfsvi:kernel="+kernel, seed, test+1, 0.1)
		r.Suite, r.Score.Held = "paper/uci", held
		r.Warnings = []string{"of " + kernel}
		return r
	}
	r, err := NewRegression([]runner.Record{
		record("boston", "rq", 1, -1, 3), record("boston", "rq", 2, -2, 5),
		record("boston", "rbf", 1, -3, 9), record("boston", "rbf", 2, 0.5, 9),
		record("boston", "matern12", 1, 7, 9),
		record("yacht", "rq", 1, -1, 3), record("yacht", "rbf", 1, -0.5, 2),
	}, Literature{
		Published: []Published{{Dataset: "boston", Method: "gfsvi", Source: "gfsvi", LogLikelihood: 0.5}},
		Raw:       []Raw{{Dataset: "boston", Method: "GWI-net", Source: "GWI", LogDensity: "-2.27 ± 0.06"}},
	})
	require.NoError(t, err)
	require.Len(t, r.Datasets, 2)
	yacht, boston := r.Datasets[0].Methods, r.Datasets[1].Methods
	require.Len(t, boston, 1)
	assert.Equal(t, "gfsvi", boston[0].Name)
	assert.Equal(t, "kernel=rbf", boston[0].Setting)
	assert.InDelta(t, 9, boston[0].LogLikelihood.Mean, 1e-12)
	assert.Equal(t, "kernel=rbf", yacht[0].Setting)
	assert.InDelta(t, 2, yacht[0].LogLikelihood.Mean, 1e-12)
	assert.Equal(t, Better, boston[0].Published[0].Likelihood)
	assert.Equal(t, []Warning{
		{"yacht", "gfsvi", "of rbf", 1}, {"boston", "gfsvi", "of rbf", 2},
	}, r.Warnings, "of the chosen runs")
	var text strings.Builder
	require.NoError(t, r.WriteMarkdown(&text))
	assert.Regexp(t, `\| gfsvi +\| +kernel=rbf \| +2 \| +9.000`, text.String())
	assert.NotContains(t, text.String(), "GWI-net", "raw numbers have the splits of another suite")
}

// Each split has the setting with its own largest log likelihood of held-out rows.
func TestEachSplitByHand(t *testing.T) {
	record := func(method string, seed uint64, held, test float64) runner.Record {
		r := scored("boston", method, seed, test+1, 0.1)
		r.Suite, r.Score.Held = "paper/uci", held
		return r
	}
	failed := runner.Record{Suite: "paper/uci", Problem: "boston", Method: "gfsvi:kernel=rq", Seed: 3, Error: "out of memory"}
	chosen := EachSplit([]runner.Record{
		record("gfsvi:kernel=rq", 1, -1, 3), record("gfsvi:kernel=rq", 2, -2, 5),
		record("gfsvi:kernel=rbf", 1, -3, 8), record("gfsvi:kernel=rbf", 2, 0.5, 9),
		record("map", 1, 0, 4), failed,
	})
	require.Equal(t, []runner.Record{record("gfsvi", 1, -1, 3), record("gfsvi", 2, 0.5, 9), record("map", 1, 0, 4), failed}, chosen)
	r, err := NewRegression(chosen, Literature{})
	require.NoError(t, err)
	require.Equal(t, "gfsvi", r.Datasets[0].Methods[0].Name)
	require.InDelta(t, 6, r.Datasets[0].Methods[0].LogLikelihood.Mean, 1e-12)
	require.Empty(t, EachSplit(nil))
}
