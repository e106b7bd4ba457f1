package postgres

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/internal/pgtest"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/study"
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
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	require.ErrorIs(t, store.New(patient, store.Options{}).Ping(ctx), store.ErrUnavailable)
	require.NoError(t, ctx.Err(), "a refused connection ends a ping")
	ctx, cancel = context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, patient.Update(ctx, func(store.Tx) error { return nil }), store.ErrUnavailable, "a deadline before the patience ends")
	ctx, cancel = context.WithCancel(t.Context())
	time.AfterFunc(300*time.Millisecond, cancel)
	require.ErrorIs(t, patient.Update(ctx, func(store.Tx) error { return nil }), context.Canceled)
	require.NoError(t, server.Launch())
	require.NoError(t, s.Ping(t.Context()))
}

// A role that may only read is reported as such, without repetitions.
func TestRoleWithoutWrites(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	address := server.Database(t)
	b, err := Open(t.Context(), address, true)
	require.NoError(t, err)
	require.NoError(t, b.Close())
	db, err := connect(t.Context(), address)
	require.NoError(t, err)
	defer db.Close()
	_, err = db.ExecContext(t.Context(), "CREATE ROLE reader LOGIN PASSWORD 'secret' IN ROLE pg_read_all_data")
	require.NoError(t, err)
	defer func() {
		_, err := db.ExecContext(context.Background(), "DROP ROLE reader")
		require.NoError(t, err)
	}()
	b, err = Open(t.Context(), strings.Replace(address, "//bo:", "//reader:", 1), false)
	require.NoError(t, err)
	s := store.New(b, store.Options{})
	defer s.Close()
	_, err = s.List(t.Context())
	require.NoError(t, err)
	_, err = s.Create(t.Context(), &study.Definition{Version: 1, Name: "s", Budget: 9, Parameters: []space.Parameter{space.Float("x", 0, 1)}})
	require.ErrorIs(t, err, store.ErrDenied)
	require.ErrorContains(t, err, "permission denied for table studies")
	require.NotContains(t, err.Error(), "secret")
}

// A transaction is repeated on a new connection after a server that takes no writes, and within time limits.
func TestRepeatedFaults(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	address := server.Database(t)
	b, err := Open(t.Context(), address, true)
	require.NoError(t, err)
	require.NoError(t, b.Close())
	alter := func(setting string) {
		t.Helper()
		db, err := connect(t.Context(), address)
		require.NoError(t, err)
		defer db.Close()
		_, err = db.ExecContext(t.Context(), "SET default_transaction_read_only = off")
		require.NoError(t, err)
		_, err = db.ExecContext(t.Context(), "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I "+setting+"', current_database()); END $$")
		require.NoError(t, err)
	}
	alter("SET default_transaction_read_only = on") // of new connections, as after a server became a standby
	b, err = Open(t.Context(), address, false)
	require.NoError(t, err)
	defer b.Close()
	alter("RESET default_transaction_read_only")
	u, err := store.New(b, store.Options{}).Create(t.Context(), &study.Definition{
		Version: 1, Name: "s", Budget: 9, Initial: 9, Parameters: []space.Parameter{space.Float("x", 0, 1)},
	})
	require.NoError(t, err)

	for _, limit := range []string{"lock_timeout", "statement_timeout"} {
		limited, err := Open(t.Context(), address+"&"+limit+"=1000", false)
		require.NoError(t, err)
		defer limited.Close()
		held, free := make(chan struct{}), make(chan struct{})
		go func() {
			err := b.Update(t.Context(), func(tx store.Tx) error {
				_, err := tx.Study("s")
				close(held)
				<-free
				return err
			})
			require.NoError(t, err)
		}()
		<-held
		other, err := store.New(limited, store.Options{}).Study(t.Context(), u.Name())
		require.NoError(t, err)
		time.AfterFunc(2500*time.Millisecond, func() { close(free) })
		_, err = other.Enqueue(t.Context(), "", map[string]any{"x": 0.5})
		require.NoError(t, err, limit)
	}
}

// A server whose disk is full is unavailable: runs and services repeat their transactions until there is room.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	d, address := dialect, pgtest.Shared(t).Database(t)
	d.Patience = 200 * time.Millisecond
	b, err := open(t.Context(), d, address, true)
	require.NoError(t, err)
	defer b.Close()
	u, err := store.New(b, store.Options{}).Create(t.Context(), &study.Definition{Version: 1, Name: "s", Budget: 9, Parameters: []space.Parameter{space.Float("x", 0, 1)}})
	require.NoError(t, err)
	db, err := connect(t.Context(), address)
	require.NoError(t, err)
	defer db.Close()
	_, err = db.ExecContext(t.Context(), `CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION USING ERRCODE = 'disk_full', MESSAGE = 'No space left on device'; END $$;
		CREATE TRIGGER full_disk BEFORE INSERT ON trials EXECUTE FUNCTION full_disk()`)
	require.NoError(t, err)
	enqueue := func() error {
		_, err := u.Enqueue(t.Context(), "", map[string]any{"x": 0.5})
		return err
	}
	err = enqueue()
	require.ErrorIs(t, err, store.ErrUnavailable)
	require.ErrorContains(t, err, "No space left on device")
	_, err = db.ExecContext(t.Context(), "DROP TRIGGER full_disk ON trials")
	require.NoError(t, err)
	require.NoError(t, enqueue())
}
