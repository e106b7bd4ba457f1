package store

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/study"
)

// While all workers of all processes evaluate, the next trial is proposed, if a proposal takes
// long. Each proposal can be computed again. In a bubble of synctest, an evaluation sleeps until no
// goroutine can go on.
func TestRunLooksAhead(t *testing.T) {
	for _, processes := range []int{1, 2} {
		synctest.Test(t, func(t *testing.T) {
			ctx := t.Context()
			d := &study.Definition{Version: 1, Name: "s", Budget: 12, Initial: 3, Parameters: []space.Parameter{space.Float("x", 0, 1)}}
			s := New(NewMemory(), Options{})
			u, err := s.Create(ctx, d)
			require.NoError(t, err)
			evaluate := func(ctx context.Context, trial Trial, p space.Point) (Report, error) {
				time.Sleep(10 * time.Second)
				v, err := u.View(ctx)
				waits := func(t Trial) bool { return t.State == Pending && !t.Running(v.Now) }
				if err == nil && trial.Number >= 8 && len(v.Trials) < d.Budget && !slices.ContainsFunc(v.Trials, waits) {
					err = errors.New("no trial is proposed while this one runs")
				}
				x := p.Float("x")
				return Report{Numbers: map[string]float64{"value": x * x}}, err
			}
			done := make(chan error, processes)
			for range processes {
				own, err := s.Study(ctx, d.Name)
				require.NoError(t, err)
				own.pace.Evaluated(time.Second)
				for range 20 {
					own.pace.Suggested(time.Hour, 1)
				}
				go func() { done <- own.Run(ctx, evaluate, RunOptions{Workers: 2 / processes}) }()
			}
			for range processes {
				require.NoError(t, <-done)
			}
			v, err := u.View(ctx)
			require.NoError(t, err)
			require.Len(t, v.Trials, d.Budget)
			for _, trial := range v.Trials {
				require.Equal(t, Complete, trial.State, trial.Message)
				params, err := u.Replay(ctx, trial.Number)
				require.NoError(t, err)
				require.JSONEq(t, string(trial.Params), string(params))
			}
		})
	}
}
