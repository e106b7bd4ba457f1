package ibnn

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/gradcheck"
	"github.com/functionspace/bo/internal/nn"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/surrogatetest"
)

// Paths are finite ReLU networks with kinks within a central difference. The gradients
// of the moments are checked below to more digits and for the default depth.
func TestConformance(t *testing.T) {
	o := surrogatetest.Options{Fast: true, PathTol: 0.1, GradTol: 0.02}
	t.Run("published", func(t *testing.T) { o.Run(t, Model{Depth: 1}) })
	t.Run("learned", func(t *testing.T) { o.Run(t, Model{Learn: true, Depth: 1, Restarts: 1}) })
}

func TestGradientsOfMoments(t *testing.T) {
	d := surrogate.Dataset{X: mat.NewDense(4, 2, []float64{0, 0.1, 0.5, 0.9, 0.3, 0.4, 1, 0.2}), Y: []float64{-1, 0.3, 0.4, 1}}
	p, err := Model{}.Fit(context.Background(), d, random.New(1, "fit", 0))
	require.NoError(t, err)
	mean, variance := make([]float64, 1), make([]float64, 1)
	dmean, dvariance := mat.NewDense(1, 2, nil), mat.NewDense(1, 2, nil)
	at := []float64{0.7, 0.6}
	p.PredictGrad(mean, variance, dmean, dvariance, mat.NewDense(1, 2, at))
	f := func(moment []float64) func([]float64) float64 {
		return func(x []float64) float64 {
			p.Predict(mean, variance, mat.NewDense(1, 2, x))
			return moment[0]
		}
	}
	require.NoError(t, gradcheck.Gradient(f(mean), at, dmean.RawRowView(0), 1e-5))
	require.NoError(t, gradcheck.Gradient(f(variance), at, dvariance.RawRowView(0), 1e-5))
}

func kernel(t *testing.T, m Model, dim int) prior.Kernel {
	g, err := m.gp()
	require.NoError(t, err)
	p, err := g.Process(dim)
	require.NoError(t, err)
	return p.Kernel
}

// The kernel by hand: k⁰ is σ_b² + σ_w²x·x'/d, and at x = x' each layer computes
// σ_b² + σ_w²k/2.
func TestPublishedKernel(t *testing.T) {
	v := make([]float64, 1)
	kernel(t, Model{}, 2).Diag(v, mat.NewDense(1, 2, []float64{0.6, 0.8}))
	want := 1.3 + 10*1./2
	for range 3 {
		want = 1.3 + 10*want/2
	}
	require.InEpsilon(t, want, v[0], 1e-12)

	// Orthogonal inputs without biases: cos t = 0, so that k¹ = σ_w²√(k⁰k⁰)/2π.
	c := mat.NewDense(1, 1, nil)
	k := kernel(t, Model{Depth: 1, Weight: 2, Bias: 1e-12}, 2)
	k.Cross(c, mat.NewDense(1, 2, []float64{1, 0}), mat.NewDense(1, 2, []float64{0, 3}))
	require.InDelta(t, 2*3/(2*math.Pi), c.At(0, 0), 1e-9)
}

// The kernel is the covariance of wide random networks with these weights.
func TestKernelIsThatOfWideNetworks(t *testing.T) {
	const width, draws = 100, 2000
	net := &nn.Network{In: 2, Hidden: []int{width, width}, Activation: nn.ReLU}
	x := mat.NewDense(2, 2, []float64{0.2, 0.9, 0.7, -0.4})
	rng := random.New(1, "networks", 0)
	w, f := make([]float64, net.NumParams()), make([]float64, 2)
	var s [2][2]float64
	for range draws {
		at, in := 0, 2
		for _, h := range []int{width, width, 1} {
			for i := range in * h {
				w[at+i] = math.Sqrt(2/float64(in)) * rng.NormFloat64()
			}
			at += in * h
			for i := range h {
				w[at+i] = math.Sqrt(0.3) * rng.NormFloat64()
			}
			at, in = at+h, h
		}
		net.Forward(f, w, x)
		for i := range 2 {
			for j := range 2 {
				s[i][j] += f[i] * f[j] / draws
			}
		}
	}
	k := mat.NewSymDense(2, nil)
	kernel(t, Model{Depth: 2, Weight: 2, Bias: 0.3}, 2).Gram(k, x)
	for i := range 2 {
		for j := range 2 {
			require.InEpsilon(t, k.At(i, j), s[i][j], 0.15)
		}
	}
}

func TestCheck(t *testing.T) {
	require.NoError(t, surrogate.Check(Model{}, 2))
	require.ErrorContains(t, surrogate.Check(Model{Weight: -1}, 2), "weight is -1, want more than 0")
	require.ErrorContains(t, surrogate.Check(Model{Learn: true, Bias: 1}, 2), "learn excludes weight and bias")
	require.ErrorIs(t, surrogate.Check(Model{Mean: "none"}, 2), surrogate.ErrSetting)
	_, err := Model{Depth: -3}.Fit(context.Background(), surrogate.Dataset{}, nil)
	require.ErrorContains(t, err, "depth is -3")
}
