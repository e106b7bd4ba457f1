package store_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/store"
)

// cancelling is a backend whose n-th Update commits and reports that the context was cancelled.
type cancelling struct {
	store.Backend
	n      int
	cancel context.CancelFunc
}

func (b *cancelling) Update(ctx context.Context, f func(store.Tx) error) error {
	if err := b.Backend.Update(ctx, f); err != nil {
		return err
	}
	if b.n--; b.n == 0 {
		b.cancel()
		return ctx.Err()
	}
	return nil
}

// An Ask that is cancelled while a claim commits leaves no trial and no fit under a lease.
func TestCancelledAsk(t *testing.T) {
	for n := 1; n <= 2; n++ { // the claim, or the claim after the proposals
		for _, enqueued := range []bool{false, true} {
			if enqueued && n > 1 {
				continue
			}
			plain, b := newStudy(t, line(5), store.Options{})
			if enqueued {
				_, err := plain.Enqueue(context.Background(), "", map[string]any{"x": 0.5})
				require.NoError(t, err)
			}
			ctx, cancel := context.WithCancel(context.Background())
			u, err := store.New(&cancelling{b, n, cancel}, store.Options{}).Study(ctx, "s")
			require.NoError(t, err)
			_, err = u.Ask(ctx, 1)
			require.ErrorIs(t, err, context.Canceled)
			v, err := plain.View(context.Background())
			require.NoError(t, err)
			for i := range v.Trials {
				require.True(t, v.Trials[i].Lease.IsZero(), "trial %d", i+1)
				require.Empty(t, v.Trials[i].Owner)
			}
			require.Empty(t, v.Fitting)
			trials, err := plain.Ask(context.Background(), 1)
			require.NoError(t, err)
			require.Equal(t, 1, trials[0].Number)
		}
	}
}

// A keyed Ask that is cancelled while a claim commits keeps the trials of its stored reply for the repeated request. It
// releases all others.
func TestCancelledKeyedAsk(t *testing.T) {
	for _, c := range []struct {
		n        int // the Update that is cancelled
		enqueued int
		asked    int
	}{
		{1, 1, 1}, {1, 0, 1}, {2, 0, 1}, // the claim, the fit lease, or the claim after the proposals
		{1, 1, 2}, {2, 1, 2},
	} {
		ctx := t.Context()
		plain, b := newStudy(t, line(5), store.Options{})
		for range c.enqueued {
			_, err := plain.Enqueue(ctx, "", map[string]any{"x": 0.5})
			require.NoError(t, err)
		}
		cancelled, cancel := context.WithCancel(ctx)
		u, err := store.New(&cancelling{b, c.n, cancel}, store.Options{}).Study(cancelled, "s")
		require.NoError(t, err)
		_, err = u.AskOnce(cancelled, store.AskRequest{Key: "key", N: c.asked, Owner: "anna", Lease: time.Minute})
		require.ErrorIs(t, err, context.Canceled)
		again, err := plain.AskOnce(ctx, store.AskRequest{Key: "key", N: c.asked, Owner: "anna", Lease: time.Minute})
		require.NoError(t, err)
		require.Len(t, again, c.asked)
		for i, trial := range again {
			require.Equal(t, i+1, trial.Number)
			lost, err := plain.Heartbeat(ctx, store.Attempt{Trial: trial.Number, Token: trial.Token})
			require.NoError(t, err)
			require.Empty(t, lost, "%+v", c)
		}
		others, err := plain.Ask(ctx, 5-c.asked)
		require.NoError(t, err)
		require.Equal(t, c.asked+1, others[0].Number)
	}
}

// An Ask that is cancelled while a claim commits, and then withdrawn, keeps no trial. A late Ask with the key gets none.
func TestWithdrawnAsk(t *testing.T) {
	for n := range 3 { // the Update that is cancelled: none, the fit lease, or the claim after the proposals
		ctx := t.Context()
		plain, b := newStudy(t, line(3), store.Options{})
		cancelled, cancel := context.WithCancel(ctx)
		u, err := store.New(&cancelling{b, n, cancel}, store.Options{}).Study(ctx, "s")
		require.NoError(t, err)
		request := store.AskRequest{Key: "key", N: 1, Owner: "anna", Lease: time.Minute}
		if n > 0 {
			_, err = u.AskOnce(cancelled, request)
			require.ErrorIs(t, err, context.Canceled)
		}
		require.NoError(t, plain.Withdraw(ctx, "key"))
		require.NoError(t, plain.Withdraw(ctx, "key"))
		_, err = u.AskOnce(ctx, request)
		require.ErrorIs(t, err, store.ErrKey)
		_, err = u.Answer(ctx, request)
		require.ErrorIs(t, err, store.ErrKey)
		trials, err := plain.Ask(ctx, 3)
		require.NoError(t, err)
		require.Len(t, trials, 3)
	}
}

// An Ask that is withdrawn while its suggestions are computed issues nothing.
func TestWithdrawnDuringTheFit(t *testing.T) {
	var u *store.Study
	u, _ = newStudy(t, line(3), store.Options{Admit: func(ctx context.Context) (func(), error) {
		return func() {}, u.Withdraw(ctx, "key")
	}})
	_, err := u.AskOnce(t.Context(), store.AskRequest{Key: "key", N: 1, Owner: "anna", Lease: time.Minute})
	require.ErrorIs(t, err, store.ErrKey)
	v, err := u.View(t.Context())
	require.NoError(t, err)
	for _, trial := range v.Trials {
		require.Empty(t, trial.Token)
	}
}
