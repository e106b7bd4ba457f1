package variational

import (
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/gradcheck"
)

// An independent computation gave the values, for M = 3 and ε = γM.
func TestDivergenceValues(t *testing.T) {
	delta := []float64{.3, -.2, .1}
	q := mat.NewSymDense(3, []float64{1, .2, .1, .2, .8, .05, .1, .05, .6})
	p := mat.NewSymDense(3, []float64{1.2, .3, 0, .3, 1, .2, 0, .2, .9})
	for gamma, want := range map[float64]float64{0: 0.1636169748, 1e-3: 0.1627512413, 0.1: 0.1054044736, 10: 0.0023385551, 1000: 2.33341e-5} {
		d, err := NewDivergence(delta, q, p, 3*gamma)
		require.NoError(t, err)
		require.InDelta(t, want, d.Value, 1e-10, "γ = %g", gamma)
	}
	same, err := NewDivergence(make([]float64, 3), p, p, 1e-3)
	require.NoError(t, err)
	require.InDelta(t, 0, same.Value, 1e-14)
}

func TestDivergenceGradient(t *testing.T) {
	theta := []float64{.3, -.2, 1, .2, .8, 1.2, .3, .9}
	parts := func(theta []float64) *Divergence {
		q := mat.NewSymDense(2, []float64{theta[2], theta[3], theta[3], theta[4]})
		p := mat.NewSymDense(2, []float64{theta[5], theta[6], theta[6], theta[7]})
		d, err := NewDivergence(theta[:2], q, p, 0.1)
		require.NoError(t, err)
		return d
	}
	d := parts(theta)
	q, p := d.Q(), d.P()
	grad := []float64{d.Delta[0], d.Delta[1], q.At(0, 0), 2 * q.At(0, 1), q.At(1, 1), p.At(0, 0), p.At(0, 1) + p.At(1, 0), p.At(1, 1)}
	require.NoError(t, gradcheck.Gradient(func(theta []float64) float64 { return parts(theta).Value }, theta, grad, 1e-8))
}

// If one covariance is singular, both get the same jitter.
func TestDivergenceOfSingularCovariances(t *testing.T) {
	ones := mat.NewSymDense(2, []float64{1, 1, 1, 1})
	d, err := NewDivergence([]float64{0, 0}, ones, ones, 0)
	require.NoError(t, err)
	require.InDelta(t, 0, d.Value, 1e-6)
}
