package loop

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/acquisition"
	"github.com/functionspace/bo/internal/racetest"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/space/expression"
)

// wide has a parameter of each kind, a condition and, on demand, a constraint.
func wide(t *testing.T, constraints ...string) *space.Space {
	params := []space.Parameter{
		space.Float("x", 0, 1), space.LogFloat("rate", 1e-4, 1), space.StepFloat("dose", 0, 1, 0.25), space.Int("n", 1, 5),
		space.Bool("flag"), space.Ordinal("size", 1, 2, 4), space.Categorical("batch", "A", "B", "C"),
		space.Float("momentum", 0, 0.99).If(space.Equal("batch", "C")),
	}
	spec := space.Spec{Parameters: params}
	for _, text := range constraints {
		c, err := expression.Compile(text, params)
		require.NoError(t, err)
		spec.Constraints = append(spec.Constraints, c)
	}
	s, err := spec.Space()
	require.NoError(t, err)
	return s
}

// result is a made-up result. Small x and n fail.
func result(p space.Point) Outcome {
	x, n := p.Float("x"), p.Float("n")
	v := math.Pow(x-p.Float("dose"), 2) + math.Abs(math.Log10(p.Float("rate"))+2) + n/5
	if p.Text("batch") == "C" {
		v += 5 + p.Float("momentum")
	}
	return Outcome{v, map[string]float64{"loss": v, "cost": x + n, "latency": 10 - n - x}}
}

func finish(t *testing.T, s *Study, trials []Trial) {
	for _, trial := range trials {
		if trial.Point.Float("x") < 0.1 && trial.Point.Float("n") < 3 {
			require.NoError(t, s.Fail(trial.ID, "broke"))
			continue
		}
		require.NoError(t, s.TellOutcome(trial.ID, result(trial.Point)))
	}
}

// Every suggestion has the given values: of each kind of parameter, in and after the initial design, in batches, with other
// contexts pending, with failures, constraints and several objectives.
func TestGivenValues(t *testing.T) {
	racetest.SkipNumerical(t)
	contexts := []map[string]any{
		{"x": 0.35}, {"rate": 0.02}, {"dose": 0.75}, {"n": 4}, {"flag": true}, {"size": 2}, {"batch": "B"}, {"momentum": 0.5}, {"momentum": 0.495},
		{"x": 0.9, "n": 2, "batch": "A"}, {"batch": "C", "momentum": 0.1}, {"dose": 0.5, "n": 1, "flag": false, "size": 1, "batch": "A"},
	}
	quick := acquisition.MaximizeOptions{Raw: 64, Starts: 4, Iterations: 20}
	for name, tc := range map[string]struct {
		o           Options
		constraints []string
	}{
		"noise":       {o: Options{}},
		"exact":       {o: Options{NoiseFree: true}},
		"constraint":  {Options{}, []string{"x + n / 5 <= 1.4", "dose <= x + 0.6"}},
		"require":     {o: Options{Require: []Requirement{{Name: "cost", Bound: 5}}}},
		"several":     {o: Options{Objectives: []Goal{{Name: "loss"}, {Name: "latency"}}}},
		"several, ei": {o: Options{Objectives: []Goal{{Name: "loss"}, {Name: "latency"}}, Acquisition: acquisition.LogEI{}}},
		"logei":       {o: Options{Acquisition: acquisition.LogEI{}}},
		"lcb":         {o: Options{Acquisition: acquisition.LCB{}}},
		"belief":      {o: Options{Optimum: map[string]Belief{"x": {Around: 0.4, Within: 0.1}}}},
		"mean":        {o: Options{PriorMean: Mean{Text: "x", At: func(p space.Point) float64 { return p.Float("x") }}}},
	} {
		t.Run(name, func(t *testing.T) {
			sp := wide(t, tc.constraints...)
			o := tc.o
			o.Seed, o.Initial, o.Maximizer = 3, 6, quick
			s := newStudy(t, sp, o)
			var design []float64
			var held []Trial
			for i, given := range append(contexts, contexts[2:5]...) {
				trials, err := s.AskGiven(t.Context(), 1+i%2, given)
				require.NoError(t, err)
				for _, trial := range trials {
					for name, v := range given {
						require.Equal(t, fmt.Sprint(v), fmt.Sprint(trial.Point.Value(name)), "trial %d", trial.ID)
					}
					require.NoError(t, func() error { _, err := sp.PointOf(trial.Point.Map()); return err }())
					require.Len(t, trial.Given, len(given))
					if trial.ID <= 6 && given["rate"] == nil {
						require.NotContains(t, design, trial.Point.Float("rate"), "one row of the design in two contexts")
						design = append(design, trial.Point.Float("rate"))
					}
				}
				finish(t, s, held) // one ask stays pending
				held = trials
			}
			finish(t, s, held)
			plain, err := s.Ask(t.Context(), 1)
			require.NoError(t, err)
			require.Empty(t, plain[0].Given)
		})
	}
}

// Enqueued points, first points and interrupted trials with other values wait for an Ask that they suit.
func TestGivenValuesOfWaitingPoints(t *testing.T) {
	sp := wide(t)
	point := func(batch string, x float64) space.Point {
		values := map[string]any{"x": x, "rate": 0.1, "dose": 0.5, "n": 2, "flag": true, "size": 1, "batch": batch}
		p, err := sp.PointOf(values)
		require.NoError(t, err)
		return p
	}
	for _, exact := range []bool{false, true} {
		s := newStudy(t, sp, Options{NoiseFree: exact, Initial: 4, First: []map[string]any{point("A", 0.11).Map(), point("B", 0.12).Map()}})
		require.NoError(t, s.Enqueue(point("A", 0.21), point("B", 0.22), point("A", 0.23)))
		ask := func(given map[string]any) Trial {
			trials, err := s.AskGiven(t.Context(), 1, given)
			require.NoError(t, err)
			return trials[0]
		}
		b := map[string]any{"batch": "B"}
		assert.InDelta(t, 0.12, ask(b).Point.Float("x"), 0)
		assert.InDelta(t, 0.22, ask(b).Point.Float("x"), 0)
		assert.Equal(t, Design, ask(b).Source)
		for _, want := range []float64{0.11, 0.21, 0.23} {
			assert.InDelta(t, want, ask(nil).Point.Float("x"), 0)
		}
	}
}

// Interrupted trials with other values are not issued.
func TestGivenValuesOfInterruptedTrials(t *testing.T) {
	sp, err := space.New(space.Float("x", 0, 1), space.Categorical("batch", "A", "B"))
	require.NoError(t, err)
	o := Options{Initial: 4}
	s := newStudy(t, sp, o)
	for _, batch := range []string{"A", "B", "A"} {
		_, err := s.AskGiven(t.Context(), 1, map[string]any{"batch": batch})
		require.NoError(t, err)
	}
	var saved bytes.Buffer
	require.NoError(t, s.Save(&saved))
	s, err = Resume(&saved, o)
	require.NoError(t, err)
	assert.Equal(t, []string{"batch"}, s.Trials()[0].Given)
	trials, err := s.AskGiven(t.Context(), 2, map[string]any{"batch": "B"})
	require.NoError(t, err)
	assert.Equal(t, 2, trials[0].ID)
	assert.Equal(t, 4, trials[1].ID)
	trials, err = s.Ask(t.Context(), 3)
	require.NoError(t, err)
	assert.Equal(t, []int{1, 3, 5}, []int{trials[0].ID, trials[1].ID, trials[2].ID})
}

// A finite part of the space ends before the space does.
func TestGivenValuesExhausted(t *testing.T) {
	sp, err := space.New(space.Int("a", 1, 3), space.Categorical("batch", "A", "B"))
	require.NoError(t, err)
	s := newStudy(t, sp, Options{NoiseFree: true, Initial: 2})
	for i := range 3 {
		trials, err := s.AskGiven(t.Context(), 1, map[string]any{"batch": "A"})
		require.NoError(t, err, i)
		require.NoError(t, s.Tell(trials[0].ID, trials[0].Point.Float("a")))
	}
	_, err = s.AskGiven(t.Context(), 1, map[string]any{"batch": "A"})
	require.ErrorIs(t, err, ErrExhausted)
	trials, err := s.AskGiven(t.Context(), 5, map[string]any{"batch": "B"})
	require.NoError(t, err)
	require.Len(t, trials, 3)
	_, err = s.AskGiven(t.Context(), 1, map[string]any{"a": 2, "batch": "A"})
	require.ErrorIs(t, err, ErrExhausted)
}

func TestGivenErrors(t *testing.T) {
	s := newStudy(t, wide(t, "x + n / 5 <= 1.2"), Options{})
	for _, tc := range []struct {
		given map[string]any
		want  string
	}{
		{map[string]any{"humidity": 61}, `invalid point: unknown parameter "humidity"; want one of x, rate, dose, n, flag, size, batch, momentum`},
		{map[string]any{"x": 2}, `invalid point: parameter "x": 2 is outside [0, 1]`},
		{map[string]any{"x": 1, "n": 5}, `invalid point: constraint "x + n / 5 <= 1.2" does not hold at x=1 n=5`},
		{map[string]any{"momentum": 0.5, "batch": "A"}, `invalid point: parameter "momentum": it is inactive, because "batch == 'C'" does not hold`},
	} {
		_, err := s.AskGiven(t.Context(), 1, tc.given)
		require.ErrorIs(t, err, space.ErrPoint)
		assert.EqualError(t, err, tc.want)
		_, err = Propose(t.Context(), s.Space(), s.Options(), History{Given: tc.given}, 1)
		require.ErrorIs(t, err, ErrHistory)
		require.ErrorContains(t, err, "given values: "+tc.want)
	}
	assert.Empty(t, s.Trials())
}

// The value of a parameter that is Given comes from every request, and is never suggested.
func TestGivenParameter(t *testing.T) {
	humidity := space.Float("humidity", 0, 100)
	humidity.Given = true
	sp, err := space.New(humidity, space.Float("x", 0, 1))
	require.NoError(t, err)
	const missing = `parameter "humidity": its value is given, never suggested: state it (bo ask: --given humidity=VALUE, bo enqueue: humidity=VALUE)`
	_, err = New(sp, Options{First: []map[string]any{{"x": 0.5}}})
	require.ErrorIs(t, err, ErrOptions)
	require.ErrorContains(t, err, "first point 1: invalid point: "+missing)

	s := newStudy(t, sp, Options{Initial: 2})
	_, err = s.Ask(t.Context(), 1)
	require.ErrorIs(t, err, space.ErrPoint)
	_, err = s.AskGiven(t.Context(), 1, map[string]any{"x": 0.5})
	require.EqualError(t, err, "invalid point: "+missing)
	_, err = Propose(t.Context(), sp, s.Options(), History{}, 1)
	require.ErrorIs(t, err, ErrHistory)
	_, err = s.Run(t.Context(), func(context.Context, space.Point) (float64, error) { return 1, nil }, 4, 1)
	require.ErrorIs(t, err, ErrOptions)
	require.ErrorContains(t, err, missing)
	assert.Empty(t, s.Trials())

	for i := range 4 { // two of the design
		trials, err := s.AskGiven(t.Context(), 1, map[string]any{"humidity": 20 * i})
		require.NoError(t, err)
		assert.Equal(t, float64(20*i), trials[0].Point.Float("humidity"))
		require.NoError(t, s.Tell(trials[0].ID, trials[0].Point.Float("x")))
	}
	v, err := s.Inspect(t.Context())
	require.NoError(t, err)
	_, err = v.Propose(t.Context(), 1)
	require.ErrorContains(t, err, missing)
	_, err = s.Recommend(t.Context())
	require.NoError(t, err)
}

// The trials of several contexts follow from the recorded pending trials and given values.
func TestGivenValuesReplay(t *testing.T) {
	racetest.SkipNumerical(t)
	sp, err := space.New(space.Float("x", 0, 1), space.Float("humidity", 0, 100), space.Categorical("batch", "A", "B", "C"))
	require.NoError(t, err)
	o := options(4)
	s := newStudy(t, sp, o)
	rng := rand.New(rand.NewPCG(1, 1))
	var open []Trial
	for i := range 16 {
		given := []map[string]any{{"humidity": 100 * rng.Float64()}, nil, {"batch": "B", "humidity": 40.5}}[i%3]
		trials, err := s.AskGiven(t.Context(), 1, given)
		require.NoError(t, err)
		if open = append(open, trials...); i%4 == 1 {
			continue
		}
		for _, trial := range open {
			require.NoError(t, s.Tell(trial.ID, math.Pow(trial.Point.Float("x")-trial.Point.Float("humidity")/100, 2)))
		}
		open = nil
	}
	var saved bytes.Buffer
	require.NoError(t, s.Save(&saved))
	resumed, err := Resume(&saved, o)
	require.NoError(t, err)
	trials, h := resumed.Trials(), History{}
	for i, want := range trials {
		h.Trials = append([]Trial(nil), trials[:i]...)
		for _, id := range want.Pending {
			h.Trials[id-1].State = Pending
		}
		h.Given = map[string]any{}
		for _, name := range want.Given {
			h.Given[name] = want.Point.Value(name)
		}
		p, err := Propose(t.Context(), sp, o, h, 1)
		require.NoError(t, err)
		require.Equal(t, want.Point.Key(), p.Points[0].Point.Key(), "trial %d", want.ID)
		require.Equal(t, want.Source, p.Points[0].Source)
		h.Warm = p.Warm
	}
}

// The optimum x = c moves with the context c, which also adds 30c to all values. After trials in random contexts the next
// suggestions are near the optimum of contexts that no trial has, also of the worst.
func TestGivenValuesOptimum(t *testing.T) {
	racetest.SkipNumerical(t)
	sp, err := space.New(space.Float("x", 0, 1), space.Float("c", 0, 1))
	require.NoError(t, err)
	for _, tc := range []struct {
		name  string
		o     Options
		noise float64
		near  float64 // largest regret of the best of three suggestions
	}{
		{"exact", Options{NoiseFree: true}, 0, 1e-3},
		{"exact, logei", Options{NoiseFree: true, Acquisition: acquisition.LogEI{}}, 0, 1e-3},
		{"noise", Options{}, 0.1, 0.03},
	} {
		t.Run(tc.name, func(t *testing.T) {
			loss := func(p space.Point) float64 { return 10 * math.Pow(p.Float("x")-p.Float("c"), 2) }
			rng := rand.New(rand.NewPCG(7, 7))
			tc.o.Initial = 5
			s := newStudy(t, sp, tc.o)
			ask := func(c float64) float64 {
				trials, err := s.AskGiven(t.Context(), 1, map[string]any{"c": c})
				require.NoError(t, err)
				p := trials[0].Point
				require.InDelta(t, c, p.Float("c"), 0)
				require.NoError(t, s.Tell(trials[0].ID, loss(p)+30*c+tc.noise*rng.NormFloat64()))
				return loss(p)
			}
			for range 20 {
				ask(rng.Float64())
			}
			for _, c := range []float64{0.05, 0.5, 0.97} {
				best := math.Inf(1)
				for range 3 {
					best = min(best, ask(c))
				}
				t.Logf("c = %v: regret %.2g", c, best)
				assert.Less(t, best, tc.near, "c = %v", c)
			}
		})
	}
}
