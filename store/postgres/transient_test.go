package postgres

import (
	"context"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/internal/pgtest"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/study"
)

// texts keeps the statements of batches.
type texts struct{ all []string }

func (*texts) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	return ctx
}
func (*texts) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}
func (*texts) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return ctx
}
func (s *texts) TraceBatchQuery(_ context.Context, _ *pgx.Conn, d pgx.TraceBatchQueryData) {
	s.all = append(s.all, d.SQL)
}
func (*texts) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

// An Ask waits for the disk when it issues trials, and not when it takes the fit lease.
func TestTransient(t *testing.T) {
	sent := &texts{}
	tracer = sent
	defer func() { tracer = nil }()
	b, err := Open(t.Context(), pgtest.Shared(t).Database(t), true)
	require.NoError(t, err)
	s := store.New(b, store.Options{})
	defer s.Close()
	u, err := s.Create(t.Context(), &study.Definition{Version: 1, Name: "s", Budget: 9, Parameters: []space.Parameter{space.Float("x", 0, 1)}})
	require.NoError(t, err)
	ask := func() (transient int) {
		sent.all = nil
		_, err := u.Ask(t.Context(), 1)
		require.NoError(t, err)
		for _, transaction := range strings.Split(strings.Join(sent.all, "\n"), "COMMIT") {
			if strings.Contains(transaction, dialect.Transient) {
				transient++
				require.NotContains(t, transaction, "INTO trials")
				require.NotContains(t, transaction, "INTO events")
			}
		}
		return transient
	}
	require.Equal(t, 1, ask())
	_, err = u.Enqueue(t.Context(), "", map[string]any{"x": 0.5})
	require.NoError(t, err)
	require.Zero(t, ask())
}
