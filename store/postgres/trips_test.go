package postgres

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/internal/pgtest"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/study"
)

// trips counts round trips. It does not count the preparation of a statement, which each connection makes once.
// Nor does it count the check of a connection that was idle for a second.
type trips struct{ n atomic.Int64 }

func (c *trips) TraceQueryStart(ctx context.Context, _ *pgx.Conn, d pgx.TraceQueryStartData) context.Context {
	if d.SQL != "-- ping" {
		c.n.Add(1)
	}
	return ctx
}

func (c *trips) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	c.n.Add(1)
	return ctx
}

func (*trips) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData)     {}
func (*trips) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}
func (*trips) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData)     {}

// TestRoundTrips bounds the round trips of the calls that workers make.
func TestRoundTrips(t *testing.T) {
	count := &trips{}
	tracer = count
	defer func() { tracer = nil }()
	ctx := context.Background()
	b, err := Open(ctx, pgtest.Shared(t).Database(t), true)
	require.NoError(t, err)
	s := store.New(b, store.Options{})
	defer s.Close()
	d := &study.Definition{Version: 1, Name: "s", Budget: 100, Parameters: []space.Parameter{space.Float("x", 0, 1)}}
	d.Surrogate = study.Component{Name: "rff", Settings: map[string]any{"features": 8}}
	u, err := s.Create(ctx, d)
	require.NoError(t, err)

	trips := func(what string, atMost int64, call func() error) {
		t.Helper()
		before := count.n.Load()
		require.NoError(t, call(), what)
		n := count.n.Load() - before
		t.Logf("%-30s %d round trips", what, n)
		require.LessOrEqual(t, n, atMost, what)
	}
	var trial store.Trial
	ask := func() error {
		trials, err := u.Ask(ctx, 1)
		if err == nil {
			trial = trials[0]
		}
		return err
	}
	value := 0.0
	tell := func() error {
		value++
		_, err := u.Tell(ctx, store.Report{Trial: trial.Number, Token: trial.Token, Numbers: map[string]float64{"value": value}})
		return err
	}
	for i := range 12 { // with and without a fit
		trips(fmt.Sprint("ask ", i), 10, ask)
		trips("heartbeat", 3, func() error {
			_, err := u.Heartbeat(ctx, store.Attempt{Trial: trial.Number, Token: trial.Token})
			return err
		})
		trips("tell", 3, tell)
	}
	trips("view", 3, func() error {
		_, err := u.View(ctx)
		return err
	})
	points := make([]map[string]any, 50)
	for i := range points {
		points[i] = map[string]any{"x": float64(i) / 50}
	}
	trips("enqueue 50 points", 3, func() error {
		_, err := u.Enqueue(ctx, "", points...)
		return err
	})
	trips("ask for an enqueued point", 3, ask)
	trials, err := u.Ask(ctx, 20)
	require.NoError(t, err)
	held := make([]store.Attempt, len(trials))
	for i, t := range trials {
		held[i] = store.Attempt{Trial: t.Number, Token: t.Token}
	}
	trips("heartbeat of 20 attempts", 3, func() error {
		lost, err := u.Heartbeat(ctx, held...)
		require.Empty(t, lost)
		return err
	})
	trips("release of 20 attempts", 3, func() error { return u.Release(ctx, held...) })
}
