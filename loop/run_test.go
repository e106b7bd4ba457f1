package loop

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/space"
)

// The error of a run in which all evaluations failed wraps the last error of the objective.
func TestRunWrapsTheErrorOfTheObjective(t *testing.T) {
	mine := errors.New("licence server down")
	down := func(context.Context, space.Point) (float64, error) { return 0, mine }
	for _, workers := range []int{1, 3} {
		s := newStudy(t, box(t), options(1))
		_, err := s.Run(t.Context(), down, 5, workers)
		require.ErrorIs(t, err, ErrNoValue)
		require.ErrorIs(t, err, mine)
		require.EqualError(t, err, "loop: no trial has a value: all 5 evaluations failed, the last one with: licence server down")
		require.Equal(t, mine.Error(), s.Trials()[4].Error)
	}

	s := newStudy(t, box(t), options(1))
	_, err := s.Run(t.Context(), down, 2, 1)
	require.ErrorIs(t, err, mine)
	_, err = s.Ask(t.Context(), 1)
	require.NoError(t, err)
	require.NoError(t, s.Fail(3, "by hand"))
	_, err = s.Run(t.Context(), down, 3, 1)
	require.ErrorContains(t, err, "the last one with: by hand")
	require.NotErrorIs(t, err, mine)
}
