package store_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/study"
)

// outage is a backend that takes no writes for some time.
type outage struct {
	store.Backend
	until          atomic.Pointer[time.Time]
	fault          error                         // after 30 s; nil waits for the end of the context
	unacknowledged atomic.Pointer[time.Duration] // of the outage that follows the next write, whose acknowledgement is lost
}

func (b *outage) last(d time.Duration) {
	until := time.Now().Add(d)
	b.until.Store(&until)
}

func (b *outage) Update(ctx context.Context, f func(store.Tx) error) error {
	if until := b.until.Load(); until != nil && time.Now().Before(*until) {
		if b.fault == nil {
			<-ctx.Done()
			return ctx.Err()
		}
		time.Sleep(30 * time.Second)
		return b.fault
	}
	err := b.Backend.Update(ctx, f)
	if lasts := b.unacknowledged.Swap(nil); lasts != nil {
		b.last(*lasts)
		return b.fault
	}
	return err
}

// A run stores its results after an outage of minutes. After a longer outage its error has the results that are
// lost. No outage cancels an evaluation.
func TestOutage(t *testing.T) {
	locked := fmt.Errorf("%w: the database is locked", store.ErrUnavailable)
	for _, c := range []struct {
		name  string
		fault error
		lasts time.Duration
		lost  []int
		text  string // part of the error
	}{
		{"locked", locked, 8 * time.Minute, nil, ""},
		{"silent", nil, 8 * time.Minute, nil, ""},
		{"locked for long", locked, 15 * time.Minute, []int{1, 2}, "the result of trial 2, size 3, value 2.5, is not stored: study s: the store is unavailable: the database is locked"},
		{"silent for long", nil, 15 * time.Minute, []int{1, 2}, "the result of trial 2, size 3, value 2.5, is not stored: study s: the store is unavailable: no answer in 1m30s"},
		{"other fault", errors.New("the disk is full"), time.Minute, []int{1}, "the result of trial 1, size 3, value 1.5, is not stored: study s: the disk is full"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := &outage{Backend: store.NewMemory(), fault: c.fault}
				u, err := store.New(b, store.Options{}).Create(t.Context(), line(3))
				require.NoError(t, err)
				var mu sync.Mutex
				var retried, told []int
				cancelled := 0
				err = u.Run(t.Context(), func(ctx context.Context, trial store.Trial, _ space.Point) (store.Report, error) {
					lasts := time.Duration(trial.Number) * time.Minute
					if trial.Number == 3 {
						lasts = time.Hour
					}
					select {
					case <-ctx.Done():
						mu.Lock()
						cancelled++
						mu.Unlock()
						return store.Report{}, ctx.Err()
					case <-time.After(lasts):
					}
					if trial.Number == 1 {
						b.last(c.lasts)
					}
					return store.Report{Numbers: map[string]float64{"value": float64(trial.Number) + 0.5, "size": 3}}, nil
				}, store.RunOptions{Workers: 3, OnRetry: func(err error) {
					mu.Lock()
					defer mu.Unlock()
					if lost, ok := errors.AsType[*store.NotStored](err); ok {
						require.ErrorIs(t, err, store.ErrUnavailable)
						retried = append(retried, lost.Report.Trial)
					}
				}, OnEnd: func(trial store.Trial) {
					mu.Lock()
					defer mu.Unlock()
					told = append(told, trial.Number)
				}})
				if errors.Is(c.fault, store.ErrUnavailable) || c.fault == nil {
					require.Subset(t, retried, []int{1, 2})
					require.Zero(t, cancelled)
					require.Contains(t, told, 3)
				}
				if c.lost == nil {
					require.NoError(t, err)
					require.Len(t, told, 3)
					return
				}
				require.ErrorContains(t, err, c.text)
				for _, n := range c.lost {
					require.NotContains(t, told, n)
					require.Equal(t, 1, strings.Count(err.Error(), fmt.Sprintf("of trial %d, ", n)))
				}
			})
		})
	}
}

// unread is a backend whose next read fails after a trial was issued, once.
type unread struct {
	store.Backend
	issued, failed atomic.Bool
}

func (b *unread) View(ctx context.Context, f func(store.Tx) error) error {
	if b.issued.Load() && b.failed.CompareAndSwap(false, true) {
		return fmt.Errorf("%w: the database is locked", store.ErrUnavailable)
	}
	return b.Backend.View(ctx, f)
}

func (b *unread) Update(ctx context.Context, f func(store.Tx) error) error {
	return b.Backend.Update(ctx, func(tx store.Tx) error {
		if err := f(tx); err != nil {
			return err
		}
		row, err := tx.Study("s")
		if err != nil {
			return err
		}
		pending, err := tx.Trials(row.ID, store.Query{Pending: true})
		if len(pending) > 0 && !pending[0].Lease.IsZero() {
			b.issued.Store(true)
		}
		return err
	})
}

// An outage between the issue of a trial and its evaluation does not end a run.
func TestOutageBeforeAnEvaluation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &unread{Backend: store.NewMemory()}
		u, err := store.New(b, store.Options{}).Create(t.Context(), line(3))
		require.NoError(t, err)
		_, err = u.Enqueue(t.Context(), "", map[string]any{"x": 0.5})
		require.NoError(t, err)
		retried := 0
		require.NoError(t, u.Run(t.Context(), func(_ context.Context, trial store.Trial, p space.Point) (store.Report, error) {
			require.Equal(t, 1, trial.Attempt)
			return store.Report{Numbers: map[string]float64{"value": p.Float("x")}}, nil
		}, store.RunOptions{OnRetry: func(error) { retried++ }}))
		require.Equal(t, 1, retried)
	})
}

// After an outage that is longer than a lease, a run holds the trial that it claimed in a write whose
// acknowledgement was lost.
func TestOutageAfterAClaim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &outage{Backend: store.NewMemory(), fault: fmt.Errorf("%w: the database is locked", store.ErrUnavailable)}
		u, err := store.New(b, store.Options{}).Create(t.Context(), line(2))
		require.NoError(t, err)
		_, err = u.Enqueue(t.Context(), "", map[string]any{"x": 0.1}, map[string]any{"x": 0.2})
		require.NoError(t, err)
		require.NoError(t, u.Run(t.Context(), func(ctx context.Context, trial store.Trial, p space.Point) (store.Report, error) {
			require.Equal(t, 1, trial.Attempt)
			if trial.Number == 1 {
				b.unacknowledged.Store(new(5 * time.Minute))
			} else {
				change(t, b, func(_ *store.Row, trials []store.Trial, now time.Time) { require.True(t, trials[1].Running(now)) })
			}
			return store.Report{Numbers: map[string]float64{"value": p.Float("x")}}, nil
		}, store.RunOptions{}))
	})
}

// A run evaluates the trial of an Ask whose acknowledgement was lost, whether the trial waited or is proposed.
func TestOutageAfterAnAsk(t *testing.T) {
	for _, waiting := range []bool{true, false} {
		t.Run(fmt.Sprint(waiting), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := &outage{Backend: store.NewMemory(), fault: fmt.Errorf("%w: the database is locked", store.ErrUnavailable)}
				outage := sync.OnceFunc(func() { b.unacknowledged.Store(new(5 * time.Minute)) })
				u, err := store.New(b, store.Options{Lease: time.Hour, Admit: func(context.Context) (func(), error) {
					outage() // at the write of the proposals
					return func() {}, nil
				}}).Create(t.Context(), line(2))
				require.NoError(t, err)
				if waiting {
					_, err = u.Enqueue(t.Context(), "", map[string]any{"x": 0.1}, map[string]any{"x": 0.2})
					require.NoError(t, err)
					outage()
				}
				begun := time.Now()
				require.NoError(t, u.Run(t.Context(), func(_ context.Context, trial store.Trial, p space.Point) (store.Report, error) {
					require.Equal(t, 1, trial.Attempt)
					return store.Report{Numbers: map[string]float64{"value": p.Float("x")}}, nil
				}, store.RunOptions{}))
				require.Less(t, time.Since(begun), 10*time.Minute)
			})
		})
	}
}

// A run claims a trial in a write whose acknowledgement is lost. It gives the trial back if the time or the
// target of the run comes before the write is repeated.
func TestEndBeforeAClaimIsRepeated(t *testing.T) {
	for _, c := range []struct {
		options store.RunOptions
		want    error
	}{
		{store.RunOptions{Time: time.Minute}, store.ErrTime},
		{store.RunOptions{Workers: 2, Target: new(0.1)}, store.ErrTarget},
	} {
		t.Run(c.want.Error(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := &outage{Backend: store.NewMemory(), fault: fmt.Errorf("%w: the database is locked", store.ErrUnavailable)}
				u, err := store.New(b, store.Options{Lease: time.Hour}).Create(t.Context(), line(4))
				require.NoError(t, err)
				_, err = u.Enqueue(t.Context(), "", map[string]any{"x": 0.5}, map[string]any{"x": 0.1}, map[string]any{"x": 0.7})
				require.NoError(t, err)
				err = u.Run(t.Context(), func(_ context.Context, trial store.Trial, p space.Point) (store.Report, error) {
					if trial.Number == 1 {
						time.Sleep(time.Second)
						b.unacknowledged.Store(new(5 * time.Minute))
					} else {
						time.Sleep(5*time.Minute + 5*time.Second) // to a result after the outage, before the repeated write
					}
					return store.Report{Numbers: map[string]float64{"value": p.Float("x")}}, nil
				}, c.options)
				require.ErrorIs(t, err, c.want)
				change(t, b, func(row *store.Row, trials []store.Trial, now time.Time) {
					require.Equal(t, 1, trials[max(1, c.options.Workers)].Attempt)
					for _, trial := range trials {
						require.False(t, trial.Running(now), "trial %d", trial.Number)
					}
					require.Empty(t, row.FitToken)
				})
			})
		})
	}
}

// A run gives the trial back that it claimed in a write whose acknowledgement was lost, if an edit comes before the
// write is repeated. The result that the write stored is not lost.
func TestEditBeforeAClaimIsRepeated(t *testing.T) {
	for _, c := range []struct {
		name   string
		edit   func(*study.Definition)
		target *float64
		want   error
	}{
		{"objective", func(d *study.Definition) { d.Objectives = []study.Objective{{Name: "loss"}} }, nil, store.ErrEdited},
		{"require", func(d *study.Definition) { d.Require = []string{"size <= 3"} }, nil, store.ErrEdited},
		{"goal", func(d *study.Definition) { d.Objectives = []study.Objective{{Name: "value", Goal: study.Maximize}} }, new(0.2), store.ErrEdited},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := &outage{Backend: store.NewMemory(), fault: fmt.Errorf("%w: the database is locked", store.ErrUnavailable)}
				other, err := store.New(b.Backend, store.Options{}).Create(t.Context(), line(3))
				require.NoError(t, err)
				u, err := store.New(b, store.Options{Lease: time.Hour}).Study(t.Context(), "s")
				require.NoError(t, err)
				_, err = other.Enqueue(t.Context(), "", map[string]any{"x": 0.5}, map[string]any{"x": 0.1})
				require.NoError(t, err)
				edited := false
				err = u.Run(t.Context(), func(context.Context, store.Trial, space.Point) (store.Report, error) {
					b.unacknowledged.Store(new(5 * time.Minute))
					return store.Report{Numbers: map[string]float64{"value": 0.5}}, nil
				}, store.RunOptions{Target: c.target, OnRetry: func(error) {
					if edited {
						return
					}
					edited = true
					require.NoError(t, other.Edit(t.Context(), func(d study.Definition) (*study.Definition, error) { c.edit(&d); return &d, nil }))
				}})
				require.ErrorIs(t, err, c.want)
				_, lost := errors.AsType[*store.NotStored](err)
				require.False(t, lost)
				change(t, b, func(row *store.Row, trials []store.Trial, now time.Time) {
					require.Equal(t, store.Complete, trials[0].State)
					require.Equal(t, 1, trials[1].Attempt)
					require.False(t, trials[1].Running(now))
					require.Empty(t, row.FitToken)
				})
			})
		})
	}
}

// A run that stops a trial by a rule of its own holds the trial until the stop is stored: no worker of the run evaluates the
// trial again after an outage that is longer than a lease.
func TestOutageBeforeAStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &outage{Backend: store.NewMemory(), fault: fmt.Errorf("%w: the database is locked", store.ErrUnavailable)}
		u, err := store.New(b, store.Options{}).Create(t.Context(), line(3))
		require.NoError(t, err)
		var ended sync.Map
		require.NoError(t, u.Run(t.Context(), func(ctx context.Context, trial store.Trial, p space.Point) (store.Report, error) {
			require.Equal(t, 1, trial.Attempt, "trial %d", trial.Number)
			if trial.Number > 1 {
				time.Sleep(time.Duration(trial.Number) * 10 * time.Second)
				return store.Report{Numbers: map[string]float64{"value": p.Float("x")}}, nil
			}
			require.NoError(t, loop.Report(ctx, 1, 0.5))
			b.last(5 * time.Minute)
			return store.Report{}, fmt.Errorf("%w: flat", loop.ErrStopped)
		}, store.RunOptions{Workers: 2, OnEnd: func(trial store.Trial) { ended.Store(trial.Number, trial.State) }}))
		state, _ := ended.Load(1)
		require.Equal(t, store.Stopped, state)
	})
}
