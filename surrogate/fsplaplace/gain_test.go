package fsplaplace

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/gradcheck"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/network"
)

// The gradient is the derivative of the variance also where the gain has its bound, and the variance is
// below the prior variance: there the network below vanishes. The prior variances differ in the rounding
// errors of a quotient.
func TestGradientAtTheBoundOfTheGain(t *testing.T) {
	envelope := func(d [][]float64, z []float64) { // exp(-z²/2) and its derivatives
		for i, z := range z {
			e := math.Exp(-z * z / 2)
			for k, v := range []float64{1, -z, z*z - 1, 3*z - z*z*z}[:len(d)] {
				d[k][i] = v * e
			}
		}
	}
	f := network.Func(func(x network.Node) network.Node {
		scaled := x.Affine(mat.NewDense(1, 1, []float64{10}), []float64{-2})
		return scaled.Dense(10, 1).Apply(network.Tanh).Dense(1, 0).Mul(scaled.Apply(envelope))
	})
	d := surrogate.Dataset{X: mat.NewDense(1, 1, []float64{0.2}), Y: []float64{1}, Lo: []float64{0}, Hi: []float64{1}}
	for _, variance := range []float64{0.75, 0.85, 1, 1.35} {
		t.Run(fmt.Sprint(variance), func(t *testing.T) {
			m := Model{Network: surrogate.Network{Architecture: f}, Spec: prior.Spec{Lengthscale: []float64{0.1}, Variance: &variance, Noise: new(0.01)}}
			p, err := m.Fit(t.Context(), d, random.New(1, "fit", 0))
			require.NoError(t, err)
			value := func(x []float64) float64 {
				mean, variance := make([]float64, 1), make([]float64, 1)
				p.Predict(mean, variance, mat.NewDense(1, 1, x))
				return variance[0]
			}
			bounded := 0
			for _, at := range []float64{0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8} {
				x := []float64{at}
				if value(x) > 0.9*variance {
					continue
				}
				bounded++
				mean, variance, dmean, dvariance := make([]float64, 1), make([]float64, 1), mat.NewDense(1, 1, nil), make([]float64, 1)
				p.PredictGrad(mean, variance, dmean, mat.NewDense(1, 1, dvariance), mat.NewDense(1, 1, x))
				require.NoError(t, gradcheck.Gradient(value, x, dvariance, 1e-4), "at %v", at)
			}
			require.Positive(t, bounded)
		})
	}
}
