package prior

import (
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"
)

// Kernel is a covariance function k(x,x') = cov(f(x), f(x')) on R^d. It is
// immutable: WithParams returns a changed copy.
//
// Points are rows of n×d and m×d matrices. Dst matrices must have the stated
// size and are overwritten; methods that end in VJP add to their destination.
// Package priortest checks a kernel of your own.
type Kernel interface {
	// Dim returns d.
	Dim() int

	// Gram writes k(x_i, x_j), n×n.
	Gram(dst *mat.SymDense, x *mat.Dense)

	// Cross writes k(x_i, y_j), n×m.
	Cross(dst, x, y *mat.Dense)

	// Diag writes k(x_i, x_i).
	Diag(dst []float64, x *mat.Dense)

	// CrossVJP adds to dx (n×d) the gradient of Σ_ij kbar_ij k(x_i, y_j) with
	// respect to x.
	CrossVJP(dx, x, y, kbar *mat.Dense)

	// DiagVJP adds to dx (n×d) the gradient of Σ_i dbar_i k(x_i, x_i).
	DiagVJP(dx *mat.Dense, x *mat.Dense, dbar []float64)

	// ParamVJP adds to dtheta the gradient of Σ_ij kbar_ij k(x_i, x_j), over
	// all i and j, with respect to log Params.
	ParamVJP(dtheta []float64, x *mat.Dense, kbar *mat.SymDense)

	// Params returns the hyperparameters θ in order. All are positive. Fits optimise
	// log θ, and ParamVJP is the derivative with respect to log θ.
	Params() []Param

	// WithParams returns the kernel with hyperparameters θ (not log θ). It copies theta.
	WithParams(theta []float64) Kernel

	// String returns an expression for Parse, e.g. "rbf*periodic+linear", or the name of a kernel of another package.
	String() string
}

// Param is one hyperparameter of a kernel.
type Param struct {
	Name   string  // unique within the kernel, e.g. "lengthscale[2]" or "rbf.lengthscale[2]" in an expression
	Value  float64 // current value
	Lo, Hi float64 // bounds for fitting
	Prior  Density // hyperprior of the value; nil is flat in log θ
	Fixed  bool    // not fitted
}

// Density is a probability density on the positive numbers.
type Density interface {
	// LogProb returns log p(θ) and its derivative with respect to θ.
	LogProb(theta float64) (lp, dlp float64)
	// Mode returns the value at which a fit starts.
	Mode() float64
	// Sample draws one number.
	Sample(rng *rand.Rand) float64
}

func checkPoints(what string, x *mat.Dense, dim int) (n int) {
	n, d := x.Dims()
	if d != dim {
		panic(fmt.Sprintf("prior: %s have %d columns, want %d", what, d, dim))
	}
	return n
}

func checkSize(what string, m *mat.Dense, rows, cols int) {
	if r, c := m.Dims(); r != rows || c != cols {
		panic(fmt.Sprintf("prior: %s is %d×%d, want %d×%d", what, r, c, rows, cols))
	}
}

func checkSym(what string, m *mat.SymDense, n int) {
	if r := m.SymmetricDim(); r != n {
		panic(fmt.Sprintf("prior: %s is %d×%d, want %d×%d", what, r, r, n, n))
	}
}

func checkLen(what string, got, want int) {
	if got != want {
		panic(fmt.Sprintf("prior: %s has length %d, want %d", what, got, want))
	}
}
