package store_test

import (
	"context"
	"encoding/json"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/study"
)

// Each change of a study is one event, in order.
func TestEventKinds(t *testing.T) {
	ctx := context.Background()
	d := line(9)
	d.Stop = loop.Stop{Rule: loop.ASHA, Eta: 2}
	u, b := newStudy(t, d, store.Options{})
	trials, err := u.Ask(ctx, 2)
	require.NoError(t, err)
	attempt := func(i int) store.Attempt { return store.Attempt{Trial: trials[i].Number, Token: trials[i].Token} }
	_, err = u.ReportSteps(ctx, attempt(0), loop.Step{Step: 1, Value: 1})
	require.NoError(t, err)
	stopped, err := u.ReportSteps(ctx, attempt(1), loop.Step{Step: 1, Value: 2})
	require.NoError(t, err)
	require.Equal(t, store.Stopped, stopped.State)
	require.NoError(t, u.Release(ctx, attempt(0)))
	require.NoError(t, u.Edit(ctx, func(d study.Definition) (*study.Definition, error) { d.Budget = 20; return &d, nil }))
	_, err = u.Ask(ctx, 1)
	require.NoError(t, err)
	change(t, b, func(_ *store.Row, trials []store.Trial, now time.Time) { trials[0].Lease = now.Add(-time.Second) })
	trials, err = u.Ask(ctx, 1)
	require.NoError(t, err)
	_, err = u.Tell(ctx, store.Report{Trial: 1, Token: trials[0].Token, Numbers: map[string]float64{"value": 1}})
	require.NoError(t, err)

	events, err := u.Events(ctx, 0, 100)
	require.NoError(t, err)
	var kinds []store.EventKind
	for i, e := range events {
		require.EqualValues(t, i+1, e.Revision)
		if e.Kind != store.TrialCreated {
			kinds = append(kinds, e.Kind)
		}
		if e.Kind == store.TrialStopped {
			var decision loop.Decision
			require.NoError(t, json.Unmarshal([]byte(e.Detail), &decision))
			require.Equal(t, loop.Decision{Stop: true, Rule: loop.ASHA, Step: 1, Value: 2, Rung: 1, Rank: 2, Keep: 1, Of: 2}, decision)
		}
	}
	require.Equal(t, []store.EventKind{
		store.StudyCreated, store.TrialIssued, store.TrialIssued, store.TrialStopped, store.TrialReleased, store.StudyEdited,
		store.TrialIssued, store.AttemptLost, store.TrialIssued, store.TrialFinished,
	}, kinds)
}

// A heartbeat extends the lease of a held attempt by the lease of the store, and names the others.
func TestHeartbeat(t *testing.T) {
	ctx := context.Background()
	u, b := newStudy(t, line(9), store.Options{})
	trials, err := u.Ask(ctx, 2)
	require.NoError(t, err)
	_, err = u.Tell(ctx, store.Report{Trial: 2, Token: trials[1].Token, Numbers: map[string]float64{"value": 1}})
	require.NoError(t, err)
	change(t, b, func(_ *store.Row, trials []store.Trial, now time.Time) { trials[0].Lease = now.Add(time.Second) })
	lost, err := u.Heartbeat(ctx, store.Attempt{Trial: 1, Token: trials[0].Token}, store.Attempt{Trial: 2, Token: trials[1].Token}, store.Attempt{Trial: 7, Token: "x"})
	require.NoError(t, err)
	require.Equal(t, []int{2, 7}, lost)
	v, err := u.View(ctx)
	require.NoError(t, err)
	require.InDelta(t, store.DefaultLease.Seconds(), v.Trials[0].Lease.Sub(v.Now).Seconds(), 5)
}

// An attempt that is named twice is released once.
func TestReleaseNamesAttemptTwice(t *testing.T) {
	ctx := context.Background()
	u, _ := newStudy(t, line(9), store.Options{})
	trials, err := u.Ask(ctx, 1)
	require.NoError(t, err)
	held := store.Attempt{Trial: 1, Token: trials[0].Token}
	lost, err := u.Heartbeat(ctx, held, held)
	require.NoError(t, err)
	require.Empty(t, lost)
	require.NoError(t, u.Release(ctx, held, held))
	events, err := u.Events(ctx, 0, 100)
	require.NoError(t, err)
	released := 0
	for _, e := range events {
		if e.Kind == store.TrialReleased {
			released++
		}
	}
	require.Equal(t, 1, released)
}

// A key belongs to the report of one trial.
func TestTellWithKeyOfAnotherTrial(t *testing.T) {
	ctx := context.Background()
	u, _ := newStudy(t, line(9), store.Options{})
	_, err := u.Ask(ctx, 2)
	require.NoError(t, err)
	numbers := map[string]float64{"value": 1}
	_, err = u.Tell(ctx, store.Report{Trial: 1, Numbers: numbers, Key: "anna"})
	require.NoError(t, err)
	_, err = u.Tell(ctx, store.Report{Trial: 2, Numbers: numbers, Key: "anna"})
	require.ErrorIs(t, err, store.ErrConflict)
	require.ErrorContains(t, err, `the key "anna" belongs to the result of trial 1: use another key`)
	told, err := u.Tell(ctx, store.Report{Trial: 2, Numbers: numbers, Key: "anna 2"})
	require.NoError(t, err)
	require.Equal(t, store.Complete, told.State)
}

// A step that is no number is recorded as the worst value, and a step of an old attempt not at all.
func TestReportSteps(t *testing.T) {
	ctx := context.Background()
	d := line(9)
	d.Objectives = []study.Objective{{Name: "value", Goal: study.Maximize}}
	u, _ := newStudy(t, d, store.Options{})
	trials, err := u.Ask(ctx, 1)
	require.NoError(t, err)
	held := store.Attempt{Trial: 1, Token: trials[0].Token}
	for range 2 {
		_, err = u.ReportSteps(ctx, held, loop.Step{Step: 2, Value: math.NaN()}, loop.Step{Step: 1, Value: 3})
		require.NoError(t, err)
	}
	_, err = u.ReportSteps(ctx, store.Attempt{Trial: 1, Token: "old"}, loop.Step{Step: 3, Value: 1})
	require.NoError(t, err)
	_, err = u.ReportSteps(ctx, held, loop.Step{Step: math.Inf(1), Value: 1})
	require.ErrorIs(t, err, loop.ErrNotFinite)
	_, err = u.ReportSteps(ctx, store.Attempt{Trial: 2}, loop.Step{Step: 1, Value: 1})
	require.ErrorIs(t, err, store.ErrNoTrial)
	steps, err := u.Steps(ctx, 1)
	require.NoError(t, err)
	require.Equal(t, []store.Step{
		{Trial: 1, Attempt: 1, Step: 2, Name: "value", Value: -loop.MaxValue},
		{Trial: 1, Attempt: 1, Step: 1, Name: "value", Value: 3},
	}, steps)
}

// A view of several objectives has a front of its feasible trials, and no best trial.
func TestViewOfSeveralObjectives(t *testing.T) {
	ctx := context.Background()
	d := &study.Definition{
		Version: 1, Name: "s", Budget: 9, Initial: 9,
		Parameters: []space.Parameter{space.Float("x", 0, 1)},
		Objectives: []study.Objective{{Name: "a"}, {Name: "b", Goal: study.Maximize}},
		Require:    []string{"c <= 1"},
	}
	u, _ := newStudy(t, d, store.Options{})
	for i, n := range [][3]float64{{1, 1, 0}, {2, 5, 1}, {0, 9, 2}, {3, 4, 0}} {
		_, err := u.Add(ctx, "", store.Evaluated{
			Params: map[string]any{"x": float64(i) / 8}, Numbers: map[string]float64{"a": n[0], "b": n[1], "c": n[2]},
		})
		require.NoError(t, err)
	}
	v, err := u.View(ctx)
	require.NoError(t, err)
	require.Nil(t, v.Best())
	require.Equal(t, []bool{true, true, false, true}, []bool{
		v.Feasible(&v.Trials[0]), v.Feasible(&v.Trials[1]), v.Feasible(&v.Trials[2]), v.Feasible(&v.Trials[3]),
	})
	p := v.Pareto()
	require.Equal(t, []int{1, 2}, []int{p.Front[0].ID, p.Front[1].ID})
	require.Len(t, p.Hypervolume, 4)
	require.True(t, slices.IsSorted(p.Hypervolume))
}
