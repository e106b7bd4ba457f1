package prior_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/prior"
)

// Without white noise the Gram matrix of the kernel is Cross, and the covariance of observations stays the same.
func TestWhiteAsNoise(t *testing.T) {
	x := mat.NewDense(4, 2, []float64{0.1, 0.2, 0.7, 0.9, 0.1, 0.2, 0.4, 0.3})
	for _, expr := range []string{"rbf+white", "rbf[0]+0.3*white[1]+linear", "2*(matern52+0.3*white)", "rbf*(rq+0.3*white)", "white*rbf+constant"} {
		k, err := prior.Parse(expr, 2)
		require.NoError(t, err)
		p := prior.Process{Kernel: k, Mean: 3, Noise: 0.1}
		q := p.WhiteAsNoise(x)
		want, got := mat.NewSymDense(4, nil), mat.NewSymDense(4, nil)
		p.Covariance(want, x)
		q.Covariance(got, x)
		require.True(t, mat.EqualApprox(want, got, 1e-12), expr)
		cross := mat.NewDense(4, 4, nil)
		k.Cross(cross, x, x)
		q.Kernel.Gram(got, x)
		require.True(t, mat.EqualApprox(cross, got, 1e-12), expr)
		require.Equal(t, 3.0, q.Mean)
	}
	for _, expr := range []string{"white", "0.2*white", "rbf*white", "rbf+linear", "(rbf+linear)*periodic"} {
		k, err := prior.Parse(expr, 2)
		require.NoError(t, err)
		p := prior.Process{Kernel: k, Noise: 0.1}
		require.Equal(t, p, p.WhiteAsNoise(x), expr)
	}
}
