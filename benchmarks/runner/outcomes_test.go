package runner_test

import (
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/benchmarks/runner"
)

// The default method for several objectives leaves less hypervolume missing than Sobol points on each problem
// of the suite. This holds in most runs and for the median. On Branin-Currin its median hypervolume after 40
// evaluations is at least 58 of 59.36. Its 28 to 30 points on the front can have 58.2, and 40 points 58.5.
//
// BO_SEEDS is the number of runs, which take half a minute each. The seeds begin at 1001, because the suite's own
// seeds are for choices. The distribution of the hypervolume on Branin-Currin has a standard
// deviation of 0.06 around 58.05, so the bound needs at least ten runs.
func TestHypervolumeOfSearches(t *testing.T) {
	seeds, err := strconv.Atoi(os.Getenv("BO_SEEDS"))
	if err != nil || seeds < 10 {
		t.Skip("set BO_SEEDS to the number of runs, at least 10")
	}
	suite, err := runner.Lookup("outcomes")
	require.NoError(t, err)
	plan, err := suite.Plan(runner.Selection{Methods: []string{"gp", "sobol"}, Seeds: seeds})
	require.NoError(t, err)
	for i := range plan {
		plan[i].Seed += 1000
	}
	missing := map[string]map[string][]float64{} // by problem, method and seed
	require.NoError(t, runner.Execute(t.Context(), plan, 2, func(r runner.Record) error {
		require.Empty(t, r.Error)
		by := missing[r.Problem]
		if by == nil {
			by = map[string][]float64{"gp": make([]float64, seeds), "sobol": make([]float64, seeds)}
			missing[r.Problem] = by
		}
		by[r.Method][r.Seed-1001] = r.Regret[len(r.Regret)-1]
		return nil
	}))
	require.Len(t, missing, len(suite.Problems))
	for problem, by := range missing {
		wins := 0
		for i, v := range by["gp"] {
			assert.GreaterOrEqual(t, v, 0.0, problem)
			if v < by["sobol"][i] {
				wins++
			}
		}
		assert.Greater(t, 2*wins, seeds, problem)
		middle := median(by["gp"])
		assert.Less(t, middle, median(by["sobol"]), problem)
		t.Logf("%s: median of the missing hypervolume %.4g, wins against Sobol points %d of %d", problem, middle, wins, seeds)
		if problem == "branin-currin" {
			assert.LessOrEqual(t, middle, 59.36-58)
		}
	}
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}
