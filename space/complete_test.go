package space

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestComplete(t *testing.T) {
	s, err := New(Categorical("opt", "adam", "sgd"), Float("momentum", 0, 1).If(Equal("opt", "sgd")), Int("layers", 1, 8), Int("width", 16, 1024))
	require.NoError(t, err)
	s, err = s.Constrain(Condition{Text: "layers * width <= 200", On: []string{"layers", "width"}, Holds: func(p Point) bool { return p.Int("layers")*p.Int("width") <= 200 }})
	require.NoError(t, err)
	rng := rand.New(rand.NewPCG(1, 2))
	u := Sobol(200, s.Dim(), rng)
	for i := range 200 {
		p, err := s.Complete(map[string]any{"momentum": 0.25, "layers": 7}, u.RawRowView(i), rng)
		require.NoError(t, err)
		require.Equal(t, "sgd", p.Value("opt"))
		require.Equal(t, 0.25, p.Float("momentum"))
		require.Equal(t, 7, p.Int("layers"))
		require.True(t, s.Feasible(s.Encode(p)))
	}
	p, err := s.Complete(map[string]any{"opt": "adam"}, u.RawRowView(0), rng)
	require.NoError(t, err)
	require.False(t, p.Active("momentum"))
	whole := map[string]any{"opt": "adam", "layers": 2, "width": 20}
	p, err = s.Complete(whole, u.RawRowView(0), rng)
	require.NoError(t, err)
	require.Equal(t, 20, p.Int("width"))

	for want, values := range map[string]map[string]any{
		`unknown parameter "layrs"`:                         {"layrs": 1},
		`parameter "layers": 9 is outside [1, 8]`:           {"layers": 9},
		`parameter "momentum": it is inactive, because`:     {"opt": "adam", "momentum": 0.5},
		`"layers * width <= 200" does not hold at layers=8`: {"layers": 8, "width": 100},
	} {
		_, err := s.Complete(values, u.RawRowView(0), rng)
		require.ErrorIs(t, err, ErrPoint)
		require.ErrorContains(t, err, want)
	}
}

// A point of another dimension panics also if the values need no other.
func TestCompleteWrongLength(t *testing.T) {
	s, err := New(Float("x", 0, 1), Float("y", 0, 1))
	require.NoError(t, err)
	for _, values := range []map[string]any{nil, {"x": 0.5}, {"x": 0.5, "y": 0.5}} {
		require.PanicsWithValue(t, "space: point with 1 coordinates, want 2", func() {
			_, _ = s.Complete(values, []float64{0.5}, rand.New(rand.NewPCG(1, 2)))
		})
	}
}
