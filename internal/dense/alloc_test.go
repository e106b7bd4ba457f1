//go:build !race

// The race detector empties pools at random.

package dense

import (
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/blas"

	"github.com/functionspace/bo/internal/alloctest"
	"github.com/functionspace/bo/internal/random"
)

// Without goroutines, nothing is allocated after the buffers exist.
func TestAllocations(t *testing.T) {
	const n = 70
	rng := random.New(1, "allocations", 0)
	a, b, c := framed(n, n, n, rng), framed(n, n, n, rng), framed(n, n, n, rng)
	l, p := dominant(n, 0, blas.Lower, blas.NonUnit, rng), spd(n, 0, rng)
	work := clone(square(p))
	for name, f := range map[string]func(){
		"Gemm NN":     func() { Gemm(blas.NoTrans, blas.NoTrans, 1, a, b, 0, c) },
		"Gemm NT":     func() { Gemm(blas.NoTrans, blas.Trans, 1, a, b, 0, c) },
		"Syrk":        func() { Syrk(blas.Trans, 1, a, 0, upper(c)) },
		"Gemmt":       func() { Gemmt(1, a, b, upper(c)) },
		"Symv":        func() { Symv(1, upper(a), b.Data[:n], 0, c.Data[:n]) },
		"Trsm":        func() { Trsm(blas.Left, blas.Trans, 1, l, c) },
		"Trmm":        func() { Trmm(blas.Right, blas.Trans, 1, l, c) },
		"Gemv":        func() { Gemv(blas.NoTrans, 1, a, b.Data[:n], 0, c.Data[:n]) },
		"Trsv":        func() { Trsv(blas.NoTrans, l, c.Data[:n]) },
		"Cholesky":    func() { copy(work.Data, p.Data); Cholesky(upper(work)) },
		"InvertLower": func() { InvertLower(c, l) },
		"GramLower":   func() { GramLower(upper(c), b) },
	} {
		require.Less(t, alloctest.PerRun(20, f), 1.0, name)
	}
}
