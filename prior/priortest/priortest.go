// Package priortest checks that a kernel fulfils the contract of prior.Kernel. One line in a test runs the checks on a
// kernel of your own:
//
//	priortest.Run(t, mypackage.NewKernel(2))
//
// The kernel is evaluated at random points of the unit cube and of the cube from -3 to 3. It has its own
// hyperparameters, and then others within their bounds. Derivatives are compared with central differences.
// Choose lengthscales and periods above 0.1: differences of functions that vary faster are inaccurate.
package priortest

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/gradcheck"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/internal/shape"
	"github.com/functionspace/bo/prior"
)

// Run checks k, a sub-test for each check.
func Run(t *testing.T, k prior.Kernel) {
	for _, c := range checks {
		t.Run(c.name, func(t *testing.T) {
			if err := c.run(k); err != nil {
				t.Error(err)
			}
		})
	}
}

// Check runs the checks and joins the errors of the checks that failed.
func Check(k prior.Kernel) error {
	var errs []error
	for _, c := range checks {
		if err := c.run(k); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", c.name, err))
		}
	}
	return errors.Join(errs...)
}

var checks = []struct {
	name string
	run  func(prior.Kernel) error
}{
	{"hyperparameters", checkParams},
	{"values", each(checkValues)},
	{"positive definite", each(checkDefinite)},
	{"gradient of Cross", each(checkCrossVJP)},
	{"gradient of Diag", each(checkDiagVJP)},
	{"gradient of hyperparameters", each(checkParamVJP)},
	{"equal points", each(checkEqualPoints)},
}

// each returns a check of a kernel with its hyperparameters and with others.
func each(check func(prior.Kernel) error) func(prior.Kernel) error {
	return func(k prior.Kernel) error {
		if err := check(k); err != nil {
			return err
		}
		theta := moved(k.Params())
		if err := check(k.WithParams(theta)); err != nil {
			return fmt.Errorf("with hyperparameters %v: %w", theta, err)
		}
		return nil
	}
}

// moved returns values that differ from the values of params, within the bounds of those that are fitted.
func moved(params []prior.Param) []float64 {
	theta := make([]float64, len(params))
	for i, p := range params {
		theta[i] = p.Value * math.Exp(0.3-0.25*float64(i%4))
		if !p.Fixed {
			theta[i] = min(max(theta[i], p.Lo), p.Hi)
		}
	}
	return theta
}

func checkParams(k prior.Kernel) error {
	if k.Dim() < 1 {
		return fmt.Errorf("Dim() is %d", k.Dim())
	}
	if k.String() == "" {
		return errors.New("String() is empty")
	}
	before, names := k.Params(), map[string]bool{}
	for _, p := range before {
		switch {
		case names[p.Name]:
			return fmt.Errorf("two hyperparameters have the name %q", p.Name)
		case !(p.Value > 0) || math.IsInf(p.Value, 1):
			return fmt.Errorf("%s is %v, want a positive number", p.Name, p.Value)
		case !p.Fixed && !(0 < p.Lo && p.Lo <= p.Value && p.Value <= p.Hi):
			return fmt.Errorf("%s is %v, outside its bounds from %v to %v, which are positive", p.Name, p.Value, p.Lo, p.Hi)
		}
		names[p.Name] = true
	}
	theta := moved(before)
	reused := slices.Clone(theta)
	next := k.WithParams(reused)
	clear(reused)
	after := next.Params()
	if len(after) != len(before) || next.Dim() != k.Dim() {
		return errors.New("WithParams changes the number of hyperparameters or inputs")
	}
	for i, p := range after {
		if p.Name != before[i].Name || math.Abs(p.Value-theta[i]) > 1e-12*theta[i] {
			return fmt.Errorf("hyperparameter %d is %s = %v after WithParams with %s = %v: WithParams copies its argument", i, p.Name, p.Value, before[i].Name, theta[i])
		}
	}
	for i, p := range k.Params() {
		if p.Value != before[i].Value {
			return fmt.Errorf("WithParams changes %s of its receiver", p.Name)
		}
	}
	return nil
}

// checkValues compares Gram, Cross and Diag. Gram and Cross may differ at equal points, as for white noise.
func checkValues(k prior.Kernel) error {
	const n = 12
	x := points(k, n, 1, "values")
	gram, cross, diag := mat.NewSymDense(n, nans(n*n)), mat.NewDense(n, n, nans(n*n)), nans(n)
	k.Gram(gram, x)
	k.Cross(cross, x, x)
	k.Diag(diag, x)
	tol := valueTol * scale(k, x)
	same := func(what string, i, j int, a, b float64) error {
		if !(math.Abs(a-b) <= tol) {
			return fmt.Errorf("%s at points %d and %d: %.12g and %.12g", what, i, j, a, b)
		}
		return nil
	}
	for i := range n {
		if err := same("Diag and Gram", i, i, diag[i], gram.At(i, i)); err != nil {
			return err
		}
		for j := range n {
			if i == j {
				continue
			}
			if err := same("Cross and Gram", i, j, cross.At(i, j), gram.At(i, j)); err != nil {
				return err
			}
			if err := same("Cross and its transpose", i, j, cross.At(i, j), cross.At(j, i)); err != nil {
				return err
			}
		}
	}
	return nil
}

// scale returns the largest variance at the rows of x, and 1 unless it is positive and finite.
func scale(k prior.Kernel, x *mat.Dense) float64 {
	n, _ := x.Dims()
	diag := nans(n)
	k.Diag(diag, x)
	if largest := floats.Max(diag); largest > 0 && !math.IsInf(largest, 1) {
		return largest
	}
	return 1
}

// checkDefinite computes the eigenvalues of Gram matrices, also of points of which some are close to one another.
func checkDefinite(k prior.Kernel) error {
	const n = 40
	for _, side := range []float64{0.5, 1, 6} {
		x := points(k, n, side, "definite")
		for i := range n / 4 {
			row := x.RawRowView(i)
			copy(row, x.RawRowView(n/4+i))
			row[0] += 1e-3 * side
		}
		gram := mat.NewSymDense(n, nil)
		k.Gram(gram, x)
		var eig mat.EigenSym
		if trace := mat.Trace(gram); math.IsNaN(trace) || math.IsInf(trace, 0) || !eig.Factorize(gram, false) {
			return fmt.Errorf("the trace of a Gram matrix is %v", trace)
		}
		values := eig.Values(nil)
		if least, largest := floats.Min(values), floats.Max(values); !(least >= -1e-9*largest) {
			return fmt.Errorf("a Gram matrix of %d points has the eigenvalues %.6g and %.6g", n, least, largest)
		}
	}
	return nil
}

// Tolerances of values and of derivatives, in units of the largest variance.
const valueTol, gradTol = 1e-12, 1e-7

// checkCrossVJP has points that differ in every input, because a kernel may have kinks at equal inputs.
func checkCrossVJP(k prior.Kernel) error {
	const n, m = 5, 4
	all := apart(k, n+m, "x and y")
	x, y := shape.Rows(all, 0, n), shape.Rows(all, n, n+m)
	kbar := mat.NewDense(n, m, weights(k, all, n*m, "kbar"))
	value := func([]float64) float64 {
		c := mat.NewDense(n, m, nans(n*m))
		k.Cross(c, x, y)
		c.MulElem(c, kbar)
		return mat.Sum(c)
	}
	return gradient(x, value, func(dx *mat.Dense) { k.CrossVJP(dx, x, y, kbar) })
}

func checkDiagVJP(k prior.Kernel) error {
	const n = 5
	x := points(k, n, 1, "x")
	dbar := weights(k, x, n, "dbar")
	value := func([]float64) float64 {
		d := nans(n)
		k.Diag(d, x)
		return floats.Dot(d, dbar)
	}
	return gradient(x, value, func(dx *mat.Dense) { k.DiagVJP(dx, x, dbar) })
}

// gradient compares the derivative of value with respect to x, which add adds to its destination.
func gradient(x *mat.Dense, value func([]float64) float64, add func(dx *mat.Dense)) error {
	n, d := x.Dims()
	dx := mat.NewDense(n, d, nil)
	start := normals(n*d, "dx")
	copy(dx.RawMatrix().Data, start)
	add(dx)
	floats.Sub(dx.RawMatrix().Data, start)
	return explained(gradcheck.Gradient(value, x.RawMatrix().Data, dx.RawMatrix().Data, gradTol))
}

func checkParamVJP(k prior.Kernel) error {
	const n = 6
	x := points(k, n, 1, "x")
	kbar := mat.NewSymDense(n, weights(k, x, n*n, "kbar"))
	x.SetRow(3, x.RawRowView(1)) // equal points
	var logs []float64
	for _, p := range k.Params() {
		logs = append(logs, math.Log(p.Value))
	}
	value := func(logs []float64) float64 {
		theta, gram := make([]float64, len(logs)), mat.NewSymDense(n, nans(n*n))
		for i, l := range logs {
			theta[i] = math.Exp(l)
		}
		k.WithParams(theta).Gram(gram, x)
		sum := 0.0
		for i := range n {
			for j := range n {
				sum += kbar.At(i, j) * gram.At(i, j)
			}
		}
		return sum
	}
	start := normals(len(logs), "dtheta")
	grad := append([]float64(nil), start...)
	k.ParamVJP(grad, x, kbar)
	floats.Sub(grad, start)
	return explained(gradcheck.Gradient(value, logs, grad, gradTol))
}

func explained(err error) error {
	if err != nil {
		return fmt.Errorf("%w (methods that end in VJP add to the destination; hyperparameters are differentiated by their logarithms)", err)
	}
	return nil
}

// checkEqualPoints requires finite derivatives at x = y and at points that are equal in some inputs. Fits and acquisition
// functions evaluate both.
func checkEqualPoints(k prior.Kernel) error {
	const n = 3
	x, y := points(k, n, 1, "x"), points(k, n, 1, "y")
	for j := range k.Dim() {
		y.Set(j%n, j, x.At(j%n, j))
	}
	kbar := mat.NewDense(n, n, normals(n*n, "kbar"))
	finite := func(what string, y *mat.Dense) error {
		dx := mat.NewDense(n, k.Dim(), nil)
		k.CrossVJP(dx, x, y, kbar)
		for i, v := range dx.RawMatrix().Data {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("CrossVJP of %s has the derivative %v with respect to input %d", what, v, i%k.Dim())
			}
		}
		return nil
	}
	return cmp.Or(finite("equal points", x), finite("points with equal inputs", y))
}

// points returns n uniform points of a cube of the given side; from side 2 on its centre is 0.
func points(k prior.Kernel, n int, side float64, label string) *mat.Dense {
	rng := stream(label, n)
	x := mat.NewDense(n, k.Dim(), nil)
	lo := 0.0
	if side >= 2 {
		lo = -side / 2
	}
	x.Apply(func(_, _ int, _ float64) float64 { return lo + side*rng.Float64() }, x)
	return x
}

// apart returns n points of the unit cube, a Latin hypercube, of which any two differ by at least 1/(2n) in every input.
func apart(k prior.Kernel, n int, label string) *mat.Dense {
	rng := stream(label, n)
	x := mat.NewDense(n, k.Dim(), nil)
	for j := range k.Dim() {
		for i, cell := range rng.Perm(n) {
			x.Set(i, j, (float64(cell)+0.25+0.5*rng.Float64())/float64(n))
		}
	}
	return x
}

// weights returns normal numbers divided by the scale of k at x: sums of kernel values with them have unit scale.
func weights(k prior.Kernel, x *mat.Dense, n int, label string) []float64 {
	v := normals(n, label)
	floats.Scale(1/scale(k, x), v)
	return v
}

func normals(n int, label string) []float64 {
	v := make([]float64, n)
	random.Normal(v, stream(label, n))
	return v
}

func stream(label string, n int) *rand.Rand { return random.New(1, label, n) }

func nans(n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = math.NaN()
	}
	return v
}
