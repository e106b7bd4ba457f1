// Package postgres stores the studies of package store in PostgreSQL, for workers on
// many machines.
package postgres

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/store/internal/sqldb"
)

var dialect = sqldb.Dialect{
	Goose: goose.DialectPostgres, Migrations: "migrations/postgres", Numbered: true, Lock: " FOR UPDATE",
	Now:    "SELECT (EXTRACT(EPOCH FROM clock_timestamp()) * 1000000)::BIGINT",
	Repeat: repeat, Duplicate: func(err error) bool { return code(err) == "23505" },
	Patience: time.Minute,
}

// Open opens the store at an address such as postgres://user@host/database?sslmode=verify-full.
// Passwords come from the address, PGPASSWORD or the pgpass file. If create is set, Open
// creates the schema in a database without one. Only Upgrade upgrades an earlier schema. Errors
// never contain the password.
//
// Open waits up to a minute for a server that starts, stops or has no free connection, and up
// to five seconds for a server that refuses connections, as between the two halves of a restart.
func Open(ctx context.Context, address string, create bool) (store.Backend, error) {
	started, pause := time.Now(), 20*time.Millisecond
	for {
		b, err := open(ctx, address, create)
		if err == nil {
			return b, nil
		}
		if ctx.Err() != nil || time.Since(started) > patience(err) {
			return nil, fmt.Errorf("store %s: %w", Masked(address), err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
		pause = min(2*pause, time.Second)
	}
}

// patience returns the time for which Open repeats an attempt that failed with err.
func patience(err error) time.Duration {
	switch {
	case strings.HasPrefix(code(err), "57P"), code(err) == "53300": // shutdown, crash, still starting; too many connections
		return dialect.Patience
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, driver.ErrBadConn), errors.Is(err, pgconn.ErrConnClosed):
		return dialect.Patience
	case errors.Is(err, syscall.ECONNREFUSED):
		return 5 * time.Second
	}
	return 0
}

// open is one attempt at Open. Its errors do not name the store.
func open(ctx context.Context, address string, create bool) (*sqldb.DB, error) {
	db, err := connect(ctx, address)
	if err != nil {
		return nil, err
	}
	have, newest, err := schema(ctx, db)
	if err == nil && have == 0 && create {
		err = migrate(ctx, db)
		have = newest
	}
	switch {
	case err != nil:
	case have == 0:
		err = errors.New("the database has no studies yet")
	case have < newest:
		err = fmt.Errorf("its schema has version %d, this program needs %d: stop all processes that use it, then upgrade it with postgres.Upgrade", have, newest)
	default:
		err = sqldb.Check(have, newest)
	}
	if err != nil {
		_ = db.Close()
		return nil, err
	}
	return sqldb.New(db, dialect), nil
}

// Upgrade brings the schema of a database to this program's version, and creates it in a
// database without one. Other processes must not use the database meanwhile.
func Upgrade(ctx context.Context, address string) error {
	db, err := connect(ctx, address)
	if err == nil {
		err = errors.Join(migrate(ctx, db), db.Close())
	}
	if err != nil {
		return fmt.Errorf("store %s: %w", Masked(address), err)
	}
	return nil
}

func connect(ctx context.Context, address string) (*sql.DB, error) {
	config, err := pgx.ParseConfig(address)
	if err != nil {
		// The library's message masks the password, and then quotes the address.
		return nil, errors.New("the address is not of the form postgres://user@host:port/database")
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = 10 * time.Second
	}
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = "bo"
	}
	db := stdlib.OpenDB(*config)
	db.SetMaxOpenConns(8)
	db.SetConnMaxIdleTime(time.Minute)
	if err := db.PingContext(ctx); err != nil {
		_ = db.Close()
		return nil, err
	}
	return db, nil
}

// schema returns the version of the schema without creating anything.
func schema(ctx context.Context, db *sql.DB) (have, newest int64, err error) {
	if newest, err = sqldb.Newest(dialect); err != nil {
		return 0, 0, err
	}
	var table sql.NullString
	if err := db.QueryRowContext(ctx, "SELECT to_regclass('bo_schema')::text").Scan(&table); err != nil || !table.Valid {
		return 0, newest, err
	}
	err = db.QueryRowContext(ctx, "SELECT COALESCE(MAX(version_id), 0) FROM bo_schema").Scan(&have)
	return have, newest, err
}

// migrate upgrades the schema under an advisory lock, so that only one of several processes does
// it.
func migrate(ctx context.Context, db *sql.DB) error {
	c, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	const lock = 0x626f5f736368656d // "bo_schem"
	if _, err := c.ExecContext(ctx, "SELECT pg_advisory_lock($1)", int64(lock)); err != nil {
		return err
	}
	err = sqldb.Migrate(ctx, db, dialect)
	_, unlocked := c.ExecContext(ctx, "SELECT pg_advisory_unlock($1)", int64(lock))
	return errors.Join(err, unlocked)
}

// repeat reports lost connections, restarts of the server, deadlocks and serialisation failures.
func repeat(err error) bool {
	if errors.Is(err, driver.ErrBadConn) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) || errors.Is(err, pgconn.ErrConnClosed) || pgconn.SafeToRetry(err) {
		return true
	}
	if _, ok := errors.AsType[*net.OpError](err); ok {
		return true
	}
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return code(err) == "" || strings.HasPrefix(code(err), "57P") || code(err) == "53300"
	}
	switch c := code(err); c {
	case "40001", "40P01", "53300": // serialisation failure, deadlock, too many connections
		return true
	default: // shutdown, crash, still starting; connection exceptions
		return strings.HasPrefix(c, "57P") || strings.HasPrefix(c, "08")
	}
}

func code(err error) string {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.Code
	}
	return ""
}

// Masked returns an address without its password, for messages.
func Masked(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "postgres://…"
	}
	q := u.Query()
	if q.Has("password") {
		q.Set("password", "xxxxx")
		u.RawQuery = q.Encode()
	}
	return u.Redacted()
}
