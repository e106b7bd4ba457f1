package loop

import (
	"context"
	"errors"
	"fmt"
	"log"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

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

// The best value with x·y ≤ 0.25 is 0.5, at x = y = ½.
func ExampleMinimizeOutcomes() {
	r, err := MinimizeOutcomes(context.Background(), limited, limitedSpace(), Options{
		Budget: 25, NoiseFree: true, Require: []Requirement{{Name: "latency", Bound: 0.25}},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("feasible %v, loss %.2f\n", r.Feasible, r.Best.Value)
	// Output:
	// feasible true, loss 0.50
}

// Several objectives, also with requirements, failures, batches and asynchronous workers: the
// front has no dominated trial and the hypervolume never falls.
func TestSeveralObjectives(t *testing.T) {
	for _, o := range []Options{
		{NoiseFree: true},
		{Workers: 3},
		{Batch: 4, Require: []Requirement{{Name: "latency", Bound: 0.6}}},
	} {
		o.Budget = 14
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

// A complete trial needs all declared numbers, and no number may be unusable.
func TestCheckOutcome(t *testing.T) {
	one := Options{Require: []Requirement{{Name: "b", Bound: 1}}}
	two := Options{Objectives: []Goal{{Name: "a"}, {Name: "b"}}}
	for _, c := range []struct {
		o    Options
		out  Outcome
		want string // "" is valid
	}{
		{Options{}, Outcome{Value: 1}, ""},
		{Options{}, Outcome{Value: math.NaN()}, "value is"},
		{Options{}, Outcome{Numbers: map[string]float64{"extra": math.Inf(1)}}, "(extra)"},
		{one, Outcome{Numbers: map[string]float64{"b": 7}}, ""},
		{one, Outcome{Value: 1}, "\"b\", which must be b <= 1"},
		{two, Outcome{Value: math.NaN(), Numbers: map[string]float64{"a": 1, "b": 2}}, ""},
		{two, Outcome{Numbers: map[string]float64{"a": 1}}, "\"b\", an objective"},
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
