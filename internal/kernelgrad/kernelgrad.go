// Package kernelgrad computes reverse-mode derivatives of kernel matrices that the interface
// prior.Kernel does not contain: derivatives of Gram matrices with respect to the points, and
// of cross matrices and diagonals with respect to hyperparameters.
// Exact and sparse Gaussian processes use them.
package kernelgrad

import (
	"fmt"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/workspace"
)

// Kernel is the part of prior.Kernel that this package uses.
type Kernel interface {
	CrossVJP(dx, x, y, kbar *mat.Dense)
	DiagVJP(dx, x *mat.Dense, dbar []float64)
	ParamVJP(dtheta []float64, x *mat.Dense, kbar *mat.SymDense)
}

// CrossDifferentiable is an optional interface of kernels whose derivatives cost less
// than the general computation of CrossParam and DiagParam.
type CrossDifferentiable interface {
	Kernel
	CrossParamVJP(dtheta []float64, x, y, kbar *mat.Dense)
	DiagParamVJP(dtheta []float64, x *mat.Dense, dbar []float64)
}

// Gram adds to dx (n×d) the gradient of Σ_ij kbar_ij k(x_i, x_j), over all i and j,
// with respect to x.
func Gram(k Kernel, dx, x *mat.Dense, kbar *mat.SymDense) {
	n, _ := x.Dims()
	// Off the diagonal x_i enters through both arguments of a symmetric k. On the
	// diagonal the derivative is DiagVJP, which differs for white noise.
	mem := workspace.Borrow()
	defer mem.Return()
	both, diag := mem.Zeros(n, n), mem.Floats(n)
	for i := range n {
		diag[i] = kbar.At(i, i)
		for j := range i {
			both.Set(i, j, 2*kbar.At(i, j))
			both.Set(j, i, 2*kbar.At(i, j))
		}
	}
	k.CrossVJP(dx, x, x, both)
	k.DiagVJP(dx, x, diag)
}

// CrossParam adds to dtheta the gradient of Σ_ij kbar_ij k(x_i, y_j) with respect to
// the logarithms of the hyperparameters. It costs O(nmd) for kernels that implement
// CrossDifferentiable, and O((n+m)²d) for others.
func CrossParam(k Kernel, dtheta []float64, x, y, kbar *mat.Dense) {
	if k, ok := k.(CrossDifferentiable); ok {
		k.CrossParamVJP(dtheta, x, y, kbar)
		return
	}
	n, d := x.Dims()
	m, _ := y.Dims()
	both := mat.NewDense(n+m, d, nil)
	both.Stack(x, y)
	bar := mat.NewSymDense(n+m, nil)
	raw := bar.RawSymmetric()
	for i := range n {
		floats.AddScaled(raw.Data[i*raw.Stride+n:i*raw.Stride+n+m], 0.5, kbar.RawRowView(i))
	}
	k.ParamVJP(dtheta, both, bar)
}

// DiagParam adds to dtheta the gradient of Σ_i dbar_i k(x_i, x_i) with respect to the
// logarithms of the hyperparameters, in O(nd).
func DiagParam(k Kernel, dtheta []float64, x *mat.Dense, dbar []float64) {
	n, d := x.Dims()
	if len(dbar) != n {
		panic(fmt.Sprintf("kernelgrad: dbar has length %d, want %d", len(dbar), n))
	}
	if k, ok := k.(CrossDifferentiable); ok {
		k.DiagParamVJP(dtheta, x, dbar)
		return
	}
	const block = 8
	for lo := 0; lo < n; lo += block {
		hi := min(lo+block, n)
		bar := mat.NewSymDense(hi-lo, nil)
		for i, v := range dbar[lo:hi] {
			bar.SetSym(i, i, v)
		}
		k.ParamVJP(dtheta, x.Slice(lo, hi, 0, d).(*mat.Dense), bar)
	}
}
