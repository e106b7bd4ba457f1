package store_test

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/study"
)

// believing is a study with beliefs of every kind.
func believing(budget int) *study.Definition {
	d := line(budget)
	d.Initial = 4
	one := 1.0
	d.Optimum = map[string]loop.Belief{"x": {Around: 0.4, Within: 0.1}}
	d.PriorMean = "x ** 2"
	d.First = []map[string]any{{"x": 0.75}, {}}
	d.Earlier.Trials = []study.Told{
		{Params: map[string]any{"x": 0.5}, Value: &one},
		{Params: map[string]any{"x": 7.0}, Value: &one}, // outside
		{Params: map[string]any{"x": 0.5}, Value: &one}, // again
		{Params: map[string]any{"x": 0.9}, State: "failed"},
	}
	return d
}

// Every transaction is made twice, and several workers run the study in two parts.
func TestBeliefsInAStore(t *testing.T) {
	for _, surrogate := range []study.Component{
		{Name: "gp"},
		{Name: "fsp-laplace", Settings: map[string]any{"hidden": []any{10.0}, "context": 60.0}},
		{Name: "ensemble", Settings: map[string]any{"members": 3.0, "hidden": []any{10.0}}},
	} {
		t.Run(surrogate.Name, func(t *testing.T) { testBeliefs(t, surrogate) })
	}
}

// testBeliefs replays every suggestion of a study with beliefs.
func testBeliefs(t *testing.T, surrogate study.Component) {
	believing := func(budget int) *study.Definition {
		d := believing(budget)
		d.Surrogate = surrogate
		return d
	}
	ctx := context.Background()
	memory := store.NewMemory()
	s := store.New(twice{memory}, store.Options{})
	u, err := s.Create(ctx, believing(9))
	require.NoError(t, err)
	evaluate := func(_ context.Context, _ store.Trial, p space.Point) (store.Report, error) {
		return store.Report{Numbers: map[string]float64{"value": p.Float("x")}}, nil
	}
	require.NoError(t, u.Run(ctx, evaluate, store.RunOptions{Workers: 2}))
	added, err := u.AddEarlier(ctx, believing(9))
	require.NoError(t, err)
	require.Empty(t, added)
	longer := believing(12)
	longer.Earlier.Trials = append(longer.Earlier.Trials, study.Told{Params: map[string]any{"x": 0.1}, State: "failed"})
	require.NoError(t, u.Edit(ctx, func(d study.Definition) (*study.Definition, error) {
		longer.Name = d.Name
		return longer, nil
	}))
	u, err = store.New(memory, store.Options{}).Study(ctx, longer.Name)
	require.NoError(t, err)
	require.NoError(t, u.Run(ctx, evaluate, store.RunOptions{Workers: 3}))

	v, err := u.View(ctx)
	require.NoError(t, err)
	require.Zero(t, v.Definition.Earlier)
	require.Equal(t, longer.First, v.Definition.First)
	require.Len(t, v.Trials, 12+5)
	require.Equal(t, 1, v.Unfit)
	sources := map[loop.Source]int{}
	for _, trial := range v.Trials {
		sources[trial.Source]++
		if trial.Fit > 0 && trial.Number <= 4+9 {
			continue // of the definition before the edit
		}
		if trial.Fit > 0 {
			params, err := u.Replay(ctx, trial.Number)
			require.NoError(t, err)
			require.JSONEq(t, string(trial.Params), string(params))
		}
	}
	require.Equal(t, 5, sources[loop.Added])
	require.Equal(t, 2, sources[loop.First])
	require.JSONEq(t, `{"x":0.75}`, string(v.Trials[4].Params))

	snapshot, err := u.Snapshot(ctx)
	require.NoError(t, err)
	copied, err := store.New(memory, store.Options{}).Restore(ctx, "copy", snapshot)
	require.NoError(t, err)
	w, err := copied.View(ctx)
	require.NoError(t, err)
	require.Len(t, w.Trials, 17)

	bad := believing(9)
	bad.Name, bad.Earlier = "bad", study.Earlier{File: "old.csv"}
	_, err = s.Create(ctx, bad)
	require.ErrorIs(t, err, study.ErrInvalid)
}

// Concurrent workers start no trial whose expected cost is above the limit.
func TestCostEndsARun(t *testing.T) {
	ctx := context.Background()
	d := line(50)
	d.End = study.End{Cost: "dollars <= 5"}
	u, _ := newStudy(t, d, store.Options{})
	var runs atomic.Int32
	evaluate := func(_ context.Context, _ store.Trial, p space.Point) (store.Report, error) {
		runs.Add(1)
		return store.Report{Numbers: map[string]float64{"value": p.Float("x"), "dollars": 0.5}}, nil
	}
	err := u.Run(ctx, evaluate, store.RunOptions{Workers: 4})
	if err != nil { // nil if the last worker waits for the others
		require.ErrorIs(t, err, store.ErrCost)
	}
	require.EqualValues(t, 10, runs.Load())
	_, err = u.Ask(ctx, 1)
	require.ErrorIs(t, err, store.ErrBudget)
	require.ErrorContains(t, err, "dollars is 5 of 5 after 10 trials")
	_, err = u.Tell(ctx, store.Report{Trial: 1, Numbers: map[string]float64{"value": 1}})
	require.ErrorContains(t, err, `no number named "dollars" was reported`)
}

func TestRegretEndsARun(t *testing.T) {
	ctx := context.Background()
	d := line(30)
	d.Initial = 4
	d.End = study.End{Regret: 0.01, Probability: 0.9}
	d.Objectives = []study.Objective{{Name: "value", NoiseFree: true}}
	u, _ := newStudy(t, d, store.Options{})
	var estimates []loop.Regret
	err := u.Run(ctx, func(_ context.Context, _ store.Trial, p space.Point) (store.Report, error) {
		x := p.Float("x") - 0.3
		return store.Report{Numbers: map[string]float64{"value": x * x}}, nil
	}, store.RunOptions{OnRegret: func(r loop.Regret) { estimates = append(estimates, r) }})
	require.ErrorIs(t, err, store.ErrRegret)
	require.GreaterOrEqual(t, len(estimates), 2)
	last := estimates[len(estimates)-1]
	require.LessOrEqual(t, last.Bound, 0.01)
	require.Equal(t, 0.9, last.Probability)
	best, err := u.View(ctx)
	require.NoError(t, err)
	require.LessOrEqual(t, best.Best().Numbers["value"], 0.01)
}

// Equal values tell nothing about the regret: the run uses its budget.
func TestEqualValuesDoNotEndARun(t *testing.T) {
	d := line(12)
	d.Initial = 4
	d.End = study.End{Regret: 0.01}
	d.Objectives = []study.Objective{{Name: "value", NoiseFree: true}}
	u, _ := newStudy(t, d, store.Options{})
	err := u.Run(context.Background(), func(context.Context, store.Trial, space.Point) (store.Report, error) {
		return store.Report{Numbers: map[string]float64{"value": 2}}, nil
	}, store.RunOptions{OnRegret: func(loop.Regret) { t.Error("an estimate") }})
	require.NoError(t, err)
}

// An evaluation outside the constraints counts in fits of stored studies and of package study.
func TestEarlierEvaluationsOutsideConstraints(t *testing.T) {
	ctx := context.Background()
	d := line(9)
	d.Initial, d.Constraints, d.Defaults = 2, []string{"x <= 0.6"}, map[string]any{"x": 0.5}
	for i, x := range []float64{0.1, 0.3, 0.55, 0.8, 7} {
		value := []float64{3, 2, 1, -5, -9}[i]
		d.Earlier.Trials = append(d.Earlier.Trials, study.Told{Params: map[string]any{"x": x}, Value: &value})
	}
	u, err := store.New(store.NewMemory(), store.Options{}).Create(ctx, d)
	require.NoError(t, err)
	want, err := u.Ask(ctx, 1)
	require.NoError(t, err)
	got, err := study.Suggest(ctx, &study.Request{Study: d})
	require.NoError(t, err)
	require.Equal(t, 4, got.Fit.Observations)
	params, err := json.Marshal(got.Points[0].Params)
	require.NoError(t, err)
	require.JSONEq(t, string(want[0].Params), string(params))
	best, err := study.Suggest(ctx, &study.Request{Study: d, Action: study.ActionRecommend})
	require.NoError(t, err)
	require.Equal(t, 3, best.Recommendation.Observed.Trial)
}
