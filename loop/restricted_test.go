package loop

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/acquisition"
	"github.com/functionspace/bo/internal/racetest"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/space/expression"
	"github.com/functionspace/bo/surrogate/gp"
)

func when(p space.Parameter, text string) space.Parameter {
	p.When.Text = text
	return p
}

func newRestricted(t testing.TB, params []space.Parameter, constraints ...string) *space.Space {
	s, err := expression.Space(params, constraints...)
	require.NoError(t, err)
	return s
}

// score has distinct values at all points of the spaces below.
func score(_ context.Context, p space.Point) (float64, error) {
	sum := 0.1
	for i, q := range p.Space().Parameters() {
		if p.Active(q.Name) {
			sum += math.Sqrt(float64(i+2)) * math.Abs(p.Code(i)-1)
		}
	}
	return sum, nil
}

// values returns a categorical of n values.
func values(name string, n int) space.Parameter {
	all := make([]any, n)
	for i := range all {
		all[i] = fmt.Sprint("v", i)
	}
	return space.Categorical(name, all...)
}

// Every point of a finite space is evaluated once, with conditions and constraints too.
func TestFiniteSpacesAreExhausted(t *testing.T) {
	racetest.SkipNumerical(t)
	branch := space.Categorical("branch", "a", "b", "c")
	for name, c := range map[string]struct {
		space  *space.Space
		points int
	}{
		"48 points": {newRestricted(t, []space.Parameter{space.Int("k", 1, 4), space.Categorical("o", "x", "y", "z"), space.Bool("b"), space.StepFloat("s", 0, 0.1, 0.1)}), 48},
		"conditions": {newRestricted(t, []space.Parameter{branch, when(space.Int("k", 1, 5), "branch == 'a'"), when(space.StepFloat("s", 0, 1, 0.25), "branch != 'a'"),
			when(space.Bool("b"), "branch == 'c' and s > 0.5")}), 5 + 5 + 3 + 2*2},
		"constraints": {newRestricted(t, []space.Parameter{space.Int("a", 1, 12), space.Int("b", 1, 12)}, "a * b <= 24", "a >= b"), 0},
		"both":        {newRestricted(t, []space.Parameter{branch, when(space.Int("k", 1, 9), "branch == 'a'"), space.Int("n", 0, 3)}, "k + n <= 6", "branch != 'b' or n in [1, 2]"), 0},
		"equality":    {newRestricted(t, []space.Parameter{space.Int("a", 0, 60), space.Int("b", 0, 60), space.Int("c", 0, 60)}, "a + b + c == 6"), 28},
		"70 values":   {newRestricted(t, []space.Parameter{values("many", 70)}), 70},
		"values with conditions": {newRestricted(t, []space.Parameter{values("many", 66), when(space.Bool("b"), "many in ['v1', 'v65']"), when(values("other", 65), "many == 'v3'")},
			"many != 'v7'", "other != 'v64'"), 62 + 2*2 + 64},
		"one of 1e6": {newRestricted(t, []space.Parameter{space.Int("a", 0, 999), space.Int("b", 0, 999)}, "a == 123 and b > 994"), 5},
	} {
		t.Run(name, func(t *testing.T) {
			if c.points == 0 {
				c.points = c.space.Count()
			}
			require.Equal(t, c.points, c.space.Count())
			if testing.Short() && c.points > 40 {
				t.Skip("many points")
			}
			for _, batch := range []int{1, 3} {
				o := options(1)
				o.NoiseFree, o.Batch = true, batch
				if c.points > 40 { // many fits, and the points to choose from do not depend on them
					o.Surrogate = gp.Model{Spec: prior.Spec{Lengthscale: []float64{0.5}, Variance: new(1.0), Noise: new(1e-6)}}
				}
				s := newStudy(t, c.space, o)
				r := run(t, s, score, c.points+5, 1)
				require.Len(t, r.Trials, c.points)
				require.Len(t, keys(r.Trials), c.points)
				_, err := s.Ask(t.Context(), 1)
				require.ErrorIs(t, err, ErrExhausted)
			}
		})
	}
}

// No acquisition function suggests an infeasible point, one by one, in batches, and beside
// pending trials.
func TestConstraintsHoldForEveryAcquisition(t *testing.T) {
	racetest.SkipNumerical(t)
	spaces := map[string]*space.Space{
		"floats": newRestricted(t, []space.Parameter{space.Float("x", 0, 1), space.Float("y", 0, 1)}, "x + y <= 0.7", "x >= y"),
		"mixed": newRestricted(t, []space.Parameter{space.Categorical("opt", "a", "b"), when(space.Float("m", 0, 1), "opt == 'b'"), space.Int("k", 1, 64), space.Float("x", 0, 1)},
			"k * x <= 8", "m + x >= 0.5"),
		"small": newRestricted(t, []space.Parameter{space.Float("x", 0, 1), space.Float("y", 0, 1), space.Float("z", 0, 1)}, "abs(x - y) < 0.01", "abs(y - z) < 0.01"),
	}
	acquisitions := []acquisition.Acquisition{
		acquisition.Auto{}, acquisition.EI{}, acquisition.LogEI{}, acquisition.PI{}, acquisition.LCB{}, acquisition.MES{Samples: 2}, acquisition.Thompson{},
		acquisition.LogNEI{Samples: 16}, acquisition.QLogEI{Samples: 16, Joint: true}, acquisition.QEI{Samples: 16},
	}
	if testing.Short() {
		acquisitions = acquisitions[:1]
	}
	for name, sp := range spaces {
		for _, a := range acquisitions {
			t.Run(fmt.Sprintf("%s/%T", name, a), func(t *testing.T) {
				o := Options{Surrogate: gp.Model{}, Acquisition: a, Initial: 5, Seed: 3, Maximizer: acquisition.MaximizeOptions{Raw: 64, Starts: 4, Iterations: 20}}
				s := newStudy(t, sp, o)
				for _, batch := range []int{5, 1, 3} {
					trials, err := s.Ask(t.Context(), batch)
					require.NoError(t, err)
					for _, trial := range trials {
						_, err := sp.PointOf(trial.Point.Map())
						require.NoError(t, err)
						if trial.ID%4 > 0 { // the others stay pending
							y, _ := score(t.Context(), trial.Point)
							require.NoError(t, s.Tell(trial.ID, y))
						}
					}
				}
			})
		}
	}
}

// The search follows the border of the feasible points to the optimum on it.
func TestOptimumOnABorder(t *testing.T) {
	racetest.SkipNumerical(t)
	sp := newRestricted(t, []space.Parameter{space.Float("x", 0, 1), space.Float("y", 0, 1)}, "(x - 0.2) ** 2 + (y - 0.3) ** 2 <= 0.04")
	best := math.Inf(1)
	o := Options{Initial: 6, Seed: 1, NoiseFree: true}
	r := run(t, newStudy(t, sp, o), func(_ context.Context, p space.Point) (float64, error) {
		return math.Pow(p.Float("x")-0.9, 2) + math.Pow(p.Float("y")-0.8, 2), nil
	}, 25, 1)
	for _, trial := range r.Trials {
		best = min(best, trial.Value)
	}
	want := math.Pow(math.Hypot(0.7, 0.5)-0.2, 2)
	assert.GreaterOrEqual(t, best, want)
	assert.Less(t, best, want+1e-3)
}

func TestEnqueueRefusesInfeasiblePoints(t *testing.T) {
	sp := newRestricted(t, []space.Parameter{space.Float("x", 0, 1), space.Float("y", 0, 1)}, "x + y <= 1")
	free := newSpace(t, space.Float("x", 0, 1), space.Float("y", 0, 1))
	s := newStudy(t, sp, options(1))
	p, err := free.PointOf(map[string]any{"x": 0.75, "y": 0.75})
	require.NoError(t, err)
	assert.EqualError(t, s.Enqueue(p), `invalid point: constraint "x + y <= 1" does not hold at x=0.75 y=0.75`)
	_, err = s.Add(p, 1)
	assert.ErrorIs(t, err, space.ErrPoint)
}

func TestResumeInARestrictedSpace(t *testing.T) {
	params := []space.Parameter{space.Categorical("opt", "a", "b"), when(space.Float("m", 0, 1), "opt == 'b'"), space.Float("x", 0, 1)}
	sp := newRestricted(t, params, "m + x <= 1.5")
	s := newStudy(t, sp, options(1))
	run(t, s, score, 6, 1)
	var saved bytes.Buffer
	require.NoError(t, s.Save(&saved))
	again, err := ResumeIn(bytes.NewReader(saved.Bytes()), sp, options(1))
	require.NoError(t, err)
	a, err := s.Ask(t.Context(), 2)
	require.NoError(t, err)
	b, err := again.Ask(t.Context(), 2)
	require.NoError(t, err)
	for i := range a {
		assert.Equal(t, a[i].Point.String(), b[i].Point.String())
	}
	_, err = ResumeIn(bytes.NewReader(saved.Bytes()), newRestricted(t, params), options(1))
	require.ErrorIs(t, err, ErrMismatch)
	_, err = Resume(bytes.NewReader(saved.Bytes()), options(1))
	require.ErrorIs(t, err, ErrState)
	require.ErrorContains(t, err, "is text without a function: use ResumeIn with the space of the study")
}

// A point of the study's space that violates a constraint has the error of PointOf everywhere, and the
// study can be saved and resumed.
func TestPointsThatViolateAConstraint(t *testing.T) {
	s := newRestricted(t, []space.Parameter{space.Float("x", 0, 1), space.Float("y", 0, 1)}, "x + y <= 1")
	wrong := s.Decode([]float64{1, 1})
	_, want := s.PointOf(wrong.Map())
	require.ErrorIs(t, want, space.ErrPoint)
	study := newStudy(t, s, options(1))
	require.EqualError(t, study.Enqueue(wrong), want.Error())
	_, err := study.Add(wrong, 1)
	require.EqualError(t, err, want.Error())
	_, err = study.AddOutcome(wrong, Outcome{Value: 1})
	require.EqualError(t, err, want.Error())
	for _, h := range []History{{Queue: []space.Point{wrong}}, {Trials: []Trial{{ID: 1, Point: wrong, State: Complete}}}} {
		_, err = Propose(t.Context(), s, options(1), h, 1)
		require.ErrorIs(t, err, ErrHistory)
		require.ErrorContains(t, err, want.Error())
	}

	right := s.Decode([]float64{0.25, 0.5})
	require.NoError(t, study.Enqueue(right))
	_, err = study.Add(right, 1)
	require.NoError(t, err)
	run(t, study, score, 8, 1)
	var b bytes.Buffer
	require.NoError(t, study.Save(&b))
	again, err := ResumeIn(&b, s, options(1))
	require.NoError(t, err)
	require.Equal(t, study.Trials(), again.Trials())
}
