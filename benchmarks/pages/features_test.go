package main

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/benchmarks/runner"
)

// features stores runs of a suite.
func features(t *testing.T, dir, suite string, runs ...runner.Record) {
	t.Helper()
	store, err := runner.OpenStore(filepath.Join(dir, suite))
	require.NoError(t, err)
	for _, r := range runs {
		r.Suite, r.Date = "features/"+suite, "2026-01-02T03:04:05Z"
		require.NoError(t, store.Append(r))
	}
	require.NoError(t, store.Close())
}

// The tables have medians, the worst regret, and p-values with an adjustment for the comparisons of all suites.
func TestFeatures(t *testing.T) {
	dir := t.TempDir()
	made := func(problem, method string, seed uint64, regret ...float64) runner.Record {
		return runner.Record{Problem: problem, Method: method, Seed: seed, Budget: len(regret), Minimum: new(float64), Regret: regret, Values: regret, Suggest: make(runner.Numbers, len(regret))}
	}
	var runs []runner.Record
	for seed := range uint64(6) { // differences of one sign: p = 2/64
		s := float64(seed + 1)
		runs = append(runs, made("p", "first", seed, 3, 0.2, 0.01*s), made("p", "nothing", seed, 4, 2, s))
	}
	features(t, dir, "beliefs", runs...)
	features(t, dir, "categories", made("q", "per column", 1, 3, 2, 1), made("q", "per categorical", 1, 3, 2, 1))
	features(t, dir, "failures", made("r", "worst value", 1, math.NaN(), 2, 1), made("r", "learned", 1, math.NaN(), math.NaN(), 2))
	ended := func(seed uint64, measures map[string]float64) runner.Record {
		return runner.Record{Problem: "s", Method: "noise 0", Seed: seed, Measures: measures}
	}
	features(t, dir, "regret", ended(1, map[string]float64{"trials 0.3": 20, "regret 0.3": 0.1}), ended(2, map[string]float64{"trials 0.3": 30, "regret 0.3": 0.31}))
	rows := func(part string) []string {
		text, _, err := call(t, "features", dir, "--part", part)
		require.NoError(t, err)
		var list []string
		for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
			list = append(list, strings.Join(strings.Fields(line), " "))
		}
		return list
	}
	require.Equal(t, []string{
		"| p | nothing | 3 | 6 | 4 | 2 | 3.5 | 6 | | | | |",
		"| p | first | 3 | 6 | 3 | 0.2 | 0.035 | 0.06 | 6, 0, 0 | 0.01 | 0.031 | 0.094 |",
	}, rows("beliefs")[2:])
	require.Equal(t, "| q | per categorical | 3 | 1 | 3 | 2 | 1 | 1 | 0, 1, 0 | 1 | 1 | 1 |", rows("categories")[3])
	require.Equal(t, "| r | learned | 3 | 1 | +Inf | +Inf | 2 | 2 | 2 | 0, 0, 1 | 2 | 1 | 1 |", rows("failures")[3])
	require.Equal(t, "| s | noise 0 | 2 | 1/2, 25 | 0/0 | 0/0 | 0/0 |", rows("regret")[2])
	require.Equal(t, "- beliefs: 12 runs, 2026-01-02.", rows("records")[0])

	features(t, dir, "categories", made("q", "per column", 2, 3, 2, 1))
	_, _, err := call(t, "features", dir, "--part", "beliefs")
	require.ErrorContains(t, err, "q, per categorical has other seeds than q, per column")
}
