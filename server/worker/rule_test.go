package worker_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/server"
	"github.com/functionspace/bo/server/internal/servertest"
	"github.com/functionspace/bo/server/worker"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/study"
)

// An evaluation has a rule of its own against a service as against a store.
func TestRunWithAnOwnRule(t *testing.T) {
	evaluate := func(ctx context.Context, _ store.Trial, p space.Point) (store.Report, error) {
		x := p.Float("x")
		if x > 0.5 {
			if x < 0.8 {
				if err := loop.Report(ctx, 3, x); err != nil {
					return store.Report{}, err
				}
			}
			return store.Report{}, fmt.Errorf("%w: flat", loop.ErrStopped)
		}
		return store.Report{Numbers: map[string]float64{"value": x}}, nil
	}
	run := func(b store.Backend, run func(*store.Study) error) (states []string) {
		u, err := store.New(b, store.Options{}).Create(t.Context(), &study.Definition{Version: 1, Name: "s", Budget: 12, Initial: 12, Parameters: []space.Parameter{space.Float("x", 0, 1)}})
		require.NoError(t, err)
		require.NoError(t, run(u))
		v, err := u.View(t.Context())
		require.NoError(t, err)
		for _, trial := range v.Trials {
			states = append(states, fmt.Sprint(trial.State, trial.Numbers, trial.Message))
		}
		return states
	}
	direct := run(store.NewMemory(), func(u *store.Study) error { return u.Run(t.Context(), evaluate, store.RunOptions{}) })
	b := store.NewMemory()
	served := run(b, func(*store.Study) error {
		r := servertest.Start(t, server.New(b, server.Options{}), servertest.AnyPort)
		done, err := worker.Run(t.Context(), &worker.HTTP{URL: r.URL}, evaluate, worker.Options{Study: "s"})
		require.Positive(t, done.Failed)
		return err
	})
	require.Equal(t, direct, served)
	require.Contains(t, fmt.Sprint(served), "step 3: flat")
}
