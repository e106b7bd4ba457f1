package sqlite

import (
	"context"
	"database/sql"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/store"
)

// Updates that wait for another program together end together, with the lock as the reason.
func TestLockedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bo.db")
	d := dialect
	d.Patience = 100 * time.Millisecond
	b, err := opener{d, onNetwork}.open(t.Context(), path, true)
	require.NoError(t, err)
	defer b.Close()
	other, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	defer other.Close()
	c, err := other.Conn(t.Context())
	require.NoError(t, err)
	defer c.Close()
	_, err = c.ExecContext(t.Context(), "BEGIN IMMEDIATE")
	require.NoError(t, err)
	var all sync.WaitGroup
	errs := make([]error, 100)
	for i := range errs {
		all.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), 6*time.Second) // too short for one after the other
			defer cancel()
			errs[i] = b.Update(ctx, func(store.Tx) error { return nil })
		})
	}
	all.Wait()
	for _, err := range errs {
		require.ErrorIs(t, err, store.ErrUnavailable)
		require.ErrorContains(t, err, "database is locked")
	}
	_, err = c.ExecContext(t.Context(), "ROLLBACK")
	require.NoError(t, err)
	require.NoError(t, b.Update(t.Context(), func(store.Tx) error { return nil }))
}
