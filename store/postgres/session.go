package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/functionspace/bo/store/internal/sqldb"
)

// session sends the statements of a Run in one round trip.
type session struct {
	conn  *pgx.Conn
	begin string // the statement that begins the transaction, if it is not sent yet
}

func newSession(conn any) (sqldb.Session, error) {
	c, ok := conn.(*stdlib.Conn)
	if !ok {
		return nil, fmt.Errorf("the driver's connection is a %T", conn)
	}
	return &session{conn: c.Conn()}, nil
}

func (s *session) Begin(_ context.Context, readOnly bool) error {
	s.begin = "BEGIN"
	if readOnly {
		s.begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
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
	if s.begin != "" {
		batch.Queue(s.begin)
		s.begin = ""
	}
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
	return s.conn.SendBatch(ctx, &batch).Close()
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
