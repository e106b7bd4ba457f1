package sqldb

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"

	"github.com/functionspace/bo/store"
)

// Statement is one statement of a transaction. Arguments are numbers and texts.
type Statement struct {
	Text string
	Args []any
	// Into, if not nil, receives each row of the result; Each is called after each. Into has
	// pointers to int, int64, float64 and string.
	Into []any
	Each func() error
	// Rows, if not 0, is the number of rows to insert. Args then has a slice for each column,
	// of int64, float64 or string.
	Rows int
}

// Session is a connection that runs one transaction at a time.
type Session interface {
	// Begin begins a transaction, perhaps together with the first Run.
	Begin(ctx context.Context, readOnly bool) error
	// Run runs statements in their order, in as few round trips as possible. It returns the
	// first error.
	Run(ctx context.Context, statements []Statement) error
	// Commit runs statements and commits.
	Commit(ctx context.Context, statements []Statement) error
	// Rollback ends a transaction after an error. If it fails too, the connection must not be
	// used again.
	Rollback() error
}

// Driver returns the Session on a connection of a driver of database/sql without pipelining. It
// reads rows from the driver directly: the conversions of database/sql take more time than the
// read.
func Driver(conn any) (Session, error) {
	c, ok := conn.(driverConn)
	if !ok {
		return nil, fmt.Errorf("the driver's connection is a %T", conn)
	}
	return &driverSession{conn: c}, nil
}

type driverConn interface {
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
}

type driverSession struct {
	conn driverConn
	tx   driver.Tx
}

func (s *driverSession) Begin(ctx context.Context, readOnly bool) error {
	tx, err := s.conn.BeginTx(ctx, driver.TxOptions{ReadOnly: readOnly})
	if err != nil {
		return err // tx may be an interface that holds a nil pointer
	}
	s.tx = tx
	return nil
}

func (s *driverSession) Run(ctx context.Context, statements []Statement) error {
	for i := range statements {
		if err := s.run(ctx, &statements[i]); err != nil {
			return err
		}
	}
	return nil
}

func (s *driverSession) Commit(ctx context.Context, statements []Statement) error {
	if err := s.Run(ctx, statements); err != nil {
		return err
	}
	err := s.tx.Commit()
	s.tx = nil // the driver rolls back a failed commit
	return err
}

func (s *driverSession) Rollback() error {
	if s.tx == nil {
		return nil
	}
	return s.tx.Rollback()
}

func (s *driverSession) run(ctx context.Context, t *Statement) error {
	switch {
	case t.Rows > 0:
		return s.insert(ctx, t)
	case t.Into != nil:
		return s.query(ctx, t)
	}
	_, err := s.conn.ExecContext(ctx, t.Text, values(t.Args))
	return err
}

func (s *driverSession) query(ctx context.Context, t *Statement) (err error) {
	rows, err := s.conn.QueryContext(ctx, t.Text, values(t.Args))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	row := make([]driver.Value, len(t.Into))
	for {
		switch err := rows.Next(row); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		for i, v := range row {
			if err := assign(t.Into[i], v); err != nil {
				return fmt.Errorf("column %d: %w", i+1, err)
			}
		}
		if err := t.Each(); err != nil {
			return err
		}
	}
}

// insert executes a statement for each of its rows. It is prepared once.
func (s *driverSession) insert(ctx context.Context, t *Statement) (err error) {
	stmt, err := s.conn.PrepareContext(ctx, t.Text)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stmt.Close()) }()
	exec, ok := stmt.(driver.StmtExecContext)
	if !ok {
		return fmt.Errorf("the driver's statement is a %T", stmt)
	}
	row := make([]driver.NamedValue, len(t.Args))
	for i := range t.Rows {
		for j, column := range t.Args {
			row[j].Ordinal = j + 1
			switch c := column.(type) {
			case []int64:
				row[j].Value = c[i]
			case []float64:
				row[j].Value = c[i]
			case []string:
				row[j].Value = c[i]
			default:
				panic(fmt.Sprintf("sqldb: a column is a %T", column))
			}
		}
		if _, err := exec.ExecContext(ctx, row); err != nil {
			return err
		}
	}
	return nil
}

// values returns arguments as a driver takes them.
func values(args []any) []driver.NamedValue {
	out := make([]driver.NamedValue, len(args))
	for i, v := range args {
		if n, ok := v.(int); ok {
			v = int64(n)
		}
		out[i] = driver.NamedValue{Ordinal: i + 1, Value: v}
	}
	return out
}

// assign stores a value of a driver at a pointer.
func assign(to any, v driver.Value) error {
	ok := true
	switch to := to.(type) {
	case *int64:
		*to, ok = v.(int64)
	case *int:
		n, is := v.(int64)
		*to, ok = int(n), is
	case *float64:
		switch v := v.(type) {
		case float64:
			*to = v
		case int64:
			*to = float64(v)
		default:
			ok = false
		}
	case *string:
		switch v := v.(type) {
		case string:
			*to = v
		case []byte:
			*to = string(v)
		default:
			ok = false
		}
	default:
		ok = false
	}
	if !ok {
		return fmt.Errorf("%T does not fit %T", v, to)
	}
	return nil
}

// session calls f with a connection of the pool.
func (b *DB) session(ctx context.Context, f func(Session) error) error {
	c, err := b.db.Conn(ctx)
	switch {
	case err != nil && b.closed.Load():
		return store.ErrClosed
	case err != nil:
		return err
	}
	defer c.Close()
	var failed error
	err = c.Raw(func(conn any) error {
		s, err := b.dialect.Session(conn)
		if err != nil {
			return err
		}
		if failed = f(s); failed != nil && s.Rollback() != nil {
			return driver.ErrBadConn // removes the connection from the pool
		}
		return nil
	})
	if failed != nil {
		return failed
	}
	return err
}
