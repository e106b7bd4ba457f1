package laplace

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/gp"
	"github.com/functionspace/bo/surrogate/internal/mapnet"
	"github.com/functionspace/bo/surrogate/surrogatetest"
)

func TestConformance(t *testing.T) {
	fast := surrogatetest.Options{Fast: true}
	for name, m := range map[string]Model{
		"full":     {Settings: mapnet.Settings{Network: mapnet.Network{Hidden: []int{10, 10}}}},
		"primal":   {Settings: mapnet.Settings{Network: mapnet.Network{Hidden: []int{2}}}},
		"kron":     {Settings: mapnet.Settings{Network: mapnet.Network{Hidden: []int{6, 5}}}, Curvature: "kron", Restarts: 1},
		"diagonal": {Settings: mapnet.Settings{Network: mapnet.Network{Hidden: []int{8}}, Trainer: "adam", Steps: 300, Batch: 5, Rate: 0.02}, Curvature: "diagonal"},
	} {
		t.Run(name, func(t *testing.T) { fast.Run(t, m) })
	}
}

// A network without hidden layers is Bayesian linear regression. Its posterior and evidence
// equal a Gaussian process with a linear kernel.
func TestLinearModelIsExact(t *testing.T) {
	rng := random.New(1, "data", 0)
	const n, delta, noise = 9, 0.7, 0.04
	d := surrogate.Dataset{X: mat.NewDense(n, 2, nil), Y: make([]float64, n)}
	var mean float64
	for i := range n {
		a, b := 2*rng.Float64()-1, 2*rng.Float64()-1
		d.X.SetRow(i, []float64{a, b})
		d.Y[i] = 1 + a - 2*b + 0.2*rng.NormFloat64()
		mean += d.Y[i] / n
	}
	d.Lo, d.Hi = []float64{-1, -1}, []float64{1, 1}
	// The input of the network is √3·x, and its targets have the mean 0.
	kernel := prior.Linear(2).WithParams([]float64{math.Sqrt(delta / 3), math.Sqrt(delta / 3), 1 / delta})
	names := []string{}
	for _, p := range kernel.Params() {
		names = append(names, p.Name)
	}
	require.Equal(t, []string{"lengthscale[0]", "lengthscale[1]", "offset"}, names)
	want, err := gp.New(prior.Process{Kernel: kernel, Mean: mean, Noise: noise}, d)
	require.NoError(t, err)
	x := mat.NewDense(3, 2, []float64{0.3, -0.2, 2, 1, 0, 0})
	wm, wc := make([]float64, 3), mat.NewSymDense(3, nil)
	want.Joint(wm, wc, x)
	for _, trainer := range []string{"gauss-newton", "adam"} {
		m := Model{Settings: mapnet.Settings{Network: mapnet.Network{Hidden: []int{}, Precision: new(delta), Noise: new(noise)}, Trainer: trainer, Rate: 0.05}}
		got, err := m.Fit(context.Background(), d, random.New(1, "fit", 0))
		require.NoError(t, err)
		gm, gc := make([]float64, 3), mat.NewSymDense(3, nil)
		got.Joint(gm, gc, x)
		require.InDeltaSlice(t, wm, gm, 1e-6, trainer)
		require.InDeltaSlice(t, wc.RawSymmetric().Data, gc.RawSymmetric().Data, 1e-8)
		require.InDelta(t, want.(surrogate.Evidence).LogMarginalLikelihood(), got.(surrogate.Evidence).LogMarginalLikelihood(), 1e-6)
	}
}

// The mean follows the data with every curvature. With the evidence of the diagonal it is a constant up to 80 observations.
func TestCurvaturesFollowTheData(t *testing.T) {
	for _, n := range []int{10, 20, 40, 80} {
		rng := random.New(1, "data", 0)
		d := surrogate.Dataset{X: mat.NewDense(n, 1, nil), Y: make([]float64, n), Lo: []float64{0}, Hi: []float64{1}}
		for i := range n {
			d.X.Set(i, 0, float64(i)/float64(n-1))
			d.Y[i] = 1.4*math.Sin(6*d.X.At(i, 0)) + 0.1*rng.NormFloat64()
		}
		for _, curvature := range []string{"full", "kron", "diagonal"} {
			p, err := Model{Curvature: curvature}.Fit(t.Context(), d, random.New(1, "fit", 0))
			require.NoError(t, err)
			mean, variance := make([]float64, n), make([]float64, n)
			p.Predict(mean, variance, d.X)
			for i, m := range mean {
				require.InDelta(t, d.Y[i], m, 0.4, "%s, %d observations", curvature, n)
			}
		}
	}
}

// Observing every point twice equals halving the noise variance.
func TestDoubledData(t *testing.T) {
	x := mat.NewDense(4, 1, []float64{0, 0.3, 0.7, 1})
	y := []float64{0, 1, 0.2, -1}
	twice := mat.NewDense(8, 1, nil)
	twice.Stack(x, x)
	variance := func(d surrogate.Dataset, noise float64) []float64 {
		m := Model{Settings: mapnet.Settings{Network: mapnet.Network{Hidden: []int{5}, Precision: new(1.), Noise: new(noise)}}, Restarts: 1}
		p, err := m.Fit(context.Background(), d, random.New(1, "fit", 0))
		require.NoError(t, err)
		mean, v := make([]float64, 2), make([]float64, 2)
		p.Predict(mean, v, mat.NewDense(2, 1, []float64{0.5, 2}))
		return v
	}
	require.InEpsilonSlice(t, variance(surrogate.Dataset{X: x, Y: y}, 0.05), variance(surrogate.Dataset{X: twice, Y: append(y, y...)}, 0.1), 0.02)
}

func TestCheck(t *testing.T) {
	require.NoError(t, surrogate.Check(Model{}, 2))
	require.ErrorContains(t, surrogate.Check(Model{Curvature: "kfac"}, 2), "curvature is")
	require.ErrorContains(t, surrogate.Check(Model{Restarts: -1}, 2), "restarts is -1")
	require.ErrorContains(t, surrogate.Check(Model{Settings: mapnet.Settings{Network: mapnet.Network{Activation: "tahn"}}}, 2), `activation is "tahn", want `)
}

func TestCancelled(t *testing.T) {
	d := surrogate.Dataset{X: mat.NewDense(40, 1, nil), Y: make([]float64, 40)}
	for i := range 40 {
		d.X.Set(i, 0, float64(i))
		d.Y[i] = math.Sin(float64(i))
	}
	for _, trainer := range []string{"gauss-newton", "adam"} {
		ctx, cancel := context.WithCancel(context.Background())
		ctx = surrogate.WithProgress(ctx, func(surrogate.Progress) { cancel() })
		_, err := Model{Settings: mapnet.Settings{Trainer: trainer}}.Fit(ctx, d, random.New(1, "fit", 0))
		require.ErrorIs(t, err, context.Canceled)
	}
}
