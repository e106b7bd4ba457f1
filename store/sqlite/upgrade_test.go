package sqlite

import (
	"bytes"
	"compress/gzip"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/store/internal/sqldb"
	"github.com/functionspace/bo/store/internal/upgradetest"
)

// The test program is also the processes that tests run beside their own.
func TestMain(m *testing.M) {
	path := os.Getenv("BO_TEST_FILE")
	switch os.Getenv("BO_TEST_PROCESS") {
	case "upgrade":
		_, err := next(slow).open(context.Background(), path, false)
		exit(err)
	case "write":
		exit(writeForever(path))
	case "hold":
		exit(hold(path))
	}
	os.Exit(m.Run())
}

func exit(err error) {
	if err != nil {
		_, _ = os.Stderr.WriteString(err.Error() + "\n")
		os.Exit(1)
	}
	os.Exit(0)
}

func process(role, path string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "BO_TEST_PROCESS="+role, "BO_TEST_FILE="+path)
	return cmd
}

const (
	// quick is a migration that would succeed a second time.
	quick = "UPDATE studies SET created = created + 1000000;"
	// slow changes the file for about a second.
	slow = "ALTER TABLE trials ADD COLUMN note TEXT NOT NULL DEFAULT 'x';" +
		"CREATE TABLE large (n INTEGER NOT NULL);" +
		"WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 2000000) INSERT INTO large SELECT n FROM c;"
)

// bak returns the name of the copy of this program's version.
func bak(path string) string {
	newest, err := sqldb.Newest(dialect)
	if err != nil {
		panic(err)
	}
	return fmt.Sprintf("%s.v%d.bak", path, newest)
}

// next opens files as a program with one more version of the schema does.
func next(statements string) opener {
	o := system
	o.dialect.Migrations = upgradetest.Next(o.dialect.Migrations, statements)
	return o
}

// filled makes a file of this program's version.
func filled(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "bo.db")
	b, err := Open(context.Background(), path, true)
	require.NoError(t, err)
	upgradetest.Fill(t, b)
	require.NoError(t, b.Close())
	return path
}

func content(t *testing.T, o opener, path string) string {
	b, err := o.open(context.Background(), path, false)
	require.NoError(t, err)
	defer b.Close()
	return upgradetest.Content(t, b)
}

func TestVersions(t *testing.T) {
	newest, err := system.inspect(context.Background(), filled(t))
	require.NoError(t, err)
	require.Equal(t, newest.Newest, newest.Version)
	save := func(t *testing.T, path string) string {
		from := filled(t)
		to := filepath.Join(t.TempDir(), "copy.db")
		require.NoError(t, Backup(context.Background(), from, to))
		text, err := os.ReadFile(to)
		require.NoError(t, err)
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		_, err = w.Write(text)
		require.NoError(t, errors.Join(err, w.Close()))
		require.NoError(t, os.WriteFile(path, packed.Bytes(), 0o644))
		return content(t, system, to)
	}
	load := func(t *testing.T, path string) store.Backend {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		r, err := gzip.NewReader(bytes.NewReader(text))
		require.NoError(t, err)
		text, err = io.ReadAll(r)
		require.NoError(t, err)
		file := filepath.Join(t.TempDir(), "bo.db")
		require.NoError(t, os.WriteFile(file, text, 0o600))
		b, err := Open(context.Background(), file, false)
		require.NoError(t, err)
		t.Cleanup(func() { _ = b.Close() })
		return b
	}
	upgradetest.Versions(t, newest.Newest, ".db.gz", save, load)
}

func TestUpgrade(t *testing.T) {
	ctx := context.Background()
	path := filled(t)
	before := content(t, system, path)
	old, err := Open(ctx, path, false)
	require.NoError(t, err)
	defer old.Close()

	b, err := next(quick).open(ctx, path, false)
	require.NoError(t, err)
	up := b.Upgraded()
	require.Equal(t, store.Upgrade{From: up.To - 1, To: up.To, Copy: bak(path)}, up)
	require.Equal(t, before, upgradetest.Content(t, b))
	upgradetest.Continue(t, b)
	require.NoError(t, b.Close())
	require.Equal(t, before, content(t, system, up.Copy), "the copy is a store of the earlier version")

	b, err = next(quick).open(ctx, path, false)
	require.NoError(t, err)
	require.Equal(t, b.Upgraded().From, b.Upgraded().To)
	require.NoError(t, b.Close())

	_, err = Open(ctx, path, false)
	require.ErrorIs(t, err, store.ErrNewer)
	require.ErrorContains(t, err, fmt.Sprintf("its schema has version %d, this program reads up to %d", up.To, up.From))
	err = old.Update(ctx, func(store.Tx) error { return nil })
	require.ErrorIs(t, err, store.ErrNewer, "a process that had the file open notices")
	require.ErrorIs(t, store.New(old, store.Options{}).Ping(t.Context()), store.ErrNewer, "it is not ready")
}

// An earlier copy is never replaced.
func TestUpgradeKeepsCopies(t *testing.T) {
	path := filled(t)
	require.NoError(t, os.WriteFile(bak(path), []byte("of the user"), 0o600))
	b, err := next(quick).open(context.Background(), path, false)
	require.NoError(t, err)
	require.NoError(t, b.Close())
	require.Equal(t, strings.TrimSuffix(bak(path), ".bak")+"-2.bak", b.Upgraded().Copy)
	text, err := os.ReadFile(bak(path))
	require.NoError(t, err)
	require.Equal(t, "of the user", string(text))
}

func TestManyUpgradeAtOnce(t *testing.T) {
	path := filled(t)
	created := func() (n int64) {
		db, err := sql.Open("sqlite", path)
		require.NoError(t, err)
		defer db.Close()
		require.NoError(t, db.QueryRow("SELECT created FROM studies").Scan(&n))
		return n
	}
	before := created()
	var all sync.WaitGroup
	for range 12 {
		all.Go(func() {
			b, err := next(quick).open(context.Background(), path, false)
			if err == nil {
				err = b.Close()
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	require.Equal(t, before+1000000, created(), "the migration ran once")
	copies, err := filepath.Glob(path + ".v*.bak")
	require.NoError(t, err)
	require.Equal(t, []string{bak(path)}, copies)
	requireNoTemporary(t, path)
}

// An upgrade that is killed leaves a file of the earlier version, and the next one succeeds.
func TestUpgradeIsKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("the upgrade takes seconds")
	}
	path := filled(t)
	before := content(t, system, path)
	for _, wait := range []time.Duration{0, 50, 200, 400} {
		cmd := process("upgrade", path)
		require.NoError(t, cmd.Start())
		if wait == 0 { // during the copy
			time.Sleep(20 * time.Millisecond)
		} else {
			require.Eventually(t, func() bool {
				_, err := os.Stat(bak(path))
				return err == nil
			}, time.Minute, time.Millisecond)
			time.Sleep(wait * time.Millisecond)
		}
		require.NoError(t, cmd.Process.Kill())
		require.Error(t, cmd.Wait(), "the upgrade ended before the kill")
		require.Equal(t, before, content(t, system, path))
	}
	b, err := next(slow).open(context.Background(), path, false)
	require.NoError(t, err)
	defer b.Close()
	require.Equal(t, before, upgradetest.Content(t, b))
	require.Equal(t, bak(path), b.Upgraded().Copy)
	requireNoTemporary(t, path)
}

func requireNoTemporary(t *testing.T, path string) {
	hidden, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".*"))
	require.NoError(t, err)
	require.Empty(t, hidden)
}
