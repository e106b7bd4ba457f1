package gp_test

import (
	"context"
	"encoding/json"
	"math"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/gp"
	"github.com/functionspace/bo/surrogate/surrogatetest"
)

func TestConformance(t *testing.T) {
	t.Run("default", func(t *testing.T) { surrogatetest.Run(t, gp.Model{}) })
	t.Run("scaled", func(t *testing.T) {
		surrogatetest.Options{Fast: true}.Run(t, surrogate.Scaled{Model: gp.Model{}, Inputs: surrogate.ZScore})
	})
	fast := surrogatetest.Options{Fast: true}
	for _, s := range []prior.Spec{
		{Kernel: "rbf", Lengthscale: []float64{0.5}, Variance: ptr(1.5), Noise: ptr(0.01), Mean: prior.MeanZero},
		{Kernel: "matern32"},
		{Kernel: "matern52", Noise: ptr(1e-8)},
		{Kernel: "rbf*periodic+linear", Restarts: 1},
		{Kernel: "rq", Isotropic: new(true)},
	} {
		t.Run(s.Kernel, func(t *testing.T) { fast.Run(t, gp.Model{Spec: s}) })
	}
}

func ptr(v float64) *float64 { return &v }

func wave(n int) surrogate.Dataset {
	d := surrogate.Dataset{X: mat.NewDense(n, 1, nil), Y: make([]float64, n)}
	for i := range n {
		x := float64(i) / float64(n-1)
		d.X.Set(i, 0, x)
		d.Y[i] = math.Sin(7 * x)
	}
	return d
}

func fit(t *testing.T, m gp.Model, d surrogate.Dataset) surrogate.Posterior {
	t.Helper()
	p, err := m.Fit(context.Background(), d, random.New(1, "gp", 0))
	require.NoError(t, err)
	return p
}

func hyper(t *testing.T, p surrogate.Posterior, name string) float64 {
	t.Helper()
	for _, h := range p.(surrogate.Describer).Hypers() {
		if h.Name == name {
			return h.Value
		}
	}
	require.Fail(t, "no such hyperparameter", name)
	return 0
}

func TestFixedHyperParametersAreKept(t *testing.T) {
	m := gp.Model{Spec: prior.Spec{Lengthscale: []float64{0.3}, Variance: ptr(2), Noise: ptr(0.05), Mean: prior.MeanZero}}
	p := fit(t, m, wave(10))
	kernel, err := prior.Parse("2*matern52(lengthscale=0.3)", 1)
	require.NoError(t, err)
	want, err := gp.New(prior.Process{Kernel: kernel, Noise: 0.05}, wave(10))
	require.NoError(t, err)
	at := mat.NewDense(3, 1, []float64{-0.2, 0.33, 0.8})
	got, wanted := [2][]float64{make([]float64, 3), make([]float64, 3)}, [2][]float64{make([]float64, 3), make([]float64, 3)}
	p.Predict(got[0], got[1], at)
	want.Predict(wanted[0], wanted[1], at)
	require.Equal(t, wanted, got)
	require.Equal(t, 0.05, p.Noise())
	require.Empty(t, p.(surrogate.Stater).State())
	require.Zero(t, hyper(t, p, "mean"))
	require.Equal(t, 0.05, hyper(t, p, "noise"))
}

func TestNoiseFreeLowersTheFloor(t *testing.T) {
	d := wave(40)
	noisy := fit(t, gp.Model{}, d)
	require.GreaterOrEqual(t, noisy.Noise(), 1e-4)
	d.NoiseFree = true
	exact := fit(t, gp.Model{}, d)
	require.Less(t, exact.Noise(), 1e-7)
	require.GreaterOrEqual(t, exact.Noise(), 1e-8*(1-1e-9))
}

func TestWarmStartIsNotWorse(t *testing.T) {
	d := wave(12)
	m := gp.Model{Spec: prior.Spec{Restarts: 1}}
	cold := fit(t, m, d)
	text, err := json.Marshal(cold.(surrogate.Stater).State())
	require.NoError(t, err)
	var state surrogate.State
	require.NoError(t, json.Unmarshal(text, &state))
	warm, err := m.FitFrom(context.Background(), state, d, random.New(1, "gp", 0))
	require.NoError(t, err)
	evidence := func(p surrogate.Posterior) float64 { return p.(surrogate.Evidence).LogMarginalLikelihood() }
	require.InDelta(t, evidence(cold), evidence(warm), 1e-3)
}

func TestBadSpec(t *testing.T) {
	_, err := gp.Model{Spec: prior.Spec{Noise: ptr(-1)}}.Fit(context.Background(), wave(4), random.New(1, "gp", 0))
	require.ErrorIs(t, err, prior.ErrSpec)
	_, err = gp.Model{Spec: prior.Spec{Kernel: "rfb"}}.Fit(context.Background(), wave(4), random.New(1, "gp", 0))
	require.ErrorIs(t, err, prior.ErrExpression)
}

// Twenty copies of one point without noise have a covariance of rank one.
func TestJitterIsAWarning(t *testing.T) {
	d := surrogate.Dataset{X: mat.NewDense(20, 1, nil), Y: make([]float64, 20)}
	p := fit(t, gp.Model{Spec: prior.Spec{Noise: ptr(0)}}, d)
	require.Len(t, p.Warnings(), 1)
	require.Contains(t, p.Warnings()[0], "jitter")
	next, err := p.(surrogate.Conditioner).Condition(mat.NewDense(1, 1, []float64{1}), []float64{1})
	require.NoError(t, err)
	require.Equal(t, p.Warnings(), next.Warnings())
}

// The result has the same bits with one processor and with four, for matrices large
// enough to be divided among them.
func TestProcessorsDoNotMatter(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	const n = 400
	d := surrogate.Dataset{X: space.Sobol(n, 3, random.New(1, "x", 0)), Y: make([]float64, n)}
	for i := range d.Y {
		d.Y[i] = math.Sin(5*d.X.At(i, 0)) + d.X.At(i, 1)*d.X.At(i, 2)
	}
	x := space.Sobol(500, 3, nil)
	var want []float64
	for _, procs := range []int{1, 4} {
		runtime.GOMAXPROCS(procs)
		post, err := gp.Model{Spec: prior.Spec{Restarts: 2}}.Fit(t.Context(), d, random.New(1, "fit", 0))
		require.NoError(t, err)
		mean, variance := make([]float64, 500), make([]float64, 500)
		post.Predict(mean, variance, x)
		got := append(mean, variance...)
		if want == nil {
			want = got
		}
		require.Equal(t, want, got)
	}
}
