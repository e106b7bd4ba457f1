package linalg

import (
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/random"
)

func TestPivotedCholesky(t *testing.T) {
	rng := random.New(6, "pivoted", 0)
	remainder := func(a *mat.SymDense, l *mat.Dense) *mat.SymDense {
		left := mat.NewSymDense(a.SymmetricDim(), nil)
		left.CopySym(a)
		Syrk(left, -1, N, l, 1)
		return left
	}

	full := randomSPD(20, rng)
	l := PivotedCholesky(full, 0, 50)
	_, r := l.Dims()
	require.Equal(t, 20, r)
	requireClose(t, full, mat.NewDense(20, 20, outer(l)), 1e-11, "full rank")

	// Rank 3, with rows of very different norms.
	b := randomDense(20, 3, rng)
	for i := range 20 {
		for j := range 3 {
			b.Set(i, j, b.At(i, j)*float64(1+i*i))
		}
	}
	low := mat.NewSymDense(20, nil)
	Syrk(low, 1, N, b, 0)
	l = PivotedCholesky(low, 1e-9, 20)
	_, r = l.Dims()
	require.Equal(t, 3, r)
	requireClose(t, low, mat.NewDense(20, 20, outer(l)), 1e-9*float64(400*400), "rank 3")

	for _, rank := range []int{1, 4, 9} {
		l = PivotedCholesky(full, 0, rank)
		_, r = l.Dims()
		require.Equal(t, rank, r)
		var eigen mat.EigenSym
		require.True(t, eigen.Factorize(remainder(full, l), false))
		require.Greater(t, eigen.Values(nil)[0], -1e-10, "the remainder is positive semidefinite")
	}

	left := remainder(full, PivotedCholesky(full, 0.3, 20))
	for i := range 20 {
		require.LessOrEqual(t, left.At(i, i), 0.3*full.At(i, i)+1e-10)
	}
	require.Zero(t, mat.Norm(PivotedCholesky(mat.NewSymDense(3, nil), 0, 3), 1), "a matrix of zeros")
}

// outer returns L Lᵀ by rows.
func outer(l *mat.Dense) []float64 {
	var llt mat.Dense
	llt.Mul(l, l.T())
	return llt.RawMatrix().Data
}
