//go:build !race

// The race detector empties pools at random.

package linalg

import (
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/alloctest"
	"github.com/functionspace/bo/internal/random"
)

func TestAllocations(t *testing.T) {
	const n = 100
	rng := random.New(1, "allocations", 0)
	a, b, inverse, v := randomSPD(n, rng), randomDense(n, 16, rng), mat.NewSymDense(n, nil), make([]float64, n)
	var c Cholesky
	require.Zero(t, alloctest.PerRun(20, func() {
		if c.Factorize(a) != nil {
			panic("not positive definite")
		}
		c.Solve(b)
		c.SolveVec(v)
		c.Inverse(inverse)
		c.InverseDiag(v)
		Syrk(inverse, 1, N, b, 1)
	}))
}
