// Package shape validates the sizes of arguments between packages of this module. A
// wrong size is a programming error: the functions panic with the actual and the
// expected size.
package shape

import (
	"fmt"

	"gonum.org/v1/gonum/mat"
)

// Len panics unless the slice called name has the expected length.
func Len(name string, got, want int) {
	if got != want {
		panic(fmt.Sprintf("%s has length %d, want %d", name, got, want))
	}
}

// Dims panics unless the matrix called name is r×c.
func Dims(name string, a mat.Matrix, r, c int) {
	if ar, ac := a.Dims(); ar != r || ac != c {
		panic(fmt.Sprintf("%s is %d×%d, want %d×%d", name, ar, ac, r, c))
	}
}

// Points returns the number of rows of x and panics unless each has dim columns.
func Points(x *mat.Dense, dim int) int {
	n, d := x.Dims()
	if d != dim {
		panic(fmt.Sprintf("points of %d inputs, want %d", d, dim))
	}
	return n
}

// Chunks calls f for rows i to k of x, at most size rows at a time, in order.
func Chunks(x *mat.Dense, size int, f func(i, k int, x *mat.Dense)) {
	n, d := x.Dims()
	for i := 0; i < n; i += size {
		k, part := min(n, i+size), x
		if k-i < n {
			part = x.Slice(i, k, 0, d).(*mat.Dense)
		}
		f(i, k, part)
	}
}

// Rows returns a view of rows i to k of x.
func Rows(x *mat.Dense, i, k int) *mat.Dense {
	_, d := x.Dims()
	return x.Slice(i, k, 0, d).(*mat.Dense)
}

// Predict validates the arguments of a posterior's Predict, with dim inputs, and
// returns the number of points.
func Predict(mean, variance []float64, x *mat.Dense, dim int) int {
	m := Points(x, dim)
	Len("mean", len(mean), m)
	Len("variance", len(variance), m)
	return m
}

// PredictGrad is Predict for a posterior's PredictGrad.
func PredictGrad(mean, variance []float64, dmean, dvariance, x *mat.Dense, dim int) int {
	m := Predict(mean, variance, x, dim)
	Dims("dmean", dmean, m, dim)
	Dims("dvariance", dvariance, m, dim)
	return m
}

// Joint is Predict for a posterior's Joint.
func Joint(mean []float64, cov *mat.SymDense, x *mat.Dense, dim int) int {
	m := Points(x, dim)
	Len("mean", len(mean), m)
	Len("cov", cov.SymmetricDim(), m)
	return m
}

// JointVJP is Predict for a posterior's JointVJP.
func JointVJP(dx *mat.Dense, mbar []float64, cbar *mat.SymDense, x *mat.Dense, dim int) int {
	m := Points(x, dim)
	Len("mbar", len(mbar), m)
	Len("cbar", cbar.SymmetricDim(), m)
	Dims("dx", dx, m, dim)
	return m
}

// Eval is Predict for the Eval of a path. The gradient may be nil.
func Eval(value []float64, grad, x *mat.Dense, dim int) int {
	m := Points(x, dim)
	Len("value", len(value), m)
	if grad != nil {
		Dims("grad", grad, m, dim)
	}
	return m
}
