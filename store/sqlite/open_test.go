package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"runtime"
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

// A result is not acknowledged if the file was removed or replaced.
func TestRemovedFile(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be removed")
	}
	for name, change := range map[string]func(path string) error{
		"removed": os.Remove,
		"replaced": func(path string) error {
			return errors.Join(os.Rename(path, path+".old"), os.WriteFile(path, nil, 0o600))
		},
	} {
		path := filepath.Join(t.TempDir(), "bo.db")
		b, err := sqlite.Open(t.Context(), path, true)
		require.NoError(t, err)
		nothing := func(store.Tx) error { return nil }
		require.NoError(t, b.Update(t.Context(), nothing), name)
		require.NoError(t, change(path))
		require.ErrorContains(t, b.Update(t.Context(), nothing), "removed or replaced while it was open", name)
		require.NoError(t, b.Close())
	}
}

// A file that cannot be opened is an error with the reason.
func TestClosed(t *testing.T) {
	b, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "bo.db"), true)
	if err != nil {
		t.Fatal(err)
	}
	s := store.New(b, store.Options{})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	_, list := s.List(t.Context())
	_, get := s.Study(t.Context(), "bread")
	for call, err := range map[string]error{"List": list, "Study": get, "Update": b.Update(t.Context(), func(store.Tx) error { return nil })} {
		if !errors.Is(err, store.ErrClosed) {
			t.Errorf("%s after Close: %v, want ErrClosed", call, err)
		}
	}
}

func TestReadOnlyFolder(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "bo.db")
	b, err := sqlite.Open(t.Context(), path, true)
	require.NoError(t, err)
	require.NoError(t, b.Close())
	require.NoError(t, os.Chmod(dir, 0o500))
	t.Cleanup(func() { _ = os.Chmod(dir, 0o700) })
	if f, err := os.Create(filepath.Join(dir, "writable")); err == nil {
		_ = f.Close()
		t.Skip("this user may write to all folders")
	}
	_, err = sqlite.Open(t.Context(), path, false)
	require.ErrorContains(t, err, "cannot be opened for writing: no file can be made in its folder: permission denied")
}

// A store stays in its file if the working directory changes: connections are made later.
func TestWorkingDirectoryChanges(t *testing.T) {
	t.Chdir(t.TempDir())
	b, err := sqlite.Open(t.Context(), "bo.db", true)
	require.NoError(t, err)
	defer func() { require.NoError(t, b.Close()) }()
	other := t.TempDir()
	t.Chdir(other)
	require.NoError(t, b.View(t.Context(), func(store.Tx) error {
		return b.View(t.Context(), func(tx store.Tx) error { // by another connection
			_, err := tx.Studies()
			return err
		})
	}))
	require.NoFileExists(t, filepath.Join(other, "bo.db"))
}
