package store_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/store"
)

// silent is a backend that answers no read while it is down.
type silent struct {
	store.Backend
	down atomic.Bool
}

func (b *silent) View(ctx context.Context, f func(store.Tx) error) error {
	if b.down.Load() {
		<-ctx.Done()
		return ctx.Err()
	}
	return b.Backend.View(ctx, f)
}

// Readers of a study that wait for one another end together, at the limit for one read, and read again afterwards.
func TestReadTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &silent{Backend: store.NewMemory()}
		u, err := store.New(b, store.Options{ReadTime: 10 * time.Second}).Create(t.Context(), line(3))
		require.NoError(t, err)
		_, err = u.View(t.Context())
		require.NoError(t, err)
		reads := []func() error{
			func() error { _, err := u.View(t.Context()); return err },
			func() error { _, err := u.Brief(t.Context()); return err },
			func() error { _, err := u.Page(t.Context(), 0, 1, nil); return err },
			func() error { _, err := u.Ended(t.Context()); return err },
			func() error { _, err := u.Summary(t.Context()); return err },
		}
		b.down.Store(true)
		begun := time.Now()
		var all sync.WaitGroup
		for range 3 {
			for _, read := range reads {
				all.Go(func() {
					err := read()
					require.ErrorIs(t, err, store.ErrUnavailable)
					require.ErrorContains(t, err, "study s: the store is unavailable: no answer in 10s")
				})
			}
		}
		all.Wait()
		require.Equal(t, 10*time.Second, time.Since(begun))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = u.View(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded, "a deadline of the caller is not an outage")
		b.down.Store(false)
		for _, read := range reads {
			require.NoError(t, read())
		}
	})
}
