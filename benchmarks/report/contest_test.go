package report

import (
	"bytes"
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/benchmarks/runner"
)

// fitted returns the record of a run of networks/density.
func fitted(problem, method string, seed uint64, density, rmse, coverage, seconds float64) runner.Record {
	return runner.Record{
		Suite: "networks/density", Problem: problem, Method: method, Seed: seed, Dim: 2,
		Score: &runner.Score{Train: 10, Test: 500, LogDensity: density, RMSE: rmse, RMSERaw: rmse, Coverage: coverage, Fit: 1, Processor: seconds},
	}
}

// laplace is better than gp and the best control in all ten pairs of the class rough. ensemble is better than
// gp with too small intervals, and fvi is worse. A seed that gp has not finished makes no pair.
func TestContests(t *testing.T) {
	var records []runner.Record
	for seed := range uint64(5) {
		seed++
		for _, problem := range []string{"jump", "cells"} {
			x := float64(seed) / 100
			records = append(records,
				fitted(problem, "gp", seed, x, 0.4, 0.9, 2),
				fitted(problem, "svgp", seed, x-0.5, 0.4, 0.9, 2),
				fitted(problem, "dkl", seed, x+0.1, 0.4, 0.9, 2),
				fitted(problem, "laplace", seed, x+0.3+x*x, 0.2, 0.9, 6),
				fitted(problem, "ensemble", seed, x+0.2+x*x, 0.3, 0.7, 8),
				fitted(problem, "fvi", seed, x-1-x*x, 0.5, 0.9, 8))
		}
	}
	records = append(records, fitted("jump", "laplace", 6, -9, 9, 0.1, 6))
	records = append(records, runner.Record{Suite: "networks/density", Problem: "jump", Method: "gp", Seed: 6, Error: "no convergence"})
	r, err := NewRegression(records, Literature{})
	require.NoError(t, err)
	require.Equal(t, "gp", r.Baseline)
	found := map[string]Contest{}
	for _, c := range r.Contests {
		require.Equal(t, "rough", c.Class)
		require.Equal(t, 10, c.Pairs.N(), c.Method)
		require.Equal(t, 2, c.Sets)
		found[c.Method] = c
	}
	require.Len(t, found, 5)
	l := found["laplace"]
	assert.Equal(t, 10, l.Pairs.Wins)
	assert.InDelta(t, 2.0/1024, l.Pairs.P, 1e-12)
	assert.InDelta(t, 5*l.Pairs.P, l.Adjusted, 1e-12)
	assert.InDelta(t, 0.3+0.03*0.03, l.Difference, 1e-12)
	assert.InDelta(t, 0.5, l.Error, 1e-12)
	assert.InDelta(t, 3, l.Processor, 1e-12)
	assert.Equal(t, "dkl", l.Best)
	assert.Equal(t, "pays, beyond dkl", l.Verdict())
	assert.Equal(t, "pays", found["dkl"].Verdict())
	assert.Nil(t, found["dkl"].Beyond)
	assert.Equal(t, "larger density, other conditions fail", found["ensemble"].Verdict())
	assert.Equal(t, "smaller density", found["fvi"].Verdict())

	var summary, datasets bytes.Buffer
	require.NoError(t, r.WriteSummary(&summary))
	assert.Regexp(t, `\| laplace +\| +10 on 2 tasks \| +10, 0, 0 \| +\+0.301 \| +0.0098 \| +0.5 \| +0.900 \| +3 \| +dkl: 10, 0, 0 \| +0.0059 \| +pays, beyond dkl \|`, summary.String())
	require.NoError(t, r.WriteDatasets(&datasets))
	assert.Regexp(t, `\| method +\| seeds \| +log density \| +above gp \| +RMSE \| 90 % coverage \| CPU of a fit \|`, datasets.String())
	assert.Len(t, r.Failures, 1)
}

// Labels have the share of wrong labels as error, no condition on a coverage, and no controls.
func TestContestsOfLabels(t *testing.T) {
	var records []runner.Record
	for seed := range uint64(10) {
		for method, density := range map[string]float64{"gp": -0.3, "laplace": -0.2 + float64(seed)/1000} {
			r := fitted("moons", method, seed+1, density, 0, 0, 1)
			r.Score.RMSERaw, r.Score.Calibration = 0, 0.05
			records = append(records, r)
		}
	}
	r, err := NewRegression(records, Literature{})
	require.NoError(t, err)
	require.Len(t, r.Contests, 1)
	assert.Equal(t, "pays", r.Contests[0].Verdict())
	assert.InDelta(t, 1, r.Contests[0].Error, 0)
	assert.InDelta(t, 0.05, r.Contests[0].Coverage, 1e-12)
	var text bytes.Buffer
	require.NoError(t, r.WriteText(&text))
	assert.Contains(t, text.String(), "calibration error")
	assert.NotContains(t, text.String(), "NaN")
}

// A baseline without wrong labels has no error ratio in JSON.
func TestContestOfAPerfectBaseline(t *testing.T) {
	var records []runner.Record
	for seed := range uint64(4) {
		for method, wrong := range map[string]float64{"gp": 0, "svgp": 0.1} {
			records = append(records, runner.Record{Suite: "networks/density", Problem: "moons", Method: method, Seed: seed + 1, Score: &runner.Score{LogDensity: -wrong, Wrong: wrong}})
		}
	}
	r, err := NewRegression(records, Literature{})
	require.NoError(t, err)
	require.Len(t, r.Contests, 1)
	require.Equal(t, math.Inf(1), r.Contests[0].Error)
	require.False(t, r.Contests[0].Pays())
	text, err := json.Marshal(r)
	require.NoError(t, err)
	require.Contains(t, string(text), `"error_ratio":null`)
	require.Equal(t, 1, bytes.Count(text, []byte("error_ratio")))
	var again Regression
	require.NoError(t, json.Unmarshal(text, &again))
	require.Equal(t, r.Contests, again.Contests, "a ratio that is null is no ratio of 0")

	var table bytes.Buffer
	require.NoError(t, r.WriteText(&table))
	require.Regexp(t, `svgp .* ∞ `, table.String())
	require.Contains(t, table.String(), "∞: the baseline has no errors.")
	require.NotContains(t, table.String(), "Inf")
}
