package dense

import (
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
)

func lapackPotrf(a blas64.Symmetric) bool {
	if a.N == 0 {
		return true
	}
	_, ok := lapack64.Potrf(a)
	return ok
}
