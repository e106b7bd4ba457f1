package main

import (
	"bytes"
	"context"
	"io"
	"path/filepath"
	"strings"
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

// The flags apply also if --study alone defines the objective. Flags that contradict the stored study are errors.
func TestStoredAlone(t *testing.T) {
	file := storeFlags{Store: filepath.Join(t.TempDir(), "bo.db")}
	e := &env{ctx: t.Context(), stdout: io.Discard, stderr: io.Discard}
	begin := func(c runCmd) (*session, error) {
		c.storeFlags, c.Study, c.Quiet = file, "waves", true
		s := &session{runCmd: &c, e: e}
		t.Cleanup(s.close)
		if err := s.define(); err != nil {
			return s, err
		}
		return s, s.open()
	}
	_, err := begin(runCmd{Objective: "branin", Budget: new(7)})
	require.NoError(t, err)
	s, err := begin(runCmd{Workers: new(3)})
	require.NoError(t, err)
	require.Equal(t, 3, s.definition.Workers)
	require.Equal(t, 7, s.definition.Budget)
	require.Equal(t, "branin", s.target.name)
	for _, c := range []struct {
		flags runCmd
		want  string
	}{
		{runCmd{Seed: new(uint64(9))}, "study waves is stored with seed not stated, here it is 9"},
		{runCmd{Budget: new(8)}, "study waves is stored with budget 7, here it is 8"},
		{runCmd{Surrogate: new("rff")}, "study waves is stored with surrogate not stated, here it is"},
		{runCmd{Shell: true}, "--shell belongs to --command"},
	} {
		_, err := begin(c.flags)
		require.ErrorContains(t, err, c.want)
		require.ErrorAs(t, err, new(usageError))
	}
}

// Equal values are a warning if their points differ.
func TestWarnConstant(t *testing.T) {
	for _, c := range []struct {
		points []string
		last   float64
		warns  bool
	}{
		{[]string{"a", "b", "c", "d", "e"}, 3, true},
		{[]string{"a", "b", "c", "d", "e"}, 4, false},
		{[]string{"a", "b", "c", "d"}, 3, false},
		{[]string{"a", "a", "a", "a", "a", "a"}, 3, false},
	} {
		v := &store.View{Definition: &study.Definition{Objectives: []study.Objective{{Name: "loss"}}}}
		for i, p := range c.points {
			v.Trials = append(v.Trials, store.Trial{Number: i + 1, State: store.Complete, Params: []byte(p), Numbers: map[string]float64{"loss": 3}})
		}
		v.Trials[len(v.Trials)-1].Numbers["loss"] = c.last
		var out bytes.Buffer
		s := &session{bar: newProgress(&out, 9, 0)}
		s.warnConstant(v)
		s.warnConstant(v)
		s.bar.close()
		require.Equal(t, c.warns, strings.Count(out.String(), "points are all 3") == 1, out.String())
	}
}
