package postgres

import (
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
	d := dialect
	d.Patience = 200 * time.Millisecond
	b, err := open(t.Context(), d, server.Database(t), true)
	require.NoError(t, err)
	defer b.Close()
	s := store.New(b, store.Options{})
	require.NoError(t, s.Ping(t.Context()))
	require.NoError(t, server.Stop("immediate"))
	require.ErrorIs(t, s.Ping(t.Context()), store.ErrUnavailable)
	require.ErrorIs(t, b.Update(t.Context(), func(store.Tx) error { return nil }), store.ErrUnavailable)
	require.NoError(t, server.Launch())
	require.NoError(t, s.Ping(t.Context()))
}
