//go:build !race

// The race detector clears pools at random.

package target

import (
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/alloctest"
	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/nn"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/space"
)

// A step allocates no memory, and neither does the start of a later stage.
func TestAllocations(t *testing.T) {
	const n = 120
	rng := random.New(1, "allocations", 0)
	q := LeastSquares{Net: &nn.Network{In: 2, Hidden: []int{50, 50}}, Inputs: space.Sobol(n, 2, rng), Target: make([]float64, n)}
	for i := range q.Target {
		q.Target[i] = rng.NormFloat64()
	}
	v := mat.NewSymDense(n, nil)
	prior.Matern52(2).Gram(v, q.Inputs)
	linalg.AddDiagonal(v, 1e-2)
	w := q.Net.Init(rng)
	require.NoError(t, q.start(w, v))
	require.Zero(t, alloctest.PerRun(20, func() { q.step(w) }))
	require.NoError(t, q.start(w, v))
	require.Zero(t, alloctest.PerRun(5, func() { _ = q.start(w, v) }), "from stage to stage")
}
