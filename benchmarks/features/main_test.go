package main

import (
	"context"
	"io"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/benchmarks/runner"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
)

// The record of a run has a value without its failed trials, and the regret of the best one. Earlier trials are
// not part of it.
func TestMeasure(t *testing.T) {
	v := variant{
		space: box(1, "x"), minimum: 1, options: loop.Options{Budget: 3, Initial: 3, NoiseFree: true},
		objective: func(_ context.Context, p space.Point) (float64, error) {
			if p.Float("x") < 0.3 {
				return 0, errRegion
			}
			return 1 + p.Float("x"), nil
		},
		prepare: func(s *loop.Study) error {
			_, err := s.Add(s.Space().Decode([]float64{0.4}), 1)
			return err
		},
	}
	v.options.First = []map[string]any{{"x": 0.1}, {"x": 0.75}, {"x": 0.5}}
	rec := runner.Record{Measures: map[string]float64{}}
	require.NoError(t, v.measure(t.Context(), runner.Method{}, 1, &rec))
	require.True(t, math.IsNaN(rec.Values[0]))
	require.Equal(t, runner.Numbers{1.75, 1.5}, rec.Values[1:])
	require.Equal(t, runner.Numbers{math.Inf(1), 0.75, 0.5}, rec.Regret)
	require.Len(t, rec.Suggest, 3)
	require.Nil(t, rec.Measures)
}

// Every suite has runs with different keys, and a run with a record is not repeated.
func TestRunContinues(t *testing.T) {
	out := t.TempDir()
	for _, suite := range []string{"beliefs", "categories", "failures", "regret"} {
		runs, err := plan(suite)
		require.NoError(t, err)
		store, err := runner.OpenStore(filepath.Join(out, suite))
		require.NoError(t, err)
		keys := map[runner.Key]bool{}
		for _, r := range runs {
			r.Seed = 1
			require.False(t, keys[r.Key()], "%v", r.Key())
			keys[r.Key()] = true
			require.NoError(t, store.Append(runner.Record{Suite: "features/" + suite, Problem: r.Experiment, Method: r.Method.Name, Seed: 1}))
		}
		require.NoError(t, store.Close())
		before, err := os.ReadFile(filepath.Join(out, suite, "runs.jsonl"))
		require.NoError(t, err)
		require.NoError(t, run(t.Context(), io.Discard, out, suite, 1, 1))
		after, err := os.ReadFile(filepath.Join(out, suite, "runs.jsonl"))
		require.NoError(t, err)
		require.Equal(t, before, after)
	}
	require.EqualError(t, run(t.Context(), io.Discard, out, "belief", 1, 1), `unknown suite "belief": want beliefs, categories, failures or regret`)
}
