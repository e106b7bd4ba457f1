package report

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/benchmarks/runner"
)

// A design without a value has no regret from which a profile could start. A record in memory has +Inf in place of the NaN of a
// file.
func TestDesignWithoutAValue(t *testing.T) {
	for _, none := range []float64{math.NaN(), math.Inf(1)} {
		var all []runner.Record
		for _, method := range []string{"a", "b"} {
			for seed := range uint64(2) {
				regret := []float64{10, 1, 1, 1, 1e-3, 1e-3, 1e-3, 1e-3}
				if seed == 1 {
					regret[0] = none
				}
				r := record("f", method, seed+1, regret[:4]...)
				r.Budget, r.Values, r.Regret, r.Suggest = 8, regret, regret, make(runner.Numbers, 8)
				all = append(all, r)
			}
		}
		r, err := New(all, "a")
		require.NoError(t, err)
		assert.Equal(t, 2, r.Blocks)
		assert.Equal(t, 1, r.Profiled)
		assert.Equal(t, [][]int{{5}, {5}}, r.Ranks[0].Solved)
		assert.InDelta(t, (-11./8-12./7)/2, *r.Problems[0].Methods[0].Area, 1e-12)
		_, err = json.Marshal(r)
		require.NoError(t, err)
	}
}

// A method with a single run takes part in pairs only; the others keep all their
// blocks.
func TestRanksWithoutIncompleteMethods(t *testing.T) {
	all := append(records(), record("g", "b", 2, 1, 1, 1, 3), record("f", "late", 1, 100, 1, 1, 1e-3))
	r, err := New(all, "a")
	require.NoError(t, err)
	assert.Equal(t, 4, r.Blocks)
	assert.Equal(t, []string{"late"}, r.Unranked)
	require.Len(t, r.Ranks, 3)
	late := r.Pairs[1]
	assert.Equal(t, "late", late.Name)
	assert.Equal(t, 1, late.End.N())
	assert.Equal(t, 1, late.End.Wins)
	assert.InDelta(t, 0.1, late.End.Factor, 1e-15)
}

// Ranks of three methods sum to 6, and intervals hold the means.
func TestRanksSum(t *testing.T) {
	r, err := New(records(), "")
	require.NoError(t, err)
	for k := range 4 {
		var sum float64
		for _, o := range r.Ranks {
			sum += o.At[k].Mean
			assert.LessOrEqual(t, o.At[k].Lo, o.At[k].Mean+1e-12)
			assert.GreaterOrEqual(t, o.At[k].Hi, o.At[k].Mean-1e-12)
		}
		assert.InDelta(t, 6, sum, 1e-12)
	}
}

// If the design takes nearly the whole budget, only times are compared.
func TestTimesOnly(t *testing.T) {
	var all []runner.Record
	for _, method := range []string{"a", "b"} {
		r := record("f", method, 1, 1, 1, 1, 1)
		r.Budget, r.Initial, r.Suggest = 8, 7, runner.Numbers{0, 0, 0, 0, 0, 0, 0, 0.5}
		r.Values, r.Regret = make(runner.Numbers, 8), make(runner.Numbers, 8)
		all = append(all, r)
	}
	r, err := New(all, "a")
	require.NoError(t, err)
	assert.Empty(t, r.Ranks)
	assert.Empty(t, r.Pairs)
	assert.Len(t, r.Problems, 1)
	assert.Equal(t, Seconds{"b", []int{6}, []float64{0.5}, []float64{0.5}, []float64{0.5}}, r.Seconds[1])
	assert.False(t, r.Contested())
}

// Ranks include problems with an unknown minimum, data profiles do not.
func TestProfilesNeedMinimum(t *testing.T) {
	all := records()
	for i := range all {
		if all[i].Problem == "g" {
			all[i].Minimum, all[i].Regret = nil, nil
		}
	}
	r, err := New(all, "a")
	require.NoError(t, err)
	assert.Equal(t, 3, r.Blocks)
	assert.Equal(t, 2, r.Profiled)
	assert.Equal(t, [][]int{{2, 3}, {3, 4}}, r.Ranks[0].Solved)
}

func TestReward(t *testing.T) {
	a := record("f", "a", 1, 4, 5, 2)
	b := record("f", "a", 2, 1, 5, 0)
	for _, r := range []*runner.Record{&a, &b} {
		minimum := -3.0
		r.Minimum = &minimum
	}
	c := newCurve([]runner.Record{a, b}, []int{1, 3}, true)
	assert.Equal(t, []float64{-2.5, -1}, c.Reward)
	assert.InDeltaSlice(t, []float64{1.5, 1}, c.RewardSE, 1e-15)
}

func TestReached(t *testing.T) {
	assert.Equal(t, 1, reached([]float64{1, 0.1}, 1))
	assert.Equal(t, 2, reached([]float64{1, 0.1}, 0.5))
	assert.Equal(t, 0, reached([]float64{1, 0.1}, 0.01))
	assert.Equal(t, 2, reached([]float64{1, Floor}, 0))
}

func TestBins(t *testing.T) {
	for n, want := range map[int]int{1: 1, 2: 2, 7: 6, 8: 8, 10: 10, 12: 10, 13: 13, 50: 50, 52: 50, 62: 50, 63: 63, 99: 79, 100: 100, 102: 100, 200: 200, 202: 200, 1000: 1000} {
		assert.Equal(t, want, bin(n), n)
	}
	assert.Equal(t, 63, next(50))
	assert.Equal(t, 126, next(100))
}

func TestGrid(t *testing.T) {
	r, err := New(records(), "")
	require.NoError(t, err)
	for _, p := range r.Problems {
		assert.Equal(t, []int{1, 2, 3, 4}, p.Grid)
		for _, m := range p.Methods {
			for k, n := range p.At {
				assert.Equal(t, m.At[k].Median, m.Curve.Median[n-1])
			}
		}
	}
}
