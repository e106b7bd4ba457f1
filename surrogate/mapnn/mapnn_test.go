package mapnn

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/mapnet"
	"github.com/functionspace/bo/surrogate/surrogatetest"
)

func TestConformance(t *testing.T) {
	surrogatetest.Options{Fast: true}.Run(t, Model{mapnet.Settings{Network: mapnet.Network{Hidden: []int{10}}}})
}

// Without hidden layers the mean is the mean of ridge regression, and the latent
// variance is 0.
func TestRidgeRegression(t *testing.T) {
	const delta, noise = 0.8, 0.1
	d := surrogate.Dataset{X: mat.NewDense(3, 1, []float64{-1, 0, 1}), Y: []float64{-2, 0.3, 1.7}}
	p, err := Model{mapnet.Settings{Network: mapnet.Network{Hidden: []int{}, Precision: new(delta), Noise: new(noise)}}}.Fit(context.Background(), d, random.New(1, "fit", 0))
	require.NoError(t, err)
	mean, variance := make([]float64, 1), make([]float64, 1)
	p.Predict(mean, variance, mat.NewDense(1, 1, []float64{2}))
	// The network's input is u = √3·x; targets have mean 0. Its slope is uᵀy/(uᵀu + δσ²).
	slope := math.Sqrt(3) * 3.7 / (3*2 + delta*noise)
	require.InDelta(t, 2*math.Sqrt(3)*slope, mean[0], 1e-8)
	require.Zero(t, variance[0])
	require.InDelta(t, noise, p.Noise(), 1e-15)
}

func TestCheck(t *testing.T) {
	require.NoError(t, surrogate.Check(Model{}, 2))
	require.ErrorContains(t, surrogate.Check(Model{mapnet.Settings{Network: mapnet.Network{Activation: "tahn"}}}, 2), "activation is")
}
