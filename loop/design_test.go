package loop

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/space/expression"
)

// A block of the design is computed once, even if its points are asked for one by one. The points are the same as
// for one call.
func TestDesignBlockIsComputedOnce(t *testing.T) {
	const n = 200
	s := newSpace(t, space.Float("x", 0, 1), space.Int("n", 1, 5))
	o := Options{Initial: n, Seed: 71}
	together, err := Propose(t.Context(), s, o, History{}, n)
	require.NoError(t, err)
	made := designBlocks.made
	s = newSpace(t, space.Float("x", 0, 1), space.Int("n", 1, 5))
	var h History
	for i := range n {
		one, err := Propose(t.Context(), s, o, h, 1)
		require.NoError(t, err)
		require.Equal(t, together.Points[i].Point.Map(), one.Points[0].Point.Map())
		h.Trials = append(h.Trials, Trial{ID: i + 1, Point: one.Points[0].Point, State: Pending})
	}
	require.Equal(t, made+1, designBlocks.made)
}

// Blocks that are not kept any more, or are too large to keep, have the same points.
func TestDesignBlocksAreBounded(t *testing.T) {
	s := newSpace(t, space.Float("x", 0, 1))
	first := func(seed uint64, initial int) space.Point {
		p, err := Propose(t.Context(), s, Options{Initial: initial, Seed: seed}, History{}, 1)
		require.NoError(t, err)
		return p.Points[0].Point
	}
	want := first(1, 4)
	for seed := range uint64(2 * maxBlocks) {
		first(seed+2, 4)
	}
	require.LessOrEqual(t, len(designBlocks.kept), maxBlocks)
	require.Equal(t, want.Key(), first(1, 4).Key())
}

// While all values are equal, suggestions would lie in the corners, so the design goes on.
func TestFlatValuesContinueTheDesign(t *testing.T) {
	s := newSpace(t, space.Float("x", 0, 1), space.Float("y", 0, 1))
	for name, o := range map[string]Options{
		"exact": {NoiseFree: true}, "noisy": {}, "several": {Objectives: []Goal{{Name: "a"}, {Name: "b", Maximize: true}}},
	} {
		study, err := New(s, o)
		require.NoError(t, err)
		ask := func(n int, value float64) (trials []Trial) {
			trials, err := study.Ask(t.Context(), n)
			require.NoError(t, err)
			for _, trial := range trials {
				out := Outcome{Value: value, Numbers: map[string]float64{"a": value, "b": 1e6}}
				require.NoError(t, study.TellOutcome(trial.ID, out))
			}
			return trials
		}
		ask(1, 7)
		for range 10 {
			for _, trial := range ask(3, 7) {
				require.Equal(t, Design, trial.Source, "%s: trial %d", name, trial.ID)
				if trial.ID > 10 {
					require.Equal(t, []string{flatWarning}, trial.Warnings, name)
				}
			}
		}
		ask(1, 6)
		require.Equal(t, Suggested, ask(1, 7)[0].Source, name)
	}
}

// Other information than values chooses the points although all values are equal.
func TestFlatValuesBesideOtherInformation(t *testing.T) {
	s := newSpace(t, space.Float("x", 0, 1), space.Float("y", 0, 1))
	for name, o := range map[string]Options{
		"constraint": {Require: []Requirement{{Name: "c", Bound: 0.2}}},
		"prior mean": {PriorMean: Mean{Text: "x + y", At: func(p space.Point) float64 { return p.Float("x") + p.Float("y") }}},
	} {
		o.Budget = 10
		r, err := MinimizeOutcomes(t.Context(), func(_ context.Context, p space.Point) (Outcome, error) {
			return Outcome{Value: 3, Numbers: map[string]float64{"c": p.Float("x")}}, nil
		}, s, o)
		require.NoError(t, err, name)
		require.Equal(t, Suggested, r.Trials[9].Source, name)
	}
}

// The design of a mixture spreads the parameters beside it as without a mixture.
func TestDesignOfAMixture(t *testing.T) {
	number := func(name string) space.Parameter { return space.StepFloat(name, 0, 1, 0.005) }
	s, err := expression.Space([]space.Parameter{number("a"), number("b"), number("c"), number("d"), space.Float("t", 0, 1), space.Categorical("kind", "x", "y")}, "a + b + c + d == 1")
	require.NoError(t, err)
	for seed := range uint64(4) {
		study, err := New(s, Options{Initial: 16, Seed: seed})
		require.NoError(t, err)
		quarters, kinds := [4]int{}, map[string]int{}
		for range 16 {
			trials, err := study.Ask(t.Context(), 1)
			require.NoError(t, err)
			quarters[int(4*trials[0].Point.Float("t"))]++
			kinds[trials[0].Point.Text("kind")]++
		}
		require.GreaterOrEqual(t, slices.Min(quarters[:]), 3)
		require.Len(t, kinds, 2)
	}
}

// A search may find no further points of a space that is too large for a list. A noisy study then goes on with
// points that repeat, and an exact one is exhausted.
func TestDesignOfFewPointsAmongMany(t *testing.T) {
	s := newSpace(t, space.Int("a", 0, 3000), space.Int("b", 0, 3000))
	excess := func(p space.Point) float64 {
		return math.Abs(p.Float("a")-p.Float("b")) + max(0, p.Float("a")+p.Float("b")-4)
	}
	s, err := s.Constrain(space.Condition{
		Text: "a == b and a + b <= 4", On: []string{"a", "b"}, Excess: excess,
		Holds: func(p space.Point) bool { return excess(p) == 0 },
	})
	require.NoError(t, err)
	require.False(t, s.Listed())
	for _, exact := range []bool{false, true} {
		study, err := New(s, Options{Initial: 5, NoiseFree: exact})
		require.NoError(t, err)
		trials, err := study.Ask(t.Context(), 3)
		require.NoError(t, err)
		require.Len(t, keys(trials), 3)
		trials, err = study.Ask(t.Context(), 2)
		if exact {
			require.ErrorIs(t, err, ErrExhausted)
			continue
		}
		require.NoError(t, err)
		require.Len(t, trials, 2)
		require.Equal(t, Design, trials[1].Source)
	}
}

// The design goes on after trials that were evaluated at other values than suggested, such as rounded ones.
func TestDesignOfMovedTrials(t *testing.T) {
	s := newSpace(t, space.Float("x", 0, 60), space.Float("y", 180, 250))
	o := Options{Initial: 8, Seed: 5}
	together, err := Propose(t.Context(), s, o, History{}, 12)
	require.NoError(t, err)
	var h History
	for i, want := range together.Points {
		one, err := Propose(t.Context(), s, o, h, 1)
		require.NoError(t, err)
		if i < 8 {
			require.Equal(t, want.Point.Map(), one.Points[0].Point.Map(), "trial %d", i+1)
		}
		trial := Trial{ID: i + 1, Point: one.Points[0].Point, Source: one.Points[0].Source, State: Pending}
		if i%3 != 1 { // two of three move
			values := trial.Point.Map()
			trial.Point, err = s.PointOf(map[string]any{"x": math.Floor(values["x"].(float64)), "y": math.Floor(values["y"].(float64))})
			require.NoError(t, err)
			trial.State, trial.Value = Complete, float64(i%4)
		}
		h.Trials = append(h.Trials, trial)
	}
}

// The points of an Ask are the points of Propose, also if an earlier Ask has computed them and the study has changed since.
func TestDesignComputedAhead(t *testing.T) {
	ctx := t.Context()
	sp := newSpace(t, space.Float("x", -5, 10), space.Float("y", 0, 15), space.Int("k", 1, 5))
	s := newStudy(t, sp, Options{Initial: 30, First: []map[string]any{{"x": 1}, {"y": 2}}})
	at := func(x float64) space.Point {
		p, err := sp.PointOf(map[string]any{"x": x, "y": 3, "k": 2})
		require.NoError(t, err)
		return p
	}
	ahead := 0
	ask := func(n int) {
		t.Helper()
		want, err := Propose(ctx, sp, s.opts, s.history(), n)
		require.NoError(t, err)
		if len(s.ready) >= n && len(s.trials) == s.readyAt && len(s.queue) == 0 {
			ahead += n
		}
		trials, err := s.Ask(ctx, n)
		require.NoError(t, err)
		for i, p := range want.Points {
			require.Equal(t, p.Point.Key(), trials[i].Point.Key(), "trial %d", trials[i].ID)
			require.Equal(t, p.Source, trials[i].Source)
			require.Len(t, trials[i].Pending, len(s.history().pending())-n)
		}
	}
	ask(1)
	ask(3)
	require.NoError(t, s.Tell(1, 3))
	require.NoError(t, s.Fail(2, "broke"))
	ask(1)
	_, err := s.Add(at(4), 2)
	require.NoError(t, err)
	ask(2)
	ask(1)
	require.NoError(t, s.Enqueue(at(5)))
	ask(2)
	_, err = s.AskGiven(ctx, 1, map[string]any{"k": 4})
	require.NoError(t, err)
	ask(1)
	ask(4)
	ask(13)
	require.Len(t, s.Trials(), 30)
	require.Equal(t, 22, ahead)
	ask(2) // suggested
	require.Empty(t, s.ready)
}
