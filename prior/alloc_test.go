//go:build !race

// The race detector empties pools at random.

package prior

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/alloctest"
)

// An evaluation of the marginal likelihood with its gradient allocates nothing for
// kernels with their own tapes.
func TestAllocations(t *testing.T) {
	x, y := wave(100, 6, 0.05, 1)
	for _, expr := range []string{"matern52", "rbf+matern32*matern12", "0.5*rbf[0,1]"} {
		m, err := Spec{Kernel: expr}.model(6, false)
		require.NoError(t, err)
		o := newObjective(m, observations{x: x, y: y})
		free := make([]float64, len(m.free))
		grad := make([]float64, len(free))
		require.Zero(t, alloctest.PerRun(20, func() { o.loss(t.Context(), free, grad) }), expr)
	}

	k := parsed(t, "matern52+0.5*rbf", 6)
	rng := rand.New(rand.NewPCG(1, 1))
	points, diag, dx := points(rng, 16, 6), make([]float64, 16), mat.NewDense(16, 6, nil)
	gram, cross := mat.NewSymDense(16, nil), mat.NewDense(16, 100, nil)
	require.Zero(t, alloctest.PerRun(20, func() {
		k.Gram(gram, points)
		k.Cross(cross, points, x)
		k.Diag(diag, points)
		k.CrossVJP(dx, points, x, cross)
		k.DiagVJP(dx, points, diag)
	}))
}
