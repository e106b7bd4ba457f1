// Package acquisitiontest checks that an acquisition function fulfils the contract of package acquisition. One line in
// a test runs the checks on a function of your own:
//
//	acquisitiontest.Run(t, mypackage.Acquisition{})
//
// The checks build the function for Gaussian processes of one and two inputs, of almost exact and of noisy
// observations. The problems have one objective and no constraints. A function of two points is checked if
// there is one. Run the checks with -race too, because one evaluates from several goroutines.
package acquisitiontest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/acquisition"
	"github.com/functionspace/bo/internal/gradcheck"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/internal/shape"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/gp"
)

// Run checks a, a sub-test for each check.
func Run(t *testing.T, a acquisition.Acquisition) {
	for _, c := range checks {
		t.Run(c.name, func(t *testing.T) {
			if err := c.run(a); err != nil {
				t.Error(err)
			}
		})
	}
}

// Check runs the checks and joins the errors of the checks that failed.
func Check(a acquisition.Acquisition) error {
	var errs []error
	for _, c := range checks {
		if err := c.run(a); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", c.name, err))
		}
	}
	return errors.Join(errs...)
}

var checks = []struct {
	name string
	run  func(acquisition.Acquisition) error
}{
	{"values", batches(checkValues)},
	{"gradient", batches(checkGradient)},
	{"determinism", batches(checkDeterminism)},
	{"concurrency", batches(checkConcurrency)},
	{"batch", each(checkBatch)},
	{"pending points", each(checkPending)},
}

// builder builds the same function at each call.
type builder func() (acquisition.Function, error)

// batches runs a check on every problem for a function of one point, and of two points if there is one.
func batches(check func(build builder, q int, x *mat.Dense) error) func(acquisition.Acquisition) error {
	return each(func(a acquisition.Acquisition, p acquisition.Problem) error {
		one := func() (acquisition.Function, error) { return build(a, p, 1) }
		if err := check(one, 1, pointsFor(p, 1)); err != nil {
			return err
		}
		two := func() (acquisition.Function, error) { return build(a, p, 2) }
		if _, err := two(); err != nil {
			return nil // see checkBatch
		}
		if err := check(two, 2, pointsFor(p, 2)); err != nil {
			return fmt.Errorf("a batch of two points: %w", err)
		}
		return nil
	})
}

// each runs a check on every problem.
func each(check func(acquisition.Acquisition, acquisition.Problem) error) func(acquisition.Acquisition) error {
	return func(a acquisition.Acquisition) error {
		for _, dim := range []int{1, 2} {
			for _, noise := range []float64{1e-5, 0.05} {
				p, err := problem(dim, noise)
				if err == nil {
					err = check(a, p)
				}
				if err != nil {
					return fmt.Errorf("%d inputs, noise variance %v: %w", dim, noise, err)
				}
			}
		}
		return nil
	}
}

// problem returns the posterior of six observations of a smooth function, with a pending point.
func problem(dim int, noise float64) (acquisition.Problem, error) {
	const n = 6
	d := surrogate.Dataset{X: points(n, dim, "data"), Y: make([]float64, n)}
	random.Normal(d.Y, random.New(1, "noise", n))
	for i := range n {
		d.Y[i] = math.Sqrt(noise) * d.Y[i]
		for j, v := range d.X.RawRowView(i) {
			d.Y[i] += math.Sin(5*v + float64(j))
		}
	}
	spec := prior.Spec{Kernel: "rbf", Lengthscale: []float64{0.3}, Variance: new(1.), Noise: &noise}
	p, err := gp.Model{Spec: spec}.Fit(context.Background(), d, random.New(1, "fit", 0))
	if err != nil {
		return acquisition.Problem{}, err
	}
	mean := make([]float64, n)
	surrogate.Means(p, mean, d.X)
	return acquisition.Problem{Posterior: p, Best: floats.Min(mean), Observed: d.X, Pending: points(1, dim, "pending")}, nil
}

func points(n, dim int, label string) *mat.Dense {
	return space.Uniform(n, dim, random.New(1, label, dim))
}

// build returns the function of q points.
func build(a acquisition.Acquisition, p acquisition.Problem, q int) (acquisition.Function, error) {
	f, err := a.Build(context.Background(), p, q, random.New(1, "build", 0))
	if err != nil {
		return nil, err
	}
	if d := p.Posterior.Dim(); f.Dim() != q*d {
		return nil, fmt.Errorf("Dim() is %d, want %d·%d", f.Dim(), q, d)
	}
	return f, nil
}

const candidates = 20

// pointsFor returns candidates of q points that are not close to one another, to observed or to pending points.
// Close to such points exact posteriors change too fast for differences.
func pointsFor(p acquisition.Problem, q int) *mat.Dense {
	d := p.Posterior.Dim()
	x := mat.NewDense(candidates, q*d, nil)
	all := points(20*candidates, d, "candidates")
	near := func(z *mat.Dense, row []float64) bool {
		n, _ := z.Dims()
		for i := range n {
			if floats.Distance(z.RawRowView(i), row, 2) < 0.03 {
				return true
			}
		}
		return false
	}
	i, k := 0, 0 // candidates, and points of the next one
	for next := 0; i < candidates; next++ {
		row, at := all.RawRowView(next), x.RawRowView(i)
		if near(p.Observed, row) || near(p.Pending, row) || k > 0 && near(mat.NewDense(k, d, at[:k*d]), row) {
			continue
		}
		copy(at[k*d:], row)
		if k++; k == q {
			i, k = i+1, 0
		}
	}
	return x
}

// checkValues compares values with and without gradient, of all candidates at once and one by one.
func checkValues(build builder, _ int, x *mat.Dense) error {
	f, err := build()
	if err != nil {
		return err
	}
	value, with, one := nans(candidates), nans(candidates), nans(1)
	grad := mat.NewDense(candidates, f.Dim(), nans(candidates*f.Dim()))
	f.Eval(value, nil, x)
	f.Eval(with, grad, x)
	unit := scale(value)
	near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-8*(unit+math.Abs(b)) }
	for i, v := range value {
		f.Eval(one, nil, shape.Rows(x, i, i+1))
		switch {
		case math.IsNaN(v) || math.IsInf(v, 0):
			return fmt.Errorf("the value at %v is %v: such a candidate counts as infeasible", x.RawRowView(i), v)
		case !near(v, with[i]):
			return fmt.Errorf("the value at %v is %v, and %v with the gradient", x.RawRowView(i), v, with[i])
		case !near(v, one[0]):
			return fmt.Errorf("the value at %v is %v among others, and %v alone", x.RawRowView(i), v, one[0])
		}
	}
	return nil
}

// scale returns the range of values if it is below 1, and 1 for equal values.
func scale(values []float64) float64 {
	if r := floats.Max(values) - floats.Min(values); r > 0 && r < 1 {
		return r
	}
	return 1
}

// checkGradient requires that the gradients of three quarters of the candidates agree with differences: a function of
// samples may have kinks. A function of two points is usually one of samples, and its tolerance is a tenth.
func checkGradient(build builder, q int, x *mat.Dense) error {
	f, err := build()
	if err != nil {
		return err
	}
	value, grad := nans(candidates), mat.NewDense(candidates, f.Dim(), nans(candidates*f.Dim()))
	f.Eval(value, grad, x)
	tol := 1e-4
	if q > 1 {
		tol = 0.1
	}
	unit := scale(value)
	grad.Scale(1/unit, grad)
	var apart []error
	for i := range candidates {
		at := slices.Clone(x.RawRowView(i))
		one := func(at []float64) float64 {
			v := nans(1)
			f.Eval(v, nil, mat.NewDense(1, len(at), at))
			return v[0] / unit
		}
		if err := gradcheck.Gradient(one, at, grad.RawRowView(i), tol); err != nil {
			apart = append(apart, fmt.Errorf("at %v, in units of %.3g: %w", x.RawRowView(i), unit, err))
		}
	}
	if len(apart) > candidates/4 {
		return apart[0]
	}
	return nil
}

// checkDeterminism builds the function twice with the same random numbers.
func checkDeterminism(build builder, _ int, x *mat.Dense) error {
	var values [2][]float64
	for i := range values {
		f, err := build()
		if err != nil {
			return err
		}
		values[i] = nans(candidates)
		f.Eval(values[i], nil, x)
	}
	if !slices.Equal(values[0], values[1]) {
		return errors.New("two functions of one problem with equal rng differ: take random numbers from rng alone")
	}
	return nil
}

// checkConcurrency evaluates from several goroutines.
func checkConcurrency(build builder, _ int, x *mat.Dense) error {
	f, err := build()
	if err != nil {
		return err
	}
	values := make([][]float64, 4)
	var all sync.WaitGroup
	for i := range values {
		all.Go(func() {
			values[i] = nans(candidates)
			f.Eval(values[i], mat.NewDense(candidates, f.Dim(), nil), x)
		})
	}
	all.Wait()
	for _, v := range values[1:] {
		if !slices.Equal(v, values[0]) {
			return errors.New("evaluations in several goroutines have different values")
		}
	}
	return nil
}

// checkBatch requires a function of two points, or an error that wraps ErrBatch.
func checkBatch(a acquisition.Acquisition, p acquisition.Problem) error {
	if _, err := build(a, p, 2); err != nil && !errors.Is(err, acquisition.ErrBatch) {
		return fmt.Errorf("a function of two points: %w; if there is none, the error wraps ErrBatch", err)
	}
	return nil
}

// checkPending requires lower values at points that are pending, but not of a function that is random, as a function drawn
// from the posterior: it chooses other points without this.
func checkPending(a acquisition.Acquisition, p acquisition.Problem) error {
	at := func(z, pending *mat.Dense, seed uint64) (float64, error) {
		p.Pending = pending
		f, err := a.Build(context.Background(), p, 1, random.New(seed, "build", 0))
		if err != nil {
			return 0, err
		}
		v := nans(1)
		f.Eval(v, nil, z)
		return v[0], nil
	}
	x := pointsFor(p, 1)
	for i := range candidates {
		z := shape.Rows(x, i, i+1)
		with, err := at(z, z, 1)
		if err != nil {
			return err
		}
		without, err := at(z, nil, 1)
		if err != nil {
			return err
		}
		if other, err := at(z, nil, 2); err != nil || with < without || other != without {
			return err
		}
	}
	return errors.New("values at pending points are not lower than without them: build the function from Problem.Condition")
}

func nans(n int) []float64 { return slices.Repeat([]float64{math.NaN()}, n) }
