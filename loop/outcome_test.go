package loop

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/acquisition"
	"github.com/functionspace/bo/internal/racetest"
	"github.com/functionspace/bo/space"
)

// limited is a loss with a latency that conflicts with it; large x fail.
func limited(_ context.Context, p space.Point) (Outcome, error) {
	x, y := p.Float("x"), p.Float("y")
	if x+y > 1.8 {
		return Outcome{}, errors.New("out of memory")
	}
	loss := (x-1)*(x-1) + (y-1)*(y-1)
	return Outcome{Value: loss, Numbers: map[string]float64{"loss": loss, "latency": x * y}}, nil
}

func limitedSpace() *space.Space {
	s, err := space.New(space.Float("x", 0, 1), space.Float("y", 0, 1))
	if err != nil {
		log.Fatal(err)
	}
	return s
}

// Several objectives, also with requirements, failures, batches and asynchronous workers: the
// front has no dominated trial and the hypervolume never falls.
func TestSeveralObjectives(t *testing.T) {
	for _, o := range []Options{
		{NoiseFree: true},
		{Workers: 3},
		{Batch: 4, Require: []Requirement{{Name: "latency", Bound: 0.6}}},
	} {
		o.Budget, o.Maximizer = 14, quick
		o.Objectives = []Goal{{Name: "loss"}, {Name: "latency"}}
		s, err := New(limitedSpace(), o)
		require.NoError(t, err)
		r, err := s.RunOutcomes(t.Context(), limited, o.Budget, max(1, o.Workers))
		require.NoError(t, err)
		require.Empty(t, r.Incumbents)
		p := s.Pareto()
		require.NotEmpty(t, p.Front)
		require.Len(t, p.Hypervolume, o.Budget)
		for i := 1; i < o.Budget; i++ {
			require.GreaterOrEqual(t, p.Hypervolume[i], p.Hypervolume[i-1])
		}
		for _, a := range p.Front {
			require.True(t, o.Feasible(&a))
			for _, b := range r.Trials {
				if o.Feasible(&b) {
					require.False(t, b.Numbers["loss"] < a.Numbers["loss"] && b.Numbers["latency"] < a.Numbers["latency"])
				}
			}
		}
		_, err = s.Recommend(t.Context())
		require.ErrorIs(t, err, ErrOptions)
	}
}

// While nothing is feasible the search moves to the feasible corner.
func TestNothingFeasibleYet(t *testing.T) {
	o := Options{Budget: 20, NoiseFree: true, Initial: 5, Require: []Requirement{{Name: "latency", Bound: 0.004}, {Name: "loss", Bound: 1.02}}}
	r, err := MinimizeOutcomes(t.Context(), limited, limitedSpace(), o)
	require.NoError(t, err)
	require.True(t, r.Feasible)
	require.Equal(t, 1.0, r.Recommendation.Model.Feasible)
}

// A requirement with equal numbers in all trials does not decide which trial is the best.
func TestBestWithAConstantNumber(t *testing.T) {
	o := Options{Require: []Requirement{{Name: "a", Bound: 0}, {Name: "b", Bound: 0}}}
	require.Equal(t, 1, o.Best([]Trial{finishedTrial(1, 1, 100), finishedTrial(2, 1, 10), finishedTrial(3, 1, 10)}))
	require.Equal(t, 0, o.Best([]Trial{finishedTrial(1, 1, 0), finishedTrial(2, 1, 0)}))
}

func TestOutcomeFaults(t *testing.T) {
	for _, o := range []Options{
		{Objectives: []Goal{{Name: "a"}}},
		{Objectives: []Goal{{Name: "a"}, {Name: "a"}}},
		{Objectives: []Goal{{Name: "a"}, {}}},
		{Require: []Requirement{{Bound: 1}}},
	} {
		_, err := New(limitedSpace(), o)
		require.ErrorIs(t, err, ErrOptions)
	}
	s, err := New(limitedSpace(), Options{Require: []Requirement{{Name: "latency"}}})
	require.NoError(t, err)
	trials, err := s.Ask(t.Context(), 1)
	require.NoError(t, err)
	require.ErrorContains(t, s.Tell(trials[0].ID, 1), `no number named "latency"`)
	require.NoError(t, s.TellOutcome(trials[0].ID, Outcome{1, map[string]float64{"latency": 3}}))
	best, ok := s.Best()
	require.True(t, ok)
	require.False(t, s.opts.Feasible(&best))
}

// A complete trial needs all declared numbers, and they must be usable. Others are not checked.
func TestCheckOutcome(t *testing.T) {
	one := Options{Require: []Requirement{{Name: "b", Bound: 1}}}
	two := Options{Objectives: []Goal{{Name: "a"}, {Name: "b"}}}
	for _, c := range []struct {
		o    Options
		out  Outcome
		want string // "" is valid
	}{
		{Options{}, Outcome{Value: 1}, ""},
		{Options{}, Outcome{Value: math.NaN()}, "no usable number: NaN"},
		{Options{}, Outcome{Numbers: map[string]float64{"extra": math.Inf(1)}}, ""},
		{one, Outcome{Numbers: map[string]float64{"b": math.NaN()}}, "NaN (b)"},
		{one, Outcome{Numbers: map[string]float64{"b": 7}}, ""},
		{one, Outcome{Value: 1}, "\"b\", which the requirement b <= 1 needs"},
		{two, Outcome{Value: math.NaN(), Numbers: map[string]float64{"a": 1, "b": 2}}, ""},
		{two, Outcome{Numbers: map[string]float64{"a": 1}}, "\"b\", which is an objective"},
		{two, Outcome{Numbers: map[string]float64{"a": 1, "b": 2 * MaxValue}}, "(b)"},
	} {
		err := c.o.CheckOutcome(c.out)
		if c.want == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorIs(t, err, ErrNotFinite)
		require.ErrorContains(t, err, c.want)
	}
}

func TestRequirement(t *testing.T) {
	most, least := Requirement{Name: "b", Bound: 1}, Requirement{Name: "b", AtLeast: true, Bound: 1}
	for v, want := range map[float64][2]bool{0: {true, false}, 1: {true, true}, 2: {false, true}} {
		require.Equal(t, want, [2]bool{most.Met(v), least.Met(v)}, v)
	}
	require.False(t, most.Met(math.NaN()) || least.Met(math.NaN()))
	require.Equal(t, "b >= 1", least.String())
}

// AddOutcome records a complete trial, and nothing if a number is missing.
func TestAddOutcome(t *testing.T) {
	s, err := New(limitedSpace(), Options{Require: []Requirement{{Name: "latency", Bound: 1}}})
	require.NoError(t, err)
	p, err := s.Space().PointOf(map[string]any{"x": 0.5, "y": 0.5})
	require.NoError(t, err)
	_, err = s.AddOutcome(p, Outcome{Value: 2})
	require.ErrorIs(t, err, ErrNotFinite)
	require.Empty(t, s.Trials())
	id, err := s.AddOutcome(p, Outcome{2, map[string]float64{"latency": 0.5}})
	require.NoError(t, err)
	best, ok := s.Best()
	require.True(t, ok)
	require.Equal(t, []any{id, Added, 2.0, 0.5}, []any{best.ID, best.Source, best.Value, best.Numbers["latency"]})
}

// An event has a copy of the added trial.
func TestAddOutcomeCopies(t *testing.T) {
	s, err := New(limitedSpace(), Options{OnEvent: func(e Event) { e.Trial.Numbers["latency"] = -1 }})
	require.NoError(t, err)
	_, err = s.AddOutcome(s.Space().Decode([]float64{0.5, 0.5}), Outcome{2, map[string]float64{"latency": 0.5}})
	require.NoError(t, err)
	require.Equal(t, 0.5, s.Trials()[0].Numbers["latency"])
}

func TestNumberOfObjectives(t *testing.T) {
	for n, valid := range map[int]bool{1: false, 2: true, MaxObjectives: true, MaxObjectives + 1: false} {
		var o Options
		for j := range n {
			o.Objectives = append(o.Objectives, Goal{Name: fmt.Sprint(j)})
		}
		_, err := New(limitedSpace(), o)
		require.Equal(t, valid, err == nil, n)
	}
}

// Several objectives with requirements that no design point meets: the search first finds a feasible
// point, also with failures, batches and asynchronous workers.
func TestNoFeasibleTrialOfSeveralObjectives(t *testing.T) {
	racetest.SkipNumerical(t)
	for _, o := range []Options{
		{Objectives: []Goal{{Name: "loss", NoiseFree: true}, {Name: "latency", NoiseFree: true}}},
		{Objectives: []Goal{{Name: "loss"}, {Name: "latency"}}, Batch: 3},
		{Objectives: []Goal{{Name: "loss"}, {Name: "latency"}}, Workers: 3},
		{Objectives: []Goal{{Name: "loss"}, {Name: "latency"}}, Acquisition: acquisition.LogNParEGO{}},
		{Objectives: []Goal{{Name: "loss"}, {Name: "latency"}}, Acquisition: acquisition.LogEI{}},
	} {
		o.Initial, o.Budget, o.Maximizer = 5, 20, quick
		o.Require = []Requirement{{Name: "latency", Bound: 0.004}, {Name: "loss", Bound: 1.02}}
		s, err := New(limitedSpace(), o)
		require.NoError(t, err)
		p, err := s.Space().PointOf(map[string]any{"x": 0.95, "y": 0.95})
		require.NoError(t, err)
		require.NoError(t, s.Enqueue(p)) // fails
		r, err := s.RunOutcomes(t.Context(), limited, o.Budget, max(1, o.Workers))
		require.NoError(t, err)
		require.Equal(t, Failed, r.Trials[0].State)
		for i := range r.Trials[:o.Initial] {
			require.False(t, o.Feasible(&r.Trials[i]))
		}
		require.NotEmpty(t, s.Pareto().Front, "%+v", o)
	}
}

// The front of the posterior means under noise, and of the values without.
func TestRecommendFront(t *testing.T) {
	racetest.SkipNumerical(t)
	for _, exact := range []bool{true, false} {
		o := Options{Budget: 12, Objectives: []Goal{{Name: "loss", NoiseFree: exact}, {Name: "latency", NoiseFree: exact, Maximize: true}}}
		o.Require = []Requirement{{Name: "latency", Bound: 0.7}}
		s, err := New(limitedSpace(), o)
		require.NoError(t, err)
		_, err = s.RecommendFront(t.Context())
		require.ErrorIs(t, err, ErrNoValue)
		_, err = s.RunOutcomes(t.Context(), limited, o.Budget, 1)
		require.NoError(t, err)
		_, err = s.Recommend(t.Context())
		require.ErrorContains(t, err, "RecommendFront")
		r, err := s.RecommendFront(t.Context())
		require.NoError(t, err)
		require.Equal(t, exact, r.Fit == nil)
		require.NotEmpty(t, r.Model)
		require.Positive(t, r.Hypervolume)
		if exact {
			require.Equal(t, len(r.Observed.Front), len(r.Model))
			require.InDelta(t, r.Observed.Hypervolume[len(r.Observed.Hypervolume)-1], r.Hypervolume, 1e-12)
		}
		for _, e := range r.Model {
			require.InDelta(t, e.Trial.Numbers["loss"], e.Mean[0], 0.1)
			require.InDelta(t, e.Trial.Numbers["latency"], e.Mean[1], 0.1)
			require.Equal(t, exact, e.SD[0] == 0)
		}
	}
	s, err := New(limitedSpace(), Options{})
	require.NoError(t, err)
	_, err = s.RecommendFront(t.Context())
	require.ErrorIs(t, err, ErrOptions)
}

// The objective falls towards the bound of a noisy number: the recommended trial is feasible with the probability
// Confident, although trials with lower means are more likely feasible than not.
func TestRecommendedTrialIsFeasible(t *testing.T) {
	o := Options{Require: []Requirement{{Name: "latency", Bound: 0.5}}}
	s, err := New(limitedSpace(), o)
	require.NoError(t, err)
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range 20 {
		x := float64(i) / 20
		p, err := limitedSpace().PointOf(map[string]any{"x": x, "y": 0.5})
		require.NoError(t, err)
		_, err = s.AddOutcome(p, Outcome{Value: -x + 0.02*rng.NormFloat64(), Numbers: map[string]float64{"latency": x + 0.1*rng.NormFloat64()}})
		require.NoError(t, err)
	}
	r, err := s.Recommend(t.Context())
	require.NoError(t, err)
	require.GreaterOrEqual(t, r.Model.Feasible, Confident)
	require.InDelta(t, 0.4, r.Model.Trial.Point.Float("x"), 0.06)

	o = Options{Objectives: []Goal{{Name: "cost"}, {Name: "latency"}}, Require: o.Require}
	h := s.history()
	for i := range h.Trials {
		h.Trials[i].Numbers["cost"] = h.Trials[i].Value
	}
	front, err := RecommendFront(t.Context(), limitedSpace(), o, h)
	require.NoError(t, err)
	for _, e := range front.Model {
		require.GreaterOrEqual(t, e.Feasible, Confident)
	}
}

// Beside a noisy objective the estimates of a noise-free one are its values.
func TestRecommendFrontOfANoiseFreeObjective(t *testing.T) {
	sp := limitedSpace()
	var h History
	for i := range 8 {
		trial := finishedTrial(i+1, math.Sin(20*float64(i)), float64(i*i%5))
		trial.Point = sp.Decode([]float64{float64(i) / 8, 0.5})
		h.Trials = append(h.Trials, trial)
	}
	r, err := RecommendFront(t.Context(), sp, Options{Objectives: []Goal{{Name: "a", NoiseFree: true}, {Name: "b"}}}, h)
	require.NoError(t, err)
	require.NotEmpty(t, r.Model)
	for _, e := range r.Model {
		require.Equal(t, e.Trial.Numbers["a"], e.Mean[0])
		require.Zero(t, e.SD[0])
		require.Positive(t, e.SD[1])
	}
}

// A view of one of several objectives predicts its numbers. Its acquisition function is the function of
// the next suggestion.
func TestInspectObjective(t *testing.T) {
	for _, a := range []acquisition.Acquisition{nil, acquisition.LogEI{}} {
		o := Options{Acquisition: a, Initial: 8, Objectives: []Goal{{Name: "loss", NoiseFree: true}, {Name: "latency", NoiseFree: true, Maximize: true}}}
		s, err := New(limitedSpace(), o)
		require.NoError(t, err)
		_, err = s.RunOutcomes(t.Context(), limited, 10, 1)
		require.NoError(t, err)
		_, err = s.Inspect(t.Context())
		require.ErrorContains(t, err, "loss, latency")
		_, err = s.InspectObjective(t.Context(), "speed")
		require.ErrorContains(t, err, `no objective "speed"`)
		v, err := s.InspectObjective(t.Context(), "latency")
		require.NoError(t, err)
		require.True(t, v.Options.Maximize)
		for i, k := range v.Rows {
			mean, variance := make([]float64, 1), make([]float64, 1)
			x := v.Data.X.RawRowView(i)
			v.Posterior.Predict(mean, variance, mat.NewDense(1, len(x), x))
			require.InDelta(t, v.Trials[k].Numbers["latency"], v.Units.Value(mean[0]), 1e-3)
			require.Equal(t, v.Trials[k].Numbers["latency"], v.Trials[k].Value)
		}
		next, err := s.Ask(t.Context(), 1)
		require.NoError(t, err)
		if next[0].Source == Suggested {
			value := make([]float64, 1)
			u := s.Space().Encode(next[0].Point)
			v.Acquisition.Eval(value, nil, mat.NewDense(1, len(u), u))
			require.InDelta(t, next[0].Prediction.Acquisition, value[0], 1e-9)
		}
	}
}

// Acquisition functions of another number of objectives are errors before the first trial.
func TestAcquisitionsOfSeveralObjectives(t *testing.T) {
	_, err := New(limitedSpace(), Options{Acquisition: acquisition.LogNEHVI{}})
	require.ErrorContains(t, err, "takes 2 to 4 objectives, and there are 1")
	five := []Goal{{Name: "a"}, {Name: "b"}, {Name: "c"}, {Name: "d"}, {Name: "e"}}
	_, err = New(limitedSpace(), Options{Acquisition: acquisition.LogNEHVI{}, Objectives: five})
	require.ErrorIs(t, err, ErrOptions)
	s, err := New(limitedSpace(), Options{Objectives: five})
	require.NoError(t, err)
	require.Equal(t, 5, s.Options().Initial)
}

// An acquisition function that takes no outcome constraints is an error before the first trial.
func TestAcquisitionsWithRequirements(t *testing.T) {
	limit := []Requirement{{Name: "latency", Bound: 1}}
	for _, a := range []acquisition.Acquisition{acquisition.EI{}, acquisition.LCB{}, acquisition.MES{}, acquisition.Thompson{}, &acquisition.QEI{}} {
		_, err := New(limitedSpace(), Options{Acquisition: a, Require: limit})
		require.ErrorIs(t, err, ErrOptions)
		require.ErrorContains(t, err, fmt.Sprintf("%T takes no outcome constraints: use auto, logei,", a))
	}
	for _, a := range []acquisition.Acquisition{acquisition.Auto{}, acquisition.LogEI{}, &acquisition.LogNEI{}, acquisition.QLogEI{}, acquisition.PI{}} {
		_, err := New(limitedSpace(), Options{Acquisition: a, Require: limit})
		require.NoError(t, err)
	}
}

// The number of a requirement that spans decades is modelled by the logarithm of its distance to the bound.
// This holds on both sides of the bound and for both directions. Predictions are in the unit of the number.
func TestRequirementOverDecades(t *testing.T) {
	racetest.SkipNumerical(t)
	for _, r := range []Requirement{{Name: "rate", Bound: 1}, {Name: "rate", AtLeast: true, Bound: 1}} {
		rate := func(x, y float64) float64 { return math.Pow(10, r.sign()*6*(x+y-1)) }
		run := func(o Options) (*View, Result) {
			o.Budget, o.NoiseFree, o.Require = 20, true, []Requirement{r}
			s, err := New(limitedSpace(), o)
			require.NoError(t, err)
			result, err := s.RunOutcomes(t.Context(), func(_ context.Context, p space.Point) (Outcome, error) {
				x, y := p.Float("x"), p.Float("y")
				return Outcome{Value: (x-0.8)*(x-0.8) + (y-0.7)*(y-0.7), Numbers: map[string]float64{"rate": rate(x, y)}}, nil
			}, o.Budget, 1)
			require.NoError(t, err)
			views, err := InspectAll(t.Context(), s.space, s.opts, s.history())
			require.NoError(t, err)
			return views[1], result
		}
		v, result := run(Options{})
		require.True(t, result.Feasible)
		require.InDelta(t, 0.125, result.Best.Value, 2e-3)
		require.True(t, v.Units.LogTransformed())
		mean, variance := make([]float64, 1), make([]float64, 1)
		for _, at := range [][]float64{{0.5, 0.45}, {0.6, 0.45}, {0.3, 0.7}, {0.7, 0.35}} {
			v.Posterior.Predict(mean, variance, mat.NewDense(1, 2, at))
			require.InDelta(t, 0, math.Log10(v.Units.Value(mean[0])/rate(at[0], at[1])), 0.1)
		}
		for i, row := range v.Rows {
			require.InEpsilon(t, v.Trials[row].Value, v.Units.Value(v.Data.Y[i]), 1e-6)
		}
		plain, worse := run(Options{Warp: WarpNone})
		require.False(t, plain.Units.LogTransformed())
		require.Less(t, result.Best.Value, worse.Best.Value)
	}
}

// A number that nothing needs and that is not usable is left out; a needed one makes a failed trial.
func TestUnusableFurtherNumbers(t *testing.T) {
	numbers := func() map[string]float64 {
		return map[string]float64{"a": 1, "nan": math.NaN(), "inf": math.Inf(-1), "large": 1e301, "size": 3}
	}
	o := options(1)
	o.Require = []Requirement{{Name: "a", Bound: 2}}
	s := newStudy(t, box(t), o)
	r, err := s.RunOutcomes(t.Context(), func(context.Context, space.Point) (Outcome, error) {
		return Outcome{Value: 1, Numbers: numbers()}, nil
	}, 2, 1)
	require.NoError(t, err)
	_, err = s.AddOutcome(r.Best.Point, Outcome{Value: 1, Numbers: numbers()})
	require.NoError(t, err)
	for _, trial := range s.Trials() {
		require.Equal(t, Complete, trial.State)
		require.Equal(t, map[string]float64{"a": 1, "size": 3}, trial.Numbers)
	}
	_, err = Resume(bytes.NewReader(savedText(t, s)), o)
	require.NoError(t, err)
	needed := numbers()
	needed["a"] = math.NaN()
	_, err = s.AddOutcome(r.Best.Point, Outcome{Value: 1, Numbers: needed})
	require.ErrorIs(t, err, ErrNotFinite)
	require.ErrorContains(t, err, "NaN (a)")
}

// A wrong name of a number ends a run at once, and its trials stay pending.
func TestWrongName(t *testing.T) {
	s, err := space.New(space.Float("x", 0, 1))
	require.NoError(t, err)
	for name, o := range map[string]Options{
		"objective":   {Objectives: []Goal{{Name: "loss"}, {Name: "size"}}},
		"requirement": {Require: []Requirement{{Name: "size", Bound: 2}}},
		"workers":     {Require: []Requirement{{Name: "size", Bound: 2}}, Workers: 3},
		"batch":       {Require: []Requirement{{Name: "size", Bound: 2}}, Workers: 2, Batch: 2},
	} {
		t.Run(name, func(t *testing.T) {
			study, err := New(s, o)
			require.NoError(t, err)
			var calls atomic.Int64
			evaluation := func(number string) Evaluation {
				return func(_ context.Context, p space.Point) (Outcome, error) {
					calls.Add(1)
					return Outcome{Value: p.Float("x"), Numbers: map[string]float64{"loss": p.Float("x"), number: 1}}, nil
				}
			}
			workers := max(1, o.Workers)
			r, err := study.RunOutcomes(t.Context(), evaluation("siez"), 8, workers)
			require.ErrorIs(t, err, ErrNotFinite)
			require.NotErrorIs(t, err, context.Canceled)
			require.ErrorContains(t, err, `stopped after 0 of 8 evaluations: loop: no usable number: there is no number named "size"`)
			assert.LessOrEqual(t, calls.Load(), int64(workers))
			for _, trial := range r.Trials {
				assert.Equal(t, Pending, trial.State)
			}

			r, err = study.RunOutcomes(t.Context(), evaluation("size"), 6, workers)
			require.NoError(t, err)
			r, err = study.RunOutcomes(t.Context(), evaluation("siez"), 8, workers)
			require.NoError(t, err, "some trial is complete")
			assert.Contains(t, r.Warnings[0], "2 of 8 evaluations failed")
		})
	}
}

// A stopped trial needs no numbers.
func TestStoppedTrialWithoutNumbers(t *testing.T) {
	s, err := space.New(space.Float("x", 0, 1))
	require.NoError(t, err)
	study, err := New(s, Options{Require: []Requirement{{Name: "size", Bound: 2}}, Stop: Stop{Rule: ASHA, Eta: 2}})
	require.NoError(t, err)
	calls := 0
	r, err := study.RunOutcomes(t.Context(), func(ctx context.Context, _ space.Point) (Outcome, error) {
		calls++
		switch err := Report(ctx, 1, float64(calls)); {
		case calls == 1:
			return Outcome{}, errors.New("out of memory")
		case errors.Is(err, ErrStopped):
			return Outcome{}, nil
		}
		return Outcome{Numbers: map[string]float64{"size": 1}}, nil
	}, 4, 1)
	require.ErrorIs(t, err, ErrNoValue)
	require.NotErrorIs(t, err, ErrNotFinite)
	require.Equal(t, 4, calls)
	require.Equal(t, Stopped, r.Trials[1].State)
}
