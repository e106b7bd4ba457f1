// Package sqlite stores the studies of package store in one SQLite file, the default of
// the bo command. It needs no server and no cgo. Any number of processes of one machine
// may share the file; for several machines see store/postgres.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/pressly/goose/v3"
	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/store/internal/sqldb"
	"github.com/functionspace/bo/store/internal/sqliteerr"
)

const busy = 30 * time.Second // wait of a transaction for another process

var dialect = sqldb.Dialect{
	Goose: goose.DialectSQLite3, Migrations: sqldb.Migrations("sqlite"), Exclusive: true, Session: sqldb.Driver,
	Repeat: func(err error) bool {
		e, ok := errors.AsType[*sqlite.Error](err)
		return ok && (e.Code()&0xff == lib.SQLITE_BUSY || e.Code()&0xff == lib.SQLITE_LOCKED)
	},
	Duplicate: func(err error) bool {
		e, ok := errors.AsType[*sqlite.Error](err)
		return ok && e.Code()&0xff == lib.SQLITE_CONSTRAINT
	},
	Plain: func(err error) error {
		if sqliteerr.Full(err) {
			return sqliteerr.ErrFull
		}
		return err
	},
	Patience: busy,
}

// Open opens the store in a file. If the file does not exist, Open creates it if create
// is set; otherwise the error wraps os.ErrNotExist.
//
// The file is in WAL mode with synchronous=FULL: a commit survives a loss of power. On a
// network file system, whose locks are not reliable, one process at a time may have the file
// open. A file with a schema of an earlier version is copied to FILE.v<version>.bak and
// upgraded; the Backend then implements store.Upgraded. A file of a newer version returns
// store.ErrNewer, as does an Update after a newer program has upgraded the file. An Update after the
// file was removed or replaced is an error.
func Open(ctx context.Context, path string, create bool) (store.Backend, error) {
	b, err := open(ctx, path, create)
	if err != nil {
		return nil, fmt.Errorf("store %s: %w", path, err)
	}
	return b, nil
}

func open(ctx context.Context, path string, create bool) (*file, error) {
	full, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	db, err := system.open(ctx, path, create)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(full)
	if err != nil {
		_ = db.Close()
		return nil, err
	}
	return &file{db, full, info}, nil
}

// file is a Backend whose file may be removed or replaced while it is open. SQLite then writes to a file
// without a name.
type file struct {
	*sqldb.DB
	path string // absolute
	info os.FileInfo
}

// Update implements store.Backend.
func (f *file) Update(ctx context.Context, do func(store.Tx) error) error {
	if err := f.DB.Update(ctx, do); errors.Is(err, sqliteerr.ErrFull) {
		return fmt.Errorf("store %s: %w", f.path, err)
	} else if err != nil {
		return err
	}
	info, err := os.Stat(f.path)
	if errors.Is(err, os.ErrNotExist) || err == nil && !os.SameFile(info, f.info) {
		return fmt.Errorf("store %s: the file was removed or replaced while it was open: results since then are not in it", f.path)
	}
	return nil
}

// Inspect returns the version of the schema in a file. It changes nothing.
func Inspect(ctx context.Context, path string) (store.Schema, error) {
	s, err := system.inspect(ctx, path)
	if err != nil {
		return s, fmt.Errorf("store %s: %w", path, err)
	}
	return s, nil
}

// opener opens files. Tests replace its parts.
type opener struct {
	dialect sqldb.Dialect
	remote  func(dir string) bool // reports whether a folder is on a network file system
}

var system = opener{dialect, onNetwork}

func (o opener) open(ctx context.Context, path string, create bool) (*sqldb.DB, error) {
	db, remote, err := o.connect(path, create)
	if err != nil {
		return nil, err
	}
	upgrade, err := o.prepare(ctx, db, path, remote)
	if err != nil {
		_ = db.Close()
		return nil, o.plain(err, path, remote)
	}
	return sqldb.New(db, o.dialect, upgrade)
}

func (o opener) inspect(ctx context.Context, path string) (store.Schema, error) {
	db, remote, err := o.connect(path, false)
	if err != nil {
		return store.Schema{}, err
	}
	defer db.Close()
	s, err := o.first(ctx, db, remote)
	return s, o.plain(err, path, remote)
}

// connect returns the database in a file without opening it.
func (o opener) connect(path string, create bool) (db *sql.DB, remote bool, err error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist) && !create:
		return nil, false, os.ErrNotExist
	case errors.Is(err, os.ErrNotExist):
		if _, err := os.Stat(filepath.Dir(path)); err != nil {
			return nil, false, fmt.Errorf("the folder does not exist: %w", os.ErrNotExist)
		}
	case err != nil:
		return nil, false, err
	case !info.Mode().IsRegular():
		return nil, false, errors.New("not a regular file")
	}
	pragmas := []string{fmt.Sprintf("busy_timeout(%d)", o.dialect.Patience.Milliseconds()), "foreign_keys(1)", "synchronous(FULL)", "journal_mode(WAL)"}
	remote = o.remote(filepath.Dir(path))
	if remote {
		pragmas = []string{"busy_timeout(2000)", "locking_mode(EXCLUSIVE)", "foreign_keys(1)", "synchronous(FULL)", "journal_mode(DELETE)"}
	}
	if path, err = filepath.Abs(path); err != nil { // connections are made later, perhaps in another working directory
		return nil, remote, err
	}
	if db, err = sql.Open("sqlite", address(path, pragmas)); err != nil {
		return nil, remote, err
	}
	db.SetMaxOpenConns(8)
	if remote {
		db.SetMaxOpenConns(1)
	}
	return db, remote, nil
}

// address returns the data source name. Every connection has the pragmas, and transactions
// that write take their lock when they begin.
func address(path string, pragmas []string) string {
	q := url.Values{"_pragma": pragmas, "_txlock": {"immediate"}}
	path = filepath.ToSlash(path)
	if filepath.VolumeName(path) != "" {
		path = "/" + path // file:/C:/…
	}
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + q.Encode()
}

// prepare locks the file on a network file system, and creates or upgrades the schema.
func (o opener) prepare(ctx context.Context, db *sql.DB, path string, remote bool) (store.Upgrade, error) {
	if remote {
		// With locking_mode=EXCLUSIVE the lock of this transaction stays until the file is closed.
		// Read locks alone would let two processes in.
		for _, text := range []string{"BEGIN EXCLUSIVE", "COMMIT"} {
			if _, err := db.ExecContext(ctx, text); err != nil {
				return store.Upgrade{}, err
			}
		}
	}
	s, err := o.first(ctx, db, remote)
	up := store.Upgrade{From: s.Newest, To: s.Newest}
	switch {
	case err != nil:
		return up, err
	case s.Version >= s.Newest:
		return up, sqldb.Check(s.Version, s.Newest)
	case s.Version > 0:
		up.From = s.Version
		if up.Copy, err = keep(ctx, db, path, s.Version); err != nil {
			if s, failed := o.schema(ctx, db); failed == nil && s.Version == s.Newest {
				return up, nil // another process has upgraded it, and removed this process's temporary file
			}
			return up, fmt.Errorf("copying it before the upgrade: %w", err)
		}
	}
	if err := o.migrate(ctx, db); err != nil {
		return up, err
	}
	removeStale(path)
	return up, nil
}

// first returns the version of the schema, read by the first connection. SQLite reports a
// file as locked at once, without waiting for busy_timeout, while another process changes
// its journal mode.
func (o opener) first(ctx context.Context, db *sql.DB, remote bool) (s store.Schema, err error) {
	for pause := 10 * time.Millisecond; ; pause *= 2 {
		s, err = o.schema(ctx, db)
		if remote || !o.dialect.Repeat(err) || pause > busy {
			return s, err
		}
		select {
		case <-ctx.Done():
			return s, ctx.Err()
		case <-time.After(pause):
		}
	}
}

// schema returns the version of the schema without creating anything.
func (o opener) schema(ctx context.Context, db *sql.DB) (s store.Schema, err error) {
	if s.Newest, err = sqldb.Newest(o.dialect); err != nil {
		return s, err
	}
	var tables, ours int
	err = db.QueryRowContext(ctx, "SELECT COUNT(*), COALESCE(SUM(name = 'bo_schema'), 0) FROM sqlite_master WHERE type = 'table'").Scan(&tables, &ours)
	switch {
	case err != nil:
		return s, err
	case ours == 0 && tables > 0:
		return s, errors.New("an SQLite file of another program")
	case ours > 0:
		s.Version, err = sqldb.Version(ctx, db)
	}
	return s, err
}

// migrate upgrades the schema. If several processes create or upgrade the file at once, one of
// them succeeds and the others find the newest version.
func (o opener) migrate(ctx context.Context, db *sql.DB) error {
	var err error
	for pause := 10 * time.Millisecond; pause < busy; pause *= 2 {
		if err = sqldb.Migrate(ctx, db, o.dialect); err == nil || sqliteerr.Full(err) {
			return err
		}
		time.Sleep(pause)
		s, failed := o.schema(ctx, db)
		if failed == nil && s.Version == s.Newest {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return err
}

// plain replaces errors for common faults of a file by a plain description.
func (o opener) plain(err error, path string, remote bool) error {
	if remote && o.dialect.Repeat(err) {
		return errors.New("another process has it open on a network file system, where only one can: use a file on a local disk, or PostgreSQL")
	}
	plain := sqliteerr.Plain(err)
	e, ok := errors.AsType[*sqlite.Error](err)
	if ok && slices.Contains([]int{lib.SQLITE_CANTOPEN, lib.SQLITE_READONLY, lib.SQLITE_PERM}, e.Code()&0xff) {
		if reason := obstacle(path); reason != nil {
			return fmt.Errorf("%w: %w", plain, reason)
		}
	}
	return plain
}

// obstacle returns the reason for which a file cannot be opened, which SQLite leaves out, or nil. SQLite
// makes files beside it.
func obstacle(path string) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".bo-*.tmp")
	if e, ok := errors.AsType[*os.PathError](err); ok {
		return fmt.Errorf("no file can be made in its folder: %w", e.Err)
	}
	if err != nil {
		return err
	}
	_ = f.Close()
	_ = os.Remove(f.Name())
	if f, err = os.OpenFile(path, os.O_RDWR, 0); err == nil {
		return f.Close()
	}
	return err
}
