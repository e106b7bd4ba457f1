package loop

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/space"
)

// Trials that newer constraints exclude count in fits, and are neither the best nor compared with suggestions.
func TestTrialsOutsideConstraints(t *testing.T) {
	params := []space.Parameter{space.Float("x", 0, 1), space.Float("y", 0, 1), space.Categorical("c", "a", "b")}
	all, pinned := newRestricted(t, params), newRestricted(t, params, "c == 'b'")
	value := func(x, y float64, c string) float64 {
		v := (x-0.7)*(x-0.7) + (y-0.2)*(y-0.2)
		if c == "b" {
			v += 0.5
		}
		return v
	}
	history := func(inside int) (h History) {
		u := space.Sobol(14, 2, random.New(1, "outside", 0))
		for i := range 14 {
			x, y, c := u.At(i, 0), u.At(i, 1), "a"
			if i < inside {
				c = "b"
			}
			p, err := all.PointOf(map[string]any{"x": x, "y": y, "c": c})
			require.NoError(t, err)
			h.Trials = append(h.Trials, Trial{ID: i + 1, Point: p, Source: Suggested, State: Complete, Value: value(x, y, c), Outside: c == "a"})
		}
		return h
	}
	for _, o := range []Options{{}, {NoiseFree: true}, {Require: []Requirement{{Name: "n", Bound: 5}}}} {
		for inside := range 3 {
			h := history(inside)
			for i := range h.Trials {
				h.Trials[i].Numbers = map[string]float64{"n": 1}
			}
			out, err := Propose(t.Context(), pinned, o, h, 2)
			require.NoError(t, err)
			require.Equal(t, "b", out.Points[0].Point.Value("c"))
			require.Equal(t, Suggested, out.Points[0].Source)
			require.Equal(t, 14, out.Fit.Observations)
			r, err := Recommend(t.Context(), pinned, o, h)
			if inside == 0 {
				require.ErrorIs(t, err, ErrNoValue)
				continue
			}
			require.NoError(t, err)
			require.LessOrEqual(t, r.Model.Trial.ID, inside)
			require.LessOrEqual(t, r.Observed.Trial.ID, inside)
		}
	}
	two := Options{Objectives: []Goal{{Name: "f"}, {Name: "g"}}}
	for inside := range 3 {
		h := history(inside)
		for i := range h.Trials {
			h.Trials[i].Numbers = map[string]float64{"f": h.Trials[i].Value, "g": float64(i % 5)}
		}
		_, err := Propose(t.Context(), pinned, two, h, 1)
		require.NoError(t, err)
		r, err := RecommendFront(t.Context(), pinned, two, h)
		if inside == 0 {
			require.ErrorIs(t, err, ErrNoValue)
			continue
		}
		require.NoError(t, err)
		for _, e := range r.Model {
			require.LessOrEqual(t, e.Trial.ID, inside)
		}
		require.LessOrEqual(t, len(r.Observed.Front), inside)
	}

	h := history(1)
	h.Trials[3].State = Pending
	_, err := Propose(t.Context(), pinned, Options{}, h, 1)
	require.ErrorIs(t, err, ErrHistory)
	h = history(1)
	h.Trials[3].Outside = false
	_, err = Propose(t.Context(), pinned, Options{}, h, 1)
	require.ErrorIs(t, err, ErrHistory)
	bound, err := EstimateRegret(t.Context(), pinned, Options{}, history(2), 0.9)
	require.NoError(t, err)
	require.LessOrEqual(t, bound.Trial, 2)
}
