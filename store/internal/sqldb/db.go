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

// Dialect holds the differences between databases.
type Dialect struct {
	Goose      goose.Dialect
	Migrations string // folder of the schema's versions
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
}

var _ store.Backend = (*DB)(nil)

// New returns the backend on db. It does not change the schema: see Migrate.
func New(db *sql.DB, d Dialect) *DB { return &DB{db, d, make(chan struct{}, 1)} }

// Close closes the database.
func (b *DB) Close() error { return b.db.Close() }

// Newest returns the newest version of the schema among the program's migrations.
func Newest(d Dialect) (int64, error) {
	files, err := fs.ReadDir(migrations, d.Migrations)
	if err != nil {
		return 0, err
	}
	return goose.NumericComponent(files[len(files)-1].Name())
}

// Migrate brings the schema to the newest version.
func Migrate(ctx context.Context, db *sql.DB, d Dialect) error {
	files, err := fs.Sub(migrations, d.Migrations)
	if err != nil {
		return err
	}
	p, err := goose.NewProvider(d.Goose, db, files, goose.WithDisableGlobalRegistry(true), goose.WithTableName("bo_schema"))
	if err != nil {
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
	if err := f(&tx{ctx: ctx, tx: t, d: &b.dialect, readOnly: readOnly}); err != nil {
		return err
	}
	return t.Commit()
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
