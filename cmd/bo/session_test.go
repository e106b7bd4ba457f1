package main

import (
	"bytes"
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/study"
)

// outage is a backend that does not answer while it is down.
type outage struct {
	store.Backend
	down atomic.Bool
}

func (b *outage) Update(ctx context.Context, f func(store.Tx) error) error {
	if b.down.Load() {
		<-ctx.Done()
		return ctx.Err()
	}
	return b.Backend.Update(ctx, f)
}

func (b *outage) View(ctx context.Context, f func(store.Tx) error) error {
	if b.down.Load() {
		<-ctx.Done()
		return ctx.Err()
	}
	return b.Backend.View(ctx, f)
}

// An interrupt ends a run within seconds, also while the store does not answer.
func TestInterruptWithoutStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, interrupt := context.WithCancel(t.Context())
		defer interrupt()
		var out, warned bytes.Buffer
		b := &outage{Backend: store.NewMemory()}
		s := &session{runCmd: &runCmd{}, e: &env{ctx: ctx, stdout: &out, stderr: &warned}, store: store.New(b, store.Options{})}
		s.definition = &study.Definition{
			Version: 1, Name: "bread", Budget: 9, Initial: 9, Objectives: []study.Objective{{Name: "loss"}}, Parameters: []space.Parameter{space.Float("x", 0, 1)},
		}
		begun := time.Now()
		s.target = &target{name: "test", evaluate: func(ctx context.Context, t store.Trial, _ space.Point) (store.Report, error) {
			if t.Number < 3 {
				return store.Report{Numbers: map[string]float64{"loss": float64(t.Number)}}, nil
			}
			b.down.Store(true)
			interrupt()
			<-ctx.Done()
			return store.Report{}, ctx.Err()
		}}
		s.limit()
		defer s.close()
		var err error
		s.study, err = s.store.Create(ctx, s.definition)
		require.NoError(t, err)
		require.NoError(t, s.prepare())
		require.ErrorIs(t, s.run(), errInterrupted)
		require.LessOrEqual(t, time.Since(begun), 3*patience)
		require.Contains(t, out.String(), "(trial 1 of 2)")
		require.Contains(t, warned.String(), "the store does not answer")
		require.Contains(t, warned.String(), "bo: interrupted after 2 of 9 trials")
		time.Sleep(time.Minute) // the release of the trial gives up
	})
}
