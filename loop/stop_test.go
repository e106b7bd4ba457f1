package loop_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
)

func ExampleReport() {
	s, _ := space.New(space.Float("x", 0, 1))
	o := loop.Options{Budget: 8, Stop: loop.Stop{Rule: loop.ASHA, Eta: 2, MaxSteps: 9}}
	r, err := loop.Minimize(context.Background(), func(ctx context.Context, p space.Point) (float64, error) {
		loss := 1.0
		for epoch := 1; epoch <= 9; epoch++ {
			loss = p.Float("x") + 1/float64(epoch)
			if err := loop.Report(ctx, float64(epoch), loss); err != nil {
				return 0, err
			}
		}
		return loss, nil
	}, s, o)
	stopped := 0
	for _, t := range r.Trials {
		if t.State == loop.Stopped {
			stopped++
		}
	}
	fmt.Println(err, stopped > 0, r.Best.State)
	// Output: <nil> true complete
}

func TestDecide(t *testing.T) {
	trials := func(state loop.State, values ...float64) (all []loop.Trial) {
		for i, v := range values {
			all = append(all, loop.Trial{ID: i + 1, State: state, Steps: []loop.Step{{Step: 4, Value: v}}})
		}
		return all
	}
	for _, c := range []struct {
		name     string
		rule     loop.Stop
		state    loop.State
		values   []float64 // the last trial reports
		maximize bool
		ok, stop bool
	}{
		{"too few", loop.Stop{Rule: loop.ASHA}, loop.Pending, []float64{1, 2, 3}, false, true, false},
		{"last of four", loop.Stop{Rule: loop.ASHA}, loop.Pending, []float64{1, 2, 3, 4}, false, true, true},
		{"first of four", loop.Stop{Rule: loop.ASHA}, loop.Pending, []float64{1, 2, 3, 0}, false, true, false},
		{"largest", loop.Stop{Rule: loop.ASHA}, loop.Pending, []float64{1, 2, 3, 4}, true, true, false},
		{"not a number", loop.Stop{Rule: loop.ASHA, Eta: 2}, loop.Pending, []float64{1, math.NaN()}, true, true, true},
		{"full trial", loop.Stop{Rule: loop.ASHA, MaxSteps: 4}, loop.Pending, []float64{1, 2, 3, 4}, false, false, false},
		{"startup", loop.Stop{Rule: loop.Median}, loop.Complete, []float64{1, 2, 3, 4, 9}, false, false, false},
		{"above the median", loop.Stop{Rule: loop.Median}, loop.Complete, []float64{1, 2, 3, 4, 5, 9}, false, true, true},
		{"at the median", loop.Stop{Rule: loop.Median}, loop.Complete, []float64{1, 2, 3, 4, 5, 3}, false, true, false},
		{"none", loop.Stop{}, loop.Complete, []float64{1, 2, 3, 4, 5, 9}, false, false, false},
	} {
		d, ok := c.rule.Decide(trials(c.state, c.values...), len(c.values), 4, c.maximize)
		if ok != c.ok || d.Stop != c.stop {
			t.Errorf("%s: decision %+v, %v; want %v, %v", c.name, d, ok, c.stop, c.ok)
		}
	}
}

// Decide is exported, so its receiver may have settings that New rejects. It then makes no decision.
func TestDecideWithoutRungs(t *testing.T) {
	trials := []loop.Trial{{ID: 1, Steps: []loop.Step{{Step: 4, Value: 1}}}}
	for _, c := range []struct {
		rule loop.Stop
		at   float64
	}{
		{loop.Stop{Rule: loop.ASHA, Eta: 1}, 4},
		{loop.Stop{Rule: loop.ASHA, Eta: 0.5}, 4},
		{loop.Stop{Rule: loop.ASHA, Eta: math.NaN()}, 4},
		{loop.Stop{Rule: loop.ASHA, MinSteps: -1}, 4},
		{loop.Stop{Rule: loop.ASHA}, math.Inf(1)},
		{loop.Stop{Rule: loop.ASHA}, math.NaN()},
		{loop.Stop{Rule: loop.Median, Startup: 1}, math.NaN()},
	} {
		d, ok := c.rule.Decide(trials, 1, c.at, false)
		assert.False(t, ok, "%+v at %v: %+v", c.rule, c.at, d)
	}
}

// The numbers of a decision about a value that is not a number are finite, so that events can be written as JSON.
func TestDecisionIsJSON(t *testing.T) {
	for _, rule := range []loop.Stop{{Rule: loop.ASHA, Eta: 2}, {Rule: loop.Median, Startup: 1}} {
		for _, maximize := range []bool{false, true} {
			for _, other := range []float64{1, math.NaN()} {
				trials := []loop.Trial{
					{ID: 1, State: loop.Complete, Steps: []loop.Step{{Step: 1, Value: other}}},
					{ID: 2, State: loop.Pending, Steps: []loop.Step{{Step: 1, Value: math.NaN()}}},
				}
				d, ok := rule.Decide(trials, 2, 1, maximize)
				require.True(t, ok)
				want := loop.MaxValue
				if maximize {
					want = -want
				}
				assert.Equal(t, want, d.Value)
				_, err := json.Marshal(d)
				assert.NoError(t, err, "%+v", d)
			}
		}
	}
}

// Steps that arrive backwards make one decision at a rung, and the median rule compares the values up to
// the step. The order of the steps of other trials has no effect.
func TestDecideInAnyOrder(t *testing.T) {
	steps := func(at ...float64) (s []loop.Step) {
		for _, a := range at {
			s = append(s, loop.Step{Step: a, Value: 10 - a})
		}
		return s
	}
	for _, c := range []struct {
		rule     loop.Stop
		reported []float64 // the last one makes the decision
		ok, stop bool
	}{
		{loop.Stop{Rule: loop.ASHA, Eta: 2}, []float64{4}, true, true},
		{loop.Stop{Rule: loop.ASHA, Eta: 2}, []float64{4, 1}, false, false},
		{loop.Stop{Rule: loop.ASHA, Eta: 2}, []float64{4, 3, 2}, false, false},
		{loop.Stop{Rule: loop.ASHA, Eta: 2}, []float64{1, 4}, true, true},
		{loop.Stop{Rule: loop.Median, Startup: 1}, []float64{9, 1}, true, true},
		{loop.Stop{Rule: loop.Median, Startup: 1}, []float64{1, 9}, true, true},
	} {
		for _, others := range [][]loop.Step{steps(1, 4, 9), steps(9, 1, 4)} {
			for i := range others {
				others[i].Value -= 0.5
			}
			trials := []loop.Trial{{ID: 1, State: loop.Complete, Steps: others}, {ID: 2, State: loop.Pending, Steps: steps(c.reported...)}}
			d, ok := c.rule.Decide(trials, 2, c.reported[len(c.reported)-1], false)
			if ok != c.ok || d.Stop != c.stop {
				t.Errorf("%s %v: decision %+v, %v; want %v, %v", c.rule.Rule, c.reported, d, ok, c.stop, c.ok)
			}
		}
	}
}

// Median compares the best value up to the step with the best values of other trials up to it. A
// rule of their averages would not stop the falling curve, and a rule of all steps would stop the
// last one.
func TestMedianOfBestValues(t *testing.T) {
	curve := func(values ...float64) (s []loop.Step) {
		for i, v := range values {
			s = append(s, loop.Step{Step: float64(i + 1), Value: v})
		}
		return s
	}
	for _, c := range []struct {
		name          string
		others, steps []loop.Step
		at            float64
		median        float64
		stop          bool
	}{
		{"falling", curve(9, 1), curve(9, 2), 2, 1, true},
		{"better before", curve(1, 5), curve(2, 2), 2, 1, true},
		{"not finite", curve(3, math.NaN()), curve(math.NaN(), 2), 2, 3, false},
		{"later steps", curve(9, 1), curve(8, 8), 1, 9, false},
	} {
		for _, sign := range []float64{1, -1} {
			var trials []loop.Trial
			for id, steps := range [][]loop.Step{c.others, c.steps} {
				own := slices.Clone(steps)
				for i := range own {
					own[i].Value *= sign
				}
				trials = append(trials, loop.Trial{ID: id, State: []loop.State{loop.Complete, loop.Pending}[id], Steps: own})
			}
			d, ok := loop.Stop{Rule: loop.Median, Startup: 1}.Decide(trials, 1, c.at, sign < 0)
			require.True(t, ok, c.name)
			assert.Equal(t, c.stop, d.Stop, "%s: %+v", c.name, d)
			assert.Equal(t, sign*c.median, *d.Median, c.name)
		}
	}
}

func TestReportOnce(t *testing.T) {
	s, err := space.New(space.Float("x", 0, 1))
	if err != nil {
		t.Fatal(err)
	}
	st, err := loop.New(s, loop.Options{Stop: loop.Stop{Rule: loop.ASHA, Eta: 2}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := st.Ask(context.Background(), 2); err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct {
		id          int
		step, value float64
		stop        bool
	}{{1, 1, 1, false}, {2, 1.5, 2, true}, {2, 1.5, 0, true}, {1, 1, 9, false}} {
		if stop, err := st.Report(c.id, c.step, c.value); err != nil || stop != c.stop {
			t.Errorf("report %d: %v, %v", i, stop, err)
		}
	}
	if err := st.Tell(2, 1); !errors.Is(err, loop.ErrFinished) {
		t.Errorf("the result of a stopped trial: %v", err)
	}
	if n := len(st.Trials()[0].Steps); n != 1 {
		t.Errorf("%d steps, want 1", n)
	}
}

// An objective may have a rule of its own.
func TestOwnRuleStops(t *testing.T) {
	s, err := space.New(space.Float("x", 0, 1))
	require.NoError(t, err)
	var events []loop.Event
	o := loop.Options{Budget: 12, OnEvent: func(e loop.Event) {
		if e.Kind == loop.TrialStopped {
			events = append(events, e)
		}
	}}
	r, err := loop.Minimize(context.Background(), func(ctx context.Context, p space.Point) (float64, error) {
		x := p.Float("x")
		switch {
		case x > 0.8:
			return 0, fmt.Errorf("%w: without a step", loop.ErrStopped)
		case x > 0.5:
			if err := loop.Report(ctx, 3, x); err != nil {
				return 0, err
			}
			return 0, fmt.Errorf("%w: flat", loop.ErrStopped)
		}
		return x, nil
	}, s, o)
	require.NoError(t, err)
	stopped, failed := 0, 0
	for _, trial := range r.Trials {
		switch x := trial.Point.Float("x"); {
		case x > 0.8:
			failed++
			assert.Equal(t, loop.Failed, trial.State)
			assert.Equal(t, "the trial is stopped: without a step (only a trial of one objective is stopped, after a reported step)", trial.Error)
		case x > 0.5:
			stopped++
			assert.Equal(t, loop.Stopped, trial.State)
			assert.Equal(t, x, trial.Value)
			assert.Equal(t, "flat", trial.Error)
			assert.Positive(t, trial.EvaluateSeconds)
		default:
			assert.Equal(t, loop.Complete, trial.State)
		}
	}
	assert.Positive(t, stopped)
	assert.Positive(t, failed)
	require.Len(t, events, stopped)
	assert.Equal(t, loop.Decision{Stop: true, Step: 3, Value: events[0].Trial.Value, Reason: "flat"}, events[0].Decision)
	assert.Equal(t, "flat", events[0].Decision.Grounds())
}

func TestStop(t *testing.T) {
	s, err := space.New(space.Float("x", 0, 1))
	require.NoError(t, err)
	var last loop.Event
	st, err := loop.New(s, loop.Options{OnEvent: func(e loop.Event) { last = e }})
	require.NoError(t, err)
	_, err = st.Ask(context.Background(), 2)
	require.NoError(t, err)
	require.ErrorIs(t, st.Stop(3, "flat"), loop.ErrUnknownTrial)
	require.ErrorContains(t, st.Stop(1, "flat"), "trial 1 has no steps")
	_, err = st.Report(1, 2, 0.5)
	require.NoError(t, err)
	require.NoError(t, st.Stop(1, "flat"))
	require.ErrorIs(t, st.Stop(1, "flat"), loop.ErrFinished)
	trial := st.Trials()[0]
	require.Equal(t, loop.Stopped, trial.State)
	require.Equal(t, 0.5, trial.Value)
	require.Equal(t, "flat", trial.Error)

	_, err = st.Report(2, 1, math.NaN())
	require.NoError(t, err)
	require.NoError(t, st.Stop(2, ""))
	require.Equal(t, loop.Decision{Stop: true, Step: 1, Value: loop.MaxValue}, last.Decision)
	require.Equal(t, "a rule of the caller", last.Decision.Grounds())

	var file bytes.Buffer
	require.NoError(t, st.Save(&file))
	again, err := loop.Resume(&file, loop.Options{})
	require.NoError(t, err)
	require.Equal(t, trial, again.Trials()[0])

	several, err := loop.New(s, loop.Options{Objectives: []loop.Goal{{Name: "a"}, {Name: "b"}}})
	require.NoError(t, err)
	_, err = several.Ask(context.Background(), 1)
	require.NoError(t, err)
	_, err = several.Report(1, 2, 0.5)
	require.NoError(t, err)
	require.ErrorIs(t, several.Stop(1, "flat"), loop.ErrOptions)
}
