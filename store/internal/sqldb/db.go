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
	"sync/atomic"
	"syscall"
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
	// Session returns the session on a connection of the driver.
	Session func(conn any) (Session, error)
	Now     string // SELECT of the database's clock in microseconds, or "" for this machine's
	// Transient, if not "", is the statement that lets a transaction commit before it is on disk.
	Transient string
	// Exclusive runs one transaction of Updates of a process at a time, for all Updates that wait.
	Exclusive bool
	// Repeat reports an error after which a transaction may succeed if it is run again.
	Repeat func(error) bool
	// Duplicate reports a violation of a unique key.
	Duplicate func(error) bool
	// Changed, if not nil, reports a table or column that does not exist.
	Changed func(error) bool
	// Plain, if not nil, describes the error of a transaction to users, or returns it as it is.
	Plain func(error) error
	// Patience is the time during which a transaction is repeated after Repeat errors.
	Patience time.Duration
}

// DB is a store.Backend on a database whose schema is up to date.
type DB struct {
	db      *sql.DB
	closed  atomic.Bool
	dialect Dialect
	group   group // of Updates, if Dialect.Exclusive
	places  places
	newest  int64 // version of the schema that the statements are for
	upgrade store.Upgrade
}

var _ store.Backend = (*DB)(nil)

// New returns the backend on db, whose schema has the newest version: see Migrate. The upgrade
// is the one made to open it, if any.
func New(db *sql.DB, d Dialect, upgrade store.Upgrade) (*DB, error) {
	newest, err := Newest(d)
	return &DB{db: db, dialect: d, group: group{turn: make(chan struct{}, 1)}, places: places{of: map[string]*queue{}}, newest: newest, upgrade: upgrade}, err
}

// Close closes the database. Later transactions return store.ErrClosed.
func (b *DB) Close() error {
	b.closed.Store(true)
	return b.db.Close()
}

// Upgraded implements store.Upgraded.
func (b *DB) Upgraded() store.Upgrade { return b.upgrade }

// Pool implements store.Pooled.
func (b *DB) Pool() sql.DBStats { return b.db.Stats() }

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

// Update runs f in a transaction and repeats it after errors that Dialect.Repeat reports. After
// Dialect.Patience, or at a deadline of ctx before, it returns store.ErrUnavailable.
func (b *DB) Update(ctx context.Context, f func(store.Tx) error) error {
	if b.dialect.Exclusive {
		return b.together(ctx, f)
	}
	return b.repeat(ctx, false, f)
}

// View runs f in a read-only transaction.
func (b *DB) View(ctx context.Context, f func(store.Tx) error) error { return b.repeat(ctx, true, f) }

// Ping implements store.Pinger. It does not wait for a server that refuses connections.
func (b *DB) Ping(ctx context.Context) error {
	refused := func(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }
	return b.repeatUnless(ctx, refused, true, func(t store.Tx) error {
		b.current(t.(*tx))
		return nil
	})
}

func (b *DB) repeat(ctx context.Context, readOnly bool, f func(store.Tx) error) error {
	return b.repeatUnless(ctx, func(error) bool { return false }, readOnly, f)
}

// repeatUnless runs f in transactions until one succeeds, or until hopeless returns true for an error.
func (b *DB) repeatUnless(ctx context.Context, hopeless func(error) bool, readOnly bool, f func(store.Tx) error) error {
	start, pause := time.Now(), 5*time.Millisecond
	var fault error // the last one that was repeated
	var own *place
	if !readOnly {
		own = &place{all: &b.places}
		defer own.leave()
	}
	for {
		err := b.once(ctx, readOnly, own, f)
		if own.wanted() {
			if err := own.wait(ctx); err != nil {
				return ended(ctx, fault, err)
			}
			continue
		}
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return ended(ctx, fault, err)
		case !b.dialect.Repeat(err):
			if b.dialect.Plain != nil {
				return b.dialect.Plain(err)
			}
			return err
		}
		if fault = err; hopeless(err) || time.Since(start) > b.dialect.Patience {
			return fmt.Errorf("%w: %w", store.ErrUnavailable, fault)
		}
		select {
		case <-ctx.Done():
			return ended(ctx, fault, ctx.Err())
		case <-time.After(pause):
		}
		pause = min(2*pause, time.Second)
	}
}

// ended returns the error of a transaction that ends with ctx: the fault that was repeated until its deadline, if there was one.
func ended(ctx context.Context, fault, err error) error {
	if fault != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("%w: %w", store.ErrUnavailable, fault)
	}
	return err
}

func (b *DB) once(ctx context.Context, readOnly bool, own *place, f func(store.Tx) error) error {
	t := &tx{ctx: ctx, d: &b.dialect, readOnly: readOnly, place: own}
	err := b.session(ctx, func(s Session) error {
		if err := s.Begin(ctx, readOnly); err != nil {
			return err
		}
		t.session = s
		if !readOnly {
			b.current(t)
		}
		if err := f(t); err != nil {
			return err
		}
		if own.wanted() {
			return errPlace
		}
		return s.Commit(ctx, t.take())
	})
	// A statement may be prepared before the queue reads the version.
	if err != nil && b.dialect.Changed != nil && b.dialect.Changed(err) {
		if have, failed := Version(ctx, b.db); failed == nil && have > b.newest {
			return Check(have, b.newest)
		}
	}
	return err
}

// current queues a read of the schema's version. It makes the transaction fail with
// store.ErrNewer if a newer program has upgraded the schema since it was opened.
func (b *DB) current(t *tx) {
	var have int64
	t.later(version, nil, []any{&have}, func() error { return Check(have, b.newest) })
}

// tx is a store.Tx. Its statements wait in a queue until a result is needed or the transaction ends. A database
// behind a network therefore runs them in few round trips.
type tx struct {
	ctx      context.Context
	session  Session
	d        *Dialect
	readOnly bool
	place    *place // of an Update
	now      time.Time
	queue    []Statement
}

// text writes placeholders in the dialect.
func (t *tx) text(query string) string {
	if !t.d.Numbered {
		return query
	}
	var b strings.Builder
	n := 0
	for {
		head, tail, found := strings.Cut(query, "?")
		b.WriteString(head)
		if !found {
			return b.String()
		}
		n++
		b.WriteString("$" + strconv.Itoa(n))
		query = tail
	}
}

// take returns the queue and empties it.
func (t *tx) take() []Statement {
	queue := t.queue
	t.queue = nil
	return queue
}

// exec queues a statement without a result.
func (t *tx) exec(query string, args ...any) { t.later(query, args, nil, nil) }

// later queues a query.
func (t *tx) later(query string, args, into []any, each func() error) {
	t.queue = append(t.queue, Statement{Text: t.text(query), Args: args, Into: into, Each: each})
}

// each runs the queue and a query, and calls each for every row, scanned into the pointers.
func (t *tx) each(query string, args, into []any, each func() error) error {
	t.later(query, args, into, each)
	return t.session.Run(t.ctx, t.take())
}

// row is each for a query of one row or none. It reports whether there is one.
func (t *tx) row(query string, args, into []any) (found bool, err error) {
	err = t.each(query, args, into, func() error {
		found = true
		return nil
	})
	return found, err
}

// Now reads the clock once for a transaction.
func (t *tx) Now() (time.Time, error) {
	if !t.now.IsZero() {
		return t.now, nil
	}
	if t.d.Now == "" {
		t.now = time.Now().UTC().Truncate(time.Microsecond)
		return t.now, nil
	}
	t.readClock()
	err := t.session.Run(t.ctx, t.take())
	return t.now, err
}

// readClock queues a read of the database's clock, if it is not read yet.
func (t *tx) readClock() {
	if t.d.Now == "" || !t.now.IsZero() {
		return
	}
	var us int64
	t.later(t.d.Now, nil, []any{&us}, func() error {
		t.now = fromMicros(us)
		return nil
	})
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
