package store_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/store"
)

// counting counts the rows that updates read.
type counting struct {
	store.Backend
	steps, trials int
}

type countingTx struct {
	store.Tx
	b *counting
}

func (b *counting) Update(ctx context.Context, f func(store.Tx) error) error {
	return b.Backend.Update(ctx, func(tx store.Tx) error { return f(countingTx{tx, b}) })
}

func (tx countingTx) Steps(study int64, q store.StepQuery) ([]store.Step, error) {
	steps, err := tx.Tx.Steps(study, q)
	tx.b.steps += len(steps)
	return steps, err
}

func (tx countingTx) Trials(study int64, q store.Query) ([]store.Trial, error) {
	trials, err := tx.Tx.Trials(study, q)
	tx.b.trials += len(trials)
	return trials, err
}

// One Study makes the same decisions as a new Study for each report, and reads few rows for each.
// Every seventh trial is issued a second time, and every fifth reports its steps backwards.
func TestReportStepsReadsChanges(t *testing.T) {
	const trials, steps = 60, 9
	ctx := context.Background()
	for _, rule := range []loop.Stop{{Rule: loop.ASHA, Eta: 3}, {Rule: loop.Median, Startup: 3}} {
		states := map[bool][]store.Trial{}
		for _, anew := range []bool{false, true} {
			d := line(trials)
			d.Stop = rule
			_, memory := newStudy(t, d, store.Options{})
			b := &counting{Backend: memory}
			handle := func() *store.Study {
				u, err := store.New(b, store.Options{}).Study(ctx, "s")
				require.NoError(t, err)
				return u
			}
			u := handle()
			value := func(n, step int) float64 { return float64((n*37)%trials) / float64(step) }
			report := func(n, step int) store.State {
				if anew {
					u = handle()
				}
				told, err := u.ReportSteps(ctx, store.Attempt{Trial: n}, loop.Step{Step: float64(step), Value: value(n, step)})
				require.NoError(t, err)
				return told.State
			}
			for n := 1; n <= trials; n++ {
				issued, err := u.Ask(ctx, 1)
				require.NoError(t, err)
				stopped := n%7 == 0 && report(n, 1) == store.Stopped
				if n%7 == 0 && !stopped {
					require.NoError(t, u.Release(ctx, store.Attempt{Trial: n, Token: issued[0].Token}))
					_, err = u.Ask(ctx, 1)
					require.NoError(t, err)
				}
				for i := 1; i <= steps && !stopped; i++ {
					step := i
					if n%5 == 0 { // backwards
						step = steps + 1 - i
					}
					stopped = report(n, step) == store.Stopped
				}
				if !stopped {
					_, err := u.Tell(ctx, store.Report{Trial: n, Numbers: map[string]float64{"value": value(n, steps)}})
					require.NoError(t, err)
				}
			}
			v, err := u.Brief(ctx)
			require.NoError(t, err)
			states[anew] = v.Trials
			if !anew {
				require.Less(t, b.steps, 15*trials*steps, "steps read")
				require.Less(t, b.trials, 40*trials, "trials read")
			}
		}
		stopped := 0
		for i, trial := range states[false] {
			require.Equal(t, states[true][i].State, trial.State, "%s: trial %d", rule.Rule, i+1)
			require.Equal(t, states[true][i].Message, trial.Message)
			if trial.State == store.Stopped {
				stopped++
			}
		}
		require.Greater(t, stopped, 5)
	}
}

// rolledBack rolls one Update back, after writes of another Update in its transaction, and runs it again.
type rolledBack struct {
	store.Backend
	other func(store.Tx) error // nil after the Update
}

func (b *rolledBack) Update(ctx context.Context, f func(store.Tx) error) error {
	if other := b.other; other != nil {
		b.other = nil
		fault := errors.New("rolled back")
		err := b.Backend.Update(ctx, func(tx store.Tx) error {
			return cmp.Or(other(tx), f(tx), fault)
		})
		if !errors.Is(err, fault) {
			return err
		}
	}
	return b.Backend.Update(ctx, f)
}

// A decision uses committed steps only. It uses no steps of another Update that shared a transaction with it and was
// rolled back.
func TestDecisionsAfterARollback(t *testing.T) {
	ctx := context.Background()
	for _, rule := range []loop.Stop{{Rule: loop.ASHA, Eta: 2}, {Rule: loop.Median, Startup: 1}} {
		d := line(10)
		d.Stop = rule
		_, memory := newStudy(t, d, store.Options{})
		b := &rolledBack{Backend: memory}
		u, err := store.New(b, store.Options{}).Study(ctx, "s")
		require.NoError(t, err)
		_, err = u.Ask(ctx, 3)
		require.NoError(t, err)
		b.other = func(tx store.Tx) error {
			row, err := tx.Study("s")
			if err != nil {
				return err
			}
			trials, err := tx.Trials(row.ID, store.Query{})
			if err != nil {
				return err
			}
			first := trials[0]
			first.State, first.Numbers = store.Complete, map[string]float64{"value": -100}
			row.Revision++
			first.Revision = row.Revision
			return errors.Join(
				tx.PutSteps(row.ID, []store.Step{{Trial: 1, Attempt: first.Attempt, Step: 1, Name: "value", Value: -100}}),
				tx.PutTrials(row.ID, []store.Trial{first}),
				tx.PutStudy(row),
			)
		}
		for n := 2; n <= 3; n++ {
			told, err := u.ReportSteps(ctx, store.Attempt{Trial: n}, loop.Step{Step: 1, Value: float64(-n)})
			require.NoError(t, err)
			require.Equal(t, store.Pending, told.State, "%s: %s", rule.Rule, told.Message)
		}
	}
}

// A step of one trial does not read the steps of others.
func TestAddStepsReadsItsTrials(t *testing.T) {
	ctx := context.Background()
	_, memory := newStudy(t, line(20), store.Options{})
	b := &counting{Backend: memory}
	u, err := store.New(b, store.Options{}).Study(ctx, "s")
	require.NoError(t, err)
	_, err = u.Ask(ctx, 20)
	require.NoError(t, err)
	for n := 1; n <= 20; n++ {
		for range 2 { // the second call changes nothing
			require.NoError(t, u.AddSteps(ctx, store.Step{Trial: n, Step: 1, Name: "value", Value: 1}, store.Step{Trial: n, Step: 2, Name: "value", Value: 1}))
		}
	}
	require.Equal(t, 20*2, b.steps)
	stored, err := u.Steps(ctx, 0)
	require.NoError(t, err)
	require.Len(t, stored, 40)
}

// Fits see the steps of finished trials, which the expected value of a stopped trial needs. A replay
// sees them too.
func TestHistoryHasStepsOfStoppedTrials(t *testing.T) {
	ctx := context.Background()
	d := line(16)
	d.Stop = loop.Stop{Rule: loop.Median, Startup: 2}
	u, _ := newStudy(t, d, store.Options{})
	last := 0
	for n := 1; n <= 16; n++ {
		issued, err := u.Ask(ctx, 1)
		require.NoError(t, err)
		if issued[0].Fit > 0 {
			last = n
		}
		value, stopped := float64((n*7)%16), false
		for step := 1.0; step <= 3 && !stopped; step++ {
			told, err := u.ReportSteps(ctx, store.Attempt{Trial: n}, loop.Step{Step: step, Value: value / step})
			require.NoError(t, err)
			stopped = told.State == store.Stopped
		}
		if !stopped {
			_, err := u.Tell(ctx, store.Report{Trial: n, Numbers: map[string]float64{"value": value / 3}})
			require.NoError(t, err)
		}
	}
	_, _, h, err := u.History(ctx)
	require.NoError(t, err)
	steps := map[loop.State]int{}
	for _, trial := range h.Trials {
		steps[trial.State] = len(trial.Steps)
		require.NotEmpty(t, trial.Steps, "trial %d", trial.ID)
	}
	require.Equal(t, map[loop.State]int{loop.Complete: 3, loop.Stopped: 1}, steps)

	require.NotZero(t, last)
	v, err := u.View(ctx)
	require.NoError(t, err)
	again, err := u.Replay(ctx, last)
	require.NoError(t, err)
	require.JSONEq(t, string(v.Trials[last-1].Params), string(again))
}

// An evaluation may have a rule of its own.
func TestRunWithAnOwnRule(t *testing.T) {
	ctx := context.Background()
	u, _ := newStudy(t, line(12), store.Options{})
	var ended []store.Trial
	err := u.Run(ctx, func(ctx context.Context, t store.Trial, p space.Point) (store.Report, error) {
		x := p.Float("x")
		switch {
		case x > 0.8:
			return store.Report{}, fmt.Errorf("%w: without a step", loop.ErrStopped)
		case x > 0.5:
			if err := loop.Report(ctx, 3, x); err != nil {
				return store.Report{}, err
			}
			return store.Report{}, fmt.Errorf("%w: flat", loop.ErrStopped)
		}
		return store.Report{Numbers: map[string]float64{"value": x}}, nil
	}, store.RunOptions{OnEnd: func(t store.Trial) { ended = append(ended, t) }})
	require.NoError(t, err)
	require.Len(t, ended, 12)
	v, err := u.View(ctx)
	require.NoError(t, err)
	count := map[store.State]int{}
	for i, trial := range v.Trials {
		x, want := v.Points[i].Float("x"), store.Complete
		if x > 0.8 {
			want = store.Failed
			require.Equal(t, "the trial is stopped: without a step (only a trial of one objective is stopped, after a reported step)", trial.Message)
		} else if x > 0.5 {
			want = store.Stopped
			require.Equal(t, "step 3: flat", trial.Message)
			require.Equal(t, x, trial.Numbers["value"])
		}
		require.Equal(t, want, trial.State)
		require.Equal(t, want, ended[i].State)
		count[want]++
	}
	require.Len(t, count, 3)
}
