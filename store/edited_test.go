package store_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/study"
)

// A run ends after an edit that its evaluations cannot follow, and releases its trials. It follows others.
func TestEditDuringARun(t *testing.T) {
	for _, c := range []struct {
		name string
		edit func(*study.Definition)
		want string // part of the error; "" is none
	}{
		{"remove", func(d *study.Definition) { d.Parameters = d.Parameters[:1] }, "parameters"},
		{"add", func(d *study.Definition) {
			d.Parameters = append(d.Parameters, space.Float("z", 0, 1))
			d.Defaults = map[string]any{"z": 0.5}
		}, "parameters"},
		{"kind", func(d *study.Definition) { d.Parameters[1] = space.Categorical("y", "a", "b") }, "parameters"},
		{"objective", func(d *study.Definition) { d.Objectives = []study.Objective{{Name: "loss"}} }, "objectives"},
		{"goal", func(d *study.Definition) { d.Objectives[0].Goal = study.Maximize }, "objectives"},
		{"require", func(d *study.Definition) { d.Require = append(d.Require, "time <= 3") }, "require"},
		{"no require", func(d *study.Definition) { d.Require = nil }, "require"},
		{"command", func(d *study.Definition) { d.Command = "sh other.sh {x} {y}" }, "command"},
		{"shell", func(d *study.Definition) { d.Shell = true }, "shell"},
		{"budget", func(d *study.Definition) { d.Budget = 7 }, ""},
		{"end", func(d *study.Definition) { d.End.MaxFailures = 3 }, ""},
		{"bounds", func(d *study.Definition) { d.Parameters[0].Max = 2 }, ""},
		{"default objective", func(d *study.Definition) { d.Objectives = nil }, ""},
		{"noise", func(d *study.Definition) { d.Objectives[0].NoiseSD = new(0.1) }, ""},
		{"no noise", func(d *study.Definition) { d.Objectives[0].NoiseFree = true }, ""},
		{"order", func(d *study.Definition) { slices.Reverse(d.Parameters) }, ""},
		{"text of require", func(d *study.Definition) { d.Require = []string{"size<=3"} }, ""},
		{"bound of require", func(d *study.Definition) { d.Require = []string{"size <= 4"} }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := line(5)
			d.Parameters, d.Command = append(d.Parameters, space.Float("y", 0, 1)), "sh f.sh {x} {y}"
			d.Objectives, d.Require = d.Goals(), []string{"size <= 3"}
			u, b := newStudy(t, d, store.Options{})
			edit := func(d study.Definition) (*study.Definition, error) { c.edit(&d); return &d, nil }
			err := u.Run(t.Context(), func(_ context.Context, _ store.Trial, p space.Point) (store.Report, error) {
				require.Len(t, p.Map(), 2)
				return store.Report{Numbers: map[string]float64{"value": p.Float("x") + p.Float("y"), "size": 3}}, nil
			}, store.RunOptions{OnEnd: func(trial store.Trial) {
				if trial.Number == 2 {
					require.NoError(t, u.Edit(t.Context(), edit))
				}
			}})
			v, viewErr := u.View(t.Context())
			require.NoError(t, viewErr)
			for _, trial := range v.Trials {
				require.True(t, trial.Lease.IsZero(), "trial %d", trial.Number)
			}
			if c.want == "" {
				require.NoError(t, err)
				require.Len(t, v.Trials, v.Definition.Budget)
				return
			}
			require.ErrorIs(t, err, store.ErrEdited)
			require.ErrorContains(t, err, "study s: the study was edited: "+c.want)
			change(t, b, func(_ *store.Row, trials []store.Trial, _ time.Time) {
				for i, trial := range trials {
					require.Equal(t, i < 2, trial.State == store.Complete, "trial %d", trial.Number)
				}
			})
		})
	}
}

// A trial that is issued after an edit is not evaluated by a run that began before the edit.
func TestEditDuringAFit(t *testing.T) {
	d := line(5)
	d.Initial = 1
	var u *store.Study
	var fits atomic.Int32
	u, _ = newStudy(t, d, store.Options{OnFit: func(loop.Fit, time.Duration) {
		if fits.Add(1) == 1 {
			require.NoError(t, u.Edit(context.Background(), func(d study.Definition) (*study.Definition, error) {
				d.Parameters, d.Defaults = append(d.Parameters, space.Float("z", 0, 1)), map[string]any{"z": 0.5}
				return &d, nil
			}))
		}
	}})
	err := u.Run(t.Context(), func(_ context.Context, trial store.Trial, p space.Point) (store.Report, error) {
		require.Equal(t, 1, trial.Number)
		return store.Report{Numbers: map[string]float64{"value": p.Float("x")}}, nil
	}, store.RunOptions{})
	require.ErrorIs(t, err, store.ErrEdited)
	v, err := u.View(t.Context())
	require.NoError(t, err)
	require.Len(t, v.Trials, 2)
	require.True(t, v.Trials[1].Lease.IsZero())
}

// Evaluations in progress during an edit that wants other numbers end, and their trials are released.
func TestEditDuringEvaluations(t *testing.T) {
	for _, c := range []struct {
		name string
		edit func(*study.Definition)
		want string
	}{
		{"objective", func(d *study.Definition) { d.Objectives = []study.Objective{{Name: "loss"}} }, "objectives"},
		{"require", func(d *study.Definition) { d.Require = []string{"size <= 3"} }, "require"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				u, _ := newStudy(t, line(6), store.Options{})
				var finished atomic.Int32
				err := u.Run(t.Context(), func(ctx context.Context, trial store.Trial, p space.Point) (store.Report, error) {
					time.Sleep(time.Duration(trial.Number) * time.Second)
					require.NoError(t, ctx.Err())
					if trial.Number == 1 {
						require.NoError(t, u.Edit(ctx, func(d study.Definition) (*study.Definition, error) { c.edit(&d); return &d, nil }))
					}
					finished.Add(1)
					return store.Report{Numbers: map[string]float64{"value": p.Float("x")}}, nil
				}, store.RunOptions{Workers: 3})
				require.ErrorIs(t, err, store.ErrEdited)
				require.EqualValues(t, 3, finished.Load())
				for n := 1; n <= 3; n++ {
					require.ErrorContains(t, err, fmt.Sprintf("the result of trial %d, value ", n))
				}
				require.ErrorContains(t, err, "is not stored: study s: the study was edited: "+c.want)
				v, err := u.View(t.Context())
				require.NoError(t, err)
				for _, trial := range v.Trials {
					require.Equal(t, store.Pending, trial.State)
					require.True(t, trial.Lease.IsZero(), "trial %d", trial.Number)
				}
			})
		})
	}
}

// A result of an attempt that was issued before an edit of the cost does not need the new number. Later results do. The
// error of a result that lacks another number names the edit.
func TestEditOfTheCostDuringEvaluations(t *testing.T) {
	cost := func(u *store.Study) error {
		return u.Edit(context.Background(), func(d study.Definition) (*study.Definition, error) { d.End.Cost = "dollars <= 9"; return &d, nil })
	}
	t.Run("run", func(t *testing.T) {
		u, _ := newStudy(t, line(3), store.Options{})
		require.NoError(t, u.Run(t.Context(), func(_ context.Context, trial store.Trial, p space.Point) (store.Report, error) {
			numbers := map[string]float64{"value": p.Float("x")}
			if trial.Number == 1 {
				require.NoError(t, cost(u))
			} else {
				numbers["dollars"] = 1
			}
			return store.Report{Numbers: numbers}, nil
		}, store.RunOptions{}))
		v, err := u.View(t.Context())
		require.NoError(t, err)
		for _, trial := range v.Trials {
			require.Equal(t, store.Complete, trial.State, trial.Message)
		}
	})
	t.Run("other numbers", func(t *testing.T) {
		u, _ := newStudy(t, line(3), store.Options{})
		trials, err := u.Ask(t.Context(), 1)
		require.NoError(t, err)
		require.NoError(t, u.Edit(t.Context(), func(d study.Definition) (*study.Definition, error) { d.Require = []string{"size <= 3"}; return &d, nil }))
		_, err = u.Tell(t.Context(), store.Report{Trial: 1, Token: trials[0].Token, Numbers: map[string]float64{"value": 1}})
		require.ErrorIs(t, err, store.ErrEdited)
		require.ErrorIs(t, err, loop.ErrNotFinite)
		require.ErrorContains(t, err, `the study was edited after the trial was issued: `)
	})
	t.Run("tell", func(t *testing.T) {
		u, _ := newStudy(t, line(3), store.Options{})
		before, err := u.Ask(t.Context(), 2)
		require.NoError(t, err)
		require.NoError(t, cost(u))
		after, err := u.Ask(t.Context(), 1)
		require.NoError(t, err)
		tell := func(trial store.Trial, token string) error {
			_, err := u.Tell(t.Context(), store.Report{Trial: trial.Number, Token: token, Numbers: map[string]float64{"value": 1}})
			return err
		}
		require.ErrorIs(t, tell(after[0], after[0].Token), loop.ErrNotFinite)
		require.ErrorIs(t, tell(before[1], ""), loop.ErrNotFinite)
		for range 2 { // also if the result is told again
			require.NoError(t, tell(before[0], before[0].Token))
		}
		unusable := map[string]float64{"value": 1, "dollars": math.NaN()}
		_, err = u.Tell(t.Context(), store.Report{Trial: before[1].Number, Token: before[1].Token, Numbers: unusable})
		require.NoError(t, err)
		_, err = u.Tell(t.Context(), store.Report{Trial: after[0].Number, Token: after[0].Token, Numbers: unusable})
		require.ErrorIs(t, err, loop.ErrNotFinite)
		require.ErrorContains(t, err, "dollars is NaN")
	})
}
