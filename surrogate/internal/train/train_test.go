package train

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/surrogate"
)

func TestSchedule(t *testing.T) {
	var done []int
	ctx := surrogate.WithProgress(t.Context(), func(p surrogate.Progress) {
		require.Equal(t, surrogate.Progress{Phase: "train", Done: p.Done, Total: 5}, p)
		done = append(done, p.Done)
	})
	var rates []float64
	collect := func(i int, rate float64) error {
		require.Len(t, rates, i)
		rates = append(rates, rate)
		return nil
	}
	require.NoError(t, Schedule{Phase: "train", Steps: 5, Every: 2, Rate: 2, End: 0.1}.Run(ctx, collect))
	require.Equal(t, []int{0, 2, 4}, done)
	require.Len(t, rates, 5)
	require.Equal(t, 2.0, rates[0])
	for i := range 4 {
		require.Less(t, rates[i+1], rates[i])
	}
	require.Greater(t, rates[4], 0.2)

	full := rates
	rates = nil
	require.NoError(t, Schedule{Steps: 3, Fall: 5, Every: 2, Rate: 2, End: 0.1}.Run(t.Context(), collect))
	require.Equal(t, full[:3], rates, "an early end leaves the rates of the steps before it")
	rates = nil
	require.NoError(t, Schedule{Steps: 3, Every: 2, Rate: 0.3, End: 1}.Run(t.Context(), collect))
	require.Equal(t, []float64{0.3, 0.3, 0.3}, rates)
}

func TestScheduleEndsWithAnError(t *testing.T) {
	failed := errors.New("no gradient")
	s := Schedule{Steps: 5, Every: 1}
	require.ErrorIs(t, s.Run(t.Context(), func(i int, _ float64) error { return failed }), failed)
	ctx, cancel := context.WithCancel(t.Context())
	steps := 0
	require.ErrorIs(t, s.Run(ctx, func(int, float64) error { steps++; cancel(); return nil }), context.Canceled)
	require.Equal(t, 1, steps)
}

func TestDiverged(t *testing.T) {
	require.NoError(t, Diverged("rate", []float64{1, 1e300}))
	require.EqualError(t, Diverged("rate", []float64{1, math.NaN()}), "training diverged: a smaller rate may help")
	require.Error(t, Diverged("rate", []float64{math.Inf(-1)}))
}

// ErrDone ends training without an error.
func TestScheduleIsDone(t *testing.T) {
	steps := 0
	require.NoError(t, Schedule{Steps: 9, Every: 2, Rate: 1, End: 1}.Run(t.Context(), func(i int, _ float64) error {
		steps++
		if i == 3 {
			return ErrDone
		}
		return nil
	}))
	require.Equal(t, 4, steps)
}
