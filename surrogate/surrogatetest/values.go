package surrogatetest

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/gradcheck"
	"github.com/functionspace/bo/internal/subset"
	"github.com/functionspace/bo/surrogate"
)

func predict(p surrogate.Posterior, x *mat.Dense) (mean, variance []float64) {
	m, _ := x.Dims()
	mean, variance = make([]float64, m), make([]float64, m)
	p.Predict(mean, variance, x)
	return mean, variance
}

func joint(p surrogate.Posterior, x *mat.Dense) ([]float64, *mat.SymDense) {
	m, _ := x.Dims()
	mean, cov := make([]float64, m), mat.NewSymDense(m, nil)
	p.Joint(mean, cov, x)
	return mean, cov
}

// gradients holds the results of PredictGrad.
type gradients struct {
	mean, variance   []float64
	dmean, dvariance *mat.Dense
}

// predictGrad calls PredictGrad with destinations filled with fill.
func predictGrad(p surrogate.Posterior, x *mat.Dense, fill float64) gradients {
	m, d := x.Dims()
	g := gradients{filled(m, fill), filled(m, fill), mat.NewDense(m, d, filled(m*d, fill)), mat.NewDense(m, d, filled(m*d, fill))}
	p.PredictGrad(g.mean, g.variance, g.dmean, g.dvariance, x)
	return g
}

func evaluate(p surrogate.Path, x *mat.Dense) []float64 {
	m, _ := x.Dims()
	value := make([]float64, m)
	p.Eval(value, nil, x)
	return value
}

// scale returns the largest standard deviation at x, at least 1e-8: the unit of
// tolerances.
func scale(p surrogate.Posterior, x *mat.Dense) float64 {
	_, variance := predict(p, x)
	return max(math.Sqrt(max(slices.Max(variance), 0)), 1e-8)
}

// near returns an error if got differs by more than tol from the start of want.
func near(what string, got, want []float64, tol float64) error {
	return compare(what, got, want, func(g, w float64) bool { return math.Abs(g-w) <= tol })
}

func compare(what string, got, want []float64, equal func(g, w float64) bool) error {
	for i, g := range got {
		if !equal(g, want[i]) {
			return fmt.Errorf("%s: number %d is %v, want %v", what, i, g, want[i])
		}
	}
	return nil
}

// nearMoments compares means with the tolerance tol·sd and variances with tol·sd².
func nearMoments(what string, mean, variance, wantMean, wantVariance []float64, tol, sd float64) error {
	return errors.Join(
		near("mean "+what, mean, wantMean, tol*sd),
		near("variance "+what, variance, wantVariance, tol*sd*sd),
	)
}

// differences checks gradients of f at the rows of x against central differences of
// Σ_i (1+i) f(x_i). Its error names the function.
func differences(what string, f func(x *mat.Dense) []float64, x, grad *mat.Dense, tol float64) error {
	at, weighted := mat.DenseCopyOf(x), mat.DenseCopyOf(grad)
	m, _ := x.Dims()
	for i := range m {
		floats.Scale(float64(1+i), weighted.RawRowView(i))
	}
	sum := func([]float64) float64 {
		var s float64
		for i, v := range f(at) {
			s += float64(1+i) * v
		}
		return s
	}
	if err := gradcheck.Gradient(sum, at.RawMatrix().Data, data(weighted), tol); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// rejected returns an error unless a call returned no posterior and an error that wraps want.
func rejected(what string, post any, err, want error) error {
	if !errors.Is(err, want) {
		return fmt.Errorf("%s returns the error %v, want one that wraps %v", what, err, want)
	}
	if post != nil {
		return fmt.Errorf("%s returns a posterior and an error", what)
	}
	return nil
}

// filled returns n copies of v.
func filled(n int, v float64) []float64 { return slices.Repeat([]float64{v}, n) }

// identical returns an error if two slices differ in any bit.
func identical(what string, got, want []float64) error {
	if len(got) != len(want) {
		return fmt.Errorf("%s: %d numbers, want %d", what, len(got), len(want))
	}
	return compare(what, got, want, func(g, w float64) bool { return math.Float64bits(g) == math.Float64bits(w) })
}

func finite(what string, values []float64) error {
	for i, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("%s: number %d is %v", what, i, v)
		}
	}
	return nil
}

// data returns the numbers of a matrix, row by row.
func data(m mat.Matrix) []float64 { return mat.DenseCopyOf(m).RawMatrix().Data }

func rowsOf(x *mat.Dense, rows ...int) *mat.Dense { return subset.Take(x, rows) }
