package loop

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/internal/alloctest"
	"github.com/functionspace/bo/space"
)

// Steps reach the reporter in their order, and its error reaches the objective.
func TestReporter(t *testing.T) {
	require.NoError(t, Report(t.Context(), 1, 2), "without a reporter")
	var got []Step
	ctx := WithReporter(t.Context(), func(steps ...Step) error {
		got = append(got, steps...)
		if len(got) > 2 {
			return fmt.Errorf("trial 7: %w", ErrStopped)
		}
		return nil
	})
	require.NoError(t, Report(ctx, 4, 0.5))
	require.ErrorIs(t, ReportSteps(ctx, Step{9, 1}, Step{2, 3}), ErrStopped)
	require.Equal(t, []Step{{4, 0.5}, {9, 1}, {2, 3}}, got)
	require.Equal(t, Step{9, 1}, LastStep(got))
	require.Equal(t, Step{}, LastStep(nil))
}

// A decision to stop is emitted once, with its grounds.
func TestStoppedTrialIsAnEvent(t *testing.T) {
	var stopped []Event
	o := Options{Budget: 6, Stop: Stop{Rule: ASHA, Eta: 2}, OnEvent: func(e Event) {
		if e.Kind == TrialStopped {
			stopped = append(stopped, e)
		}
	}}
	s, err := New(limitedSpace(), o)
	require.NoError(t, err)
	_, err = s.Ask(t.Context(), 2)
	require.NoError(t, err)
	_, err = s.Report(1, 1, 5)
	require.NoError(t, err)
	_, err = s.Report(2, 1, 7)
	require.NoError(t, err)
	require.Len(t, stopped, 1)
	require.Equal(t, 2, stopped[0].Trial.ID)
	require.Equal(t, Stopped, stopped[0].Trial.State)
	require.Equal(t, "the value 7 is number 2 of 2 at rung 1, and the best 1 continue", stopped[0].Decision.Grounds())

	median := 2.5
	d := Decision{Stop: true, Rule: Median, Value: 4, Of: 5, Median: &median}
	require.Equal(t, "the best value 4 is worse than the median 2.5 of 5 trials", d.Grounds())
	median = 0.70773760064563
	require.Equal(t, "the best value 0.638043 is worse than the median 0.707738 of 3 trials", Decision{Value: 0.6380427649521733, Median: &median, Of: 3}.Grounds())
	require.Equal(t, "the best value 0.7077376 is worse than the median 0.707737601 of 3 trials", Decision{Value: 0.7077376, Median: &median, Of: 3}.Grounds())
}

// Concurrent reports of a trial that the first of them stops all return true. The reports wait for the
// mutex of the study. The second Lock makes it pass from one waiting report to the next.
func TestConcurrentReportsOfAStoppedTrial(t *testing.T) {
	s, err := New(limitedSpace(), Options{Stop: Stop{Rule: Median, Startup: 1}})
	require.NoError(t, err)
	_, err = s.Ask(t.Context(), 2)
	require.NoError(t, err)
	_, err = s.Report(1, 1, 0)
	require.NoError(t, err)
	require.NoError(t, s.Tell(1, 0))
	s.mu.Lock()
	var all sync.WaitGroup
	for step := range 8 {
		all.Go(func() {
			stop, err := s.Report(2, float64(step+1), 5)
			assert.NoError(t, err)
			assert.True(t, stop)
		})
	}
	time.Sleep(20 * time.Millisecond)
	s.mu.Unlock()
	s.mu.Lock()
	time.Sleep(20 * time.Millisecond)
	s.mu.Unlock()
	all.Wait()
	require.Len(t, s.trials[1].Steps, 1)
}

// A report does not copy the earlier steps of its trial, and leaves copies of the history as they are.
func TestReportOfManySteps(t *testing.T) {
	sp, err := space.New(space.Float("x", 0, 1))
	require.NoError(t, err)
	s, err := New(sp, Options{})
	require.NoError(t, err)
	trials, err := s.Ask(t.Context(), 1)
	require.NoError(t, err)
	step := 0.0
	report := func() {
		step++
		_, err = s.Report(trials[0].ID, step, -step)
	}
	report()
	before := s.history()
	require.Zero(t, alloctest.PerRun(1000, report))
	require.NoError(t, err)
	require.Equal(t, []Step{{1, -1}}, before.Trials[0].Steps)
	require.Equal(t, Step{step, -step}, LastStep(s.Trials()[0].Steps))
}
