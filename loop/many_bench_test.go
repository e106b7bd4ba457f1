package loop

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/benchmarks"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/space"
)

// BenchmarkManyTrials measures one cold suggestion after n trials of the Levy function in six inputs:
// exact values, values with noise of standard deviation 5, and exact values with a categorical in
// place of an input. Half of the trials are a Sobol design, and the others are around the best so far.
func BenchmarkManyTrials(b *testing.B) {
	for _, n := range []int{1500, 2000, 5000, 20000} {
		for _, kind := range []string{"exact", "noisy", "categorical"} {
			b.Run(fmt.Sprintf("%s/n=%d", kind, n), func(b *testing.B) {
				sp, h := manyTrials(b, kind, n)
				for b.Loop() {
					_, err := Propose(b.Context(), sp, Options{NoiseFree: kind != "noisy"}, h, 1)
					require.NoError(b, err)
				}
			})
		}
	}
}

func manyTrials(b *testing.B, kind string, n int) (*space.Space, History) {
	levels := []float64{0, 1, 3, -4}
	objective := benchmarks.Levy(6)
	params := objective.Space.Parameters()
	first := params[0].Name
	if kind == "categorical" {
		params[0] = space.Categorical(first, "a", "b", "c", "d")
	}
	sp, err := space.New(params...)
	require.NoError(b, err)
	rng := random.New(1, "trials", 0)
	x := space.Sobol(n, sp.Dim(), rng)
	var h History
	low := 0
	for i := range n {
		u := x.RawRowView(i)
		if i >= n/2 {
			for j, v := range x.RawRowView(low) {
				u[j] = min(max(v+0.1*rng.NormFloat64(), 0), 1)
			}
		}
		p := sp.Decode(u)
		values := p.Map()
		if kind == "categorical" {
			values[first] = levels[slices.Index([]string{"a", "b", "c", "d"}, values[first].(string))]
		}
		at, err := objective.Space.PointOf(values)
		require.NoError(b, err)
		t := Trial{ID: i + 1, Point: p, State: Complete, Value: objective.At(at)}
		if kind == "noisy" {
			t.Value += 5 * rng.NormFloat64()
		}
		h.Trials = append(h.Trials, t)
		if t.Value < h.Trials[low].Value {
			low = i
		}
	}
	return sp, h
}
