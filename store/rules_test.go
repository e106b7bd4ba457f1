package store_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/study"
	"github.com/functionspace/bo/surrogate"
)

func line(budget int) *study.Definition {
	return &study.Definition{
		Version: 1, Name: "s", Budget: budget, Initial: budget,
		Parameters: []space.Parameter{space.Float("x", 0, 1)},
	}
}

func newStudy(t *testing.T, d *study.Definition, o store.Options) (*store.Study, store.Backend) {
	t.Helper()
	b := store.NewMemory()
	u, err := store.New(b, o).Create(context.Background(), d)
	require.NoError(t, err)
	return u, b
}

// gone is an owner on this host whose process has ended.
func gone(t *testing.T) store.Owner {
	t.Helper()
	if store.Self().Host == "" {
		t.Skip("processes cannot be identified on this system")
	}
	cmd := exec.Command("true")
	require.NoError(t, cmd.Run())
	o := store.Self()
	o.PID, o.Start = cmd.Process.Pid, "1"
	return o
}

// change changes the rows of a study without the methods of Study.
func change(t *testing.T, b store.Backend, f func(row *store.Row, trials []store.Trial, now time.Time)) {
	t.Helper()
	require.NoError(t, b.Update(context.Background(), func(tx store.Tx) error {
		row, err := tx.Study("s")
		require.NoError(t, err)
		trials, err := tx.Trials(row.ID, store.Query{})
		require.NoError(t, err)
		now, err := tx.Now()
		require.NoError(t, err)
		f(row, trials, now)
		return errors.Join(tx.PutTrials(row.ID, trials), tx.PutStudy(row))
	}))
}

// The end of a process on this host is noticed at once, not at the end of its leases.
func TestDeadOwners(t *testing.T) {
	owner := gone(t)
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		u, b := newStudy(t, line(5), store.Options{Lease: time.Hour, FitLease: time.Hour})
		_, err := u.Ask(ctx, 1)
		require.NoError(t, err)
		change(t, b, func(row *store.Row, trials []store.Trial, now time.Time) {
			trials[0].Owner = owner
			row.FitToken, row.FitOwner, row.FitLease = "theirs", owner, now.Add(time.Hour)
		})
		begun := time.Now()
		trials, err := u.Ask(ctx, 2)
		require.NoError(t, err)
		require.Zero(t, time.Since(begun))
		require.Equal(t, []int{1, 2}, []int{trials[0].Number, trials[1].Number})
		require.Equal(t, []int{2, 1}, []int{trials[0].Attempt, trials[0].Lost})
	})
}

// The number of trials of an Ask is bounded.
func TestAskIsBounded(t *testing.T) {
	u, _ := newStudy(t, line(5), store.Options{})
	for _, n := range []int{-1, 0, loop.MaxPoints + 1, math.MaxInt} {
		_, err := u.Ask(context.Background(), n)
		require.ErrorIs(t, err, loop.ErrOptions, n)
	}
	trials, err := u.Ask(context.Background(), loop.MaxPoints)
	require.NoError(t, err)
	require.Len(t, trials, 5)
}

// An error of several points numbers each wrong point.
func TestPointsAreNumbered(t *testing.T) {
	ctx := context.Background()
	u, _ := newStudy(t, line(5), store.Options{})
	good, bad := map[string]any{"x": 0.5}, map[string]any{"x": 7}
	_, err := u.Enqueue(ctx, "", bad, good, bad)
	require.ErrorIs(t, err, space.ErrPoint)
	require.ErrorContains(t, err, "point 1 of 3: ")
	require.ErrorContains(t, err, "point 3 of 3: ")
	_, err = u.Enqueue(ctx, "", slices.Repeat([]map[string]any{bad}, 13)...)
	require.ErrorContains(t, err, "; more points with faults: 3")
	value := map[string]float64{"value": 1}
	_, err = u.Add(ctx, "", store.Evaluated{Params: good, Numbers: value}, store.Evaluated{Params: bad, Numbers: value},
		store.Evaluated{Params: good, Numbers: map[string]float64{"value": math.NaN()}}, store.Evaluated{Params: good})
	for _, want := range []string{"evaluation 2 of 4: ", "evaluation 3 of 4: ", "evaluation 4 of 4: "} {
		require.ErrorContains(t, err, want)
	}
	require.ErrorIs(t, err, space.ErrPoint)
	require.ErrorIs(t, err, loop.ErrNotFinite)
	v, err := u.View(ctx)
	require.NoError(t, err)
	require.Empty(t, v.Trials)
}

// A process of another host holds its fit until the lease ends.
func TestFitLeaseOfAnotherHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u, b := newStudy(t, line(5), store.Options{})
		lease := time.Now().Add(time.Hour)
		change(t, b, func(row *store.Row, _ []store.Trial, _ time.Time) {
			row.FitToken, row.FitOwner, row.FitLease = "theirs", store.Owner{Host: "elsewhere", PID: 1, Start: "1"}, lease
		})
		_, err := u.Ask(t.Context(), 1)
		require.NoError(t, err)
		require.WithinRange(t, time.Now(), lease, lease.Add(time.Minute))
	})
}

// Trials that are enqueued during a fit make its proposals stale. Results do not.
func TestProposalsAreComparedAndSet(t *testing.T) {
	ctx := context.Background()
	d := line(10)
	d.Initial = 1
	var u *store.Study
	var fits atomic.Int32
	options := store.Options{OnFit: func(loop.Fit, time.Duration) {
		if fits.Add(1) == 1 {
			_, err := u.Enqueue(ctx, "", map[string]any{"x": 0.5})
			require.NoError(t, err)
		}
	}}
	u, _ = newStudy(t, d, options)
	_, err := u.Ask(ctx, 1)
	require.NoError(t, err)
	_, err = u.Tell(ctx, store.Report{Trial: 1, Numbers: map[string]float64{"value": 1}})
	require.NoError(t, err)
	trials, err := u.Ask(ctx, 2)
	require.NoError(t, err)
	require.Equal(t, loop.Enqueued, trials[0].Source)
	require.Equal(t, loop.Suggested, trials[1].Source)
	require.Equal(t, []int{2, 3}, []int{trials[0].Number, trials[1].Number})
	require.EqualValues(t, 2, fits.Load(), "the first fit is made again")
}

func TestFailedFitGivesItsLeaseBack(t *testing.T) {
	ctx := context.Background()
	d := line(10)
	d.Initial = 1
	d.Surrogate = study.Component{Name: "gp", Settings: map[string]any{"kernel": "linear", "noise": 1e-300}}
	u, _ := newStudy(t, d, store.Options{FitLease: time.Hour})
	_, err := u.Ask(ctx, 1)
	require.NoError(t, err)
	_, err = u.Tell(ctx, store.Report{Trial: 1, Numbers: map[string]float64{"value": 1}})
	require.NoError(t, err)
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	_, err = u.Ask(cancelled, 1)
	require.ErrorIs(t, err, context.Canceled)
	v, err := u.View(ctx)
	require.NoError(t, err)
	require.Empty(t, v.Fitting)
}

func TestExhausted(t *testing.T) {
	d := line(10)
	d.Parameters = []space.Parameter{space.Int("x", 1, 3)}
	d.Objectives = []study.Objective{{Name: "value", NoiseFree: true}}
	u, _ := newStudy(t, d, store.Options{})
	err := u.Run(context.Background(), func(_ context.Context, _ store.Trial, p space.Point) (store.Report, error) {
		return store.Report{Numbers: map[string]float64{"value": p.Float("x")}}, nil
	}, store.RunOptions{Workers: 2})
	require.ErrorIs(t, err, store.ErrExhausted)
	v, err := u.View(context.Background())
	require.NoError(t, err)
	require.Len(t, v.Trials, 3)
}

// A Run without a function fails no trial.
func TestRunWithoutFunction(t *testing.T) {
	u, _ := newStudy(t, line(3), store.Options{})
	require.ErrorIs(t, u.Run(t.Context(), nil, store.RunOptions{}), loop.ErrOptions)
	v, err := u.View(t.Context())
	require.NoError(t, err)
	require.Empty(t, v.Trials)
}

func TestRunEnds(t *testing.T) {
	half := 0.5
	fault := func(message string) store.Evaluate {
		return func(context.Context, store.Trial, space.Point) (store.Report, error) {
			return store.Report{}, errors.New(message)
		}
	}
	ok := func(_ context.Context, _ store.Trial, p space.Point) (store.Report, error) {
		return store.Report{Numbers: map[string]float64{"value": p.Float("x")}}, nil
	}
	for _, c := range []struct {
		name     string
		evaluate store.Evaluate
		opts     store.RunOptions
		failures string
		want     error
		text     string
		trials   int // evaluated ones; 0 is any number
	}{
		{name: "budget", evaluate: ok},
		{name: "target", evaluate: ok, opts: store.RunOptions{Target: &half}, want: store.ErrTarget, text: "trial"},
		{name: "time", evaluate: func(context.Context, store.Trial, space.Point) (store.Report, error) {
			time.Sleep(30 * time.Second)
			return store.Report{Numbers: map[string]float64{"value": 1}}, nil
		}, opts: store.RunOptions{Time: 50 * time.Second}, want: store.ErrTime, trials: 2},
		{name: "alike", evaluate: fault("no such file"), want: store.ErrFailures, text: "no such file"},
		{name: "alike but for numbers", evaluate: func(_ context.Context, t store.Trial, p space.Point) (store.Report, error) {
			return store.Report{}, fmt.Errorf("object at 0x7f%xa0: %v is wrong", t.Number, p.Float("x")-0.5)
		}, want: store.ErrFailures, text: "the first 3 failed alike: object at 0x7f3a0"},
		{name: "alike but expected", evaluate: fault("no such file"), failures: study.ExpectedFailures},
		{name: "most failures", evaluate: func(_ context.Context, t store.Trial, _ space.Point) (store.Report, error) {
			return store.Report{}, fmt.Errorf("fault %c", 'a'+t.Number)
		}, opts: store.RunOptions{MaxFailures: 4}, want: store.ErrFailures, text: "5 of 5"},
		{name: "panic", evaluate: func(context.Context, store.Trial, space.Point) (store.Report, error) { panic("ouch") }, want: store.ErrFailures, text: "panic: ouch"},
		{name: "not finite", evaluate: func(context.Context, store.Trial, space.Point) (store.Report, error) {
			return store.Report{Numbers: map[string]float64{"value": math.NaN()}}, nil
		}, want: store.ErrFailures, text: "value is NaN"},
		{name: "no objective", evaluate: func(context.Context, store.Trial, space.Point) (store.Report, error) {
			return store.Report{Numbers: map[string]float64{"other": 1}}, nil
		}, want: store.ErrFailures, text: `no number named "value" was reported`},
		{name: "no objective, failures expected", evaluate: func(_ context.Context, t store.Trial, _ space.Point) (store.Report, error) {
			if t.Number == 2 {
				return store.Report{}, errors.New("diverged")
			}
			return store.Report{Numbers: map[string]float64{"valeu": 1}}, nil
		}, failures: study.ExpectedFailures, want: store.ErrFailures, text: `no number named "value" was reported: rename valeu to value`},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := line(12)
				d.Failures = c.failures
				u, _ := newStudy(t, d, store.Options{})
				err := u.Run(t.Context(), c.evaluate, c.opts)
				if c.want == nil {
					require.NoError(t, err)
					return
				}
				require.ErrorIs(t, err, c.want)
				require.ErrorContains(t, err, c.text)
				v, err := u.View(t.Context())
				require.NoError(t, err)
				evaluated := 0
				for i := range v.Trials {
					require.False(t, v.Trials[i].Running(v.Now), "trial %d still runs", i+1)
					if v.Trials[i].State == store.Complete {
						evaluated++
					}
				}
				if c.trials > 0 {
					require.Equal(t, c.trials, evaluated)
				}
			})
		})
	}
}

// Failures in earlier evaluations are no failures of a run.
func TestAddedFailuresEndNoRun(t *testing.T) {
	ctx := t.Context()
	u, _ := newStudy(t, line(2), store.Options{})
	for range 3 {
		_, err := u.Add(ctx, "", store.Evaluated{Params: map[string]any{"x": 0.5}, Failure: store.FailedByProgram})
		require.NoError(t, err)
	}
	require.NoError(t, u.Run(ctx, func(context.Context, store.Trial, space.Point) (store.Report, error) {
		return store.Report{Numbers: map[string]float64{"value": 1}}, nil
	}, store.RunOptions{MaxFailures: 1}))
}

// The best trial, the target and the Pareto front take only the trials that fit the definition: an edit of the
// ranges or the constraints can exclude trials, as it excludes them from fits.
func TestBestFitsTheDefinition(t *testing.T) {
	ctx := t.Context()
	u, _ := newStudy(t, line(9), store.Options{})
	for x, value := range map[float64]float64{0.9: 0, 0.4: 1, 0.1: 2} {
		_, err := u.Add(ctx, "", store.Evaluated{Params: map[string]any{"x": x}, Numbers: map[string]float64{"value": value, "cost": -value}})
		require.NoError(t, err)
	}
	half := 0.5
	for _, c := range []struct {
		edit func(d *study.Definition)
		best float64
	}{
		{func(*study.Definition) {}, 0},
		{func(d *study.Definition) { d.Parameters[0].Max, d.End.Target = 0.5, &half }, 1},
		{func(d *study.Definition) { d.Constraints = []string{"x <= 0.2"} }, 2},
	} {
		require.NoError(t, u.Edit(ctx, func(d study.Definition) (*study.Definition, error) { c.edit(&d); return &d, nil }))
		v, err := u.View(ctx)
		require.NoError(t, err)
		require.EqualValues(t, c.best, v.Best().Numbers["value"])
		ended, err := u.Ended(ctx)
		require.NoError(t, err)
		require.NoError(t, ended)
	}
	require.NoError(t, u.Edit(ctx, func(d study.Definition) (*study.Definition, error) {
		d.Constraints, d.Objectives, d.End.Target = nil, []study.Objective{{Name: "value"}, {Name: "cost"}}, nil
		return &d, nil
	}))
	v, err := u.View(ctx)
	require.NoError(t, err)
	require.Len(t, v.Pareto().Front, 2) // without the trial at 0.9
}

// The output of a trial whose evaluation panicked has the place of the panic.
func TestPanicLeavesItsPlace(t *testing.T) {
	u, _ := newStudy(t, line(2), store.Options{})
	err := u.Run(t.Context(), func(context.Context, store.Trial, space.Point) (store.Report, error) { panic("ouch") }, store.RunOptions{})
	require.NoError(t, err)
	v, err := u.View(t.Context())
	require.NoError(t, err)
	require.Equal(t, "panic: ouch", v.Trials[0].Message)
	output, err := u.Output(t.Context(), &v.Trials[0])
	require.NoError(t, err)
	require.Regexp(t, `^[^\n]*TestPanicLeavesItsPlace[^\n]*\n\t[^\n]*rules_test\.go:\d+\n`, output)
}

// An evaluation that ends its goroutine fails its trial, and the run goes on.
func TestGoexitFailsTheTrial(t *testing.T) {
	u, _ := newStudy(t, line(5), store.Options{})
	require.NoError(t, u.Run(t.Context(), func(_ context.Context, trial store.Trial, _ space.Point) (store.Report, error) {
		if trial.Number == 2 {
			runtime.Goexit()
		}
		return store.Report{Numbers: map[string]float64{"value": 1}}, nil
	}, store.RunOptions{}))
	v, err := u.View(t.Context())
	require.NoError(t, err)
	require.Len(t, v.Trials, 5)
	for _, trial := range v.Trials {
		if trial.Number == 2 {
			require.Equal(t, store.FailedByProgram, trial.Failure)
			require.Equal(t, "the evaluation ended its goroutine", trial.Message)
			continue
		}
		require.Equal(t, store.Complete, trial.State)
	}
}

// An interrupted run releases its trials: they are issued first, as attempts that were not
// lost.
func TestInterruptedRun(t *testing.T) {
	u, _ := newStudy(t, line(6), store.Options{})
	ctx, cancel := context.WithCancel(context.Background())
	err := u.Run(ctx, func(ctx context.Context, _ store.Trial, _ space.Point) (store.Report, error) {
		cancel()
		<-ctx.Done()
		return store.Report{}, ctx.Err()
	}, store.RunOptions{Workers: 2})
	require.ErrorIs(t, err, context.Canceled)
	v, err := u.View(context.Background())
	require.NoError(t, err)
	for _, trial := range v.Trials {
		require.Equal(t, store.Pending, trial.State)
		require.True(t, trial.Lease.IsZero())
		require.Zero(t, trial.Lost)
	}
}

// Workers of an asynchronous run do not wait for one another.
func TestWorkersDoNotIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u, _ := newStudy(t, line(9), store.Options{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		release := make(chan struct{})
		var ended atomic.Int32
		require.NoError(t, u.Run(ctx, func(ctx context.Context, trial store.Trial, _ space.Point) (store.Report, error) {
			if trial.Number == 1 {
				select {
				case <-release:
				case <-ctx.Done():
					return store.Report{}, errors.New("the second worker waits for the first one")
				}
			} else if ended.Add(1) == 8 {
				close(release)
			}
			return store.Report{Numbers: map[string]float64{"value": 1}}, nil
		}, store.RunOptions{Workers: 2}))
	})
}

// Random operations keep the invariants of a study.
func TestInvariants(t *testing.T) {
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 1))
		u, b := newStudy(t, line(15), store.Options{Lease: time.Hour})
		ctx := context.Background()
		var held []store.Trial
		results := map[int]float64{}
		for range 80 {
			switch rng.IntN(7) {
			case 0, 1:
				trials, err := u.Ask(ctx, 1+rng.IntN(2))
				if err != nil {
					require.ErrorIs(t, err, store.ErrBudget)
				}
				held = append(held, trials...)
			case 2, 3:
				if len(held) > 0 {
					trial := held[rng.IntN(len(held))]
					value := rng.Float64()
					_, err := u.Tell(ctx, store.Report{Trial: trial.Number, Token: trial.Token, Numbers: map[string]float64{"value": value}})
					if old, finished := results[trial.Number]; finished && old != value {
						require.ErrorIs(t, err, store.ErrConflict)
					} else {
						require.NoError(t, err)
						results[trial.Number] = value
					}
				}
			case 4:
				if len(held) > 0 {
					trial := held[rng.IntN(len(held))]
					require.NoError(t, u.Release(ctx, store.Attempt{Trial: trial.Number, Token: trial.Token}))
				}
			case 5:
				if _, err := u.Enqueue(ctx, "", map[string]any{"x": rng.Float64()}); err != nil {
					require.ErrorIs(t, err, store.ErrBudget)
				}
			case 6: // a worker elsewhere is lost
				change(t, b, func(_ *store.Row, trials []store.Trial, now time.Time) {
					for i := range trials {
						if trial := &trials[i]; trial.State == store.Pending && !trial.Lease.IsZero() && rng.IntN(3) == 0 {
							trial.Lease = now.Add(-time.Second)
						}
					}
				})
			}
			checkInvariants(t, u, b, results)
		}
	}
}

func checkInvariants(t *testing.T, u *store.Study, b store.Backend, results map[int]float64) {
	t.Helper()
	v, err := u.View(context.Background())
	require.NoError(t, err)
	issued, finished := 0, 0
	for i, trial := range v.Trials {
		require.Equal(t, i+1, trial.Number)
		require.LessOrEqual(t, trial.Revision, v.Revision)
		require.LessOrEqual(t, trial.Lost, store.MaxLost)
		require.Equal(t, trial.State == store.Pending, trial.Told == 0)
		if trial.Source != loop.Added {
			issued++
			if trial.State != store.Pending {
				finished++
			}
		}
		if value, ok := results[trial.Number]; ok {
			require.Equal(t, value, trial.Numbers["value"])
		}
	}
	require.LessOrEqual(t, issued, v.Definition.Budget)
	require.NoError(t, b.View(context.Background(), func(tx store.Tx) error {
		row, err := tx.Study("s")
		require.NoError(t, err)
		require.Equal(t, []int{len(v.Trials), issued, finished}, []int{row.Trials, row.Issued, row.Finished})
		events, err := tx.Events(row.ID, 0, 1_000_000)
		require.NoError(t, err)
		require.Len(t, events, int(row.Revision))
		return err
	}))
}

func TestDefinitionsAreKeptWithTheirBudget(t *testing.T) {
	d := line(0)
	d.Initial = 0
	u, _ := newStudy(t, d, store.Options{})
	v, err := u.View(context.Background())
	require.NoError(t, err)
	text, err := json.Marshal(v.Definition)
	require.NoError(t, err)
	require.Contains(t, string(text), `"budget":50`)
}

func TestReplayNeedsASuggestion(t *testing.T) {
	ctx := context.Background()
	u, _ := newStudy(t, line(3), store.Options{})
	_, err := u.Add(ctx, "", store.Evaluated{Params: map[string]any{"x": 0.5}, Numbers: map[string]float64{"value": 1}})
	require.NoError(t, err)
	_, err = u.Replay(ctx, 1)
	require.ErrorIs(t, err, store.ErrReplay)
	_, err = u.Replay(ctx, 2)
	require.ErrorIs(t, err, store.ErrNoTrial)
}

// twice is a backend whose connection is lost after each commit, so that every transaction
// runs again.
type twice struct{ store.Backend }

func (b twice) Update(ctx context.Context, f func(store.Tx) error) error {
	if err := b.Backend.Update(ctx, f); err != nil {
		return err
	}
	return b.Backend.Update(ctx, f)
}

func TestRunRepeatsEveryTransaction(t *testing.T) {
	ctx := context.Background()
	d := line(8)
	d.Initial = 3
	memory := store.NewMemory()
	_, err := store.New(memory, store.Options{}).Create(ctx, d)
	require.NoError(t, err)
	u, err := store.New(twice{memory}, store.Options{}).Study(ctx, d.Name)
	require.NoError(t, err)
	require.NoError(t, u.Run(ctx, func(_ context.Context, _ store.Trial, p space.Point) (store.Report, error) {
		return store.Report{Numbers: map[string]float64{"value": p.Float("x")}}, nil
	}, store.RunOptions{Workers: 3}))
	v, err := u.View(ctx)
	require.NoError(t, err)
	require.Len(t, v.Trials, 8)
	for _, trial := range v.Trials {
		require.Equal(t, store.Complete, trial.State)
		require.Equal(t, 1, trial.Attempt)
	}
}

// A change whose acknowledgement is lost is made once and returns no error.
func TestChangesRepeatEveryTransaction(t *testing.T) {
	ctx := context.Background()
	s := store.New(twice{store.NewMemory()}, store.Options{})
	d := line(8)
	u, err := s.Create(ctx, d)
	require.NoError(t, err)
	_, err = s.Create(ctx, d)
	require.ErrorIs(t, err, store.ErrExists)

	require.NoError(t, u.Edit(ctx, func(d study.Definition) (*study.Definition, error) {
		d.Budget++
		return &d, nil
	}))
	edited, _, err := u.Definition(ctx)
	require.NoError(t, err)
	require.Equal(t, 9, edited.Budget)
	_, err = u.Enqueue(ctx, "", map[string]any{"x": 0.5})
	require.NoError(t, err)
	step := store.Step{Trial: 1, Attempt: 1, Step: 1, Name: "loss", Value: 2}
	require.NoError(t, u.AddSteps(ctx, step))
	steps, err := u.Steps(ctx, 1)
	require.NoError(t, err)
	require.Equal(t, []store.Step{step}, steps)
	events, err := u.Events(ctx, 0, 10)
	require.NoError(t, err)
	require.Len(t, events, 3) // created, edited, a trial

	snapshot, err := u.Snapshot(ctx)
	require.NoError(t, err)
	_, err = s.Restore(ctx, "copy", snapshot)
	require.NoError(t, err)
	_, err = s.Restore(ctx, "copy", snapshot)
	require.ErrorIs(t, err, store.ErrExists)

	require.NoError(t, s.Delete(ctx, d.Name))
	require.ErrorIs(t, s.Delete(ctx, d.Name), store.ErrNoStudy)
}

// slowly makes the fits of a study in a bubble of synctest take time, so that trials are proposed
// ahead.
var slowly = store.Options{OnProgress: func(surrogate.Progress) { time.Sleep(5 * time.Second) }}

// A run that is cancelled while trials are proposed ahead leaves no fit lease and no running trial.
func TestCancelledRunReturnsItsLeases(t *testing.T) {
	fitting := 0 // runs cancelled during a fit
	for stop := 6; stop <= 10; stop++ {
		synctest.Test(t, func(t *testing.T) {
			d := line(30)
			d.Initial = 3
			u, b := newStudy(t, d, slowly)
			ctx, cancel := context.WithCancel(t.Context())
			err := u.Run(ctx, func(_ context.Context, trial store.Trial, p space.Point) (store.Report, error) {
				time.Sleep(11 * time.Second)
				if trial.Number == stop {
					change(t, b, func(row *store.Row, _ []store.Trial, _ time.Time) {
						if row.FitToken != "" {
							fitting++
						}
					})
					cancel()
				}
				return store.Report{Numbers: map[string]float64{"value": p.Float("x")}}, nil
			}, store.RunOptions{Workers: 3})
			require.ErrorIs(t, err, context.Canceled)
			change(t, b, func(row *store.Row, trials []store.Trial, now time.Time) {
				require.Empty(t, row.FitToken)
				for _, trial := range trials {
					require.False(t, trial.Running(now), "trial %d", trial.Number)
				}
			})
		})
	}
	require.Positive(t, fitting)
}

// One worker proposes nothing ahead: each suggestion depends on all earlier results.
func TestOneWorkerDoesNotLookAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := line(9)
		d.Initial = 3
		u, _ := newStudy(t, d, slowly)
		require.NoError(t, u.Run(t.Context(), func(ctx context.Context, trial store.Trial, p space.Point) (store.Report, error) {
			time.Sleep(time.Minute) // a proposal takes about 15 s
			v, err := u.View(ctx)
			if err == nil && trial.Number > d.Initial && len(v.Trials) > trial.Number {
				err = errors.New("a trial waits")
			}
			return store.Report{Numbers: map[string]float64{"value": p.Float("x")}}, err
		}, store.RunOptions{}))
		v, err := u.View(t.Context())
		require.NoError(t, err)
		for _, trial := range v.Trials {
			require.Equal(t, store.Complete, trial.State, trial.Message)
		}
	})
}

// A worker claims the next trial with the result of the last one, and no trial after the target.
func TestNoTrialIsIssuedAfterTheTarget(t *testing.T) {
	target := 3.0
	u, _ := newStudy(t, line(9), store.Options{})
	err := u.Run(context.Background(), func(_ context.Context, trial store.Trial, _ space.Point) (store.Report, error) {
		return store.Report{Numbers: map[string]float64{"value": float64(6 - trial.Number)}}, nil
	}, store.RunOptions{Target: &target})
	require.ErrorIs(t, err, store.ErrTarget)
	v, err := u.View(context.Background())
	require.NoError(t, err)
	for i, trial := range v.Trials {
		require.Equal(t, i < 3, trial.Attempt == 1, "trial %d", trial.Number)
	}
}

// A number that nothing needs and that is not usable is left out by Tell, Add and Run.
func TestUnusableFurtherNumbers(t *testing.T) {
	ctx := context.Background()
	numbers := func(value float64) map[string]float64 {
		return map[string]float64{
			"value": value, "nan": math.NaN(), "inf": math.Inf(1), "large": 1e301, "size": 3,
			"a\x00b": 1, "\xff": 1, strings.Repeat("long", 65): 1,
		}
	}
	want := map[string]float64{"value": 1, "size": 3}
	u, _ := newStudy(t, line(5), store.Options{})
	trials, err := u.Ask(ctx, 2)
	require.NoError(t, err)
	for range 2 {
		told, err := u.Tell(ctx, store.Report{Trial: trials[0].Number, Numbers: numbers(1)})
		require.NoError(t, err)
		require.Equal(t, want, told.Numbers)
	}
	_, err = u.Tell(ctx, store.Report{Trial: trials[1].Number, Numbers: numbers(math.NaN())})
	require.ErrorIs(t, err, loop.ErrNotFinite)
	failed, err := u.Tell(ctx, store.Report{Trial: trials[1].Number, Failure: store.FailedByProgram, Numbers: numbers(math.NaN())})
	require.NoError(t, err)
	require.Equal(t, map[string]float64{"size": 3}, failed.Numbers)
	_, err = u.Tell(ctx, store.Report{Trial: trials[1].Number, Failure: "burnt"})
	require.ErrorContains(t, err, `failure is "burnt", want program, timeout, not finite, lost or unfit`)
	given := []store.Evaluated{{Params: map[string]any{"x": 0.5}, Numbers: numbers(1)}}
	added, err := u.Add(ctx, "", given...)
	require.NoError(t, err)
	require.Equal(t, want, added[0].Numbers)
	require.Len(t, given[0].Numbers, 8)

	many := map[string]float64{"value": 1}
	for i := range 1500 {
		many[fmt.Sprintf("n%04d", i)] = 1
	}
	third, err := u.Ask(ctx, 1)
	require.NoError(t, err)
	told, err := u.Tell(ctx, store.Report{Trial: third[0].Number, Numbers: many})
	require.NoError(t, err)
	require.Len(t, told.Numbers, 1000)
	require.Contains(t, told.Numbers, "value")
	require.Contains(t, told.Numbers, "n0998")

	for value, state := range map[float64]loop.State{1: loop.Complete, 1e301: loop.Failed} {
		report, err := store.Evaluate(func(context.Context, store.Trial, space.Point) (store.Report, error) {
			return store.Report{Numbers: numbers(value)}, nil
		}).Guarded(ctx, store.Trial{}, space.Point{}, []string{"value"})
		require.Equal(t, state == loop.Failed, err != nil)
		require.Equal(t, state == loop.Failed, report.Failure == store.NotFinite)
		require.Equal(t, 3., report.Numbers["size"])
		require.NotContains(t, report.Numbers, "nan")
	}
}

// A number with the name of a parameter has the value of the parameter in the trial. A stored result is told again
// as it is.
func TestTellRefusesOtherSettings(t *testing.T) {
	for _, c := range []struct {
		name    string
		numbers map[string]float64
		params  string // of the trial
		fault   string
	}{
		{name: "other", params: `{"x":0.25}`, numbers: map[string]float64{"value": 1, "x": 0.5}, fault: "trial 1 was suggested at x=0.25, and its result has x=0.5"},
		{name: "inactive", params: `{}`, numbers: map[string]float64{"value": 1, "x": 0.5}, fault: "trial 1 was suggested without x, and its result has x=0.5"},
		{name: "same", params: `{"x":0.25}`, numbers: map[string]float64{"value": 1, "x": 0.25}},
		{name: "six digits", params: `{"x":0.123456789}`, numbers: map[string]float64{"value": 1, "x": 0.123457}},
		{name: "bool", params: `{"x":true}`, numbers: map[string]float64{"value": 1, "x": 1}},
		{name: "other bool", params: `{"x":true}`, numbers: map[string]float64{"value": 1, "x": 0}, fault: "trial 1 was suggested at x=true, and its result has x=0"},
		{name: "no parameter", params: `{"x":0.25}`, numbers: map[string]float64{"value": 1, "seconds": 3}},
	} {
		t.Run(c.name, func(t *testing.T) {
			u, b := newStudy(t, line(3), store.Options{})
			_, err := u.Enqueue(t.Context(), "", map[string]any{"x": 0.25})
			require.NoError(t, err)
			change(t, b, func(_ *store.Row, trials []store.Trial, _ time.Time) { trials[0].Params = json.RawMessage(c.params) })
			told, err := u.Tell(t.Context(), store.Report{Trial: 1, Numbers: c.numbers})
			if c.fault == "" {
				require.NoError(t, err)
				require.Equal(t, c.numbers, told.Numbers)
				return
			}
			require.ErrorIs(t, err, space.ErrPoint)
			require.ErrorContains(t, err, c.fault)
			change(t, b, func(_ *store.Row, trials []store.Trial, _ time.Time) {
				require.Equal(t, store.Pending, trials[0].State)
				trials[0].State, trials[0].Numbers = store.Complete, c.numbers
			})
			_, err = u.Tell(t.Context(), store.Report{Trial: 1, Numbers: c.numbers})
			require.NoError(t, err, "the stored result")
		})
	}
}
