package postgres

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/internal/pgtest"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/store/internal/sqldb"
	"github.com/functionspace/bo/store/internal/upgradetest"
)

// The test program is also the process that is killed during an upgrade.
func TestMain(m *testing.M) {
	if address := os.Getenv("BO_TEST_UPGRADE"); address != "" {
		if _, err := upgrade(context.Background(), next(slow), address); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	code := m.Run()
	pgtest.StopShared()
	os.Exit(code)
}

const (
	// quick is a migration that would succeed a second time.
	quick = "UPDATE studies SET created = created + 1000000;"
	// slow changes the schema before it takes a while.
	slow = "ALTER TABLE trials ADD COLUMN note TEXT NOT NULL DEFAULT 'x'; SELECT pg_sleep(1.5);"
)

// next is the dialect of a program with one more version of the schema.
func next(statements string) sqldb.Dialect {
	d := dialect
	d.Migrations = upgradetest.Next(d.Migrations, statements)
	return d
}

// filled makes a database of this program's version.
func filled(t *testing.T, server *pgtest.Server) string {
	address := server.Database(t)
	b, err := Open(context.Background(), address, true)
	require.NoError(t, err)
	upgradetest.Fill(t, b)
	require.NoError(t, b.Close())
	return address
}

func content(t *testing.T, d sqldb.Dialect, address string) string {
	b, err := open(context.Background(), d, address, false)
	require.NoError(t, err)
	defer b.Close()
	return upgradetest.Content(t, b)
}

// dump and restore are the commands of docs/deployment.md.
func dump(t *testing.T, server *pgtest.Server, address string) []byte {
	text, err := server.Client("pg_dump", "--no-owner", "--dbname", address).Output()
	require.NoError(t, err)
	return text
}

func restore(t *testing.T, server *pgtest.Server, address, file string) {
	out, err := server.Client("psql", "--quiet", "--set", "ON_ERROR_STOP=1", "--single-transaction", "--dbname", address, "--file", file).CombinedOutput()
	require.NoError(t, err, "%s", out)
}

func TestVersions(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	newest, err := sqldb.Newest(dialect)
	require.NoError(t, err)
	save := func(t *testing.T, path string) string {
		address := filled(t, server)
		require.NoError(t, os.WriteFile(path, dump(t, server, address), 0o644))
		return content(t, dialect, address)
	}
	load := func(t *testing.T, path string) store.Backend {
		address := server.Database(t)
		restore(t, server, address, path)
		_, err := Upgrade(context.Background(), address)
		require.NoError(t, err)
		b, err := Open(context.Background(), address, false)
		require.NoError(t, err)
		t.Cleanup(func() { _ = b.Close() })
		return b
	}
	upgradetest.Versions(t, newest, ".sql", save, load)
}

func TestUpgrade(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	ctx := context.Background()
	newest, err := sqldb.Newest(dialect)
	require.NoError(t, err)
	t.Run("by command only", func(t *testing.T) {
		address := filled(t, server)
		before := content(t, dialect, address)
		old, err := Open(ctx, address, false)
		require.NoError(t, err)
		defer old.Close()

		for _, create := range []bool{false, true} {
			_, err = open(ctx, next(quick), address, create)
			require.ErrorIs(t, err, store.ErrOlder)
			require.ErrorContains(t, err, fmt.Sprintf("its schema has version %d, this program needs %d", newest, newest+1))
			require.ErrorContains(t, err, "bo store upgrade")
		}
		require.NoError(t, old.Update(ctx, func(store.Tx) error { return nil }))
		require.NoError(t, store.New(old, store.Options{}).Ping(ctx))

		up, err := upgrade(ctx, next(quick), address)
		require.NoError(t, err)
		require.Equal(t, store.Upgrade{From: newest, To: newest + 1}, up)
		b, err := open(ctx, next(quick), address, false)
		require.NoError(t, err)
		defer b.Close()
		require.Equal(t, before, upgradetest.Content(t, b))
		upgradetest.Continue(t, b)

		_, err = Open(ctx, address, true)
		require.ErrorIs(t, err, store.ErrNewer)
		_, err = Upgrade(ctx, address)
		require.ErrorIs(t, err, store.ErrNewer)
		err = old.Update(ctx, func(store.Tx) error { return nil })
		require.ErrorIs(t, err, store.ErrNewer, "a process that had the database open notices")
		require.ErrorIs(t, store.New(old, store.Options{}).Ping(ctx), store.ErrNewer, "it is not ready")
	})
	t.Run("a column that is gone", func(t *testing.T) {
		address := filled(t, server)
		old, err := Open(ctx, address, false)
		require.NoError(t, err)
		defer old.Close()
		_, err = upgrade(ctx, next("ALTER TABLE studies RENAME COLUMN warm TO start;"), address)
		require.NoError(t, err)
		err = old.Update(ctx, func(tx store.Tx) error {
			_, err := tx.Study("s")
			return err
		})
		require.ErrorIs(t, err, store.ErrNewer)
	})
	t.Run("many at once", func(t *testing.T) {
		address := filled(t, server)
		before := created(t, address)
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				if _, err := upgrade(ctx, next(quick), address); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		require.Equal(t, before+1000000, created(t, address), "the migration ran once")
	})
	t.Run("killed", func(t *testing.T) {
		address := filled(t, server)
		before := content(t, dialect, address)
		for _, wait := range []time.Duration{100, 500, 1000} {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), "BO_TEST_UPGRADE="+address)
			require.NoError(t, cmd.Start())
			time.Sleep(wait * time.Millisecond)
			require.NoError(t, cmd.Process.Kill())
			require.Error(t, cmd.Wait(), "the upgrade ended before the kill")
			// The server ends the transaction when the statement under way is over.
			require.Equal(t, before, content(t, dialect, address))
		}
		up, err := upgrade(ctx, next(slow), address)
		require.NoError(t, err)
		require.Equal(t, newest, up.From)
		require.Equal(t, before, content(t, next(slow), address))
	})
}

func created(t *testing.T, address string) (n int64) {
	db, err := sql.Open("pgx", address)
	require.NoError(t, err)
	defer db.Close()
	require.NoError(t, db.QueryRow("SELECT created FROM studies").Scan(&n))
	return n
}

// A dump made while a process writes is a consistent store.
func TestBackup(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	ctx := context.Background()
	address := filled(t, server)
	b, err := Open(ctx, address, false)
	require.NoError(t, err)
	defer b.Close()
	stop := make(chan struct{})
	var writing sync.WaitGroup
	writing.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
				if err := upgradetest.Write(b, i); err != nil {
					t.Error(err)
				}
				time.Sleep(5 * time.Millisecond)
			}
		}
	})
	for i := range 3 {
		require.NoError(t, upgradetest.Write(b, 1_000_000+i))
		file := t.TempDir() + "/bo.sql"
		require.NoError(t, os.WriteFile(file, dump(t, server, address), 0o600))
		copied := server.Database(t)
		restore(t, server, copied, file)
		c, err := Open(ctx, copied, false)
		require.NoError(t, err)
		require.True(t, upgradetest.Written(t, c, 1_000_000+i), "what was committed before the dump is in it")
		if i == 0 {
			upgradetest.Continue(t, c)
		}
		require.NoError(t, c.Close())
	}
	close(stop)
	writing.Wait()
}
