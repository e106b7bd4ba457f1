package insight

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
)

// effects returns a view of n trials. Each parameter has the effect that its name states.
func effects(t *testing.T, n int) *loop.View {
	s, err := space.New(space.Float("up", 0, 1), space.Float("down", 0, 1), space.Float("around", 0, 1), space.Float("nothing", 0, 1))
	require.NoError(t, err)
	x := space.Sobol(n, 4, random.New(1, "direction", 0))
	var h loop.History
	for i := range n {
		p := s.Decode(x.RawRowView(i))
		y := p.Float("up") - 2*p.Float("down") + math.Sin(2*math.Pi*(p.Float("around")+0.25))
		h.Trials = append(h.Trials, loop.Trial{ID: i + 1, Point: p, State: loop.Complete, Value: y})
	}
	v, err := loop.Inspect(t.Context(), s, loop.Options{}, h)
	require.NoError(t, err)
	return v
}

func TestDirections(t *testing.T) {
	want := map[string]Direction{"up": Increases, "down": Decreases, "around": Mixed, "nothing": None}
	all, err := Importance(t.Context(), effects(t, 64), ImportanceOptions{Paths: -1})
	require.NoError(t, err)
	require.Len(t, all, len(want))
	for _, e := range all {
		require.Equal(t, want[e.Parameter], e.Direction, e.Parameter)
	}
}

// With fewer trials than MinChecked there is no verdict that the model is healthy.
func TestMinChecked(t *testing.T) {
	for n, want := range map[int]Verdict{MinChecked - 1: TooFew, MinChecked: Healthy} {
		h, err := Check(t.Context(), effects(t, n))
		require.NoError(t, err)
		require.Empty(t, h.Findings)
		require.Equal(t, want, h.Verdict, n)
	}
}

// The listed order of categories gives an effect no direction.
func TestCategoriesHaveNoDirection(t *testing.T) {
	for _, values := range [][]any{{"sgd", "adam"}, {"adam", "sgd"}, {"sgd", "adam", "lamb"}} {
		s, err := space.New(space.Categorical("optimizer", values...), space.Float("rate", 0, 1))
		require.NoError(t, err)
		x := space.Sobol(24, s.Dim(), random.New(1, "categories", 0))
		var h loop.History
		for i := range 24 {
			p := s.Decode(x.RawRowView(i))
			y := 0.2 * p.Float("rate")
			if p.Text("optimizer") == "adam" {
				y++
			}
			h.Trials = append(h.Trials, loop.Trial{ID: i + 1, Point: p, State: loop.Complete, Value: y})
		}
		v, err := loop.Inspect(t.Context(), s, loop.Options{}, h)
		require.NoError(t, err)
		all, err := Importance(t.Context(), v, ImportanceOptions{Points: 256, Paths: -1})
		require.NoError(t, err)
		require.Equal(t, "optimizer", all[0].Parameter)
		require.Equal(t, Unordered, all[0].Direction)
		require.True(t, math.IsNaN(float64(all[0].Correlation)))
		require.Equal(t, Increases, all[1].Direction)
	}
}

// A parameter with one value in all trials has no indices, and the others have the indices of the function at this value.
func TestNotVaried(t *testing.T) {
	s, err := space.New(space.Float("still", 0, 1), space.Categorical("kind", "a", "b", "c"), space.Float("x", 0, 1))
	require.NoError(t, err)
	x := space.Sobol(20, 1, random.New(1, "still", 0))
	var h loop.History
	for i := range 20 {
		p, err := s.PointOf(map[string]any{"still": 0.25, "kind": "b", "x": x.At(i, 0)})
		require.NoError(t, err)
		h.Trials = append(h.Trials, loop.Trial{ID: i + 1, Point: p, State: loop.Complete, Value: math.Sin(3 * x.At(i, 0))})
	}
	v, err := loop.Inspect(t.Context(), s, loop.Options{}, h)
	require.NoError(t, err)
	all, err := Importance(t.Context(), v, ImportanceOptions{Paths: 8})
	require.NoError(t, err)
	require.Len(t, all, 3)
	require.Equal(t, "x", all[0].Parameter)
	require.InDelta(t, 1, float64(all[0].Total), 0.02)
	for i, name := range []string{"still", "kind"} {
		e := all[i+1]
		require.Equal(t, name, e.Parameter)
		require.Equal(t, Direction("not varied"), e.Direction)
		require.Equal(t, "not varied: no two complete trials have different values", e.Undefined())
		for _, n := range []Number{e.First, e.Total, e.FirstInterval.Low, e.TotalInterval.High, e.Correlation} {
			require.True(t, math.IsNaN(float64(n)), name)
		}
	}
}
