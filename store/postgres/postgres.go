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
	Goose: goose.DialectPostgres, Migrations: sqldb.Migrations("postgres"), Numbered: true, Lock: " FOR UPDATE", Session: newSession,
	Now:       "SELECT (EXTRACT(EPOCH FROM clock_timestamp()) * 1000000)::BIGINT",
	Transient: "SET LOCAL synchronous_commit = off",
	Repeat:    repeat, Duplicate: func(err error) bool { return code(err) == "23505" },
	Changed: func(err error) bool { return code(err) == "42P01" || code(err) == "42703" },
	Plain: func(err error) error {
		if code(err) == "42501" {
			return fmt.Errorf("%w: %w", store.ErrDenied, err)
		}
		return err
	},
	Patience: time.Minute,
}

var tracer pgx.QueryTracer // set by tests

// Open opens the store at an address such as postgres://user@host/database?sslmode=verify-full.
// Passwords come from the address, PGPASSWORD or the pgpass file. If create is set, Open
// creates the schema in a database without one. A schema of an earlier version returns
// store.ErrOlder: only Upgrade upgrades it. A newer version returns store.ErrNewer, as does an
// Update after a newer program has upgraded the schema. Errors never contain the password.
//
// Open waits up to a minute for a server that starts, stops or has no free connection. It waits up to five
// seconds for a server that refuses connections, as between the two halves of a restart.
func Open(ctx context.Context, address string, create bool) (store.Backend, error) {
	started, pause := time.Now(), 20*time.Millisecond
	for {
		b, err := open(ctx, dialect, address, create)
		if err == nil {
			return b, nil
		}
		if ctx.Err() != nil || time.Since(started) > patience(err) {
			return nil, masked(address, err)
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
func open(ctx context.Context, d sqldb.Dialect, address string, create bool) (*sqldb.DB, error) {
	db, err := connect(ctx, address)
	if err != nil {
		return nil, err
	}
	s, err := schema(ctx, db, d)
	if err == nil && s.Version == 0 && create {
		err = migrate(ctx, db, d)
		s.Version = s.Newest
	}
	switch {
	case err != nil:
	case s.Version == 0:
		err = errors.New("the database has no studies yet")
	case s.Version < s.Newest:
		err = fmt.Errorf("%w: its schema has version %d, this program needs %d: stop all processes that use it, then run bo store upgrade", store.ErrOlder, s.Version, s.Newest)
	default:
		err = sqldb.Check(s.Version, s.Newest)
	}
	if err != nil {
		_ = db.Close()
		return nil, err
	}
	return sqldb.New(db, d, store.Upgrade{From: s.Newest, To: s.Newest})
}

// Inspect returns the version of the schema of a database. It changes nothing.
func Inspect(ctx context.Context, address string) (store.Schema, error) {
	db, err := connect(ctx, address)
	if err != nil {
		return store.Schema{}, masked(address, err)
	}
	defer db.Close()
	s, err := schema(ctx, db, dialect)
	return s, masked(address, err)
}

// Upgrade brings the schema of a database to this program's version, and creates the schema in
// a database without one. Each version is one transaction. Processes of an earlier version that
// use the database meanwhile end with store.ErrNewer.
func Upgrade(ctx context.Context, address string) (store.Upgrade, error) {
	up, err := upgrade(ctx, dialect, address)
	return up, masked(address, err)
}

func upgrade(ctx context.Context, d sqldb.Dialect, address string) (up store.Upgrade, err error) {
	db, err := connect(ctx, address)
	if err != nil {
		return up, err
	}
	defer db.Close()
	s, err := schema(ctx, db, d)
	if err == nil {
		err = sqldb.Check(s.Version, s.Newest)
	}
	if err == nil && s.Version < s.Newest {
		err = migrate(ctx, db, d)
	}
	return store.Upgrade{From: s.Version, To: s.Newest}, err
}

// masked begins an error with the address without its password.
func masked(address string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("store %s: %w", Masked(address), err)
}

func connect(ctx context.Context, address string) (*sql.DB, error) {
	if u, err := url.Parse(address); err == nil && u.Host != "" && strings.Contains(u.EscapedPath(), "@") {
		return nil, errForm // errors of a connection would show the rest of a password as the database
	}
	config, err := pgx.ParseConfig(address)
	if err != nil {
		return nil, malformed(address, err)
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = 10 * time.Second
	}
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = "bo"
	}
	config.Tracer = tracer
	db := stdlib.OpenDB(*config)
	db.SetMaxOpenConns(8)
	db.SetConnMaxIdleTime(time.Minute)
	if err := db.PingContext(ctx); err != nil {
		_ = db.Close()
		return nil, err
	}
	return db, nil
}

var errForm = errors.New("the address is not of the form postgres://user@host:port/database; @, : and / in a password or a name are written as %40, %3A and %2F, and a port is a number")

// malformed returns the error for an address that the library refuses. It has the cause alone: the library's message
// quotes the address, and the cause of an address that is no URL may have a part of the password.
func malformed(address string, err error) error {
	if p, ok := errors.AsType[*pgconn.ParseConfigError](err); ok {
		err = p.Unwrap()
	}
	switch _, wrong := url.Parse(address); {
	case wrong != nil:
		return errForm
	case err == nil:
		return errors.New("a port or a setting in the address or in the variables PG* is invalid")
	}
	return fmt.Errorf("the settings in the address or in the variables PG*: %w", err)
}

// schema returns the version of the schema without creating anything. A search_path without a schema that exists is an
// error.
func schema(ctx context.Context, db *sql.DB, d sqldb.Dialect) (s store.Schema, err error) {
	if s.Newest, err = sqldb.Newest(d); err != nil {
		return s, err
	}
	var table, into sql.NullString
	var path string
	if err := db.QueryRowContext(ctx, "SELECT to_regclass('bo_schema')::text, current_schema(), current_setting('search_path')").Scan(&table, &into, &path); err != nil {
		return s, err
	}
	if !into.Valid {
		return s, fmt.Errorf("no schema of the search_path %s exists, or the role has no privilege USAGE on it", path)
	}
	if !table.Valid {
		return s, nil
	}
	s.Version, err = sqldb.Version(ctx, db)
	return s, err
}

// migrate upgrades the schema under an advisory lock, so that only one of several processes does
// it.
func migrate(ctx context.Context, db *sql.DB, d sqldb.Dialect) error {
	c, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	const lock = 0x626f5f736368656d // "bo_schem"
	if _, err := c.ExecContext(ctx, "SELECT pg_advisory_lock($1)", int64(lock)); err != nil {
		return err
	}
	err = sqldb.Migrate(ctx, db, d)
	_, unlocked := c.ExecContext(ctx, "SELECT pg_advisory_unlock($1)", int64(lock))
	return errors.Join(err, unlocked)
}

// readOnly is the code of a server that takes no writes, such as one that was replaced by its standby.
const readOnly = "25006"

// repeat reports lost connections, restarts and replacements of the server, a full disk, deadlocks, serialisation
// failures and time limits.
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
	case "40001", "40P01", "53100", "53300", "25P03": // serialisation failure, deadlock, full disk, too many connections, idle transaction
		return true
	case readOnly, "55P03", "57014": // and the limits lock_timeout and statement_timeout, if the server or the address sets them
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

// Masked returns an address without its passwords, for messages. It leaves out settings after ? that cannot be read.
// An @ after the host may end a password with /, ? or #, so it returns no part of such an address.
func Masked(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme == "" || strings.Contains(u.Opaque+u.EscapedPath()+u.RawQuery+u.EscapedFragment(), "@") {
		return "postgres://…"
	}
	q, err := url.ParseQuery(u.RawQuery)
	if err != nil { // a password may be in the part that q lacks
		u.RawQuery = q.Encode()
	}
	for _, name := range []string{"password", "sslpassword"} {
		if q.Has(name) {
			q.Set(name, "xxxxx")
			u.RawQuery = q.Encode()
		}
	}
	return u.Redacted()
}
