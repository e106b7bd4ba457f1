package sqlite_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/store/sqlite"
	"github.com/functionspace/bo/store/storetest"
)

func TestSQLite(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) storetest.Opener {
		path := filepath.Join(t.TempDir(), "a b%#.db")
		return func() (store.Backend, error) { return sqlite.Open(context.Background(), path, true) }
	})
}

func TestSQLiteOperations(t *testing.T) {
	t.Parallel()
	storetest.RunOperations(t, 180_000, func(t *testing.T) storetest.Opener {
		path := filepath.Join(t.TempDir(), "a.db")
		return func() (store.Backend, error) { return sqlite.Open(context.Background(), path, true) }
	})
}
