package loop

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/internal/racetest"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/space/expression"
)

// The best settings move with the given value, also for values that no trial has.
func TestRecommendGiven(t *testing.T) {
	racetest.SkipNumerical(t)
	params := []space.Parameter{space.Float("humidity", 0, 1), space.Float("x", 0, 1), space.Categorical("oven", "A", "B")}
	limit, err := expression.Compile("x + humidity <= 1.55", params)
	require.NoError(t, err)
	spec := space.Spec{Parameters: params}
	spec.Constraints = append(spec.Constraints, limit)
	sp, err := spec.Space()
	require.NoError(t, err)
	for name, o := range map[string]Options{
		"noise":    {},
		"exact":    {NoiseFree: true},
		"maximize": {Maximize: true},
		"require":  {Require: []Requirement{{Name: "cost", Bound: 0.5}}},
	} {
		t.Run(name, func(t *testing.T) {
			var h History
			for i := range 30 {
				humidity, x := float64(i)/29, math.Mod(float64(i)*0.618, 1)
				if humidity+x > 1.55 {
					x -= 0.6
				}
				p, err := sp.PointOf(map[string]any{"humidity": humidity, "x": x, "oven": []string{"A", "B"}[i%2]})
				require.NoError(t, err)
				y := math.Pow(x-humidity, 2)
				if o.Maximize {
					y = -y
				}
				trial := Trial{ID: i + 1, Point: p, State: Complete, Value: y, Source: Added}
				if o.Require != nil {
					trial.Numbers = map[string]float64{"value": y, "cost": x}
				}
				h.Trials = append(h.Trials, trial)
			}
			for _, humidity := range []float64{0.15, 0.4, 0.7, 0.95} {
				h.Given = map[string]any{"humidity": humidity}
				got, err := RecommendGiven(t.Context(), sp, o, h)
				require.NoError(t, err)
				want := min(humidity, 1.55-humidity)
				if o.Require != nil {
					want = min(want, 0.5)
				}
				require.Equal(t, humidity, got.Point.Float("humidity"))
				require.InDelta(t, want, got.Point.Float("x"), 0.1, "humidity %v", humidity)
				require.Equal(t, got.Trial.Point.Float("x"), got.Point.Float("x"))
				require.InDelta(t, math.Pow(got.Point.Float("x")-humidity, 2), math.Abs(got.Mean), 0.02)
				require.LessOrEqual(t, got.Point.Float("x")+humidity, 1.55)
			}
			h.Given = map[string]any{"oven": "B", "humidity": 0.4}
			got, err := RecommendGiven(t.Context(), sp, o, h)
			require.NoError(t, err)
			require.Equal(t, "B", got.Point.Text("oven"))
		})
	}

	h := History{Given: map[string]any{"humidity": 2}}
	_, err = RecommendGiven(t.Context(), sp, Options{}, h)
	require.ErrorIs(t, err, ErrHistory)
	require.ErrorContains(t, err, fmt.Sprintf("%q: 2 is outside", "humidity"))
	h.Given = map[string]any{"humidity": 0.9}
	_, err = RecommendGiven(t.Context(), sp, Options{}, h)
	require.ErrorIs(t, err, ErrNoValue)
	p, err := sp.PointOf(map[string]any{"humidity": 0.1, "x": 0.9, "oven": "A"})
	require.NoError(t, err)
	h.Trials = []Trial{{ID: 1, Point: p, State: Complete, Value: 1, Source: Added}}
	_, err = RecommendGiven(t.Context(), sp, Options{}, h)
	require.ErrorIs(t, err, ErrUntried)
	_, err = RecommendGiven(t.Context(), sp, Options{Objectives: []Goal{{Name: "a"}, {Name: "b"}}}, History{})
	require.ErrorIs(t, err, ErrOptions)
}

// Trials that failed do not decide between settings.
func TestRecommendGivenAfterFailures(t *testing.T) {
	racetest.SkipNumerical(t)
	sp, err := space.New(space.Float("h", 0, 1), space.Float("x", 0, 1))
	require.NoError(t, err)
	var h History
	for i := range 40 {
		u, x := float64(i)/39, math.Mod(float64(i)*0.618, 1)
		p, err := sp.PointOf(map[string]any{"h": u, "x": x})
		require.NoError(t, err)
		trial := Trial{ID: i + 1, Point: p, State: Complete, Value: 10 * math.Pow(x-0.2, 2), Source: Added}
		if x < 0.5 && i%2 == 0 {
			trial.State, trial.Value = Failed, 0
		}
		h.Trials = append(h.Trials, trial)
	}
	for _, given := range []float64{0.2, 0.5, 0.8} {
		h.Given = map[string]any{"h": given}
		got, err := RecommendGiven(t.Context(), sp, Options{}, h)
		require.NoError(t, err)
		require.InDelta(t, 0.2, got.Point.Float("x"), 0.1)
	}
}

// A trial lacks a parameter that the given values make active, so it gives no point.
func TestRecommendGivenWithConditions(t *testing.T) {
	racetest.SkipNumerical(t)
	params := []space.Parameter{space.Categorical("flour", "wheat", "rye"), space.Float("x", 0, 1), space.Float("sugar", 0, 1)}
	when, err := expression.Compile("flour == 'rye'", params)
	require.NoError(t, err)
	params[2].When = when
	sp, err := space.Spec{Parameters: params}.Space()
	require.NoError(t, err)
	var h History
	add := func(values map[string]any, y float64) {
		p, err := sp.PointOf(values)
		require.NoError(t, err)
		h.Trials = append(h.Trials, Trial{ID: len(h.Trials) + 1, Point: p, State: Complete, Value: y, Source: Added})
	}
	for i := range 6 {
		add(map[string]any{"flour": "wheat", "x": float64(i) / 5}, math.Pow(float64(i)/5-0.4, 2))
	}
	h.Given = map[string]any{"flour": "rye"}
	_, err = RecommendGiven(t.Context(), sp, Options{}, h)
	require.ErrorIs(t, err, ErrUntried)
	add(map[string]any{"flour": "rye", "x": 0.9, "sugar": 0.3}, 5)
	got, err := RecommendGiven(t.Context(), sp, Options{}, h)
	require.NoError(t, err)
	require.Equal(t, 7, got.Trial.ID)
	h.Given = map[string]any{"flour": "rye", "sugar": 0.1}
	got, err = RecommendGiven(t.Context(), sp, Options{}, h)
	require.NoError(t, err)
	require.Equal(t, 0.1, got.Point.Float("sugar"))
	require.NotEqual(t, 7, got.Trial.ID, "a trial with wheat has all other parameters")
}
