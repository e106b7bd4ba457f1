package acquisition

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
)

var quick = MaximizeOptions{Raw: 64, Starts: 4, Iterations: 30}

// Every Acquisition suggests batches without repeats, reproducibly.
func TestSuggestBatches(t *testing.T) {
	p := problem(t, 2)
	p.Pending = uniform(1, 2, 40)
	s := cube(t, 2)
	for _, a := range append(slices.Clone(recipes), QEI{Samples: 64, Joint: true}, QLogEI{Samples: 64, Joint: true}, LogNEI{Samples: 64, Joint: true}) {
		got, err := Suggest(t.Context(), a, p, s, 3, quick, rng(4))
		require.NoError(t, err, name(a))
		require.Len(t, got, 3)
		known := stack(p.Observed, p.Pending)
		for _, c := range got {
			for i := range rowCount(known) {
				require.False(t, equal(c.X, known.RawRowView(i)), name(a))
			}
			known = stack(known, mat.NewDense(1, 2, c.X))
			mean, variance := make([]float64, 1), make([]float64, 1)
			p.Posterior.Predict(mean, variance, mat.NewDense(1, 2, c.X))
			assert.InDelta(t, mean[0], c.Mean, 1e-12)
			assert.InDelta(t, math.Sqrt(variance[0]), c.SD, 1e-12)
			assert.False(t, math.IsNaN(c.Value))
			assert.Empty(t, c.Warnings)
		}
		again, err := Suggest(t.Context(), a, p, s, 3, quick, rng(4))
		require.NoError(t, err)
		assert.Equal(t, got, again, name(a))
	}
}

// In a batch the searches after the first are brief, and no point repeats another.
func TestSuggestBatch(t *testing.T) {
	p := problem(t, 2)
	for _, a := range []Acquisition{LogEI{}, LogNEI{}} {
		var asked []int
		got, err := Suggest(t.Context(), counting{a, &asked}, p, cube(t, 2), 5, MaximizeOptions{}, rng(4))
		require.NoError(t, err)
		require.Len(t, asked, 5)
		for i, c := range got {
			require.Empty(t, c.Warnings)
			require.False(t, math.IsNaN(c.Value) || math.IsInf(c.Value, 0))
			for _, other := range got[:i] {
				require.False(t, equal(c.X, other.X))
			}
			if i > 0 {
				require.Less(t, asked[i], asked[0]/4, name(a))
			}
		}
	}
}

// counting records the evaluations of each function that it builds.
type counting struct {
	Acquisition
	asked *[]int
}

func (c counting) Build(ctx context.Context, p Problem, q int, rng *rand.Rand) (Function, error) {
	f, err := c.Acquisition.Build(ctx, p, q, rng)
	*c.asked = append(*c.asked, 0)
	return countingFunction{f, &(*c.asked)[len(*c.asked)-1]}, err
}

type countingFunction struct {
	Function
	asked *int
}

func (f countingFunction) Eval(value []float64, grad, x *mat.Dense) {
	*f.asked += len(value)
	f.Function.Eval(value, grad, x)
}

// The search for the second point of a batch starts from the ends for the first.
func TestSuggestGoesOn(t *testing.T) {
	asked := make([]int, 0, 2)
	_, err := Suggest(t.Context(), counting{LogEI{}, &asked}, problem(t, 3), cube(t, 3), 2, MaximizeOptions{}, rng(1))
	require.NoError(t, err)
	require.Len(t, asked, 2)
	assert.Less(t, asked[1], asked[0]/2)
}

// An affine change of the outputs leaves the suggestion unchanged: a shift up to
// rounding, a scale if the function has no tolerance in output units.
func TestAffineChange(t *testing.T) {
	p, x, y := newToy(t, 2, 12, 1e-4, 2)
	s := cube(t, 2)
	for _, c := range []struct {
		a    Acquisition
		tol  float64
		unit float64
	}{
		{EI{}, 1e-3, 7}, {LogEI{}, 1e-3, 7}, {PI{}, 1e-3, 7}, {LCB{}, 1e-3, 7}, {MES{Samples: 4}, 2e-3, 7},
		{Thompson{}, 1e-3, 7}, {QEI{Samples: 128}, 1e-2, 7}, {QLogEI{Samples: 128}, 1e-2, 1}, {LogNEI{Samples: 128}, 1e-2, 1},
	} {
		problem := Problem{Posterior: p, Best: slices.Min(y), Observed: x}
		want, err := Suggest(t.Context(), c.a, problem, s, 1, MaximizeOptions{}, rng(5))
		require.NoError(t, err)
		moved := Problem{Posterior: p.affine(30, c.unit), Best: 30 + c.unit*problem.Best, Observed: x}
		got, err := Suggest(t.Context(), c.a, moved, s, 1, MaximizeOptions{}, rng(5))
		require.NoError(t, err)
		assert.InDeltaSlice(t, want[0].X, got[0].X, c.tol, name(c.a))
		assert.InDelta(t, 30+c.unit*want[0].Mean, got[0].Mean, c.unit*10*c.tol, name(c.a))
	}
}

// A batch chosen together has no lower value than one chosen point by point.
func TestJointIsNoWorse(t *testing.T) {
	p := problem(t, 2)
	s := cube(t, 2)
	q := 3
	joint, err := Suggest(t.Context(), QLogEI{Samples: 128, Joint: true}, p, s, q, quick, rng(6))
	require.NoError(t, err)
	greedy, err := Suggest(t.Context(), QLogEI{Samples: 128}, p, s, q, quick, rng(6))
	require.NoError(t, err)
	f := build(t, QLogEI{Samples: 1 << 13}, p, q)
	value := func(cs []Candidate) float64 {
		var x []float64
		for _, c := range cs {
			x = append(x, c.X...)
		}
		return valueAt(f, x)
	}
	assert.GreaterOrEqual(t, value(joint), value(greedy)-0.05)
	assert.Equal(t, joint[0].Value, joint[2].Value)
}

// The points of a batch are distinct.
func TestBatchSpreads(t *testing.T) {
	toy, x, y := newToy(t, 1, 4, 1e-4, 1)
	p := Problem{Posterior: toy, Best: slices.Min(y), Observed: x}
	for _, a := range []Acquisition{LogEI{}, LCB{}, QLogEI{}, MES{}} {
		got, err := Suggest(t.Context(), a, p, cube(t, 1), 2, MaximizeOptions{}, rng(7))
		require.NoError(t, err)
		assert.Greater(t, math.Abs(got[0].X[0]-got[1].X[0]), 1e-3, name(a))
	}
}

// Suggestions in a finite space repeat nothing until all points have a trial. Then they repeat evaluated points
// with a warning, and pending points only if no other is left.
func TestFiniteSpace(t *testing.T) {
	s := newSpace(t, space.Int("n", 1, 4), space.Categorical("c", "a", "b"))
	p, _, _ := newToy(t, s.Dim(), 3, 1e-4, 2)
	problem := Problem{Posterior: p, Best: 0, Observed: nil}
	all := enumerate(s, make([]float64, s.Dim()))
	problem.Observed = rows(all, 0, 3)
	problem.Pending = rows(all, 3, 5)
	seen := map[string]bool{}
	for i := range 5 {
		seen[s.Decode(all.RawRowView(i)).Key()] = true
	}
	got, err := Suggest(t.Context(), LogEI{}, problem, s, 5, quick, rng(1))
	require.NoError(t, err)
	for i, c := range got {
		k := s.Decode(c.X).Key()
		if i < 3 {
			assert.False(t, seen[k], "suggestion %d is new", i)
			assert.Empty(t, c.Warnings)
			seen[k] = true
			continue
		}
		assert.Equal(t, []string{"every point of the space has a trial, this point repeats one: the search can end"}, c.Warnings)
		for j := 3; j < 5; j++ {
			assert.NotEqual(t, s.Decode(all.RawRowView(j)).Key(), k, "pending")
		}
	}
	// If all points are pending, a suggestion is still returned.
	problem.Pending = all
	got, err = Suggest(t.Context(), LogEI{}, problem, s, 1, quick, rng(1))
	require.NoError(t, err)
	assert.Len(t, got, 1)
	assert.NotEmpty(t, got[0].Warnings)
}

// In a large finite space whose best point is evaluated, a near point is suggested.
func TestLargeFiniteSpaceAvoidsEvaluated(t *testing.T) {
	s := newSpace(t, space.Int("n", 1, 1000), space.Int("m", 1, 1000))
	p := Problem{Posterior: slope{}, Best: 0}
	best := s.Encode(mustPoint(t, s, 1, 1))
	next := s.Encode(mustPoint(t, s, 2, 1))
	p.Observed = mat.NewDense(2, 2, slices.Concat(best, next))
	got, err := Suggest(t.Context(), LCB{}, p, s, 1, quick, rng(1))
	require.NoError(t, err)
	assert.Empty(t, got[0].Warnings)
	k := s.Decode(got[0].X)
	assert.LessOrEqual(t, k.Int("n")+k.Int("m"), 6)
	assert.False(t, equal(got[0].X, best) || equal(got[0].X, next))
}

func mustPoint(t *testing.T, s *space.Space, n, m int) space.Point {
	p, err := s.PointOf(map[string]any{"n": n, "m": m})
	require.NoError(t, err)
	return p
}

// slope is a posterior with a linear mean and a constant variance.
type slope struct{ *moments }

func (slope) Dim() int { return 2 }
func (slope) Predict(mean, variance []float64, x *mat.Dense) {
	for i := range mean {
		mean[i], variance[i] = x.At(i, 0)+2*x.At(i, 1), 1
	}
}
func (s slope) PredictGrad(mean, variance []float64, dmean, dvariance, x *mat.Dense) {
	s.Predict(mean, variance, x)
	dvariance.Zero()
	for i := range mean {
		dmean.SetRow(i, []float64{1, 2})
	}
}

// constant is a posterior with constant moments.
type constant struct{ slope }

func (constant) Predict(mean, variance []float64, _ *mat.Dense) {
	for i := range mean {
		mean[i], variance[i] = 1, 1
	}
}
func (c constant) PredictGrad(mean, variance []float64, dmean, dvariance, x *mat.Dense) {
	c.Predict(mean, variance, x)
	dmean.Zero()
	dvariance.Zero()
}

func (constant) Joint(mean []float64, cov *mat.SymDense, _ *mat.Dense) {
	cov.Zero()
	for i := range mean {
		mean[i] = 1
		cov.SetSym(i, i, 1)
	}
}
func (constant) JointVJP(*mat.Dense, []float64, *mat.SymDense, *mat.Dense) {}

// For a flat function the suggestion is far from known points and carries a warning.
func TestSuggestFlat(t *testing.T) {
	p := Problem{Posterior: constant{}, Best: 0, Observed: mat.NewDense(2, 2, []float64{0, 0, 0.1, 0.1})}
	got, err := Suggest(t.Context(), LogEI{}, p, cube(t, 2), 2, quick, rng(1))
	require.NoError(t, err)
	for _, c := range got {
		assert.Equal(t, []string{"the acquisition function is flat, the point farthest from all trials is suggested: check that the objective varies"}, c.Warnings)
	}
	assert.InDeltaSlice(t, []float64{1, 1}, got[0].X, 0.1)
	assert.Greater(t, math.Hypot(got[0].X[0]-got[1].X[0], got[0].X[1]-got[1].X[1]), 0.7)
}

func TestSuggestErrors(t *testing.T) {
	p := problem(t, 2)
	_, err := Suggest(t.Context(), LogEI{}, p, cube(t, 2), 0, quick, rng(1))
	require.ErrorIs(t, err, ErrProblem)
	p.Best = math.NaN()
	_, err = Suggest(t.Context(), LogEI{}, p, cube(t, 2), 1, quick, rng(1))
	require.ErrorIs(t, err, ErrProblem)
	assert.PanicsWithValue(t, "acquisition: posterior of 2 inputs, domain of 3 coordinates", func() {
		_, _ = Suggest(t.Context(), LogEI{}, p, cube(t, 3), 1, quick, rng(1))
	})
	p.Pending = mat.NewDense(1, 3, nil)
	assert.PanicsWithValue(t, "acquisition: known points of 3 coordinates, domain of 2", func() {
		_, _ = Suggest(t.Context(), LogEI{}, p, cube(t, 2), 1, quick, rng(1))
	})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, a := range recipes {
		_, err = Suggest(ctx, a, problem(t, 2), cube(t, 2), 2, quick, rng(1))
		require.ErrorIs(t, err, context.Canceled, name(a))
	}
}

// cancels is a posterior that calls cancel in its first prediction, and counts the predicted points.
type cancels struct {
	surrogate.Posterior
	cancel    func()
	predicted *int
}

func (c cancels) Predict(mean, variance []float64, x *mat.Dense) {
	c.cancel()
	*c.predicted += rowCount(x)
	c.Posterior.Predict(mean, variance, x)
}

// The predictions at many evaluated points stop soon after a cancellation.
func TestSuggestCancelledBeforeSearch(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	predicted := 0
	p := problem(t, 2)
	p.Posterior, p.Observed = cancels{p.Posterior, cancel, &predicted}, space.Sobol(20*manyObserved, 2, rng(1))
	_, err := Suggest(ctx, LogNEI{}, p, cube(t, 2), 1, quick, rng(1))
	require.ErrorIs(t, err, context.Canceled)
	require.LessOrEqual(t, predicted, 2*manyObserved)
}

// nowhere is a posterior whose moments are NaN.
type nowhere struct{ constant }

func (nowhere) Predict(mean, variance []float64, _ *mat.Dense) {
	for i := range mean {
		mean[i], variance[i] = math.NaN(), math.NaN()
	}
}

func TestSuggestWithoutFiniteValue(t *testing.T) {
	p := Problem{Posterior: nowhere{}, Best: 0, Observed: mat.NewDense(1, 2, nil)}
	got, err := Suggest(t.Context(), LogEI{}, p, cube(t, 2), 1, quick, rng(1))
	require.NoError(t, err)
	assert.Len(t, got[0].Warnings, 1)
	assert.Greater(t, math.Hypot(got[0].X[0], got[0].X[1]), 1.0)
}

// wide is an acquisition function of too many coordinates.
type wide struct{ Acquisition }

func (a wide) Build(ctx context.Context, p Problem, q int, rng *rand.Rand) (Function, error) {
	return a.Acquisition.Build(ctx, p, q+1, rng)
}

// A part of the arguments that is missing, or a function of other points, is an error.
func TestSuggestFaults(t *testing.T) {
	p := problem(t, 2)
	for _, c := range []struct {
		name string
		a    Acquisition
		p    Problem
		q    int
		want string
	}{
		{"no acquisition function", nil, p, 1, "no acquisition function"},
		{"no posterior", LogEI{}, Problem{}, 1, "no posterior"},
		{"no points", QLogEI{}, p, 0, "0 points to suggest, want at least 1"},
		{"other points", wide{QEI{Samples: 4}}, p, 1, "the function of acquisition.wide has 4 coordinates, want 1·2 for 1 points of 2 inputs"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Suggest(t.Context(), c.a, c.p, cube(t, 2), c.q, quick, rng(1))
			require.ErrorIs(t, err, ErrProblem)
			require.ErrorContains(t, err, c.want)
			_, err = c.p.Function(t.Context(), c.a, c.q, rng(1))
			require.ErrorIs(t, err, ErrProblem)
			require.ErrorContains(t, err, c.want)
		})
	}
}

// A domain without feasible points is an error.
func TestMaximizeWithoutFeasiblePoints(t *testing.T) {
	x, _, err := Maximize(t.Context(), peak([]float64{0.4, 0.4}), band{Space: cube(t, 2), width: -1, sampled: new(int)}, nil, quick, rng(1))
	require.ErrorIs(t, err, ErrProblem)
	require.ErrorContains(t, err, "no feasible point")
	require.Nil(t, x)
}

// unknown returns a point that is not rejected, if there is one.
func TestUnknown(t *testing.T) {
	s := newSpace(t, space.Int("n", 1, 9))
	u := unknown(s, s.Encode(pointN(t, s, 4)), func(x []float64) bool { return s.Decode(x).Int("n") != 9 }, rng(1))
	assert.Equal(t, 9, s.Decode(u).Int("n"))
	assert.Nil(t, unknown(s, u, func([]float64) bool { return true }, rng(1)))
	c := cube(t, 2)
	u = unknown(c, []float64{0.5, 0.5}, func(x []float64) bool { return x[0] < 0.9 }, rng(1))
	assert.GreaterOrEqual(t, u[0], 0.9)
	assert.Nil(t, unknown(c, u, func([]float64) bool { return true }, rng(1)))
}

func pointN(t *testing.T, s *space.Space, n int) space.Point {
	p, err := s.PointOf(map[string]any{"n": n})
	require.NoError(t, err)
	return p
}

// Batches chosen together in a finite space contain no repeats.
func TestJointInFiniteSpace(t *testing.T) {
	s := newSpace(t, space.Int("n", 1, 3), space.Categorical("c", "a", "b"))
	p, _, _ := newToy(t, s.Dim(), 3, 1e-4, 2)
	all := enumerate(s, make([]float64, s.Dim()))
	problem := Problem{Posterior: p, Best: 0, Observed: rows(all, 0, 2)}
	got, err := Suggest(t.Context(), QLogEI{Samples: 64, Joint: true}, problem, s, 4, quick, rng(1))
	require.NoError(t, err)
	seen := map[string]bool{}
	for i := range 2 {
		seen[key(all.RawRowView(i))] = true
	}
	for _, c := range got {
		assert.False(t, seen[key(c.X)])
		assert.Empty(t, c.Warnings)
		seen[key(c.X)] = true
	}
	// One point more than the space has: the last point is a repetition, with a
	// warning.
	got, err = Suggest(t.Context(), QLogEI{Samples: 64, Joint: true}, problem, s, 5, quick, rng(1))
	require.NoError(t, err)
	assert.NotEmpty(t, got[4].Warnings)
}

// A user-defined Acquisition needs one method.
type farFromData struct{}

func (farFromData) Build(_ context.Context, p Problem, _ int, _ *rand.Rand) (Function, error) {
	return &marginal{p.Posterior, func(_, s float64) (float64, float64, float64) { return s, 0, 1 }}, nil
}

func TestOwnRecipe(t *testing.T) {
	got, err := Suggest(t.Context(), farFromData{}, problem(t, 2), cube(t, 2), 1, quick, rng(1))
	require.NoError(t, err)
	assert.Equal(t, got[0].Value, got[0].SD)
}
