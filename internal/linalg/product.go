package linalg

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// Op says whether a factor of a product is transposed.
type Op = blas.Transpose

// The two forms of a factor.
const (
	N Op = blas.NoTrans
	T Op = blas.Trans
)

// Mul computes dst = alpha·op(a)·op(b) + beta·dst. dst must not overlap a or b.
func Mul(dst *mat.Dense, alpha float64, opA Op, a *mat.Dense, opB Op, b *mat.Dense, beta float64) {
	blas64.Gemm(opA, opB, alpha, a.RawMatrix(), b.RawMatrix(), beta, dst.RawMatrix())
}

// MulVec computes dst = alpha·op(a)·x + beta·dst.
func MulVec(dst []float64, alpha float64, op Op, a *mat.Dense, x []float64, beta float64) {
	blas64.Gemv(op, alpha, a.RawMatrix(), blas64.Vector{N: len(x), Inc: 1, Data: x}, beta, blas64.Vector{N: len(dst), Inc: 1, Data: dst})
}

// Syrk computes the symmetric dst = alpha·op(a)·op(a)ᵀ + beta·dst.
func Syrk(dst *mat.SymDense, alpha float64, op Op, a *mat.Dense, beta float64) {
	blas64.Syrk(op, alpha, a.RawMatrix(), beta, dst.RawSymmetric())
}

// Dot returns Σ x_i y_i.
func Dot(x, y []float64) float64 {
	return blas64.Dot(blas64.Vector{N: len(x), Inc: 1, Data: x}, blas64.Vector{N: len(y), Inc: 1, Data: y})
}

// Axpy computes y += alpha·x.
func Axpy(alpha float64, x, y []float64) {
	blas64.Axpy(alpha, blas64.Vector{N: len(x), Inc: 1, Data: x}, blas64.Vector{N: len(y), Inc: 1, Data: y})
}
