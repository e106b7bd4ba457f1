package worker_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/server"
	"github.com/functionspace/bo/server/internal/servertest"
	"github.com/functionspace/bo/server/worker"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/study"
)

// A worker ends after an edit that its program cannot follow, and releases its trial. It follows a new range.
func TestEditDuringARun(t *testing.T) {
	for _, c := range []struct {
		name string
		edit func(*study.Definition)
		want error
	}{
		{"remove", func(d *study.Definition) { d.Parameters = d.Parameters[:1] }, store.ErrEdited},
		{"add", func(d *study.Definition) {
			d.Parameters, d.Defaults = append(d.Parameters, space.Float("z", 0, 1)), map[string]any{"z": 0.5}
		}, store.ErrEdited},
		{"range", func(d *study.Definition) { d.Parameters[0].Min, d.Parameters[0].Max = 2, 3 }, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			backend := store.NewMemory()
			u, err := store.New(backend, store.Options{}).Create(t.Context(), &study.Definition{
				Version: 1, Name: "s", Budget: 5, Initial: 5, Parameters: []space.Parameter{space.Float("x", 0, 1), space.Float("y", 0, 1)},
			})
			require.NoError(t, err)
			r := servertest.Start(t, server.New(backend, server.Options{}), servertest.AnyPort)
			done, err := worker.Run(t.Context(), &worker.HTTP{URL: r.URL}, func(_ context.Context, trial store.Trial, p space.Point) (store.Report, error) {
				return store.Report{Numbers: map[string]float64{"value": p.Float("x") + p.Float("y")}}, nil
			}, worker.Options{Study: "s", OnEnd: func(trial store.Trial, _ store.Report) {
				if trial.Number == 2 {
					require.NoError(t, u.Edit(t.Context(), func(d study.Definition) (*study.Definition, error) { c.edit(&d); return &d, nil }))
				}
			}})
			require.ErrorIs(t, err, c.want)
			require.Zero(t, done.Failed)
			v, err := u.View(t.Context())
			require.NoError(t, err)
			for _, trial := range v.Trials {
				require.True(t, trial.Lease.IsZero(), "trial %d", trial.Number)
			}
			if c.want != nil {
				require.Equal(t, 2, done.Evaluated)
			}
		})
	}
}

// Evaluations in progress during an edit that wants other numbers end, and their trials are released.
func TestEditDuringEvaluations(t *testing.T) {
	backend := store.NewMemory()
	u, err := store.New(backend, store.Options{}).Create(t.Context(), &study.Definition{
		Version: 1, Name: "s", Budget: 5, Initial: 5, Parameters: []space.Parameter{space.Float("x", 0, 1)},
	})
	require.NoError(t, err)
	r := servertest.Start(t, server.New(backend, server.Options{}), servertest.AnyPort)
	var begun sync.WaitGroup
	begun.Add(2)
	done, err := worker.Run(t.Context(), &worker.HTTP{URL: r.URL}, func(ctx context.Context, trial store.Trial, p space.Point) (store.Report, error) {
		begun.Done()
		begun.Wait()
		if trial.Number == 1 {
			require.NoError(t, u.Edit(ctx, func(d study.Definition) (*study.Definition, error) {
				d.Objectives = []study.Objective{{Name: "loss"}}
				return &d, nil
			}))
		} else {
			require.Eventually(t, func() bool {
				v, err := u.View(ctx)
				return err != nil || v.Trials[0].Lease.IsZero()
			}, time.Minute, 10*time.Millisecond)
		}
		require.NoError(t, ctx.Err())
		return store.Report{Numbers: map[string]float64{"value": p.Float("x")}}, nil
	}, worker.Options{Study: "s", Workers: 2})
	require.ErrorIs(t, err, store.ErrEdited)
	_, lost := errors.AsType[*store.NotStored](err)
	require.True(t, lost)
	require.ErrorContains(t, err, ", value 0.")
	require.ErrorContains(t, err, ", is not stored: study s: the study was edited: objectives: start again with the new definition")
	require.Zero(t, done.Evaluated)
	v, err := u.View(t.Context())
	require.NoError(t, err)
	for _, trial := range v.Trials {
		require.Equal(t, store.Pending, trial.State)
		require.True(t, trial.Lease.IsZero(), "trial %d", trial.Number)
	}
}

// A worker ends at its first failure if the latest trials of the study failed so too.
func TestFailuresOfOtherWorkers(t *testing.T) {
	backend := store.NewMemory()
	u, err := store.New(backend, store.Options{}).Create(t.Context(), &study.Definition{
		Version: 1, Name: "s", Budget: 20, Initial: 20, Parameters: []space.Parameter{space.Float("x", 0, 1)},
	})
	require.NoError(t, err)
	r := servertest.Start(t, server.New(backend, server.Options{}), servertest.AnyPort)
	broken := func(_ context.Context, trial store.Trial, _ space.Point) (store.Report, error) {
		return store.Report{}, fmt.Errorf("no module named torch, process %d", trial.Number)
	}
	for i := range 4 {
		done, err := worker.Run(t.Context(), &worker.HTTP{URL: r.URL}, broken, worker.Options{Study: "s"})
		require.ErrorIs(t, err, store.ErrFailures)
		require.Equal(t, max(1, 3-2*i), done.Failed)
	}
	v, err := u.View(t.Context())
	require.NoError(t, err)
	require.Len(t, v.Trials, 6)
}

// A trial that the rule of the study stops has no result. Its evaluation may go on.
func TestStoppedTrials(t *testing.T) {
	backend := store.NewMemory()
	_, err := store.New(backend, store.Options{}).Create(t.Context(), &study.Definition{
		Version: 1, Name: "s", Budget: 6, Initial: 6, Parameters: []space.Parameter{space.Float("x", 0, 1)},
		Stop: loop.Stop{Rule: loop.Median, Startup: 1},
	})
	require.NoError(t, err)
	r := servertest.Start(t, server.New(backend, server.Options{}), servertest.AnyPort)
	states := map[int]store.State{}
	done, err := worker.Run(t.Context(), &worker.HTTP{URL: r.URL}, func(ctx context.Context, trial store.Trial, _ space.Point) (store.Report, error) {
		err := loop.Report(ctx, 1, float64(trial.Number))
		if trial.Number%2 == 0 {
			err = nil // the program does not look
		}
		return store.Report{Numbers: map[string]float64{"value": 1}}, err
	}, worker.Options{Study: "s",
		OnEnd: func(trial store.Trial, _ store.Report) { states[trial.Number] = store.Complete },
		OnStop: func(trial store.Trial) {
			require.Contains(t, trial.Message, "median")
			states[trial.Number] = trial.State
		}})
	require.NoError(t, err)
	require.Equal(t, worker.Done{Evaluated: 1, Reason: done.Reason}, done)
	require.Equal(t, map[int]store.State{1: "complete", 2: "stopped", 3: "stopped", 4: "stopped", 5: "stopped", 6: "stopped"}, states)
}
