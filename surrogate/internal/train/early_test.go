package train

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/surrogate"
)

func TestEarly(t *testing.T) {
	// The objective has its minimum at step 40 of steps 0, 10, 20, …
	var e Early
	theta := []float64{0}
	warnings, err := e.Run(t.Context(), 1000, func(check bool) error {
		require.Equal(t, math.Mod(theta[0], 10) == 0, check)
		if check {
			e.Observe(math.Abs(theta[0]-38), theta)
		}
		theta[0]++
		return nil
	})
	require.NoError(t, err)
	require.Empty(t, warnings)
	require.Equal(t, []float64{40}, e.Best)
	require.Equal(t, 91.0, theta[0], "five further checks")

	e, theta = Early{Patience: 7}, []float64{0}
	_, err = e.Run(t.Context(), 1000, func(check bool) error {
		if check {
			e.Observe(math.Abs(theta[0]-38), theta)
		}
		theta[0]++
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, 111.0, theta[0], "seven further checks")

	e = Early{}
	steps := 0
	warnings, err = e.Run(t.Context(), 25, func(check bool) error {
		if check {
			e.Observe(-float64(steps), []float64{float64(steps)})
		}
		steps++
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, []string{"training stopped at 25 steps before it converged, the fit may be poor: set steps higher"}, warnings)
	require.Equal(t, 25, steps)
	require.Equal(t, []float64{20}, e.Best)
}

// Training with a limit of 0 steps has the objective of its start.
func TestEarlyEvaluatesOnce(t *testing.T) {
	var e Early
	warnings, err := e.Run(t.Context(), 0, func(bool) error {
		e.Observe(3, []float64{1})
		return nil
	})
	require.NoError(t, err)
	require.Len(t, warnings, 1)
	require.Equal(t, []float64{1}, e.Best)
}

func TestEarlyWithoutAFiniteObjective(t *testing.T) {
	for _, v := range []float64{math.NaN(), math.Inf(1)} {
		var e Early
		_, err := e.Run(t.Context(), 1000, func(check bool) error {
			if check {
				e.Observe(v, []float64{1})
			}
			return nil
		})
		require.ErrorIs(t, err, surrogate.ErrNotPositiveDefinite)
	}
}
