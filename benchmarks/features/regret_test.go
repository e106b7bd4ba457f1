package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/benchmarks"
	"github.com/functionspace/bo/benchmarks/runner"
	"github.com/functionspace/bo/space"
)

// Equal values give no estimate of the regret, and no limit ends the run.
func TestRegretOfEqualValues(t *testing.T) {
	s, err := space.New(space.Float("x", 0, 1))
	require.NoError(t, err)
	rec := runner.Record{Measures: map[string]float64{}}
	require.NoError(t, regretRun(t.Context(), benchmarks.Objective{Space: s, Lo: []float64{0}, Hi: []float64{1}, Func: func([]float64) float64 { return 1 }}, 0, 1, &rec))
	require.Empty(t, rec.Measures)
}
