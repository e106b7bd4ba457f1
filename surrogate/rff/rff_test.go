package rff

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
	"github.com/functionspace/bo/surrogate/surrogatetest"
)

func TestConformance(t *testing.T) {
	for kernel, o := range map[string]surrogatetest.Options{
		"": {Fast: true}, "rbf*periodic+linear": {Fast: true},
		"arccos": {Fast: true, GradTol: 0.02}, // a ReLU network has kinks within a finite difference
	} {
		t.Run(kernel, func(t *testing.T) {
			o.Run(t, Model{Spec: prior.Spec{Kernel: kernel, Restarts: 1}, Features: 100})
		})
	}
}

func wave(n int) surrogate.Dataset {
	rng := random.New(1, "wave", n)
	d := surrogate.Dataset{X: mat.NewDense(n, 2, nil), Y: make([]float64, n)}
	for i := range n {
		a, b := rng.Float64(), rng.Float64()
		d.X.SetRow(i, []float64{a, b})
		d.Y[i] = math.Sin(5*a) + b + 0.1*rng.NormFloat64()
	}
	return d
}

// With exact features posterior and evidence are exact. With Fourier features they are
// close.
func TestAgainstExactProcess(t *testing.T) {
	d := wave(25)
	x := wave(10).X
	for _, c := range []struct {
		kernel string
		count  int
		tol    float64
	}{{"linear", 0, 1e-8}, {"polynomial(degree=2)", 0, 1e-8}, {"rbf(lengthscale=0.6)", 1500, 0.15}} {
		spec := prior.Spec{Kernel: c.kernel, Noise: new(0.02), Variance: new(1.5), Restarts: 1}
		want, err := gp.Model{Spec: spec}.Fit(context.Background(), d, random.New(1, "fit", 0))
		require.NoError(t, err)
		got, err := Model{Spec: spec, Features: c.count}.Fit(context.Background(), d, random.New(1, "fit", 0))
		require.NoError(t, err)
		wm, wc, gm, gc := make([]float64, 10), mat.NewSymDense(10, nil), make([]float64, 10), mat.NewSymDense(10, nil)
		want.Joint(wm, wc, x)
		got.Joint(gm, gc, x)
		require.InDeltaSlice(t, wm, gm, c.tol, c.kernel)
		require.InDeltaSlice(t, wc.RawSymmetric().Data, gc.RawSymmetric().Data, c.tol, c.kernel)
		require.InDelta(t, want.(surrogate.Evidence).LogMarginalLikelihood(), got.(surrogate.Evidence).LogMarginalLikelihood(), 20*c.tol, c.kernel)
	}
}

// With more observations than features, a fit in blocks agrees with conditioning on one
// observation after the other.
func TestConditioningIsAFit(t *testing.T) {
	d := wave(1500)
	m := Model{Spec: prior.Spec{Kernel: "rbf(lengthscale=0.6)", Noise: new(0.02), Variance: new(1.5), Mean: prior.MeanZero}, Features: 40}
	all, err := m.Fit(context.Background(), d, random.New(1, "fit", 0))
	require.NoError(t, err)
	first := surrogate.Dataset{X: d.X.Slice(0, 1200, 0, 2).(*mat.Dense), Y: d.Y[:1200]}
	part, err := m.Fit(context.Background(), first, random.New(1, "fit", 0))
	require.NoError(t, err)
	next, err := part.(surrogate.Conditioner).Condition(d.X.Slice(1200, 1500, 0, 2).(*mat.Dense), d.Y[1200:])
	require.NoError(t, err)
	moments := func(p surrogate.Posterior) []float64 {
		out := make([]float64, 10)
		p.Predict(out[:5], out[5:], wave(5).X)
		return out
	}
	require.InDeltaSlice(t, moments(all), moments(next), 1e-9)
	require.InDelta(t, all.(surrogate.Evidence).LogMarginalLikelihood(), next.(surrogate.Evidence).LogMarginalLikelihood(), 1e-6)
}

func TestCheck(t *testing.T) {
	require.NoError(t, surrogate.Check(Model{}, 3))
	require.ErrorContains(t, surrogate.Check(Model{Features: -1}, 2), "features is -1")
	require.ErrorContains(t, surrogate.Check(Model{Spec: prior.Spec{Noise: new(0.)}}, 2), "noise is 0, want 1e-10 to")
	require.ErrorIs(t, surrogate.Check(Model{Spec: prior.Spec{Lengthscale: []float64{1, 2, 3}}}, 2), prior.ErrSpec)
	_, err := Model{Spec: prior.Spec{Kernel: "white"}}.Fit(context.Background(), wave(5), random.New(1, "fit", 0))
	require.ErrorContains(t, err, "has no features")
}

func BenchmarkRegression(b *testing.B) {
	d := wave(5000)
	spec := prior.Spec{Kernel: "rbf(lengthscale=0.6)", Noise: new(0.02), Variance: new(1.5), Mean: prior.MeanZero}
	p, err := Model{Spec: spec}.Fit(context.Background(), wave(10), random.New(1, "fit", 0))
	require.NoError(b, err)
	for b.Loop() {
		_, err := p.(surrogate.Conditioner).Condition(d.X, d.Y)
		require.NoError(b, err)
	}
}

// White noise in a kernel counts as noise of the observations: predictions of observations have the moments of
// the exact process.
func TestWhiteNoiseInTheKernel(t *testing.T) {
	d, x := wave(60), wave(5).X
	sd := func(m surrogate.Model) []float64 {
		p, err := m.Fit(t.Context(), d, random.New(1, "fit", 0))
		require.NoError(t, err)
		mean, variance := make([]float64, 5), make([]float64, 5)
		p.Predict(mean, variance, x)
		for i, v := range variance {
			variance[i] = math.Sqrt(v + p.Noise())
		}
		return append(mean, variance...)
	}
	spec := prior.Spec{Kernel: "linear(lengthscale=1,offset=1)+0.3*white", Noise: new(1e-4)}
	require.InDeltaSlice(t, sd(gp.Model{Spec: spec}), sd(Model{Spec: spec}), 1e-6)
}
