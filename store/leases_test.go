package store_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/store"
)

// jumping is a backend whose clock is ahead, as after the sleep of a computer.
type jumping struct {
	store.Backend
	ahead atomic.Int64
}

type jumpingTx struct {
	store.Tx
	b *jumping
}

func (t jumpingTx) Now() (time.Time, error) {
	now, err := t.Tx.Now()
	return now.Add(time.Duration(t.b.ahead.Load())), err
}

func (b *jumping) Update(ctx context.Context, f func(store.Tx) error) error {
	return b.Backend.Update(ctx, func(tx store.Tx) error { return f(jumpingTx{tx, b}) })
}

func (b *jumping) View(ctx context.Context, f func(store.Tx) error) error {
	return b.Backend.View(ctx, func(tx store.Tx) error { return f(jumpingTx{tx, b}) })
}

// A run whose leases have ended renews them and does not take its own trials again.
func TestRunKeepsItsTrials(t *testing.T) {
	for name, cost := range map[string]string{"claim with a result": "", "ask": "seconds <= 1e6"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := &jumping{Backend: store.NewMemory()}
				u, err := store.New(b, store.Options{}).Create(t.Context(), line(6))
				require.NoError(t, err)
				require.NoError(t, u.Run(t.Context(), func(ctx context.Context, trial store.Trial, _ space.Point) (store.Report, error) {
					lasts := 5 * time.Second
					if trial.Number == 1 {
						b.ahead.Store(int64(time.Hour))
						lasts = time.Minute
					}
					select {
					case <-ctx.Done():
						return store.Report{}, ctx.Err()
					case <-time.After(lasts):
						return store.Report{Numbers: map[string]float64{"value": 1, "seconds": 1}}, nil
					}
				}, store.RunOptions{Workers: 2, Cost: cost}))
				v, err := u.View(t.Context())
				require.NoError(t, err)
				for _, trial := range v.Trials {
					require.Equal(t, store.Complete, trial.State)
					require.Equal(t, 1, trial.Attempt, "trial %d", trial.Number)
					require.Zero(t, trial.Lost)
				}
			})
		})
	}
}

// Of two attempts of a run at one trial, a heartbeat cancels the one that has lost its lease.
func TestHeartbeatCancelsTheLostAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u, b := newStudy(t, line(3), store.Options{})
		var mu sync.Mutex
		ends := map[int]error{} // of the attempts at trial 1
		require.NoError(t, u.Run(t.Context(), func(ctx context.Context, trial store.Trial, _ space.Point) (store.Report, error) {
			lasts := time.Second
			if trial.Number == 1 {
				lasts = 5 * time.Minute
				if trial.Attempt == 1 { // another process took the trial and returned it
					change(t, b, func(_ *store.Row, trials []store.Trial, _ time.Time) {
						trials[0].Token, trials[0].Lease = "", time.Time{}
					})
				}
			}
			select {
			case <-ctx.Done():
			case <-time.After(lasts):
			}
			mu.Lock()
			defer mu.Unlock()
			if trial.Number == 1 {
				ends[trial.Attempt] = ctx.Err()
			}
			return store.Report{Numbers: map[string]float64{"value": 1}}, ctx.Err()
		}, store.RunOptions{Workers: 2}))
		require.Equal(t, map[int]error{1: context.Canceled, 2: nil}, ends)
		v, err := u.View(t.Context())
		require.NoError(t, err)
		require.Equal(t, store.Complete, v.Trials[0].State)
	})
}

// An Ask keeps the trials that it has while it waits for further ones: they are issued once.
func TestAskKeepsItsTrials(t *testing.T) {
	point := map[string]any{"x": 0.5}
	for _, c := range []struct {
		name  string
		first int // trials of an Ask before
	}{{"during its own fit", 0}, {"during the fit of another Ask", 1}} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				u, _ := newStudy(t, line(8), store.Options{Admit: func(context.Context) (func(), error) {
					time.Sleep(5 * time.Minute)
					return func() {}, nil
				}})
				var all sync.WaitGroup
				var mu sync.Mutex
				issued := map[int]int{} // number of times by trial
				ask := func(n int) {
					trials, err := u.AskFor(t.Context(), n, "someone", time.Minute)
					require.NoError(t, err)
					require.Len(t, trials, n)
					mu.Lock()
					defer mu.Unlock()
					for _, trial := range trials {
						issued[trial.Number]++
						require.True(t, trial.Lease.After(time.Now()), "trial %d", trial.Number)
						_, err := u.Tell(t.Context(), store.Report{Trial: trial.Number, Token: trial.Token, Numbers: map[string]float64{"value": 1}})
						require.NoError(t, err)
					}
				}
				if c.first > 0 {
					all.Go(func() { ask(c.first) })
					synctest.Wait()
				}
				_, err := u.Enqueue(t.Context(), "", point)
				require.NoError(t, err)
				all.Go(func() { ask(2) })
				time.Sleep(2 * time.Minute)
				all.Go(func() { ask(1) })
				all.Wait()
				for number, times := range issued {
					require.Equal(t, 1, times, "trial %d", number)
				}
				v, err := u.View(t.Context())
				require.NoError(t, err)
				require.Zero(t, v.Trials[0].Lost)
			})
		})
	}
}
