package postgres

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/internal/pgtest"
	"github.com/functionspace/bo/store"
)

// An outage that lasts longer than the patience of a store is an error of its own, and passes.
func TestOutage(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	d, address := dialect, server.Database(t)
	d.Patience = 200 * time.Millisecond
	b, err := open(t.Context(), d, address, true)
	require.NoError(t, err)
	defer b.Close()
	patient, err := open(t.Context(), dialect, address, false)
	require.NoError(t, err)
	defer patient.Close()
	s := store.New(b, store.Options{})
	require.NoError(t, s.Ping(t.Context()))
	require.NoError(t, server.Stop("immediate"))
	require.ErrorIs(t, s.Ping(t.Context()), store.ErrUnavailable)
	require.ErrorIs(t, b.Update(t.Context(), func(store.Tx) error { return nil }), store.ErrUnavailable)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, patient.Update(ctx, func(store.Tx) error { return nil }), store.ErrUnavailable, "a deadline before the patience ends")
	ctx, cancel = context.WithCancel(t.Context())
	time.AfterFunc(300*time.Millisecond, cancel)
	require.ErrorIs(t, patient.Update(ctx, func(store.Tx) error { return nil }), context.Canceled)
	require.NoError(t, server.Launch())
	require.NoError(t, s.Ping(t.Context()))
}
