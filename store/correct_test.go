package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/study"
)

// told asks for n trials of a study, and tells their numbers as results.
func told(t *testing.T, u *store.Study, n int) []store.Trial {
	t.Helper()
	trials, err := u.Ask(t.Context(), n)
	require.NoError(t, err)
	for _, trial := range trials {
		_, err := u.Tell(t.Context(), store.Report{Trial: trial.Number, Numbers: map[string]float64{"value": float64(trial.Number)}})
		require.NoError(t, err)
	}
	return trials
}

// A handle that has read the curve of a trial forgets it when the trial is corrected to a failure.
func TestCorrectedCurves(t *testing.T) {
	d := line(9)
	d.Stop = loop.Stop{Rule: loop.Median, Startup: 2}
	u, _ := newStudy(t, d, store.Options{})
	trials, err := u.Ask(t.Context(), 4)
	require.NoError(t, err)
	report := func(i int, value float64) store.Trial {
		t.Helper()
		got, err := u.ReportSteps(t.Context(), store.Attempt{Trial: trials[i].Number, Token: trials[i].Token}, loop.Step{Step: 1, Value: value})
		require.NoError(t, err)
		return got
	}
	for i := range 2 {
		report(i, 0)
		_, err := u.Tell(t.Context(), store.Report{Trial: i + 1, Numbers: map[string]float64{"value": 0}})
		require.NoError(t, err)
	}
	require.Equal(t, store.Stopped, report(2, 5).State)
	for i := range 2 {
		_, err := u.Tell(t.Context(), store.Report{Trial: i + 1, Failure: store.Lost, Correct: true})
		require.NoError(t, err)
	}
	require.Equal(t, store.Pending, report(3, 5).State)
}

// A trial that was issued before an edit takes the default of a new parameter when it moves.
func TestMoveAfterAnEdit(t *testing.T) {
	u, _ := newStudy(t, line(9), store.Options{})
	trials, err := u.Ask(t.Context(), 1)
	require.NoError(t, err)
	require.NoError(t, u.Edit(t.Context(), func(d study.Definition) (*study.Definition, error) {
		d.Parameters, d.Defaults = append(d.Parameters, space.Float("y", 0, 1)), map[string]any{"y": 0.5}
		return &d, nil
	}))
	moved, err := u.Tell(t.Context(), store.Report{Trial: trials[0].Number, Numbers: map[string]float64{"value": 1}, At: map[string]any{"x": 0.25}})
	require.NoError(t, err)
	require.JSONEq(t, `{"x": 0.25, "y": 0.5}`, string(moved.Params))
}

// The reason of a lost trial is corrected.
func TestCorrectALoss(t *testing.T) {
	u, _ := newStudy(t, line(9), store.Options{})
	told(t, u, 1)
	for _, message := range []string{"dropped", "broken"} {
		trial, err := u.Tell(t.Context(), store.Report{Trial: 1, Failure: store.Lost, Message: message, Correct: true})
		require.NoError(t, err)
		require.Equal(t, message, trial.Message)
	}
}

// After a correction during a fit the next fit begins without the warm start of this fit.
func TestCorrectDuringAFit(t *testing.T) {
	var u *store.Study
	correct := false
	d := line(9)
	d.Initial = 2
	u, _ = newStudy(t, d, store.Options{OnFit: func(loop.Fit, time.Duration) {
		if correct {
			_, err := u.Tell(t.Context(), store.Report{Trial: 1, Numbers: map[string]float64{"value": -3}, Correct: true})
			require.NoError(t, err)
		}
	}})
	for range 5 {
		told(t, u, 1)
	}
	s, err := u.Snapshot(t.Context())
	require.NoError(t, err)
	require.Positive(t, s.Warm)
	correct = true
	told(t, u, 1)
	s, err = u.Snapshot(t.Context())
	require.NoError(t, err)
	require.Zero(t, s.Warm)
}

// An imported history may name trials that the study does not have.
func TestReplayOfForeignEvents(t *testing.T) {
	d := line(9)
	d.Initial = 2
	u, backend := newStudy(t, d, store.Options{})
	s := store.New(backend, store.Options{})
	for range 5 {
		told(t, u, 1)
	}
	snapshot, err := u.Snapshot(t.Context())
	require.NoError(t, err)
	for _, number := range []int{0, -1, 99} {
		snapshot.Events = append(snapshot.Events, store.Event{Revision: int64(len(snapshot.Events) + 1), Time: time.Now(), Kind: store.TrialCorrected, Trial: number, Detail: "{}"})
	}
	restored, err := s.Restore(t.Context(), "restored", snapshot)
	require.NoError(t, err)
	params, err := restored.Replay(t.Context(), 5)
	require.NoError(t, err)
	require.JSONEq(t, string(snapshot.Trials[4].Params), string(params))
}
