package optimize

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// memory is the number of stored pairs (Δx, Δgradient).
const memory = 10

// Settings has the stopping criteria. The zero value has the defaults.
type Settings struct {
	MaxIter int     // iterations per start; 0 means 1000
	MaxEval int     // evaluations per start; 0 means 4·MaxIter
	GradTol float64 // stop when no component of x - P(x-g), P the projection on the box, exceeds this; 0 means 1e-5, negative never
	FuncTol float64 // stop when an iteration lowers f by at most this times max(|f|, 1); 0 means 2e-9, negative never

	// Gain ends a search at a point from which the quadratic model predicts at most this decrease of f; 0
	// never. The first model comes from Curvature or from two points.
	Gain float64
	// Curvature is the model of the Hessian at the start, from a search of a similar function with as many
	// variables. The zero value is the identity.
	Curvature Curvature
}

func (s Settings) withDefaults() Settings {
	if s.MaxIter == 0 {
		s.MaxIter = 1000
	}
	if s.MaxEval == 0 {
		s.MaxEval = 4 * s.MaxIter
	}
	if s.GradTol == 0 {
		s.GradTol = 1e-5
	}
	if s.FuncTol == 0 {
		s.FuncTol = 2e-9
	}
	return s
}

// Result is the best point of a start.
type Result struct {
	X           []float64
	F           float64 // +Inf if the function was finite at no evaluated point
	Iterations  int
	Evaluations int
	Converged   bool      // stopped by GradTol, FuncTol or Gain
	Curvature   Curvature // model of the Hessian at the end
}

// Curvature is a model of a Hessian: the stored pairs (Δx, Δgradient) of a search.
type Curvature struct{ steps, changes [][]float64 }

// Times returns the model multiplied by a positive factor.
func (c Curvature) Times(factor float64) Curvature {
	out := Curvature{steps: c.steps}
	for _, y := range c.changes {
		scaled := make([]float64, len(y))
		for i, v := range y {
			scaled[i] = factor * v
		}
		out.changes = append(out.changes, scaled)
	}
	return out
}

// Minimize minimises f in the box lo ≤ x ≤ hi from x0, which it projects on the box.
// f returns its value and writes its gradient. Nil and infinite bounds are no bounds.
//
// A point with a value or gradient that is not finite is infeasible: the line search
// shortens the step. The result is never worse than x0. On cancellation Minimize
// returns the best point so far and the error of the context.
func Minimize(ctx context.Context, f func(x, grad []float64) float64, x0, lo, hi []float64, s Settings) (Result, error) {
	run := newSearch(x0, lo, hi, s.withDefaults())
	grad := make([]float64, len(x0))
	for !run.done {
		if err := ctx.Err(); err != nil {
			return run.result(), err
		}
		run.tell(f(run.trial, grad), grad)
	}
	return run.result(), nil
}

// MinimizeBatch is Minimize from each row of x0 (starts×n). All starts advance
// together: each round calls f once, with a row of x for every active start; f writes a
// value and a row of grad for each. Results have the order of x0. They equal the results
// of Minimize if f treats its rows independently.
func MinimizeBatch(ctx context.Context, f func(value []float64, grad, x *mat.Dense), x0 *mat.Dense, lo, hi []float64, s Settings) ([]Result, error) {
	starts, n := x0.Dims()
	s = s.withDefaults()
	runs := make([]*search, starts)
	for i := range runs {
		runs[i] = newSearch(x0.RawRowView(i), lo, hi, s)
	}
	var (
		value  = make([]float64, starts)
		points = make([]float64, starts*n)
		grads  = make([]float64, starts*n)
		active = make([]*search, starts)
		err    error

		g, x mat.Dense // views of grads and points
	)
	for copy(active, runs); len(active) > 0; {
		if err = ctx.Err(); err != nil {
			break
		}
		k := len(active)
		for i, r := range active {
			copy(points[i*n:(i+1)*n], r.trial)
		}
		g.SetRawMatrix(blas64.General{Rows: k, Cols: n, Stride: n, Data: grads[:k*n]})
		x.SetRawMatrix(blas64.General{Rows: k, Cols: n, Stride: n, Data: points[:k*n]})
		f(value[:k], &g, &x)
		left := active[:0]
		for i, r := range active {
			if r.tell(value[i], grads[i*n:(i+1)*n]); !r.done {
				left = append(left, r)
			}
		}
		active = left
	}
	results := make([]Result, starts)
	for i, r := range runs {
		results[i] = r.result()
	}
	return results, err
}

func checkBox(n int, lo, hi []float64) {
	if (lo != nil && len(lo) != n) || (hi != nil && len(hi) != n) {
		panic(fmt.Sprintf("optimize: bounds of length %d and %d, want %d", len(lo), len(hi), n))
	}
	for i := range n {
		l, h := math.Inf(-1), math.Inf(1)
		if lo != nil {
			l = lo[i]
		}
		if hi != nil {
			h = hi[i]
		}
		if !(l <= h) {
			panic(fmt.Sprintf("optimize: bounds %d are [%v, %v]", i, l, h))
		}
	}
}
