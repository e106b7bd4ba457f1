package sqlite

import (
	"database/sql/driver"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/store/internal/sqldb"
)

// A limit of the pages stands for a full disk.
func TestFullDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bo.db")
	b, err := Open(t.Context(), path, true)
	require.NoError(t, err)
	require.NoError(t, b.Close())

	full := system
	full.dialect.Session = func(conn any) (sqldb.Session, error) {
		_, err := conn.(driver.ExecerContext).ExecContext(t.Context(), "PRAGMA max_page_count = 1", nil) // the present number
		s, failed := sqldb.Driver(conn)
		return s, errors.Join(err, failed)
	}
	limited, err := full.open(t.Context(), path, false)
	require.NoError(t, err)
	defer limited.Close()
	info, err := os.Stat(path)
	require.NoError(t, err)
	b = &file{limited, path, info}
	put := func(name string, size int) error {
		return b.Update(t.Context(), func(tx store.Tx) error {
			return tx.PutStudy(&store.Row{Name: name, Definition: []byte(`"` + strings.Repeat("x", size) + `"`), Created: time.Now()})
		})
	}
	require.EqualError(t, put("large", 1<<16), "store "+path+": the disk is full")
	require.NoError(t, put("small", 1))
}

// The schema of a new file does not fit either.
func TestFullDiskAtFirst(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bo.db")
	db, _, err := system.connect(path, true)
	require.NoError(t, err)
	defer db.Close()
	db.SetMaxOpenConns(1)
	_, err = db.Exec("PRAGMA max_page_count = 4")
	require.NoError(t, err)
	_, err = system.prepare(t.Context(), db, path, false)
	require.EqualError(t, system.plain(err, "", false), "the disk is full")
}
