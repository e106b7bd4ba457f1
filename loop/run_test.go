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

// The error of a run without a value tells stopped trials from failed ones.
func TestRunWithoutAValueBesideStoppedTrials(t *testing.T) {
	o := options(1)
	o.Stop = Stop{Rule: ASHA, Eta: 2}
	s := newStudy(t, box(t), o)
	n := 0.0
	mine := errors.New("out of memory")
	_, err := s.Run(t.Context(), func(ctx context.Context, _ space.Point) (float64, error) {
		n++
		if err := Report(ctx, 1, n); err != nil {
			return 0, err
		}
		return 0, mine
	}, 3, 1)
	require.ErrorIs(t, err, ErrNoValue)
	require.ErrorIs(t, err, mine)
	require.EqualError(t, err, "loop: no trial has a value: of 3 evaluations 2 were stopped early, and the others failed, the last one with: out of memory")
}

// An Objective has one number, so it cannot serve several objectives or outcome constraints: the
// error comes before the first evaluation.
func TestObjectiveWithoutTheNumbersOfTheOptions(t *testing.T) {
	for name, o := range map[string]Options{
		"constraint":         {Require: []Requirement{{Name: "latency", Bound: 1}}},
		"several objectives": {Objectives: []Goal{{Name: "cost"}, {Name: "latency"}}},
	} {
		t.Run(name, func(t *testing.T) {
			evaluations := 0
			f := func(context.Context, space.Point) (float64, error) {
				evaluations++
				return 1, nil
			}
			_, err := Minimize(t.Context(), f, box(t), o)
			require.ErrorIs(t, err, ErrOptions)
			require.ErrorContains(t, err, "MinimizeOutcomes")
			_, err = newStudy(t, box(t), o).Run(t.Context(), f, 5, 1)
			require.ErrorIs(t, err, ErrOptions)
			require.ErrorContains(t, err, "RunOutcomes")
			require.Zero(t, evaluations)
		})
	}
}

// A run counts its failed evaluations in a warning. The other evaluations therefore do not hide a fault of the
// objective, such as a panic at some points.
func TestRunWarnsOfFailedEvaluations(t *testing.T) {
	tests := []struct {
		name   string
		fails  int // first evaluations that fail
		panics bool
		want   []string
	}{
		{"none", 0, false, nil},
		{"one", 1, false, []string{"1 of 6 evaluations failed, so suggestions avoid their region; the last is trial 1: too hot"}},
		{"two panic", 2, true, []string{"2 of 6 evaluations failed, so suggestions avoid their region; the last is trial 2: panic: too hot"}},
		{"all", 6, false, nil}, // the error has the count
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var warned []string
			o := options(1)
			o.OnEvent = func(e Event) {
				if e.Kind == Warned {
					warned = append(warned, e.Warnings...)
				}
			}
			n := 0
			r, _ := newStudy(t, box(t), o).Run(t.Context(), func(_ context.Context, p space.Point) (float64, error) {
				n++
				switch {
				case n > tt.fails:
					return float64(n), nil
				case tt.panics:
					panic("too hot")
				}
				return 0, errors.New("too hot")
			}, 6, 1)
			require.Equal(t, tt.want, r.Warnings)
			require.Equal(t, tt.want, warned)
		})
	}
}

// The error of a cancelled run wraps the error of the context and its cause, such as a shutdown.
func TestRunWrapsTheCauseOfItsContext(t *testing.T) {
	shutdown := errors.New("shutdown")
	for _, workers := range []int{1, 3} {
		ctx, cancel := context.WithCancelCause(t.Context())
		r, err := newStudy(t, box(t), options(1)).Run(ctx, func(ctx context.Context, p space.Point) (float64, error) {
			cancel(shutdown)
			<-ctx.Done()
			return 0, ctx.Err()
		}, 10, workers)
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorIs(t, err, shutdown)
		require.EqualError(t, err, "stopped after 0 of 10 evaluations: context canceled: shutdown")
		require.Empty(t, r.Warnings)
	}

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := newStudy(t, box(t), options(1)).Run(ctx, bowl, 10, 1)
	require.EqualError(t, err, "stopped after 0 of 10 evaluations: context canceled")
}

// More interrupted trials than one Ask returns are evaluated in several rounds.
func TestManyInterruptedTrials(t *testing.T) {
	for _, workers := range []int{1, 2} {
		s := newStudy(t, box(t), Options{NoiseFree: true})
		n := MaxPoints + 1
		for i := range n {
			p := s.space.Decode([]float64{float64(i) / float64(n), 0.5})
			s.trials = append(s.trials, Trial{ID: i + 1, Point: p, Source: Enqueued, State: Pending})
			s.idle[i+1] = true
		}
		_, err := s.Run(t.Context(), bowl, n, workers)
		require.NoError(t, err)
		require.Equal(t, n, s.evaluated())
	}
}
