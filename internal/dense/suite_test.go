package dense

import (
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/blas/gonum"
	"gonum.org/v1/gonum/blas/testblas"
)

// implementation gives the level-3 routines of this package the BLAS interface that
// gonum's conformance suite tests.
type implementation struct{ gonum.Implementation }

func view(t blas.Transpose, rows, cols int, data []float64, stride int) blas64.General {
	if t != blas.NoTrans {
		rows, cols = cols, rows
	}
	return blas64.General{Rows: rows, Cols: cols, Data: data, Stride: stride}
}

func (implementation) Dgemm(tA, tB blas.Transpose, m, n, k int, alpha float64, a []float64, lda int, b []float64, ldb int, beta float64, c []float64, ldc int) {
	Gemm(tA, tB, alpha, view(tA, m, k, a, lda), view(tB, k, n, b, ldb), beta, view(blas.NoTrans, m, n, c, ldc))
}

func (implementation) Dsyrk(uplo blas.Uplo, t blas.Transpose, n, k int, alpha float64, a []float64, lda int, beta float64, c []float64, ldc int) {
	Syrk(t, alpha, view(t, n, k, a, lda), beta, blas64.Symmetric{N: n, Data: c, Stride: ldc, Uplo: uplo})
}

func (implementation) Dtrsm(s blas.Side, uplo blas.Uplo, t blas.Transpose, d blas.Diag, m, n int, alpha float64, a []float64, lda int, b []float64, ldb int) {
	Trsm(s, t, alpha, triangular(s, uplo, d, m, n, a, lda), view(blas.NoTrans, m, n, b, ldb))
}

func (implementation) Dtrmm(s blas.Side, uplo blas.Uplo, t blas.Transpose, d blas.Diag, m, n int, alpha float64, a []float64, lda int, b []float64, ldb int) {
	Trmm(s, t, alpha, triangular(s, uplo, d, m, n, a, lda), view(blas.NoTrans, m, n, b, ldb))
}

func triangular(s blas.Side, uplo blas.Uplo, d blas.Diag, m, n int, a []float64, lda int) blas64.Triangular {
	if s == blas.Right {
		m = n
	}
	return blas64.Triangular{N: m, Data: a, Stride: lda, Uplo: uplo, Diag: d}
}

// The conformance suite with which gonum tests its own implementation.
func TestGonumSuite(t *testing.T) {
	forLevels(t, func(t *testing.T) {
		testblas.TestDgemm(t, implementation{})
		testblas.DsyrkTest(t, implementation{})
		testblas.DtrsmTest(t, implementation{})
		testblas.DtrmmTest(t, implementation{})
	})
}
