package store_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/store"
)

// busy is a backend whose reads wait while the test says so.
type busy struct {
	store.Backend
	waiting chan struct{} // receives when a read waits
	free    chan struct{} // closed to end the wait; nil if reads do not wait
}

func (b *busy) View(ctx context.Context, f func(store.Tx) error) error {
	if b.free != nil {
		b.waiting <- struct{}{}
		<-b.free
	}
	return b.Backend.View(ctx, f)
}

// While one call waits for the database, another call for the study ends with its context.
func TestWaitingCallsEndWithTheirContexts(t *testing.T) {
	b := &busy{Backend: store.NewMemory(), waiting: make(chan struct{}, 1)}
	u, err := store.New(b, store.Options{}).Create(t.Context(), line(3))
	require.NoError(t, err)
	_, err = u.View(t.Context())
	require.NoError(t, err)
	b.free = make(chan struct{})
	first := make(chan error, 1)
	go func() {
		_, err := u.View(context.Background())
		first <- err
	}()
	<-b.waiting
	for name, call := range map[string]func(context.Context) error{
		"View":    func(ctx context.Context) error { _, err := u.View(ctx); return err },
		"Brief":   func(ctx context.Context) error { _, err := u.Brief(ctx); return err },
		"Page":    func(ctx context.Context) error { _, err := u.Page(ctx, 0, 1, nil); return err },
		"History": func(ctx context.Context) error { _, _, _, err := u.History(ctx); return err },
		"Ended":   func(ctx context.Context) error { _, err := u.Ended(ctx); return err },
		"Replay":  func(ctx context.Context) error { _, err := u.Replay(ctx, 1); return err },
	} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		require.ErrorIs(t, call(ctx), context.DeadlineExceeded, name)
		cancel()
	}
	close(b.free)
	require.NoError(t, <-first)
}
