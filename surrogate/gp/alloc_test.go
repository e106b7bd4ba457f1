//go:build !race

// The race detector empties pools at random, so allocations are not counted with it.

package gp

import (
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/alloctest"
	"github.com/functionspace/bo/internal/random"
)

func TestAllocations(t *testing.T) {
	rng := random.New(1, "allocations", 0)
	p, x := mustNew(t, process(6, 0.01), dataset(100, 6, rng)), points(16, 6, rng)
	mean, variance, cov := make([]float64, 16), make([]float64, 16), mat.NewSymDense(16, nil)
	dmean, dvariance := mat.NewDense(16, 6, nil), mat.NewDense(16, 6, nil)
	require.Zero(t, alloctest.PerRun(50, func() {
		p.Predict(mean, variance, x)
		p.PredictGrad(mean, variance, dmean, dvariance, x)
		p.Joint(mean, cov, x)
		p.JointVJP(dmean, mean, cov, x)
	}))
}
