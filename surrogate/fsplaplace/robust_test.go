package fsplaplace

import (
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/racetest"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/target"
)

func TestImpossibleSettings(t *testing.T) {
	for want, m := range map[string]Model{
		"hidden is 0, want 1 to 10000":                {Network: surrogate.Network{Hidden: []int{5, 0}}},
		"hidden is 20000, want 1 to 10000":            {Network: surrogate.Network{Hidden: []int{20000}}},
		`trainer is "sgd", want gauss-newton or adam`: {Trainer: "sgd"},
		`factor is "lanczs", want ridge, cholesky or`: {Factor: "lanczs"},
		`box is "dat", want search or data`:           {Box: "dat"},
		"context is -1, want 1 to 20000":              {Context: -1},
		"context is 1000000, want 1 to 20000":         {Context: 1000000},
		"covariance-context is 20001, want 1 to":      {CovarianceContext: 20001},
		"steps is -3, want 1 to":                      {Steps: -3},
		"rate is NaN, want more than 0 and at most 1": {Rate: math.NaN()},
		"noise-start is +Inf, want more than 0":       {NoiseStart: math.Inf(1)},
		"bias is -0.1, want 0 or more":                {Bias: new(-0.1)},
		"noise is 0, want 1e-10 or more":              {Spec: prior.Spec{Noise: new(0.0)}},
		"noise is 1e-300, want 1e-10 or more":         {Spec: prior.Spec{Noise: new(1e-300)}},
		"noise is -1, want 1e-10 or more":             {Spec: prior.Spec{Noise: new(-1.0)}},
		"invalid prior: 2 lengthscales for 3 inputs":  {Spec: prior.Spec{Lengthscale: []float64{1, 2}}},
		"kernel \"rbff\"":                             {Spec: prior.Spec{Kernel: "rbff"}},
		"variance is 0, want more than 0":             {Spec: prior.Spec{Variance: new(0.0)}},
		"mean is \"zer\", want constant or zero":      {Spec: prior.Spec{Mean: "zer"}},
	} {
		err := surrogate.Check(m, 3)
		require.ErrorContains(t, err, want)
		require.NotContains(t, err.Error(), "\n")
	}
}

// The posterior has the fixed hyperparameters, and the smallest allowed noise variance gives
// finite predictions.
func TestFixedHyperparameters(t *testing.T) {
	d := wave(10)
	const minNoise = 1e-10
	m := Model{Network: surrogate.Network{Hidden: []int{20}}, Context: 60, Spec: prior.Spec{Lengthscale: []float64{0.2}, Variance: new(1.5), Noise: new(minNoise), Mean: prior.MeanZero}}
	for _, factor := range []string{"ridge", "cholesky", "lanczos"} {
		m.Factor, m.CovarianceContext = factor, 60
		post, err := m.Fit(t.Context(), d, random.New(1, "fit", 0))
		require.NoError(t, err)
		require.Equal(t, minNoise, post.Noise())
		values := map[string]float64{}
		for _, h := range post.(surrogate.Describer).Hypers() {
			values[h.Name] = h.Value
		}
		require.Equal(t, []float64{0.2, 1.5, minNoise, 0}, []float64{values["lengthscale[0]"], values["variance"], values["noise"], values["mean"]}, "%v", values)
		mean, variance := make([]float64, 10), make([]float64, 10)
		post.Predict(mean, variance, d.X)
		require.InDeltaSlice(t, d.Y, mean, 0.02, factor)
		for _, v := range variance {
			require.Less(t, v, 1e-6)
			require.GreaterOrEqual(t, v, 0.0)
		}
	}
}

// A kernel that is not positive definite gives ErrNotPositiveDefinite, from which the loop
// recovers.
func TestNumericalFailure(t *testing.T) {
	m := Model{Network: surrogate.Network{Hidden: []int{5}}, Context: 20, Spec: prior.Spec{Custom: negative{prior.RBF(1)}, Noise: new(0.1)}}
	_, err := m.Fit(t.Context(), wave(5), random.New(1, "fit", 0))
	require.ErrorIs(t, err, surrogate.ErrNotPositiveDefinite)
}

// negative is a kernel multiplied by -1.
type negative struct{ prior.Kernel }

func (k negative) WithParams(theta []float64) prior.Kernel {
	return negative{k.Kernel.WithParams(theta)}
}

func (k negative) Gram(dst *mat.SymDense, x *mat.Dense) {
	k.Kernel.Gram(dst, x)
	dst.ScaleSym(-1, dst)
}

// The kernels include kernels without a lengthscale, without a diagonal, or without smoothness.
func TestEveryKernel(t *testing.T) {
	racetest.SkipNumerical(t)
	d := plane(12)
	for _, kernel := range []string{"linear", "polynomial", "arccos", "periodic", "white", "constant", "matern52+white", "rbf*periodic+linear", "linear*linear"} {
		for _, factor := range []string{"ridge", "cholesky", "lanczos"} {
			m := Model{Network: surrogate.Network{Hidden: []int{10}}, Context: 40, CovarianceContext: 40, Factor: factor, Spec: prior.Spec{Kernel: kernel, Restarts: 1}}
			post, err := m.Fit(t.Context(), d, random.New(1, "fit", 0))
			require.NoError(t, err, "%s, %s", kernel, factor)
			mean, variance := make([]float64, 30), make([]float64, 30)
			post.Predict(mean, variance, space.Sobol(30, 2, nil))
			for i := range mean {
				require.Less(t, math.Abs(mean[i]), 10.0, "%s, %s", kernel, factor)
				require.True(t, variance[i] >= 0 && variance[i] < 100, "%s, %s: %v", kernel, factor, variance[i])
			}
		}
	}
}

// plane returns n observations of a plane on the unit square, with a duplicate among them.
func plane(n int) surrogate.Dataset {
	d := surrogate.Dataset{X: space.Sobol(n, 2, random.New(1, "plane", 0)), Y: make([]float64, n), Lo: []float64{0, 0}, Hi: []float64{1, 1}}
	d.X.SetRow(n-1, d.X.RawRowView(0))
	for i := range n {
		d.Y[i] = 2*d.X.At(i, 0) - d.X.At(i, 1)
	}
	return d
}

// The search ignores a ridge out of its bounds, from a damaged state.
func TestRidgeSearchStartsAnew(t *testing.T) {
	p, w := untrained(2, 1, Model{Network: surrogate.Network{Hidden: []int{20}}, Context: 50}, 1)
	c, holdout := p.contextPoints(50, random.New(1, "context", 0))
	want, err := p.ridgeFactor(t.Context(), w, c, holdout, 0)
	require.NoError(t, err)
	for _, start := range []float64{7, -40, math.NaN(), math.Inf(-1)} {
		got, err := p.ridgeFactor(t.Context(), w, c, holdout, start)
		require.NoError(t, err)
		require.Equal(t, want.exponent, got.exponent)
	}
}

// A fit ignores states of another kernel or network, and states that are not finite.
func TestForeignStates(t *testing.T) {
	d := plane(8)
	m := Model{Network: surrogate.Network{Hidden: []int{5}}, Context: 30, Steps: 5, Spec: prior.Spec{Restarts: 1}}
	predict := func(start surrogate.State) []float64 {
		post, err := m.FitFrom(t.Context(), start, d, random.New(1, "fit", 0))
		require.NoError(t, err)
		mean, variance := make([]float64, 8), make([]float64, 8)
		post.Predict(mean, variance, d.X)
		return append(mean, variance...)
	}
	other := m
	other.Kernel = "linear"
	post, err := other.Fit(t.Context(), d, random.New(1, "fit", 0))
	require.NoError(t, err)
	state := post.(surrogate.Stater).State()
	want := predict(nil)
	require.NotEqual(t, want, predict(state), "weights and ridge of another kernel are a start")
	for _, start := range []surrogate.State{{}, {1e300}, {-5, 1, 2}, {math.NaN(), 1}, {2.5, 1, 2, 3}, state[:4]} {
		require.Equal(t, want, predict(start), "%v", start)
	}
}

// Beyond target.MaxExact observations the prior is fitted to a part of them, and the target is
// the sparse process.
func TestManyObservations(t *testing.T) {
	d := wave(target.MaxExact + 1)
	m := Model{Network: surrogate.Network{Hidden: []int{10}}, Context: 20, Steps: 10, Spec: prior.Spec{Lengthscale: []float64{0.3}, Variance: new(1.0), Noise: new(0.01)}}
	post, err := m.Fit(t.Context(), d, random.New(1, "fit", 0))
	require.NoError(t, err)
	mean, variance := make([]float64, len(d.Y)), make([]float64, len(d.Y))
	post.Predict(mean, variance, d.X)
	require.InDeltaSlice(t, d.Y, mean, 0.05)
	for _, v := range variance {
		require.Less(t, v, 1e-3)
	}
}

// Training with all of many observations learns the noise variance around a function that the
// sparse target cannot represent.
func TestManyObservationsLearnTheNoise(t *testing.T) {
	racetest.SkipNumerical(t)
	d := wave(3 * target.MaxExact)
	rng := random.New(1, "noise", 0)
	clean := slices.Clone(d.Y)
	for i := range d.Y {
		d.Y[i] += 0.3 * rng.NormFloat64()
	}
	m := Model{Network: surrogate.Network{Hidden: []int{10}}, Context: 20, Steps: 5, Spec: prior.Spec{Lengthscale: []float64{0.3}, Variance: new(1.0)}}
	post, err := m.Fit(t.Context(), d, random.New(1, "fit", 0))
	require.NoError(t, err)
	require.InDelta(t, 0.09, post.Noise(), 0.01)
	mean, variance := make([]float64, len(d.Y)), make([]float64, len(d.Y))
	post.Predict(mean, variance, d.X)
	var off, sum float64
	for i, f := range clean {
		off += (mean[i] - f) * (mean[i] - f)
		sum += variance[i]
	}
	require.Less(t, off/float64(len(clean)), 0.002)
	require.Less(t, sum/float64(len(clean)), 0.004)
}

// Results on one processor and on four are identical to the last bit, with matrices large
// enough for parallel products.
func TestProcessorsDoNotMatter(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, m := range []Model{{Steps: 4}, {Steps: 4, Factor: "lanczos", CovarianceContext: 700}, {Steps: 3, Trainer: "adam"}} {
		m.Restarts = 1
		var want []float64
		for _, procs := range []int{1, 4} {
			runtime.GOMAXPROCS(procs)
			post, err := m.Fit(t.Context(), plane(40), random.New(1, "fit", 0))
			require.NoError(t, err)
			x := space.Sobol(300, 2, nil)
			mean, variance := make([]float64, 300), make([]float64, 300)
			post.Predict(mean, variance, x)
			got := append(mean, variance...)
			if want == nil {
				want = got
			}
			require.Equal(t, want, got)
		}
	}
}
