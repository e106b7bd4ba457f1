// Package sqldb is the backend of package store on database/sql: one set of statements for
// SQLite and PostgreSQL. A Dialect holds the differences.
package sqldb

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"github.com/pressly/goose/v3"

	"github.com/functionspace/bo/store"
)

//go:embed migrations
var migrations embed.FS

// Migrations returns the versions of the schema for a database: "sqlite" or "postgres".
func Migrations(database string) fs.FS {
	files, err := fs.Sub(migrations, "migrations/"+database)
	if err != nil {
		panic(err) // a wrong name
	}
	return files
}

// Dialect holds the differences between databases.
type Dialect struct {
	Goose      goose.Dialect
	Migrations fs.FS  // the schema's versions: 00001_….sql, …
	Numbered   bool   // placeholders are $1, $2, … instead of ?
	Lock       string // suffix of the SELECT that locks a study
	Now        string // SELECT of the database's clock in microseconds, or "" for this machine's
	// Exclusive runs one Update of a process at a time.
	Exclusive bool
	// Repeat reports an error after which a transaction may succeed if it is run again.
	Repeat func(error) bool
	// Duplicate reports a violation of a unique key.
	Duplicate func(error) bool
	// Patience is the time during which a transaction is repeated after Repeat errors.
	Patience time.Duration
}

// DB is a store.Backend on a database whose schema is up to date.
type DB struct {
	db      *sql.DB
	dialect Dialect
	turn    chan struct{} // held by an Update, if Dialect.Exclusive
	newest  int64         // version of the schema that the statements are for
	upgrade store.Upgrade
}

var _ store.Backend = (*DB)(nil)

// New returns the backend on db, whose schema has the newest version: see Migrate. The upgrade
// is the one made to open it, if any.
func New(db *sql.DB, d Dialect, upgrade store.Upgrade) (*DB, error) {
	newest, err := Newest(d)
	return &DB{db: db, dialect: d, turn: make(chan struct{}, 1), newest: newest, upgrade: upgrade}, err
}

// Close closes the database.
func (b *DB) Close() error { return b.db.Close() }

// Upgraded implements store.Upgraded.
func (b *DB) Upgraded() store.Upgrade { return b.upgrade }

// Newest returns the newest version of the schema that this program has.
func Newest(d Dialect) (int64, error) {
	files, err := fs.ReadDir(d.Migrations, ".")
	if err != nil {
		return 0, err
	}
	return goose.NumericComponent(files[len(files)-1].Name())
}

// version returns the version of a schema that exists.
const version = "SELECT COALESCE(MAX(version_id), 0) FROM bo_schema"

// Version returns the version of a schema that exists.
func Version(ctx context.Context, db *sql.DB) (have int64, err error) {
	return have, db.QueryRowContext(ctx, version).Scan(&have)
}

// Migrate brings the schema to the newest version. Each version is one transaction. Of several
// processes that migrate at once one succeeds, and the others return an error and change nothing.
func Migrate(ctx context.Context, db *sql.DB, d Dialect) error {
	p, err := goose.NewProvider(d.Goose, db, d.Migrations, goose.WithDisableGlobalRegistry(true), goose.WithTableName("bo_schema"))
	if err != nil {
		return err
	}
	if _, err := p.GetDBVersion(ctx); err != nil { // creates the table of versions
		return err
	}
	// Goose reads the version before the transaction. The index makes a second transaction for the
	// same version fail.
	if _, err := db.ExecContext(ctx, "CREATE UNIQUE INDEX IF NOT EXISTS bo_schema_once ON bo_schema (version_id) WHERE version_id > 0"); err != nil {
		return err
	}
	_, err = p.Up(ctx)
	return err
}

// Check returns store.ErrNewer if the database was written by a newer program.
func Check(have, newest int64) error {
	if have > newest {
		return fmt.Errorf("%w: its schema has version %d, this program reads up to %d", store.ErrNewer, have, newest)
	}
	return nil
}

// Update runs f in a transaction and repeats it after errors that Dialect.Repeat reports.
func (b *DB) Update(ctx context.Context, f func(store.Tx) error) error {
	if b.dialect.Exclusive {
		select {
		case b.turn <- struct{}{}:
			defer func() { <-b.turn }()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return b.repeat(ctx, false, f)
}

// View runs f in a read-only transaction.
func (b *DB) View(ctx context.Context, f func(store.Tx) error) error { return b.repeat(ctx, true, f) }

func (b *DB) repeat(ctx context.Context, readOnly bool, f func(store.Tx) error) error {
	start, pause := time.Now(), 5*time.Millisecond
	for {
		err := b.once(ctx, readOnly, f)
		if err == nil || ctx.Err() != nil || !b.dialect.Repeat(err) || time.Since(start) > b.dialect.Patience {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
		pause = min(2*pause, time.Second)
	}
}

func (b *DB) once(ctx context.Context, readOnly bool, f func(store.Tx) error) (err error) {
	opts := &sql.TxOptions{ReadOnly: readOnly}
	if readOnly {
		opts.Isolation = sql.LevelRepeatableRead
	}
	if b.dialect.Goose == goose.DialectSQLite3 {
		opts.Isolation = sql.LevelDefault
	}
	t, err := b.db.BeginTx(ctx, opts)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = t.Rollback()
		}
	}()
	if !readOnly {
		if err := b.current(ctx, t); err != nil {
			return err
		}
	}
	if err := f(&tx{ctx: ctx, tx: t, d: &b.dialect, readOnly: readOnly}); err != nil {
		return err
	}
	return t.Commit()
}

// current returns store.ErrNewer if a newer program has upgraded the schema since it was opened.
func (b *DB) current(ctx context.Context, t *sql.Tx) error {
	var have int64
	if err := t.QueryRowContext(ctx, version).Scan(&have); err != nil {
		return err
	}
	return Check(have, b.newest)
}

// tx is a store.Tx.
type tx struct {
	ctx      context.Context
	tx       *sql.Tx
	d        *Dialect
	readOnly bool
	now      time.Time
}

// text writes placeholders in the dialect.
func (t *tx) text(query string) string {
	if !t.d.Numbered {
		return query
	}
	var b strings.Builder
	n := 0
	for _, r := range query {
		if r == '?' {
			n++
			b.WriteString("$" + strconv.Itoa(n))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func (t *tx) exec(query string, args ...any) error {
	_, err := t.tx.ExecContext(t.ctx, t.text(query), args...)
	return err
}

// many executes a query with the arguments of n rows. It is prepared once.
func (t *tx) many(query string, n int, args func(i int) []any) (err error) {
	if n == 0 {
		return nil
	}
	if n == 1 {
		return t.exec(query, args(0)...)
	}
	stmt, err := t.tx.PrepareContext(t.ctx, t.text(query))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stmt.Close()) }()
	for i := range n {
		if _, err := stmt.ExecContext(t.ctx, args(i)...); err != nil {
			return err
		}
	}
	return nil
}

// each calls scan for every row of a query.
func (t *tx) each(query string, args []any, scan func(row func(...any) error) error) (err error) {
	rows, err := t.tx.QueryContext(t.ctx, t.text(query), args...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := scan(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Now reads the clock once for a transaction.
func (t *tx) Now() (time.Time, error) {
	if !t.now.IsZero() {
		return t.now, nil
	}
	t.now = time.Now().UTC().Truncate(time.Microsecond)
	if t.d.Now != "" {
		var us int64
		if err := t.tx.QueryRowContext(t.ctx, t.d.Now).Scan(&us); err != nil {
			return time.Time{}, err
		}
		t.now = fromMicros(us)
	}
	return t.now, nil
}

// micros returns a time as a column stores it; the zero time is 0.
func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

func fromMicros(us int64) time.Time {
	if us == 0 {
		return time.Time{}
	}
	return time.UnixMicro(us).UTC()
}
