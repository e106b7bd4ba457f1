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
