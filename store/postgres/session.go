package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/functionspace/bo/store/internal/sqldb"
)

// idleSetting is the time after which the server ends a transaction that sends no statement. Without it, a transaction
// of a process that is stopped, or of a machine that is lost, locks its study for hours. It is set for each
// transaction, because a pooler shares connections. A value in the address takes precedence.
const idleSetting = "idle_in_transaction_session_timeout"

var idle = "15s" // set by tests

// session sends the statements of a Run in one round trip.
type session struct {
	conn  *pgx.Conn
	begin []string // the statements that begin the transaction, if they are not sent yet
}

func newSession(conn any) (sqldb.Session, error) {
	c, ok := conn.(*stdlib.Conn)
	if !ok {
		return nil, fmt.Errorf("the driver's connection is a %T", conn)
	}
	return &session{conn: c.Conn()}, nil
}

func (s *session) Begin(_ context.Context, readOnly bool) error {
	switch _, set := s.conn.Config().RuntimeParams[idleSetting]; {
	case readOnly:
		s.begin = []string{"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"}
	case set:
		s.begin = []string{"BEGIN"}
	default:
		s.begin = []string{"BEGIN", "SET LOCAL " + idleSetting + " = '" + idle + "'"}
	}
	return nil
}

func (s *session) Run(ctx context.Context, statements []sqldb.Statement) error {
	return s.send(ctx, statements, "")
}

func (s *session) Commit(ctx context.Context, statements []sqldb.Statement) error {
	return s.send(ctx, statements, "COMMIT")
}

func (s *session) send(ctx context.Context, statements []sqldb.Statement, last string) error {
	var batch pgx.Batch
	for _, text := range s.begin {
		batch.Queue(text)
	}
	s.begin = nil
	for i := range statements {
		t := &statements[i]
		queued := batch.Queue(t.Text, t.Args...)
		if t.Into != nil {
			queued.Query(func(rows pgx.Rows) error {
				_, err := pgx.ForEachRow(rows, t.Into, t.Each)
				return err
			})
		}
	}
	if last != "" {
		batch.Queue(last)
	}
	err := s.conn.SendBatch(ctx, &batch).Close()
	if code(err) == readOnly { // a new connection may reach the server that takes writes
		_ = s.conn.Close(ctx)
	}
	return err
}

// Rollback closes a connection that cannot roll back.
func (s *session) Rollback() error {
	if s.conn.IsClosed() || s.conn.PgConn().TxStatus() == 'I' {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_, err := s.conn.Exec(ctx, "ROLLBACK")
	if err != nil {
		_ = s.conn.Close(ctx)
	}
	return err
}
