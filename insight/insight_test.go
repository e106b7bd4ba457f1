package insight

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/acquisition"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate/fsplaplace"
)

// mixed returns a maximised study of 30 trials with a failed and a pending trial, a condition and
// a constraint.
func mixed(t *testing.T, o loop.Options) *loop.View {
	s, err := space.New(
		space.LogFloat("rate", 1e-5, 0.1), space.Int("layers", 1, 400), space.Bool("bias"),
		space.Categorical("opt", "adam", "sgd", "lion"), space.Float("momentum", 0, 1).If(space.Equal("opt", "sgd")),
		space.Fixed("data", "mnist"),
	)
	require.NoError(t, err)
	s, err = s.Constrain(space.Condition{Text: "layers < 380", On: []string{"layers"}, Holds: func(p space.Point) bool { return p.Int("layers") < 380 }})
	require.NoError(t, err)
	o.Maximize = true
	study, err := loop.New(s, o)
	require.NoError(t, err)
	trials, err := study.Ask(t.Context(), 10)
	require.NoError(t, err)
	for i, trial := range trials {
		p := trial.Point
		v := 10 - math.Pow(math.Log10(p.Float("rate"))+3, 2) + p.Float("layers")/400
		switch {
		case i == 2:
			err = study.Fail(trial.ID, "crash")
		case i < 9:
			err = study.Tell(trial.ID, v)
		}
		require.NoError(t, err)
	}
	v, err := study.Inspect(t.Context())
	require.NoError(t, err)
	return v
}

// requireJSON encodes v; non-finite numbers are null.
func requireJSON(t *testing.T, v any) {
	_, err := json.Marshal(v)
	require.NoError(t, err)
}

func TestSlicesInUserUnits(t *testing.T) {
	v := mixed(t, loop.Options{})
	at, err := v.Space.PointOf(map[string]any{"rate": 1e-3, "layers": 200, "bias": true, "opt": "adam"})
	require.NoError(t, err)
	slices, err := Slices(v, SliceOptions{Points: 21, At: at})
	require.NoError(t, err)
	require.Len(t, slices, 5)
	requireJSON(t, slices)
	rate, layers, momentum := slices[0], slices[1], slices[4]
	require.Equal(t, Axis{Name: "rate", Kind: space.KindFloat, Log: true, Min: 1e-5, Max: 0.1}, rate.Axis)
	require.InEpsilon(t, 1e-3, rate.Points[10].X, 1e-9)
	require.Len(t, layers.Points, 21)
	require.True(t, layers.Points[0].Feasible)
	require.False(t, layers.Points[20].Feasible)
	require.Empty(t, momentum.Points, "inactive at the point")
	require.Nil(t, momentum.At)
	require.Len(t, rate.Trials, 10)
	require.Equal(t, loop.Failed, rate.Trials[2].State)
	require.True(t, math.IsNaN(float64(rate.Trials[9].Y)), "a pending trial has no value")
	for _, p := range rate.Points {
		require.True(t, p.P95.Low <= p.P50.Low && p.P50.Low <= p.Mean && p.Mean <= p.P50.High && p.P50.High <= p.P95.High)
	}
	average, err := Slices(v, SliceOptions{Points: 3, Average: 16})
	require.NoError(t, err)
	require.Len(t, average[4].Points, 3)
	for _, o := range []SliceOptions{{Points: 1}, {Average: -1}, {Points: 20_000}} {
		_, err = Slices(v, o)
		require.ErrorIs(t, err, ErrArgument)
	}
}

func TestMapArguments(t *testing.T) {
	v := mixed(t, loop.Options{})
	m, err := Map(v, "bias", "layers", 5)
	require.NoError(t, err)
	requireJSON(t, m)
	require.Equal(t, []any{false, true}, m.Xs)
	require.Len(t, m.Mean, 5)
	require.Len(t, m.Mean[0], 2)
	require.False(t, m.Feasible[4][0])
	for _, names := range [][2]string{{"bias", "bias"}, {"bias", "data"}, {"bias", "lr"}} {
		_, err := Map(v, names[0], names[1], 5)
		require.ErrorIs(t, err, ErrArgument)
	}
}

// The improvement of an upper bound of zero distance is a half, and the text names the goal.
func TestWhyAtTheIncumbent(t *testing.T) {
	v := mixed(t, loop.Options{Acquisition: acquisition.LCB{}})
	best := v.Trials[incumbent(v)]
	r, err := Why(v, best.Point, SliceOptions{Points: 5})
	require.NoError(t, err)
	requireJSON(t, r)
	require.Equal(t, best.ID, r.Nearest)
	require.Zero(t, r.Distance)
	require.Equal(t, r.Incumbent.Prediction.Mean, r.Prediction.Mean)
	require.Contains(t, r.Text[2], "above the incumbent")
}

// The history has the interval of a prediction of log transformed values, which is not symmetric.
func TestHistoryOfLogTransformedValues(t *testing.T) {
	trials := []loop.Trial{
		{ID: 1, State: loop.Pending, Prediction: &loop.Prediction{Mean: 3, SD: 4, Interval: [2]float64{1, 40}}},
		{ID: 2, State: loop.Pending, Prediction: &loop.Prediction{Mean: 3, SD: 4}},
	}
	steps := History(trials, loop.Options{})
	require.Equal(t, Interval{1, 40}, steps[0].Predicted.Interval)
	require.Equal(t, Interval{Number(3 - 4*half95), Number(3 + 4*half95)}, steps[1].Predicted.Interval)
}

func TestHistoryHasStandardErrors(t *testing.T) {
	trials := []loop.Trial{
		{ID: 1, State: loop.Complete, Value: 3, Numbers: map[string]float64{"se": 0.5}},
		{ID: 2, State: loop.Complete, Value: 2},
		{ID: 3, State: loop.Failed, Numbers: map[string]float64{"se": 0.5}},
	}
	for name, want := range map[string][]Number{"se": {0.5, 0, 0}, "": {0, 0, 0}} {
		steps := History(trials, loop.Options{StandardError: name})
		for i, s := range steps {
			require.Equal(t, want[i], s.StandardError)
		}
	}
}

func TestHistoryAndParallelOfAMaximisedStudy(t *testing.T) {
	v := mixed(t, loop.Options{})
	steps := History(v.Trials, v.Options)
	requireJSON(t, steps)
	best := math.Inf(-1)
	for i, s := range steps {
		if v.Trials[i].State == loop.Complete {
			best = max(best, v.Trials[i].Value)
		}
		require.Equal(t, Number(best), s.Best)
	}
	p := ParallelCoordinates(v)
	requireJSON(t, p)
	for i, line := range p.Lines {
		require.Equal(t, v.Trials[i].State == loop.Complete && v.Trials[i].Value == best, line.Rank == 0)
		require.True(t, float64(line.Positions[0]) >= 0 && float64(line.Positions[0]) <= 1)
	}
	var back Number
	require.NoError(t, json.Unmarshal([]byte("null"), &back))
	require.True(t, math.IsNaN(float64(back)))
}

// Infeasible trials have no rank: the best is a feasible trial, and a better value that misses a
// requirement does not precede it.
func TestParallelOfInfeasibleTrials(t *testing.T) {
	s, err := space.New(space.Float("x", 0, 1))
	require.NoError(t, err)
	v := &loop.View{Space: s, Options: loop.Options{Require: []loop.Requirement{{Name: "latency", Bound: 20}}}}
	for i, numbers := range [][2]float64{{-5, 30}, {1, 10}, {3, 10}, {2, 20}} {
		p, err := s.PointOf(map[string]any{"x": 0.2 * float64(i)})
		require.NoError(t, err)
		v.Trials = append(v.Trials, loop.Trial{ID: i + 1, Point: p, State: loop.Complete, Value: numbers[0], Numbers: map[string]float64{"latency": numbers[1]}})
	}
	p := ParallelCoordinates(v)
	requireJSON(t, p)
	require.True(t, math.IsNaN(float64(p.Lines[0].Rank)))
	for i, want := range []float64{0, 1, 0.5} {
		require.InDelta(t, want, float64(p.Lines[i+1].Rank), 1e-12)
	}
}

// A map is empty where one of its parameters is inactive.
func TestMapOfAConditionalParameter(t *testing.T) {
	s, err := space.New(space.Categorical("kind", "a", "b"), space.Float("rate", 0, 1).If(space.Equal("kind", "b")), space.Float("x", 0, 1))
	require.NoError(t, err)
	rng := rand.New(rand.NewPCG(3, 3))
	var h loop.History
	for i := range 12 {
		values := map[string]any{"kind": []string{"a", "b"}[i%2], "x": rng.Float64()}
		if i%2 == 1 {
			values["rate"] = rng.Float64()
		}
		p, err := s.PointOf(values)
		require.NoError(t, err)
		h.Trials = append(h.Trials, loop.Trial{ID: i + 1, Point: p, State: loop.Complete, Value: values["x"].(float64) + float64(i%2)})
	}
	v, err := loop.Inspect(t.Context(), s, loop.Options{}, h)
	require.NoError(t, err)
	m, err := Map(v, "kind", "rate", 5)
	require.NoError(t, err)
	requireJSON(t, m)
	for _, layer := range [][][]Number{m.Mean, m.SD, m.Acquisition} {
		for _, row := range layer {
			require.True(t, math.IsNaN(float64(row[0])))
			require.False(t, math.IsNaN(float64(row[1])))
		}
	}
}

// An average leaves out points that violate a constraint, and marks values without a feasible point. A map of
// parameters that share a constraint is usable in part.
func TestSlicesOfAConstrainedSpace(t *testing.T) {
	s, err := space.New(space.Float("a", 0, 1), space.Float("b", 0, 1))
	require.NoError(t, err)
	s, err = s.Constrain(space.Condition{Text: "a + b <= 0.8", On: []string{"a", "b"}, Holds: func(p space.Point) bool { return p.Float("a")+p.Float("b") <= 0.8 }})
	require.NoError(t, err)
	var h loop.History
	for i := range 12 {
		a, b := 0.06*float64(i), 0.04*float64((5*i)%12)
		p, err := s.PointOf(map[string]any{"a": a, "b": min(b, 0.74-a)})
		if err != nil {
			continue
		}
		h.Trials = append(h.Trials, loop.Trial{ID: len(h.Trials) + 1, Point: p, State: loop.Complete, Value: 10 * p.Float("b")})
	}
	v, err := loop.Inspect(t.Context(), s, loop.Options{NoiseFree: true}, h)
	require.NoError(t, err)
	all, err := Slices(v, SliceOptions{Points: 5, Average: 64})
	require.NoError(t, err)
	requireJSON(t, all)
	for k, want := range []bool{true, true, true, true, false} {
		require.Equal(t, want, all[0].Points[k].Feasible, "a = %v", all[0].Points[k].X)
	}
	// At a = 0.5, b is uniform on [0, 0.3].
	require.InDelta(t, 1.5, float64(all[0].Points[2].Mean), 0.3)
	part, err := Usable(v, "a", "b")
	require.NoError(t, err)
	require.InDelta(t, 0.32, part, 0.05)
	_, err = Usable(v, "a", "c")
	require.ErrorIs(t, err, ErrArgument)
}

// Of several objectives the order is the number of dominating trials, whose directions count.
func TestParallelOfSeveralObjectives(t *testing.T) {
	s, err := space.New(space.Float("x", 0, 1))
	require.NoError(t, err)
	v := &loop.View{Space: s, Options: loop.Options{Objectives: []loop.Goal{{Name: "a"}, {Name: "b", Maximize: true}}}}
	for i, values := range [][2]float64{{1, 1}, {2, 2}, {2, 0}, {3, 0}} {
		p, err := s.PointOf(map[string]any{"x": 0.2 * float64(i)})
		require.NoError(t, err)
		v.Trials = append(v.Trials, loop.Trial{ID: i + 1, Point: p, State: loop.Complete, Numbers: map[string]float64{"a": values[0], "b": values[1]}})
	}
	v.Trials = append(v.Trials, loop.Trial{ID: 5, Point: v.Trials[0].Point, State: loop.Failed})
	p := ParallelCoordinates(v)
	requireJSON(t, p)
	require.Len(t, p.Objectives, 2)
	var ranks []float64
	for _, l := range p.Lines[:4] {
		ranks = append(ranks, float64(l.Rank))
	}
	require.InDeltaSlice(t, []float64{0, 0, 2. / 3, 1}, ranks, 1e-12)
	require.Equal(t, []Number{2, 0}, p.Lines[2].Numbers)
	require.True(t, math.IsNaN(float64(p.Lines[4].Rank)))
}

// The axes on which the value depends separate ranks, also if they do not increase it, and categories of
// one trial each do not.
func TestStrongest(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	ids := Axis{Name: "id", Kind: space.KindCategorical}
	var p Parallel
	for k := range 6 {
		p.Axes = append(p.Axes, Axis{Name: fmt.Sprint(k), Kind: space.KindFloat, Max: 1})
	}
	var values []float64
	for i := range 80 {
		ids.Ticks = append(ids.Ticks, i)
		l := ParallelLine{Trial: i + 1, State: loop.Complete}
		for range 6 {
			l.Positions = append(l.Positions, Number(rng.Float64()))
		}
		values = append(values, math.Pow(float64(l.Positions[2])-0.5, 2)+0.2*float64(l.Positions[5])+0.01*rng.Float64())
		l.Positions = append(l.Positions, Number(float64(i)/79))
		p.Lines = append(p.Lines, l)
	}
	p.Axes = append(p.Axes, ids)
	for i := range p.Lines {
		for _, v := range values {
			if v < values[i] {
				p.Lines[i].Rank += 1. / 79
			}
		}
	}
	require.Equal(t, []int{2, 5}, p.Strongest(2))
	require.Equal(t, []int{0, 1, 2, 3, 4, 5, 6}, p.Strongest(7))
	p.Lines = nil
	require.Equal(t, []int{0, 1}, p.Strongest(2))
}

// A known noise that the data reject is named in the unit of the values.
func TestCheckFindsWrongNoiseSD(t *testing.T) {
	s, err := space.New(space.Float("x", 0, 1))
	require.NoError(t, err)
	study, err := loop.New(s, loop.Options{NoiseSD: 40})
	require.NoError(t, err)
	rng := random.New(1, "noise", 0)
	for k := range 25 {
		p := s.Decode([]float64{float64(k) / 24})
		_, err := study.Add(p, 100*math.Sin(5*p.Float("x"))+5*rng.NormFloat64())
		require.NoError(t, err)
	}
	v, err := study.Inspect(t.Context())
	require.NoError(t, err)
	c, err := LeaveOneOut(t.Context(), v)
	require.NoError(t, err)
	p := c.Health.Profiles[0]
	require.Equal(t, "noise_sd", p.Name)
	require.Equal(t, 40., p.Value)
	require.InDelta(t, 5, p.Best, 3) // one of 40·√2^k
	i := slices.IndexFunc(c.Health.Findings, func(f Finding) bool { return f.Test == "profile likelihood of noise_sd" })
	require.Contains(t, c.Health.Findings[i].Text, "the fixed noise_sd of 40 is too large")
	require.Equal(t, "leave out noise_sd, so that it is learned", c.Health.Findings[i].Remedy)
}

// A mistyped entry is an outlier, and correct data have none.
func TestOutliersAreWrongEntries(t *testing.T) {
	for _, c := range []struct {
		name     string
		factor   float64 // of the value of trial 9
		outliers []int
	}{
		{"right", 1, []int{}},
		{"a tenth", 0.1, []int{9}},
		{"ten times", 10, []int{9}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := space.New(space.Float("x", 0, 1))
			require.NoError(t, err)
			study, err := loop.New(s, loop.Options{})
			require.NoError(t, err)
			rng := random.New(1, "entries", 0)
			for k := range 25 {
				x, factor := float64(k)/24, 1.
				if k == 8 {
					factor = c.factor
				}
				_, err := study.Add(s.Decode([]float64{x}), factor*(60+10*math.Sin(5*x)+rng.NormFloat64()))
				require.NoError(t, err)
			}
			v, err := study.Inspect(t.Context())
			require.NoError(t, err)
			calibration, err := LeaveOneOut(t.Context(), v)
			require.NoError(t, err)
			found := []int{}
			for _, p := range calibration.Outliers {
				found = append(found, p.Trial)
			}
			require.Equal(t, c.outliers, found)
		})
	}
}

// The bound of ten residuals is the quantile 0.9975, which is larger for few degrees of freedom.
func TestBoundOfOutliers(t *testing.T) {
	var predictions []LeftOut
	for i, z := range []Number{2.8, -2.82, 0, 5, -5.5, 1, 1, 1, 1, 1} {
		predictions = append(predictions, LeftOut{Trial: i + 1, Residual: z})
	}
	for _, c := range []struct {
		free  float64
		found []int
	}{{math.Inf(1), []int{5, 4, 2}}, {5, []int{5, 4}}, {4.3, []int{5}}, {1, []int{}}} { // bounds 2.807, 4.773, 5.3, 127.3
		found := []int{}
		for _, p := range outliers(predictions, c.free) {
			found = append(found, p.Trial)
		}
		require.Equal(t, c.found, found, "%v degrees of freedom", c.free)
	}
	require.Empty(t, outliers(nil, math.Inf(1)))
}

// A model without whitened errors is checked by folds.
func TestCheckByFolds(t *testing.T) {
	v := mixed(t, loop.Options{Surrogate: fsplaplace.Model{}})
	c, err := LeaveOneOut(t.Context(), v)
	require.NoError(t, err)
	requireJSON(t, c)
	require.Empty(t, c.Health.Profiles)
	if len(c.Health.Findings) == 0 {
		require.Equal(t, TooFew, c.Health.Verdict)
	}
}

func TestAndersonDarling(t *testing.T) {
	// For one number x, A² = -1 - log Φ(x) - log Φ(-x).
	require.InDelta(t, -1+2*math.Ln2, andersonDarling([]float64{0}), 1e-12)
	require.Less(t, andersonDarling([]float64{-1.3, -0.7, -0.3, 0, 0.3, 0.7, 1.3}), 0.4)
	require.Greater(t, andersonDarling([]float64{3, 4, 5, 3.5, 6}), maxAndersonDarling)
}

// A worker with overlapping spans has two lanes, and a span that runs ends now.
func TestWorkersOverlap(t *testing.T) {
	start := time.Unix(1_900_000_000, 0)
	at := func(s int) time.Time { return start.Add(time.Duration(s) * time.Second) }
	l := Workers([]Span{
		{Trial: 2, Worker: "a", Started: at(5), Finished: at(10)},
		{Trial: 1, Worker: "a", Started: at(0), Finished: at(6)},
		{Trial: 3, Worker: "a", Started: at(6)},
		{Trial: 4, Worker: "a"},
	}, at(20))
	require.Len(t, l.Lanes, 2)
	require.Equal(t, at(20), l.End)
	require.InDelta(t, 1, l.Lanes[0].Busy, 1e-12)
	require.InDelta(t, 0.25, l.Lanes[1].Busy, 1e-12)
	require.Empty(t, Workers(nil, at(0)).Lanes)
}

// An incumbent meets the outcome constraints, as a recommendation does.
func TestIncumbentIsFeasible(t *testing.T) {
	s, err := space.New(space.Float("x", 0, 1))
	require.NoError(t, err)
	o := loop.Options{Require: []loop.Requirement{{Name: "latency", Bound: 0.5}}}
	study, err := loop.New(s, o)
	require.NoError(t, err)
	for k := range 15 {
		x := float64(k) / 14
		p, err := s.PointOf(map[string]any{"x": x})
		require.NoError(t, err)
		_, err = study.AddOutcome(p, loop.Outcome{Value: -x, Numbers: map[string]float64{"latency": x}})
		require.NoError(t, err)
	}
	v, err := study.Inspect(t.Context())
	require.NoError(t, err)
	r, err := study.Recommend(t.Context())
	require.NoError(t, err)
	require.Equal(t, r.Model.Trial.ID, v.Trials[incumbent(v)].ID)
	require.InDelta(t, 0.5, v.Trials[incumbent(v)].Point.Float("x"), 0.08)
}

// The probability of a map falls from 1 to 0 across the bound.
func TestMapOfProbability(t *testing.T) {
	s, err := space.New(space.Float("x", 0, 1), space.Float("y", 0, 1))
	require.NoError(t, err)
	study, err := loop.New(s, loop.Options{Require: []loop.Requirement{{Name: "latency", Bound: 0.5}}})
	require.NoError(t, err)
	points := space.Sobol(24, 2, random.New(1, "test", 0))
	for k := range 24 {
		u := points.At(k, 0)
		p, err := s.PointOf(map[string]any{"x": u, "y": points.At(k, 1)})
		require.NoError(t, err)
		_, err = study.AddOutcome(p, loop.Outcome{Value: u, Numbers: map[string]float64{"latency": u}})
		require.NoError(t, err)
	}
	v, err := study.Inspect(t.Context())
	require.NoError(t, err)
	m, err := Map(v, "x", "y", 5)
	require.NoError(t, err)
	require.Len(t, m.Probability, 5)
	require.Greater(t, float64(m.Probability[2][0]), 0.99)
	require.Less(t, float64(m.Probability[2][4]), 0.01)
	require.Nil(t, must(Map(mixed(t, loop.Options{Acquisition: acquisition.LCB{}}), "rate", "layers", 3)).Probability)
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func TestSample(t *testing.T) {
	var trials []loop.Trial
	for i := range 1000 {
		state := loop.Complete
		if i%100 == 99 {
			state = loop.Pending
		}
		trials = append(trials, loop.Trial{ID: i + 1, State: state, Value: math.Abs(float64(i) - 500.5)})
	}
	got := Sample(trials, loop.Options{}, 90)
	require.Len(t, got, 100)
	ids := map[int]bool{}
	for i, trial := range got {
		ids[trial.ID] = true
		require.True(t, i == 0 || trial.ID > got[i-1].ID)
		require.True(t, i == 0 || trial.ID-got[i-1].ID <= 12, "equally spaced")
	}
	require.True(t, ids[501], "the best trial")
	require.True(t, ids[100], "a pending trial")
	require.Equal(t, trials[:5], Sample(trials[:5], loop.Options{}, 5))
	require.Len(t, Sample(trials[:50], loop.Options{}, 1), 1)
}

// Neither one trial nor equal values are a fault of the model.
func TestCheckOfLittleInformation(t *testing.T) {
	s, err := space.New(space.Float("x", 0, 1))
	require.NoError(t, err)
	for _, n := range []int{1, 2, 5, 30} {
		study, err := loop.New(s, loop.Options{})
		require.NoError(t, err)
		for k := range n {
			p, err := s.PointOf(map[string]any{"x": float64(k) / float64(n)})
			require.NoError(t, err)
			_, err = study.Add(p, 3)
			require.NoError(t, err)
		}
		v, err := study.Inspect(t.Context())
		require.NoError(t, err)
		h, err := Check(t.Context(), v)
		require.NoError(t, err)
		require.Equal(t, TooFew, h.Verdict, "%d trials", n)
		require.NotEmpty(t, h.Summary)
	}
}

// Reasons state the probabilities of outcome constraints and of a failure.
func TestWhyStatesProbabilities(t *testing.T) {
	s, err := space.New(space.Float("x", 0, 1))
	require.NoError(t, err)
	var h loop.History
	for i := range 15 {
		p, err := s.PointOf(map[string]any{"x": float64(i) / 14})
		require.NoError(t, err)
		x := p.Float("x")
		trial := loop.Trial{ID: i + 1, Point: p, State: loop.Complete, Value: (x - 0.9) * (x - 0.9), Numbers: map[string]float64{"load": 10 * x}}
		if i < 3 {
			trial = loop.Trial{ID: i + 1, Point: p, State: loop.Failed, Error: "crash"}
		}
		h.Trials = append(h.Trials, trial)
	}
	o := loop.Options{Require: []loop.Requirement{{Name: "load", Bound: 6}}}
	views, err := loop.InspectAll(t.Context(), s, o, h)
	require.NoError(t, err)
	for x, want := range map[float64][2]string{0.02: {"above 99 %", "above 99 %"}, 0.5: {"above 99 %", "below 1 %"}, 0.75: {"below 1 %", "below 1 %"}} {
		p, err := s.PointOf(map[string]any{"x": x})
		require.NoError(t, err)
		r, err := Why(views[0], p, SliceOptions{})
		require.NoError(t, err)
		require.Equal(t, "load <= 6", r.Requirements[0].Requirement)
		text, err := Explain(views, p)
		require.NoError(t, err)
		require.Contains(t, text, "The probability of load <= 6 is "+want[0]+".", "x = %v", x)
		require.Contains(t, text, "The probability of a failed trial is "+want[1]+".", "x = %v", x)
		require.Regexp(t, "^The predicted load is .* without noise, and from .* for a measurement[.]$", text[1])
		require.Greater(t, r.Measured.P95.High, r.Prediction.P95.High)
		require.Less(t, r.Measured.P95.Low, r.Prediction.P95.Low)
	}
}

// One trial leaves the prediction constant: the point neither exploits nor explores.
func TestWhyAfterOneTrial(t *testing.T) {
	s, err := space.New(space.Float("x", 0, 1))
	require.NoError(t, err)
	p, err := s.PointOf(map[string]any{"x": 0.5})
	require.NoError(t, err)
	v, err := loop.Inspect(t.Context(), s, loop.Options{}, loop.History{Trials: []loop.Trial{{ID: 1, Point: p, State: loop.Complete, Value: 3}}})
	require.NoError(t, err)
	q, err := s.PointOf(map[string]any{"x": 0.9})
	require.NoError(t, err)
	r, err := Why(v, q, SliceOptions{})
	require.NoError(t, err)
	for _, sentence := range r.Text {
		require.NotContains(t, sentence, "The point ex")
	}
	require.Equal(t, "1 complete trial is too few for 1 parameter; 2 are needed.", Unimportant(v))
	health, err := Check(t.Context(), v)
	require.NoError(t, err)
	require.Equal(t, TooFew, health.Verdict)
	require.Empty(t, health.Tests)
}

// Values that differ by rounding errors alone are equal, as for the proposals of package loop: the next point comes from the
// design, and neither exploits nor explores.
func TestEqualValuesUpToRounding(t *testing.T) {
	s, err := space.New(space.Float("x", 0, 1))
	require.NoError(t, err)
	for value, equal := range map[float64]bool{0.3: true, 0.30000000000000004: true, 0.4: false} {
		study, err := loop.New(s, loop.Options{Initial: 3})
		require.NoError(t, err)
		for k := range 6 {
			p, err := s.PointOf(map[string]any{"x": float64(k) / 6})
			require.NoError(t, err)
			_, err = study.Add(p, []float64{0.3, value}[k%2])
			require.NoError(t, err)
		}
		v, err := study.Inspect(t.Context())
		require.NoError(t, err)
		next, err := v.Propose(t.Context(), 1)
		require.NoError(t, err)
		require.Equal(t, equal, next.Points[0].Source == loop.Design)
		require.Equal(t, equal, Scaleless(v), "%v", value)
		require.Equal(t, equal, strings.HasPrefix(Unimportant(v), "All 6 values are equal"))
		for _, x := range []float64{0.1, 0.6, 1} {
			p, err := s.PointOf(map[string]any{"x": x})
			require.NoError(t, err)
			text, err := Explain([]*loop.View{v}, p)
			require.NoError(t, err)
			if equal {
				require.NotContains(t, strings.Join(text, " "), "The point ex")
			}
		}
	}
}

// Predict is the prediction that Why explains, and a measurement is less certain.
func TestPredict(t *testing.T) {
	v := mixed(t, loop.Options{})
	point := v.Trials[0].Point
	got, err := Predict(v, []space.Point{point, v.Trials[1].Point})
	require.NoError(t, err)
	require.Len(t, got, 2)
	why, err := Why(v, point, SliceOptions{})
	require.NoError(t, err)
	require.InDelta(t, float64(why.Prediction.Mean), float64(got[0].Prediction.Mean), 1e-9)
	require.InDelta(t, float64(why.Measured.SD), float64(got[0].Measured.SD), 1e-6)
	require.Greater(t, got[1].Measured.SD, got[1].Prediction.SD)
	require.Nil(t, got[0].Feasible)
	other, err := space.New(space.Float("z", 0, 1))
	require.NoError(t, err)
	_, err = Predict(v, []space.Point{other.Decode([]float64{0.5})})
	require.ErrorIs(t, err, ErrArgument)
}

// Reasons and predictions state the same probability of an outcome constraint, averaged over hyperparameters.
func TestWhyAveragesProbabilities(t *testing.T) {
	s, err := space.New(space.Float("x", 0, 1))
	require.NoError(t, err)
	var h loop.History
	for i := range 8 {
		p, err := s.PointOf(map[string]any{"x": float64(i) / 7})
		require.NoError(t, err)
		x := p.Float("x")
		h.Trials = append(h.Trials, loop.Trial{ID: i + 1, Point: p, State: loop.Complete, Value: x, Numbers: map[string]float64{"load": 10*x + math.Sin(50*x)}})
	}
	v, err := loop.Inspect(t.Context(), s, loop.Options{Require: []loop.Requirement{{Name: "load", Bound: 6}}}, h)
	require.NoError(t, err)
	p, err := s.PointOf(map[string]any{"x": 0.6})
	require.NoError(t, err)
	r, err := Why(v, p, SliceOptions{Points: 2})
	require.NoError(t, err)
	predicted, err := Predict(v, []space.Point{p})
	require.NoError(t, err)
	require.InDelta(t, float64(*predicted[0].Feasible), float64(r.Requirements[0].Probability), 1e-12)
}

// mixtureView returns a study of three components and a temperature, and one of its points.
func mixtureView(t *testing.T) (*loop.View, space.Point) {
	hundredths := func(name string) space.Parameter {
		p := space.Float(name, 0, 1)
		p.Step = 0.01
		return p
	}
	s, err := space.New(hundredths("a"), hundredths("b"), hundredths("c"), space.Float("heat", 0, 1))
	require.NoError(t, err)
	excess := func(p space.Point) float64 {
		return max(0, math.Abs(p.Float("a")+p.Float("b")+p.Float("c")-1)-1e-9)
	}
	s, err = s.Constrain(space.Condition{Text: "a + b + c == 1", On: []string{"a", "b", "c"}, Holds: func(p space.Point) bool { return excess(p) == 0 }, Excess: excess})
	require.NoError(t, err)
	best := map[string]any{"a": 0.4, "b": 0.4, "c": 0.2, "heat": 0.5}
	value := func(p space.Point) float64 { // the latent function is linear along a mixture
		return 2*p.Float("a") + p.Float("b") + 10*math.Abs(p.Float("c")-0.2) + math.Abs(p.Float("heat")-0.5)
	}
	var h loop.History
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 25 {
		u := make([]float64, s.Dim())
		for j := range u {
			u[j] = rng.Float64()
		}
		p, err := s.Complete(nil, u, rng)
		require.NoError(t, err)
		if i == 0 {
			p, err = s.PointOf(best)
			require.NoError(t, err)
		}
		h.Trials = append(h.Trials, loop.Trial{ID: i + 1, Point: p, State: loop.Complete, Value: value(p)})
	}
	v, err := loop.Inspect(t.Context(), s, loop.Options{NoiseFree: true}, h)
	require.NoError(t, err)
	at, err := s.PointOf(best)
	require.NoError(t, err)
	return v, at
}

// Along a component of a mixture the other components keep their ratios.
func TestSlicesOfAMixture(t *testing.T) {
	v, at := mixtureView(t)
	s := v.Space
	all, err := Slices(v, SliceOptions{Points: 11, At: at})
	require.NoError(t, err)
	requireJSON(t, all)
	require.Equal(t, []bool{true, true, true, false}, []bool{all[0].Moved, all[1].Moved, all[2].Moved, all[3].Moved})
	for k, p := range all[2].Points { // a and b have equal shares of the rest
		require.True(t, p.Feasible)
		require.InDelta(t, 0.1*float64(k), p.X, 1e-9)
		expected, err := s.PointOf(map[string]any{"a": 0.5 - 0.05*float64(k), "b": 0.5 - 0.05*float64(k), "c": 0.1 * float64(k), "heat": 0.5})
		require.NoError(t, err)
		mean, variance := predict(v, matrix([][]float64{s.Encode(expected)}))
		require.InDelta(t, float64(band(v, mean[0], variance[0]).Mean), float64(p.Mean), 1e-9, "c = %v", p.X)
	}
	require.Zero(t, all[2].Trials[0].Distance, "the trial at the point is on the slice")

	m, err := Map(v, "a", "b", 11)
	require.NoError(t, err)
	require.True(t, m.Moved)
	for j, row := range m.Feasible {
		for i, feasible := range row {
			require.Equal(t, i+j <= 10, feasible, "a = %v, b = %v", m.Xs[i], m.Ys[j])
		}
	}
	part, err := Usable(v, "a", "b")
	require.NoError(t, err)
	require.InDelta(t, 0.5, part, 0.05)
	for _, pair := range [][2]string{{"a", "heat"}, {"heat", "a"}} {
		m, err = Map(v, pair[0], pair[1], 11)
		require.NoError(t, err)
		require.True(t, m.Moved)
	}
	all, err = Slices(v, SliceOptions{Points: 3, Average: 16})
	require.NoError(t, err)
	require.True(t, all[0].Points[1].Feasible)
}

// An average finds a feasible point of a constraint without an excess by a random search.
func TestAverageOfARareValue(t *testing.T) {
	s, err := space.New(space.Float("a", 0, 1), space.Int("b", 0, 200))
	require.NoError(t, err)
	s, err = s.Constrain(space.Condition{Text: "b == 7", On: []string{"b"}, Holds: func(p space.Point) bool { return p.Int("b") == 7 }})
	require.NoError(t, err)
	var h loop.History
	for i := range 6 {
		p, err := s.PointOf(map[string]any{"a": 0.2 * float64(i), "b": 7})
		require.NoError(t, err)
		h.Trials = append(h.Trials, loop.Trial{ID: i + 1, Point: p, State: loop.Complete, Value: p.Float("a")})
	}
	v, err := loop.Inspect(t.Context(), s, loop.Options{NoiseFree: true}, h)
	require.NoError(t, err)
	all, err := Slices(v, SliceOptions{Points: 4, Average: 1})
	require.NoError(t, err)
	for _, p := range all[0].Points {
		require.True(t, p.Feasible, "a = %v", p.X)
	}
	all, err = Slices(v, SliceOptions{Points: 5})
	require.NoError(t, err)
	require.False(t, all[1].Moved, "no change of a makes another b feasible")
	m, err := Map(v, "a", "b", 5)
	require.NoError(t, err)
	require.False(t, m.Moved)
}
