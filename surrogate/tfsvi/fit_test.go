package tfsvi

import (
	"flag"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/nn"
	"github.com/functionspace/bo/internal/racetest"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/gp"
	"github.com/functionspace/bo/surrogate/internal/mixture"
	"github.com/functionspace/bo/surrogate/internal/toy"
	"github.com/functionspace/bo/surrogate/internal/variational"
)

// The posterior mean follows the data, the noise variance is learned, and the posterior
// variance is larger away from the data.
func TestFit(t *testing.T) {
	x := mat.NewDense(6, 1, []float64{-0.75, 0.75, 0.6, -2, 1.8, 2})
	for _, m := range []Model{
		{Network: surrogate.Network{Hidden: []int{60}}, Draws: 2, Samples: 50},
		{Network: surrogate.Network{Hidden: []int{60}}, Draws: 2, Samples: 50, Prior: "fixed", Divergence: "diagonal"},
		{Network: surrogate.Network{Hidden: []int{20, 20}}, Draws: 2, Samples: 50, Steps: 800, Covariance: "diagonal"},
	} {
		post, err := m.Fit(t.Context(), toy.Wave(40), random.New(1, "fit", 0))
		require.NoError(t, err)
		mean, variance := make([]float64, 6), make([]float64, 6)
		post.Predict(mean, variance, x)
		for i := range 3 {
			require.InDelta(t, math.Sin(2*math.Pi*x.At(i, 0)), mean[i], 0.3, "%+v at %g", m, x.At(i, 0))
		}
		require.Greater(t, min(variance[3], variance[4], variance[5]), 2*max(variance[0], variance[1]))
		require.InDelta(t, 0.1, math.Sqrt(post.Noise()), 0.12)
	}
}

// A fixed noise variance does not change. The mean weights of a pair of networks are m.
func TestFixedNoiseAndPairs(t *testing.T) {
	noise := 0.04
	post, err := Model{Noise: &noise, Network: surrogate.Network{Hidden: []int{8}}, Covariance: "diagonal", Steps: 20, Samples: 3}.Fit(t.Context(), toy.Wave(10), random.New(1, "fit", 0))
	require.NoError(t, err)
	require.InEpsilon(t, noise, post.Noise(), 1e-12)
	q := post.(*mixture.Posterior)
	require.Len(t, q.Weights, 3)
	for i, m := range q.Learned[:q.Net.NumParams()] {
		require.InDelta(t, m, (q.Weights[0][i]+q.Weights[1][i])/2, 1e-12)
	}
}

// With many inputs of which few are relevant, the mean follows the function, and the posterior
// variance is not too small.
func TestManyInputs(t *testing.T) {
	racetest.SkipNumerical(t)
	rng := random.New(1, "data", 0)
	f := func(x []float64) float64 { return 2 * math.Sin(5*x[0]) * math.Cos(4*x[1]) }
	d := surrogate.Dataset{X: space.Uniform(120, 30, rng), Y: make([]float64, 120), NoiseFree: true}
	for i := range d.Y {
		d.Y[i] = f(d.X.RawRowView(i))
	}
	post, err := Model{Steps: 100}.Fit(t.Context(), d, rng)
	require.NoError(t, err)
	x := space.Uniform(100, 30, rng)
	mean, variance := make([]float64, 100), make([]float64, 100)
	post.Predict(mean, variance, x)
	var chi float64
	for i, m := range mean {
		e := m - f(x.RawRowView(i))
		chi += e * e / (variance[i] + post.Noise()) / 100
	}
	require.Less(t, chi, 3.)
}

var full = flag.Bool("full", false, "five functions of many inputs; otherwise one")

// With few observations for each of many inputs the fit does not follow the noise.
func TestManyInputsFewObservations(t *testing.T) {
	racetest.SkipNumerical(t)
	functions := uint64(1)
	if *full {
		functions = 5
	}
	for seed := uint64(1); seed <= functions; seed++ {
		fitManyInputs(t, seed)
	}
}

func fitManyInputs(t *testing.T, seed uint64) {
	const d, n, m, noise = 50, 200, 300, 0.01
	kernel, _, err := prior.Spec{Lengthscale: []float64{3}, Variance: new(1.0)}.Hyperparameters(d, false)
	require.NoError(t, err)
	rng, x := random.New(seed, "draw", 0), space.Sobol(n+m, d, random.New(seed, "x", 0))
	k, f := mat.NewSymDense(n+m, nil), make([]float64, n+m)
	kernel.Gram(k, x)
	chol, err := linalg.Factorize(k)
	require.NoError(t, err)
	random.Normal(f, rng)
	chol.MulLowerVec(f)
	data := surrogate.Dataset{X: mat.DenseCopyOf(x.Slice(0, n, 0, d)), Y: f[:n:n], Lo: make([]float64, d), Hi: slices.Repeat([]float64{1}, d)}
	for i := range data.Y {
		data.Y[i] += math.Sqrt(noise) * rng.NormFloat64()
	}
	for _, model := range []surrogate.Model{gp.Model{}, Model{}} {
		post, err := model.Fit(t.Context(), data, random.New(seed, "fit", 0))
		require.NoError(t, err)
		mean, variance := make([]float64, m), make([]float64, m)
		post.Predict(mean, variance, mat.DenseCopyOf(x.Slice(n, n+m, 0, d)))
		var density, inside float64
		for i, v := range variance {
			e, v2 := f[n+i]-mean[i], v+post.Noise()
			density -= (math.Log(2*math.Pi*v2) + e*e/v2) / (2 * m)
			if math.Abs(e) <= 1.645*math.Sqrt(v) {
				inside += 1. / m
			}
		}
		t.Logf("seed %d, %T: log density %.2f, %.2f in the 90 %% intervals, noise %.2g", seed, model, density, inside, post.Noise())
		require.Greater(t, density, -2.0)
	}
}

// Beyond 500 observations the hidden layers are trained on all of them.
func TestManyObservations(t *testing.T) {
	post, err := Model{Network: surrogate.Network{Hidden: []int{20}}, Draws: 1, Steps: 120, Batch: 100, Samples: 20}.Fit(t.Context(), toy.Wave(600), random.New(1, "fit", 0))
	require.NoError(t, err)
	mean, variance := make([]float64, 2), make([]float64, 2)
	post.Predict(mean, variance, mat.NewDense(2, 1, []float64{-0.75, 0.75}))
	require.InDelta(t, 1, mean[0], 0.2)
	require.InDelta(t, -1, mean[1], 0.2)
}

func TestCheck(t *testing.T) {
	require.NoError(t, surrogate.Check(Model{}, 2))
	require.ErrorContains(t, surrogate.Check(Model{Prior: "bn"}, 2), `prior is "bn", want `)
	require.ErrorContains(t, surrogate.Check(Model{Covariance: "full"}, 2), "covariance is")
	require.ErrorIs(t, surrogate.Check(Model{Jitter: -1}, 2), surrogate.ErrSetting)
	require.ErrorIs(t, surrogate.Check(Model{Noise: new(-1.0)}, 2), surrogate.ErrSetting)
}

// The benchmark evaluates the objective and its gradient with the default settings and 50
// observations of 2 inputs.
func BenchmarkObjective(b *testing.B) {
	rng := random.New(1, "bench", 0)
	o := &objective{net: &nn.Network{In: 2, Hidden: []int{200}}, scale: 0.1, jitter: 1e-3}
	v, at := example(o.net, o.net.Outputs(), 1)
	at.x, at.y, at.noise = space.Uniform(50, 2, rng), make([]float64, 50), mat.NewDense(5, len(v.M), nil)
	at.sets = []*mat.Dense{space.Uniform(20, 2, rng)}
	grad := variational.NewOutput(len(v.M), o.net.Outputs())
	for b.Loop() {
		if _, err := o.eval(v, at, grad); err != nil {
			b.Fatal(err)
		}
	}
}
