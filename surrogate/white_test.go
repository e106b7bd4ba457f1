package surrogate_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/fsplaplace"
	"github.com/functionspace/bo/surrogate/fvi"
	"github.com/functionspace/bo/surrogate/gfsvi"
	"github.com/functionspace/bo/surrogate/gp"
	"github.com/functionspace/bo/surrogate/rff"
	"github.com/functionspace/bo/surrogate/svgp"
)

// Networks, random features and values at inducing points have no white noise. The white noise of a kernel then counts as noise of the
// observations, and predictions of observations have the standard deviations of the exact process.
func TestWhiteNoiseOfAKernel(t *testing.T) {
	const n = 40
	d := surrogate.Dataset{X: mat.NewDense(n, 1, nil), Y: make([]float64, n), Lo: []float64{0}, Hi: []float64{1}}
	rng := random.New(1, "data", 0)
	for i := range n {
		d.X.Set(i, 0, float64(i)/(n-1))
		d.Y[i] = math.Sin(5*d.X.At(i, 0)) + 0.5*rng.NormFloat64()
	}
	for _, spec := range []prior.Spec{
		{Kernel: "rbf(lengthscale=0.3)+0.25*white", Noise: new(1e-3), Mean: prior.MeanZero},
		{Kernel: "rbf+white", Restarts: 2},
	} {
		sd := func(m surrogate.Model) []float64 {
			p, err := m.Fit(t.Context(), d, random.New(1, "fit", 0))
			require.NoError(t, err)
			mean, variance := make([]float64, 3), make([]float64, 3)
			p.Predict(mean, variance, mat.NewDense(3, 1, []float64{0.2, 0.55, 1}))
			for i, v := range variance {
				variance[i] = math.Sqrt(v + p.Noise())
			}
			return variance
		}
		want := sd(gp.Model{Spec: spec})
		for _, m := range []surrogate.Model{rff.Model{Spec: spec}, svgp.Model{Spec: spec, Inducing: 15}, fsplaplace.Model{Spec: spec}, gfsvi.Model{Spec: spec}, fvi.Model{Spec: spec, Steps: 100}} {
			for i, got := range sd(m) {
				require.InEpsilon(t, want[i], got, 0.15, "%T", m)
			}
		}
	}
}
