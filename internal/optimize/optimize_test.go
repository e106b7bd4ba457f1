package optimize_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/gradcheck"
	"github.com/functionspace/bo/internal/optimize"
)

type objective func(x, grad []float64) float64

// The problems of testdata/optimize/minima.py.
var problems = map[string]objective{
	"rosenbrock": func(x, g []float64) float64 {
		clear(g)
		var f float64
		for i := range len(x) - 1 {
			a, b := x[i+1]-x[i]*x[i], 1-x[i]
			f += 100*a*a + b*b
			g[i+1] += 200 * a
			g[i] += -400*x[i]*a - 2*b
		}
		return f
	},
	"beale": func(x, g []float64) float64 {
		clear(g)
		var f float64
		for p, c := range []float64{1.5, 2.25, 2.625} {
			v := math.Pow(x[1], float64(p+1))
			r := c - x[0] + x[0]*v
			f += r * r
			g[0] += 2 * r * (v - 1)
			g[1] += 2 * r * x[0] * float64(p+1) * math.Pow(x[1], float64(p))
		}
		return f
	},
	"quadratic": func(x, g []float64) float64 {
		var f, sum float64
		for i, v := range x {
			d := math.Pow(10, 6*float64(i)/float64(len(x)-1))
			z := v - math.Sin(float64(i+1))
			f += 0.5 * d * z * z
			g[i] = d * z
			sum += z
		}
		for i := range g {
			g[i] += sum
		}
		return f + 0.5*sum*sum
	},
	"corner": func(x, g []float64) float64 {
		var f float64
		for i, v := range x {
			e := math.Exp(v / float64(i+1))
			f -= e
			g[i] = -e / float64(i+1)
		}
		return f
	},
	"mixture": func(x, g []float64) float64 {
		clear(g)
		var f float64
		c := make([]float64, len(x))
		for k := range 6 {
			var r2 float64
			for i := range c {
				c[i] = 0.5 + 0.45*math.Sin(1.7*float64(k+1)*float64(i+1))
				r2 += (x[i] - c[i]) * (x[i] - c[i])
			}
			e := (0.5 + 0.1*float64(k)) * math.Exp(-4*r2)
			f -= e
			for i := range g {
				g[i] += 8 * e * (x[i] - c[i])
			}
		}
		return f
	},
}

func TestProblemGradients(t *testing.T) {
	for name, f := range problems {
		x := []float64{0.3, -0.4, 0.7, 0.2}
		if name == "beale" {
			x = x[:2]
		}
		g, scratch := make([]float64, len(x)), make([]float64, len(x))
		f(x, g)
		tol := 1e-8
		if name == "quadratic" {
			tol = 1e-6
		}
		require.NoError(t, gradcheck.Gradient(func(x []float64) float64 { return f(x, scratch) }, x, g, tol), name)
	}
}

// The minima equal the minima of SciPy's L-BFGS-B at the same tolerances. The evaluations are at most 1.5 times
// SciPy's on each family of problems and 1.1 times in total. Single cases differ: SciPy's first step in a box
// is as long as the gradient, here its length is at most 1.
func TestAgainstSciPy(t *testing.T) {
	data, err := os.ReadFile("../../testdata/optimize/minima.json")
	require.NoError(t, err)
	var oracle struct {
		Cases []struct {
			Problem       string
			X0, Lo, Hi, X []float64
			F             float64
			Evaluations   int
		}
	}
	require.NoError(t, json.Unmarshal(data, &oracle))
	require.NotEmpty(t, oracle.Cases)
	ours, theirs := map[string]int{}, map[string]int{}
	for _, c := range oracle.Cases {
		r, err := optimize.Minimize(t.Context(), problems[c.Problem], c.X0, c.Lo, c.Hi, optimize.Settings{MaxIter: 15000})
		require.NoError(t, err)
		name := fmt.Sprintf("%s %d-d, box %v", c.Problem, len(c.X0), c.Lo != nil)
		t.Logf("%-28s f %.10g (%.10g)  evaluations %d (%d)", name, r.F, c.F, r.Evaluations, c.Evaluations)
		assert.True(t, r.Converged, name)
		assert.LessOrEqual(t, r.F, c.F+1e-5*max(1, math.Abs(c.F)), name)
		for _, key := range []string{c.Problem, "all"} {
			ours[key] += r.Evaluations
			theirs[key] += c.Evaluations
		}
	}
	for key := range ours {
		t.Logf("%s: %d evaluations, SciPy %d", key, ours[key], theirs[key])
		assert.LessOrEqual(t, 2*ours[key], 3*theirs[key], key)
	}
	assert.LessOrEqual(t, 10*ours["all"], 11*theirs["all"])
}

// A convex quadratic whose minimiser is outside the box: the result satisfies the
// Karush-Kuhn-Tucker conditions.
func TestBoxActiveQuadratics(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for trial := range 200 {
		n := 1 + rng.IntN(12)
		a, c := mat.NewDense(n, n, nil), make([]float64, n)
		for i := range n {
			for j := range n {
				a.Set(i, j, rng.NormFloat64())
			}
			c[i] = 3 * rng.NormFloat64()
		}
		var q mat.Dense
		q.Mul(a.T(), a)
		for i := range n {
			q.Set(i, i, q.At(i, i)+0.1)
		}
		f := func(x, g []float64) float64 {
			var v float64
			for i := range g {
				g[i] = c[i]
				for j := range x {
					g[i] += q.At(i, j) * x[j]
				}
				v += 0.5 * x[i] * (g[i] + c[i])
			}
			return v
		}
		lo, hi, x0 := make([]float64, n), make([]float64, n), make([]float64, n)
		for i := range n {
			lo[i], hi[i] = -rng.Float64(), rng.Float64()
			x0[i] = 4 * rng.NormFloat64()
		}
		if trial%3 == 0 {
			hi[0] = lo[0] // a variable with equal bounds
		}
		r, err := optimize.Minimize(t.Context(), f, x0, lo, hi, optimize.Settings{GradTol: 1e-7, FuncTol: -1})
		require.NoError(t, err)
		g := make([]float64, n)
		f(r.X, g)
		for i, x := range r.X {
			switch {
			case lo[i] == hi[i]:
				require.Equal(t, lo[i], x)
			case x == lo[i]:
				require.GreaterOrEqual(t, g[i], -1e-6)
			case x == hi[i]:
				require.LessOrEqual(t, g[i], 1e-6)
			default:
				require.InDelta(t, 0, g[i], 1e-6)
			}
		}
	}
}

func TestCorner(t *testing.T) {
	lo, hi := []float64{-1, -1, -1}, []float64{1, 2, 3}
	r, err := optimize.Minimize(t.Context(), problems["corner"], []float64{0, 0, 0}, lo, hi, optimize.Settings{})
	require.NoError(t, err)
	assert.Equal(t, hi, r.X)
	assert.True(t, r.Converged)
	assert.LessOrEqual(t, r.Evaluations, 10)
}

// The model of a search starts another search, of three times the function from another point.
func TestCurvature(t *testing.T) {
	quadratic := func(factor float64) func(x, g []float64) float64 {
		return func(x, g []float64) float64 {
			var f float64
			for i := range x {
				h, d := factor*math.Pow(10, float64(i)), x[i]-float64(i)
				g[i] = h * d
				f += h * d * d / 2
			}
			return f
		}
	}
	start := []float64{3, -2, 5, 0}
	first, err := optimize.Minimize(t.Context(), quadratic(1), []float64{1, 1, 1, 1}, nil, nil, optimize.Settings{})
	require.NoError(t, err)
	without, err := optimize.Minimize(t.Context(), quadratic(3), start, nil, nil, optimize.Settings{})
	require.NoError(t, err)
	with, err := optimize.Minimize(t.Context(), quadratic(3), start, nil, nil, optimize.Settings{Curvature: first.Curvature.Times(3)})
	require.NoError(t, err)
	require.InDeltaSlice(t, []float64{0, 1, 2, 3}, with.X, 1e-5)
	require.Less(t, with.Evaluations, without.Evaluations)
	again, err := optimize.Minimize(t.Context(), quadratic(1), start, nil, nil, optimize.Settings{Curvature: first.Curvature.Times(1)})
	require.NoError(t, err)
	require.Equal(t, with.Evaluations, again.Evaluations)
}

// Gain ends a search at a point that the model expects to be near the minimum.
func TestGain(t *testing.T) {
	f, x0 := problems["rosenbrock"], []float64{-1.2, 1, -1.2, 1}
	full, err := optimize.Minimize(t.Context(), f, x0, nil, nil, optimize.Settings{})
	require.NoError(t, err)
	r, err := optimize.Minimize(t.Context(), f, x0, nil, nil, optimize.Settings{Gain: 1e-3})
	require.NoError(t, err)
	require.True(t, r.Converged)
	require.Less(t, r.Evaluations, full.Evaluations)
	require.InDelta(t, 0, r.F, 1e-2)
	again, err := optimize.Minimize(t.Context(), f, r.X, nil, nil, optimize.Settings{Gain: 1e-3, Curvature: r.Curvature})
	require.NoError(t, err)
	require.Equal(t, 1, again.Evaluations)
}

func TestFlat(t *testing.T) {
	calls := 0
	r, err := optimize.Minimize(t.Context(), func(_, g []float64) float64 { calls++; clear(g); return 7 }, []float64{0.5, 9}, []float64{0, 0}, []float64{1, 1}, optimize.Settings{})
	require.NoError(t, err)
	assert.Equal(t, optimize.Result{X: []float64{0.5, 1}, F: 7, Evaluations: 1, Converged: true}, r)
	assert.Equal(t, 1, calls)
}

// log x is NaN left of 0, near the minimum of x - log x.
func TestTurnsBackWhereNotFinite(t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		r, err := optimize.Minimize(t.Context(), func(x, g []float64) float64 {
			if x[0] <= 0 {
				g[0] = bad
				return bad
			}
			g[0] = 50 - 1/x[0]
			return 50*x[0] - math.Log(x[0])
		}, []float64{3}, nil, nil, optimize.Settings{})
		require.NoError(t, err)
		assert.InDelta(t, 0.02, r.X[0], 1e-5)
		assert.True(t, r.Converged)
	}
	// A finite value with a gradient that is not finite.
	r, err := optimize.Minimize(t.Context(), func(x, g []float64) float64 {
		g[0] = 2 * x[0]
		if x[0] < 0.25 {
			g[0] = math.NaN()
		}
		return x[0] * x[0]
	}, []float64{3}, nil, nil, optimize.Settings{})
	require.NoError(t, err)
	assert.InDelta(t, 0.25, r.X[0], 1e-3)
	// Finite nowhere.
	r, err = optimize.Minimize(t.Context(), func(_, _ []float64) float64 { return math.NaN() }, []float64{3}, nil, nil, optimize.Settings{})
	require.NoError(t, err)
	assert.Equal(t, optimize.Result{X: []float64{3}, F: math.Inf(1), Evaluations: 1}, r)
}

// With a gradient that disagrees with the values, the search ends and its result is no
// worse than the start.
func TestWrongGradient(t *testing.T) {
	f := problems["rosenbrock"]
	r, err := optimize.Minimize(t.Context(), func(x, g []float64) float64 {
		v := f(x, g)
		for i := range g {
			g[i] = -g[i]
		}
		return v
	}, []float64{-1.2, 1}, []float64{-2, -2}, []float64{2, 2}, optimize.Settings{})
	require.NoError(t, err)
	assert.LessOrEqual(t, r.F, 24.2+1e-12)
	assert.Less(t, r.Evaluations, 100)
}

func TestNeverWorseAlwaysInside(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		n := 2 + rng.IntN(8)
		names := []string{"rosenbrock", "quadratic", "corner", "mixture"}
		f := problems[names[rng.IntN(len(names))]]
		lo, hi, x0 := make([]float64, n), make([]float64, n), make([]float64, n)
		for i := range n {
			lo[i] = 2 * rng.NormFloat64()
			hi[i] = lo[i] + 3*rng.Float64()
			x0[i] = lo[i] + (hi[i]-lo[i])*rng.Float64()
		}
		rough := rng.IntN(3) == 0
		asked := func(x, g []float64) float64 {
			for i, v := range x {
				require.GreaterOrEqual(t, v, lo[i])
				require.LessOrEqual(t, v, hi[i])
			}
			v := f(x, g)
			if rough && math.Sin(40*x[0]) > 0.9 {
				return math.NaN()
			}
			return v
		}
		f0 := asked(x0, make([]float64, n))
		r, err := optimize.Minimize(t.Context(), asked, x0, lo, hi, optimize.Settings{MaxIter: 1 + rng.IntN(60)})
		require.NoError(t, err)
		if !math.IsNaN(f0) {
			require.LessOrEqual(t, r.F, f0)
			require.Equal(t, r.F, asked(r.X, make([]float64, n)))
		}
	}
}

func TestBatchEqualsSingle(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for name, f := range problems {
		const starts = 9
		n := 5
		if name == "beale" {
			n = 2
		}
		lo, hi := make([]float64, n), make([]float64, n)
		x0 := mat.NewDense(starts, n, nil)
		for i := range n {
			lo[i], hi[i] = -1.5, 1.1
			for k := range starts {
				x0.Set(k, i, 3*rng.Float64()-1.5)
			}
		}
		rounds := 0
		got, err := optimize.MinimizeBatch(t.Context(), func(v []float64, g, x *mat.Dense) {
			rounds++
			for i := range v {
				v[i] = f(x.RawRowView(i), g.RawRowView(i))
			}
		}, x0, lo, hi, optimize.Settings{})
		require.NoError(t, err)
		longest := 0
		for k := range starts {
			want, err := optimize.Minimize(t.Context(), f, x0.RawRowView(k), lo, hi, optimize.Settings{})
			require.NoError(t, err)
			require.Equal(t, want, got[k], "%s, start %d", name, k)
			longest = max(longest, want.Evaluations)
		}
		assert.Equal(t, longest, rounds, "one call a round")
	}
}

func TestCancellation(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	f := problems["rosenbrock"]
	calls := 0
	x0 := []float64{-1.2, 1, -1.2, 1}
	f0 := f(x0, make([]float64, 4))
	r, err := optimize.Minimize(ctx, func(x, g []float64) float64 {
		if calls++; calls == 12 {
			cancel()
		}
		return f(x, g)
	}, x0, nil, nil, optimize.Settings{})
	require.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, 12, r.Evaluations)
	assert.Less(t, r.F, f0)
	assert.False(t, r.Converged)

	rs, err := optimize.MinimizeBatch(ctx, nil, mat.NewDense(2, 4, append(x0, x0...)), nil, nil, optimize.Settings{})
	require.ErrorIs(t, err, context.Canceled)
	assert.Len(t, rs, 2)
	assert.Equal(t, x0, rs[1].X)
}

func TestLimits(t *testing.T) {
	f := problems["rosenbrock"]
	x0 := []float64{-1.2, 1, -1.2, 1}
	r, err := optimize.Minimize(t.Context(), f, x0, nil, nil, optimize.Settings{MaxEval: 7})
	require.NoError(t, err)
	assert.Equal(t, 7, r.Evaluations)
	r, err = optimize.Minimize(t.Context(), f, x0, nil, nil, optimize.Settings{MaxIter: 5})
	require.NoError(t, err)
	assert.Equal(t, 5, r.Iterations)
	assert.False(t, r.Converged)
}

func TestWrongBoundsPanic(t *testing.T) {
	assert.PanicsWithValue(t, "optimize: bounds of length 1 and 2, want 2", func() {
		_, _ = optimize.Minimize(t.Context(), nil, []float64{0, 0}, []float64{0}, []float64{1, 1}, optimize.Settings{})
	})
	assert.PanicsWithValue(t, "optimize: bounds 1 are [2, 1]", func() {
		_, _ = optimize.Minimize(t.Context(), nil, []float64{0, 0}, []float64{0, 2}, []float64{1, 1}, optimize.Settings{})
	})
}

func ExampleMinimize() {
	// (x-2)² + (y-1)² over the unit square.
	f := func(x, grad []float64) float64 {
		u, v := x[0]-2, x[1]-1
		grad[0], grad[1] = 2*u, 2*v
		return u*u + v*v
	}
	r, err := optimize.Minimize(context.Background(), f, []float64{0.5, 0.5}, []float64{0, 0}, []float64{1, 1}, optimize.Settings{})
	fmt.Println(r.X, r.F, r.Converged, err)
	// Output: [1 1] 1 true <nil>
}

func BenchmarkRosenbrock50(b *testing.B) {
	x0 := make([]float64, 50)
	for i := range x0 {
		x0[i] = -1.2
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := optimize.Minimize(b.Context(), problems["rosenbrock"], x0, nil, nil, optimize.Settings{}); err != nil {
			b.Fatal(err)
		}
	}
}

func TestMultistart(t *testing.T) {
	// Two wells; the well at 2 is deeper.
	wells := func() func(x, grad []float64) float64 {
		return func(x, grad []float64) float64 {
			q := x[0]*x[0] - 4
			grad[0] = 4*x[0]*q - 1
			return q*q - x[0]
		}
	}
	starts := [][]float64{{-2.5}, {-1}, {1}, {3}}
	best, err := optimize.Multistart(t.Context(), wells, starts, []float64{-5}, []float64{5}, optimize.Settings{})
	require.NoError(t, err)
	require.InDelta(t, 2.03, best.X[0], 0.01)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = optimize.Multistart(ctx, wells, starts, nil, nil, optimize.Settings{})
	require.ErrorIs(t, err, context.Canceled)
}
