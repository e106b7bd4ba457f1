package loop

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/space"
)

func TestConflictString(t *testing.T) {
	for want, c := range map[string]Conflict{
		"trials  have equal points and the values ":                          {},
		"trials 3 have equal points and the values 0.5":                      {[]int{3}, []float64{0.5}},
		"trials 3 and 4 have equal points and the values 0.1 and 0.10000001": {[]int{3, 4}, []float64{0.1, 0.10000001}},
		"trials 3, 4 and 9 have equal points and the values 0.5, 1 and -2":   {[]int{3, 4, 9}, []float64{0.5, 1, -2}},
	} {
		require.Equal(t, want, c.String())
	}
}

// With conflicting values at equal points, Recommend ranks points by the means of their
// values, for either direction.
func TestRecommendWithConflicts(t *testing.T) {
	sp, err := space.New(space.Float("x", 0, 1))
	require.NoError(t, err)
	at := func(x float64) space.Point {
		p, err := sp.PointOf(map[string]any{"x": x})
		require.NoError(t, err)
		return p
	}
	history := func(sign float64) History {
		var h History
		for i, y := range []float64{1, 5, 2, 0.5, 2} {
			x := []float64{0.1, 0.5, 0.3, 0.5, 0.3}[i]
			h.Trials = append(h.Trials, Trial{ID: 2 * (i + 1), Point: at(x), Source: Added, State: Complete, Value: sign * y})
		}
		return h
	}
	for _, maximize := range []bool{false, true} {
		o := options(1)
		o.NoiseFree, o.Maximize = true, maximize
		sign := 1.0
		if maximize {
			sign = -1
		}
		rec, err := Recommend(t.Context(), sp, o, history(sign))
		require.NoError(t, err)
		require.Equal(t, 8, rec.Observed.Trial.ID)
		require.Equal(t, sign*2.75, rec.Observed.Mean)
		require.Equal(t, 2, rec.Model.Trial.ID)
		require.Equal(t, sign*1, rec.Model.Mean)
		s := math.Sqrt(2 * 2.25 * 2.25 / 2) // two degrees of freedom: two points with two values each
		require.InDelta(t, s, rec.Model.SD, 1e-12)
		require.InDelta(t, s/math.Sqrt2, rec.Observed.SD, 1e-12)
		conflicts := Conflicts(history(sign).Trials)
		require.Len(t, conflicts, 1)
		if !maximize {
			require.Equal(t, "trials 4 and 8 have equal points and the values 5 and 0.5", conflicts[0].String())
		}
	}

	h := history(1)
	h.Trials[3].Value = 5 // no conflict
	o := options(1)
	o.NoiseFree = true
	rec, err := Recommend(t.Context(), sp, o, h)
	require.NoError(t, err)
	require.Equal(t, rec.Observed, rec.Model)
	require.Zero(t, rec.Model.SD)
	require.Empty(t, Conflicts(h.Trials))
}

// A point is recommended if one of its trials is feasible, and the first trial is not.
func TestRecommendAFeasibleTrialOfAPoint(t *testing.T) {
	o := Options{NoiseFree: true, Require: []Requirement{{Name: "a"}}}
	h := History{Trials: []Trial{finishedTrial(1, 1), finishedTrial(2, -1), finishedTrial(3, -1)}}
	sp := box(t)
	for i := range h.Trials {
		h.Trials[i].Point = sp.Decode([]float64{0.5, 0.5})
	}
	rec, err := Recommend(t.Context(), sp, o, h)
	require.NoError(t, err)
	require.Equal(t, 2, rec.Model.Trial.ID)
	require.Equal(t, rec.Observed, rec.Model)
	require.Equal(t, 1.0, rec.Model.Feasible)
}
