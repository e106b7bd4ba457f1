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
	Goose: goose.DialectSQLite3, Migrations: "migrations/sqlite", Exclusive: true,
	Repeat: func(err error) bool {
		e, ok := errors.AsType[*sqlite.Error](err)
		return ok && (e.Code()&0xff == lib.SQLITE_BUSY || e.Code()&0xff == lib.SQLITE_LOCKED)
	},
	Duplicate: func(err error) bool {
		e, ok := errors.AsType[*sqlite.Error](err)
		return ok && e.Code()&0xff == lib.SQLITE_CONSTRAINT
	},
	Patience: busy,
}

// Open opens the store in a file. If the file does not exist, Open creates it if create
// is set; otherwise the error wraps os.ErrNotExist.
//
// The file is in WAL mode with synchronous=FULL: a commit survives a loss of power. On a
// network file system, whose locks are not reliable, one process at a time may have it
// open. A file of an earlier version of the schema is copied to FILE.v<version> before it
// is upgraded; a file of a newer version returns store.ErrNewer.
func Open(ctx context.Context, path string, create bool) (store.Backend, error) {
	b, err := open(ctx, path, create)
	if err != nil {
		return nil, fmt.Errorf("store %s: %w", path, err)
	}
	return b, nil
}

func open(ctx context.Context, path string, create bool) (*sqldb.DB, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist) && !create:
		return nil, os.ErrNotExist
	case errors.Is(err, os.ErrNotExist):
		if _, err := os.Stat(filepath.Dir(path)); err != nil {
			return nil, fmt.Errorf("the folder does not exist: %w", os.ErrNotExist)
		}
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("not a regular file")
	}
	pragmas := []string{"busy_timeout(30000)", "foreign_keys(1)", "synchronous(FULL)", "journal_mode(WAL)"}
	remote := onNetwork(filepath.Dir(path))
	if remote {
		pragmas = []string{"busy_timeout(2000)", "locking_mode(EXCLUSIVE)", "foreign_keys(1)", "synchronous(FULL)", "journal_mode(DELETE)"}
	}
	db, err := sql.Open("sqlite", address(path, pragmas))
	if err != nil {
		return nil, err
	}
	if remote {
		db.SetMaxOpenConns(1)
	} else {
		db.SetMaxOpenConns(8)
	}
	if err := prepare(ctx, db, path); err != nil {
		_ = db.Close()
		if remote && dialect.Repeat(err) {
			return nil, errors.New("another process has it open on a network file system, where only one can: use a local file, or PostgreSQL")
		}
		return nil, err
	}
	return sqldb.New(db, dialect), nil
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

// prepare creates or upgrades the schema.
func prepare(ctx context.Context, db *sql.DB, path string) error {
	if err := db.PingContext(ctx); err != nil {
		return sqliteerr.Plain(err)
	}
	have, newest, err := schema(ctx, db)
	if err != nil {
		return sqliteerr.Plain(err)
	}
	if have > newest {
		return sqldb.Check(have, newest)
	}
	if have == newest {
		return nil
	}
	if have > 0 {
		if err := backup(ctx, db, fmt.Sprintf("%s.v%d", path, have)); err != nil {
			return fmt.Errorf("copying it before the upgrade: %w", err)
		}
	}
	return migrate(ctx, db)
}

// schema returns the version of the schema without creating anything.
func schema(ctx context.Context, db *sql.DB) (have, newest int64, err error) {
	var tables, ours int
	err = db.QueryRowContext(ctx, "SELECT COUNT(*), COALESCE(SUM(name = 'bo_schema'), 0) FROM sqlite_master WHERE type = 'table'").Scan(&tables, &ours)
	if err != nil {
		return 0, 0, err
	}
	if ours == 0 && tables > 0 {
		return 0, 0, errors.New("an SQLite file of another program")
	}
	if ours > 0 {
		if err := db.QueryRowContext(ctx, "SELECT COALESCE(MAX(version_id), 0) FROM bo_schema").Scan(&have); err != nil {
			return 0, 0, err
		}
	}
	newest, err = sqldb.Newest(dialect)
	return have, newest, err
}

// migrate upgrades the schema. If several processes create the file at once, one of them
// upgrades it and the others change nothing.
func migrate(ctx context.Context, db *sql.DB) error {
	var err error
	for pause := 10 * time.Millisecond; pause < busy; pause *= 2 {
		if err = sqldb.Migrate(ctx, db, dialect); err == nil {
			return nil
		}
		time.Sleep(pause)
		have, newest, failed := schema(ctx, db)
		if failed == nil && have == newest {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return err
}

// backup copies the database to a file that does not exist yet.
func backup(ctx context.Context, db *sql.DB, to string) error {
	if _, err := os.Stat(to); err == nil {
		return nil // the copy of an interrupted upgrade
	}
	_, err := db.ExecContext(ctx, "VACUUM INTO ?", to)
	return err
}
