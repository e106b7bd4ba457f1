package store_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/study"
)

// reads counts the transactions that read, and the trials that transactions which write have read.
type reads struct {
	store.Backend
	views, read *atomic.Int64
}

func (b reads) View(ctx context.Context, f func(store.Tx) error) error {
	b.views.Add(1)
	return b.Backend.View(ctx, f)
}

func (b reads) Update(ctx context.Context, f func(store.Tx) error) error {
	return b.Backend.Update(ctx, func(tx store.Tx) error { return f(readsTx{tx, b.read}) })
}

type readsTx struct {
	store.Tx
	read *atomic.Int64
}

func (tx readsTx) Trials(id int64, q store.Query) ([]store.Trial, error) {
	trials, err := tx.Tx.Trials(id, q)
	tx.read.Add(int64(len(trials)))
	return trials, err
}

func counted(t *testing.T, d *study.Definition) (*store.Study, reads) {
	t.Helper()
	b := reads{store.NewMemory(), new(atomic.Int64), new(atomic.Int64)}
	u, err := store.New(b, store.Options{}).Create(context.Background(), d)
	require.NoError(t, err)
	return u, b
}

// A worker that waits for the cost of running trials reads the study a few times in a second.
func TestWaitForCostsReadsSeldom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := line(4)
		d.End = study.End{Cost: "dollars <= 2"}
		u, b := counted(t, d)
		evaluations := atomic.Int64{}
		err := u.Run(t.Context(), func(ctx context.Context, _ store.Trial, p space.Point) (store.Report, error) {
			if evaluations.Add(1) > 1 {
				time.Sleep(10 * time.Second)
			}
			return store.Report{Numbers: map[string]float64{"value": p.Float("x"), "dollars": 1}}, nil
		}, store.RunOptions{Workers: 2})
		require.ErrorIs(t, err, store.ErrCost)
		require.Less(t, b.views.Load(), int64(150))
	})
}

// A trial that runs longer than its first lease counts for the cost of a run, because heartbeats extend the lease.
func TestLongTrialsCountForTheCost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u, _ := newStudy(t, line(4), store.Options{})
		evaluations := atomic.Int64{}
		err := u.Run(t.Context(), func(context.Context, store.Trial, space.Point) (store.Report, error) {
			lasts := time.Second
			if evaluations.Add(1) > 1 {
				lasts = 5 * store.DefaultLease
			}
			time.Sleep(lasts)
			return store.Report{Numbers: map[string]float64{"value": 1, "dollars": 1}}, nil
		}, store.RunOptions{Workers: 2, Cost: "dollars <= 2"})
		require.ErrorIs(t, err, store.ErrCost)
		require.EqualValues(t, 2, evaluations.Load())
	})
}

// An Ask of a study with a limit of the cost reads the trials that have changed, and counts all.
func TestAskReadsChangedCosts(t *testing.T) {
	d := line(100)
	d.End = study.End{Cost: "dollars <= 50"}
	u, b := counted(t, d)
	spend := func() error {
		trials, err := u.Ask(t.Context(), 1)
		if err != nil {
			return err
		}
		_, err = u.Tell(t.Context(), store.Report{Trial: trials[0].Number, Numbers: map[string]float64{"value": 1, "dollars": 1}})
		return err
	}
	for range 49 {
		require.NoError(t, spend())
	}
	b.read.Store(0)
	require.NoError(t, spend())
	require.Less(t, b.read.Load(), int64(10))
	require.ErrorIs(t, spend(), store.ErrBudget)
	require.NoError(t, u.Edit(t.Context(), func(d study.Definition) (*study.Definition, error) {
		d.End.Cost = "value <= 51"
		return &d, nil
	}))
	require.NoError(t, spend(), "the limit is of another number")
	require.ErrorIs(t, spend(), store.ErrBudget)
}

// between is a backend that calls a function once between a transaction whose acknowledgement is lost and the repeated
// transaction.
type between struct {
	store.Backend
	call atomic.Pointer[func()]
}

func (b *between) Update(ctx context.Context, f func(store.Tx) error) error {
	err := b.Backend.Update(ctx, f)
	if call := b.call.Swap(nil); call != nil && err == nil {
		(*call)()
		return b.Backend.Update(ctx, f)
	}
	return err
}

// An Ask claims a trial in a transaction whose acknowledgement is lost. It returns the trial, also if a result
// uses up the cost before the transaction is repeated.
func TestCostBeforeAClaimIsRepeated(t *testing.T) {
	for _, key := range []string{"", "k"} {
		b := &between{Backend: store.NewMemory()}
		d := line(4)
		d.End = study.End{Cost: "dollars <= 2"}
		u, err := store.New(b, store.Options{}).Create(t.Context(), d)
		require.NoError(t, err)
		_, err = u.Enqueue(t.Context(), "", map[string]any{"x": 0.5}, map[string]any{"x": 0.6})
		require.NoError(t, err)
		first, err := u.Ask(t.Context(), 1)
		require.NoError(t, err)
		b.call.Store(new(func() {
			_, err := u.Tell(t.Context(), store.Report{Trial: first[0].Number, Numbers: map[string]float64{"value": 1, "dollars": 3}})
			require.NoError(t, err)
		}))
		got, err := u.AskOnce(t.Context(), store.AskRequest{Key: key, N: 1, Owner: "tester"})
		require.NoError(t, err)
		require.Equal(t, 2, got[0].Number)
		_, err = u.Ask(t.Context(), 1)
		require.ErrorIs(t, err, store.ErrBudget)
	}
}
