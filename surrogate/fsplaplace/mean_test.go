package fsplaplace

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/benchmarks"
	"github.com/functionspace/bo/internal/check"
	"github.com/functionspace/bo/internal/stream"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
)

// In two inputs the mean is the network's. In ten, where context points are far apart, it
// is that of the features, which is nearer to the process's.
func TestMeanOfFeaturesInManyInputs(t *testing.T) {
	for _, c := range []struct {
		o      benchmarks.Objective
		n      int
		linear bool
	}{{benchmarks.Branin(), 20, false}, {benchmarks.StyblinskiTang(10), 30, true}} {
		d := c.o.Space.Dim()
		x := space.Sobol(c.n, d, stream.New(5, "x", 0))
		y := make([]float64, c.n)
		for i := range y {
			y[i] = c.o.At(c.o.Space.Decode(x.RawRowView(i)))
		}
		scale := surrogate.Standardize(y)
		for i, v := range y {
			y[i] = (v - scale.Mean) / scale.SD
		}
		post, err := Model{}.Fit(t.Context(), surrogate.Dataset{X: x, Y: y, Lo: make([]float64, d), Hi: slices.Repeat([]float64{1}, d), NoiseFree: true}, stream.New(1, "fit", 0))
		require.NoError(t, err)
		p := post.(*posterior)
		require.Equal(t, c.linear, p.linear, c.o.Name)

		at, mean, variance := space.Halton(1, d, stream.New(2, "at", 0)), make([]float64, 1), make([]float64, 1)
		dmean, dvariance := mat.NewDense(1, d, nil), mat.NewDense(1, d, nil)
		p.PredictGrad(mean, variance, dmean, dvariance, at)
		require.NoError(t, check.Gradient(func(x []float64) float64 {
			p.Predict(mean, variance, mat.NewDense(1, d, x))
			return mean[0]
		}, at.RawRowView(0), dmean.RawRowView(0), 1e-5), c.o.Name)
	}
}
