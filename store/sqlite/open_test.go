package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/store/sqlite"
)

// foreign creates an SQLite file with the given statements.
func foreign(t *testing.T, path string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	for _, s := range statements {
		_, err = db.Exec(s)
		require.NoError(t, err)
	}
	require.NoError(t, db.Close())
}

func TestOpenFaults(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	require.NoError(t, os.WriteFile(path("text.db"), []byte(strings.Repeat("not a database\n", 100)), 0o600))
	foreign(t, path("other.db"), "CREATE TABLE things (id INTEGER)")
	b, err := sqlite.Open(ctx, path("newer.db"), true)
	require.NoError(t, err)
	require.NoError(t, b.Close())
	foreign(t, path("newer.db"), "INSERT INTO bo_schema (version_id, is_applied) VALUES (999, 1)")
	for _, c := range []struct {
		path, text string
		create     bool
		is         error
	}{
		{path: path("none.db"), is: os.ErrNotExist},
		{path: path("none/bo.db"), create: true, text: "the folder does not exist"},
		{path: "/dev/full", create: true, text: "not a regular file"},
		{path: dir, create: true, text: "not a regular file"},
		{path: path("text.db"), create: true, text: "not an SQLite file"},
		{path: path("other.db"), create: true, text: "an SQLite file of another program"},
		{path: path("newer.db"), create: true, is: store.ErrNewer, text: "version 999"},
	} {
		_, err := sqlite.Open(ctx, c.path, c.create)
		require.Error(t, err, c.path)
		require.ErrorContains(t, err, c.text)
		require.ErrorContains(t, err, c.path)
		if c.is != nil {
			require.True(t, errors.Is(err, c.is), "%v", err)
		}
	}
	_, err = os.Stat(path("none.db"))
	require.ErrorIs(t, err, os.ErrNotExist, "reading creates nothing")
}

func TestManyCreateOneFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bo.db")
	var all sync.WaitGroup
	for range 12 {
		all.Go(func() {
			b, err := sqlite.Open(context.Background(), path, true)
			if err == nil {
				err = b.Close()
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}
