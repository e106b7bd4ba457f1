package surrogate_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/gp"
)

// Averaged moments in the user's units are the converted moments of the inner posterior.
func TestScaledAverages(t *testing.T) {
	d := userUnits()
	p, err := surrogate.Scaled{Model: gp.Model{}, Mean: wave{}}.Fit(context.Background(), d, random.New(1, "fit", 0))
	require.NoError(t, err)
	inner, inputs, output := p.(surrogate.Unscaler).Unscaled()
	x := mat.NewDense(2, 2, []float64{3, 100, -4, 290})
	mean, variance, cov := make([]float64, 2), make([]float64, 2), mat.NewSymDense(2, nil)
	averaged, want := surrogate.Averaged(p), surrogate.Averaged(inner)
	assert.InEpsilon(t, want.Noise()*output.SD*output.SD, averaged.Noise(), 1e-12)
	averaged.Predict(mean, variance, x)
	averaged.Joint(make([]float64, 2), cov, x)

	wantMean, wantVariance, wantCov := make([]float64, 2), make([]float64, 2), mat.NewSymDense(2, nil)
	want.Predict(wantMean, wantVariance, inputs.Apply(x))
	want.Joint(make([]float64, 2), wantCov, inputs.Apply(x))
	plain, shift := make([]float64, 2), make([]float64, 2)
	wave{}.Eval(shift, nil, x)
	p.Predict(make([]float64, 2), plain, x)
	for i := range 2 {
		assert.InEpsilon(t, output.Invert(wantMean[i])+shift[i], mean[i], 1e-12)
		assert.InEpsilon(t, wantVariance[i]*output.SD*output.SD, variance[i], 1e-12)
		assert.InEpsilon(t, wantCov.At(0, i)*output.SD*output.SD, cov.At(0, i), 1e-9)
		assert.NotEqual(t, plain[i], variance[i])
	}
}
