package loop

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/functionspace/bo/acquisition"
	"github.com/functionspace/bo/internal/pareto"
	"github.com/functionspace/bo/internal/racetest"
	"github.com/functionspace/bo/space"
)

// finishedTrial returns a complete trial with numbers a, b, ….
func finishedTrial(id int, numbers ...float64) Trial {
	t := Trial{ID: id, State: Complete, Numbers: map[string]float64{}}
	for j, v := range numbers {
		t.Numbers[string(rune('a'+j))] = v
	}
	return t
}

// Front, reference point and hypervolume by hand: a is maximised, and b ≤ 3 is required.
func TestParetoOf(t *testing.T) {
	ten := 10.0
	o := Options{
		Objectives: []Goal{{Name: "a", Maximize: true}, {Name: "b", Reference: &ten}},
		Require:    []Requirement{{Name: "b", Bound: 3}},
	}
	require.True(t, o.Several())
	p := o.ParetoOf([]Trial{
		finishedTrial(1, 1, 2),
		{ID: 2, State: Failed},
		finishedTrial(3, 5, 9), // infeasible
		{ID: 4, State: Pending},
		finishedTrial(5, 2, 3),
		finishedTrial(6, 0, 3), // dominated
	})
	require.Equal(t, []int{1, 5}, []int{p.Front[0].ID, p.Front[1].ID})
	require.Len(t, p.Front, 2)
	// The worst a of the front is 1, and a tenth of the range of the feasible trials is 0.2.
	require.InDeltaSlice(t, []float64{0.8, 10}, p.Reference, 1e-12)
	// 0.2·8 for trial 1, and 1.2·7 for trial 5, which share 0.2·7.
	require.InDeltaSlice(t, []float64{1.6, 1.6, 1.6, 8.6, 8.6}, p.Hypervolume, 1e-12)
	require.Equal(t, Pareto{}, o.ParetoOf(nil))
}

// JSON has no hypervolume that overflows.
func TestHypervolumeOverflows(t *testing.T) {
	o := Options{Objectives: []Goal{{Name: "a"}, {Name: "b"}}}
	p := o.ParetoOf([]Trial{finishedTrial(1, -1e300, 1e300), finishedTrial(2, 1e300, -1e300), finishedTrial(3, 0, 0)})
	require.Len(t, p.Front, 3)
	require.Nil(t, p.Hypervolume)
}

// Hypervolume k is the hypervolume of the first k trials, also on a front of hundreds of trials.
func TestHypervolumesOfALargeFront(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for m := 2; m <= MaxHypervolume; m++ {
		var o Options
		for j := range m {
			o.Objectives = append(o.Objectives, Goal{Name: string(rune('a' + j))})
		}
		var trials []Trial
		for i := range 300 {
			v := make([]float64, m)
			for j := range v {
				v[j] = math.Abs(rng.NormFloat64())
			}
			if i%10 > 0 { // on the unit sphere: not dominated
				floats.Scale(-1/floats.Norm(v, 2), v)
			}
			trials = append(trials, finishedTrial(i+1, v...))
		}
		p := o.ParetoOf(trials)
		require.Greater(t, len(p.Front), 260)
		_, y := o.feasible(trials)
		for i := 9; i < len(y); i += 70 {
			want := pareto.Hypervolume(y[:i+1], p.Reference)
			require.InEpsilon(t, want, p.Hypervolume[i], 1e-12, "%d objectives, trial %d", m, i+1)
		}
	}
}

func TestHypervolumeOfManyObjectives(t *testing.T) {
	for m := 2; m <= MaxHypervolume+1; m++ {
		var o Options
		for j := range m {
			o.Objectives = append(o.Objectives, Goal{Name: string(rune('a' + j))})
		}
		p := o.ParetoOf([]Trial{finishedTrial(1, make([]float64, m)...)})
		require.Len(t, p.Front, 1)
		require.Equal(t, m <= MaxHypervolume, p.Hypervolume != nil, fmt.Sprint(m))
	}
}

// After 20 trials an inferred reference point covers the whole front of three and four objectives: the positive
// part of the unit sphere, whose worst values are 1 (DTLZ2).
func TestInferredReferenceOfManyObjectives(t *testing.T) {
	racetest.SkipNumerical(t)
	for m := 3; m <= 4; m++ {
		for seed := range uint64(3) {
			var params []space.Parameter
			for i := range 5 {
				params = append(params, space.Float(fmt.Sprintf("x%d", i), 0, 1))
			}
			o := Options{Budget: 20, Seed: seed, Maximizer: acquisition.MaximizeOptions{Raw: 128, Starts: 4}}
			for j := range m {
				o.Objectives = append(o.Objectives, Goal{Name: string(rune('a' + j)), NoiseFree: true})
			}
			res, err := MinimizeOutcomes(t.Context(), func(_ context.Context, p space.Point) (Outcome, error) {
				r, side, numbers := 1.0, 1.0, map[string]float64{}
				for i := m - 1; i < 5; i++ {
					r += math.Pow(p.Float(fmt.Sprintf("x%d", i))-0.5, 2)
				}
				for j := range m {
					angle := math.Pi / 2
					if j < m-1 {
						angle *= p.Float(fmt.Sprintf("x%d", j))
					}
					numbers[o.Objectives[j].Name] = r * side * math.Sin(angle)
					side *= math.Cos(angle)
				}
				return Outcome{Numbers: numbers}, nil
			}, newSpace(t, params...), o)
			require.NoError(t, err)
			for j, v := range o.ParetoOf(res.Trials).Reference {
				require.Greater(t, v, 1.0, "%d objectives, seed %d, objective %d", m, seed, j)
			}
		}
	}
}
