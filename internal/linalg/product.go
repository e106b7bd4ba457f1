package linalg

import (
	"fmt"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/dense"
)

// Op selects a factor of a product or its transpose.
type Op = blas.Transpose

// The two forms of a factor.
const (
	N Op = blas.NoTrans
	T Op = blas.Trans
)

// Mul computes dst = alpha·op(a)·op(b) + beta·dst. dst must not overlap a or b.
func Mul(dst *mat.Dense, alpha float64, opA Op, a *mat.Dense, opB Op, b *mat.Dense, beta float64) {
	m, k := dims(opA, a)
	l, n := dims(opB, b)
	if r, c := dst.Dims(); k != l || r != m || c != n {
		panic(fmt.Sprintf("linalg: product of %d×%d and %d×%d into %d×%d", m, k, l, n, r, c))
	}
	dense.Gemm(opA, opB, alpha, a.RawMatrix(), b.RawMatrix(), beta, dst.RawMatrix())
}

// MulVec computes dst = alpha·op(a)·x + beta·dst.
func MulVec(dst []float64, alpha float64, op Op, a *mat.Dense, x []float64, beta float64) {
	if m, n := dims(op, a); len(dst) != m || len(x) != n {
		panic(fmt.Sprintf("linalg: product of %d×%d and a vector of length %d into length %d", m, n, len(x), len(dst)))
	}
	dense.Gemv(op, alpha, a.RawMatrix(), x, beta, dst)
}

// SymMulVec computes dst = a·x, reading each entry of a once.
func SymMulVec(dst []float64, a *mat.SymDense, x []float64) {
	dense.Symv(1, a.RawSymmetric(), x, 0, dst)
}

// Syrk computes the symmetric dst = alpha·op(a)·op(a)ᵀ + beta·dst.
func Syrk(dst *mat.SymDense, alpha float64, op Op, a *mat.Dense, beta float64) {
	if m, k := dims(op, a); dst.SymmetricDim() != m {
		panic(fmt.Sprintf("linalg: product of %d×%d and its transpose into size %d", m, k, dst.SymmetricDim()))
	}
	dense.Syrk(op, alpha, a.RawMatrix(), beta, dst.RawSymmetric())
}

// Dot returns Σ x_i y_i.
func Dot(x, y []float64) float64 {
	checkSameLen(x, y)
	return dense.Dot(x, y)
}

// Axpy computes y += alpha·x.
func Axpy(alpha float64, x, y []float64) {
	checkSameLen(x, y)
	dense.Axpy(alpha, x, y)
}

// dims returns the size of op(a).
func dims(op Op, a *mat.Dense) (r, c int) {
	r, c = a.Dims()
	if op == T {
		r, c = c, r
	}
	return r, c
}

func checkSameLen(x, y []float64) {
	if len(x) != len(y) {
		panic(fmt.Sprintf("linalg: vectors of length %d and %d", len(x), len(y)))
	}
}

// AddDiagonal adds v to the diagonal of a.
func AddDiagonal(a *mat.SymDense, v float64) {
	for i := range a.SymmetricDim() {
		a.SetSym(i, i, a.At(i, i)+v)
	}
}
