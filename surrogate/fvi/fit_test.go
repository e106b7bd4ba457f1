package fvi

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/racetest"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/gp"
	"github.com/functionspace/bo/surrogate/internal/toy"
)

// moments returns mean and standard deviation at 101 points of [-2,2].
func moments(p surrogate.Posterior) (mean, sd []float64) {
	const n = 101
	x := mat.NewDense(n, 1, nil)
	for i := range n {
		x.Set(i, 0, -2+4*float64(i)/(n-1))
	}
	mean, sd = make([]float64, n), make([]float64, n)
	p.Predict(mean, sd, x)
	for i, v := range sd {
		sd[i] = math.Sqrt(v)
	}
	return mean, sd
}

// The network is as near the exact process with the same prior as a q with independent weights
// permits.
func TestNearTheExactProcess(t *testing.T) {
	racetest.SkipNumerical(t)
	d := toy.Wave(40)
	for kernel, within := range map[string]float64{"matern52": 0.4, "rbf": 0.35} {
		m := Model{Spec: prior.Spec{Kernel: kernel, Restarts: 1}, Steps: 100, Draws: 40}
		exact, err := gp.Model{Spec: m.Spec}.Fit(t.Context(), d, random.New(1, "gp", 0))
		require.NoError(t, err)
		post, err := m.Fit(t.Context(), d, random.New(1, "fit", 0))
		require.NoError(t, err)
		far := toy.Wasserstein(post, exact)
		t.Logf("%s: %.3f, noise %.3f", kernel, far, math.Sqrt(post.Noise()))
		require.Less(t, far, within, kernel)
		require.InDelta(t, 0.1, math.Sqrt(post.Noise()), 0.05)
	}
}

// Beyond the observations that the start uses training has a step for each, within bounds, at a larger rate. A schedule
// that is given stays.
func TestScheduleOfManyObservations(t *testing.T) {
	for _, c := range []struct {
		n     int
		warm  bool
		m     Model
		steps int
		rate  float64
	}{
		{n: 1000, steps: 200, rate: 0.003},
		{n: 1001, steps: 4000, rate: 0.01},
		{n: 1500, m: Model{Prior: "piecewise-linear"}, steps: 4000, rate: 0.01},
		{n: 7000, steps: 7000, rate: 0.01},
		{n: 40000, steps: 10000, rate: 0.01},
		{n: 40000, warm: true, steps: 5000, rate: 0.01},
		{n: 40000, m: Model{Steps: 30, Rate: 0.02}, steps: 30, rate: 0.02},
		{n: 40000, m: Model{Start: "random"}, steps: 10000, rate: 0.003},
		{n: 40000, m: Model{Preset: surrogate.Published}, steps: 4000000, rate: 0.001},
	} {
		m, err := c.m.resolve()
		require.NoError(t, err)
		p := problem{Model: m, data: surrogate.Dataset{Y: make([]float64, c.n)}, process: new(prior.Process)}
		p.setSchedule(c.warm)
		require.Equal(t, c.steps, p.Steps, "%+v", c)
		require.Equal(t, c.rate, p.Rate, "%+v", c)
	}
}

// A linear model under the prior of its own features has the exact posterior, up to the error of
// the estimated scores.
func TestLinearModelIsBayesianLinearRegression(t *testing.T) {
	racetest.SkipNumerical(t)
	spec := prior.Spec{Kernel: "linear(offset=1,lengthscale=1)", Noise: new(0.25), Mean: "zero"}
	d := surrogate.Dataset{X: mat.NewDense(12, 1, nil), Y: make([]float64, 12), Lo: []float64{-2}, Hi: []float64{2}}
	for i := range d.Y {
		x := -1.1 + float64(i)/5
		d.X.Set(i, 0, x)
		d.Y[i] = 0.5 - x + math.Sin(20*x)/2
	}
	exact, err := gp.Model{Spec: spec}.Fit(t.Context(), d, random.New(1, "gp", 0))
	require.NoError(t, err)
	post, err := Model{Spec: spec, Network: surrogate.Network{Hidden: []int{}}, Draws: 50, Steps: 250, Rate: 0.01, Samples: 1000}.Fit(t.Context(), d, random.New(1, "fit", 0))
	require.NoError(t, err)
	want, wantSD := moments(exact)
	got, gotSD := moments(post)
	for i := range want {
		require.InDelta(t, want[i], got[i], 0.05)
		require.InEpsilon(t, wantSD[i], gotSD[i], 0.2)
	}
}

// Under a prior of piecewise functions the mean follows the data, and the variance is larger
// between them.
func TestPiecewisePrior(t *testing.T) {
	racetest.SkipNumerical(t)
	const n = 30
	d := surrogate.Dataset{X: mat.NewDense(n, 1, nil), Y: make([]float64, n), Lo: []float64{0}, Hi: []float64{1}}
	for i := range n {
		x := 0.2 * float64(i) / n
		d.Y[i] = 1
		if i%2 == 0 {
			x, d.Y[i] = 1-x, -1
		}
		d.X.Set(i, 0, x)
	}
	for _, name := range []string{"piecewise-constant", "piecewise-linear"} {
		post, err := Model{Prior: name, Network: surrogate.Network{Hidden: []int{20, 20}}, Draws: 24, Steps: 300}.Fit(t.Context(), d, random.New(1, "fit", 0))
		require.NoError(t, err)
		mean, variance := make([]float64, 3), make([]float64, 3)
		post.Predict(mean, variance, mat.NewDense(3, 1, []float64{0.1, 0.5, 0.9}))
		t.Logf("%s: means %.2f, variances %.3f, noise %.3f", name, mean, variance, math.Sqrt(post.Noise()))
		require.InDelta(t, 1, mean[0], 0.2)
		require.InDelta(t, -1, mean[2], 0.2)
		require.Greater(t, variance[1], 4*max(variance[0], variance[2]))
	}
}

// Measurement points are the batch followed by points of the box. The weight of the likelihood
// follows the settings.
func TestBatches(t *testing.T) {
	for weight, want := range map[string]float64{"all": 50. / 8, "batch": 1} {
		m, err := Model{Batch: 8, Context: 5, Draws: 3, Weight: weight, Steps: 10, Anneal: 0.5}.resolve()
		require.NoError(t, err)
		p, err := newProblem(m, surrogate.Dataset{X: space.Sobol(50, 2, random.New(1, "x", 0)), Y: make([]float64, 50)})
		require.NoError(t, err)
		for i := range p.data.Y {
			p.data.Y[i] = p.data.X.At(i, 0)
		}
		p.useSampler()
		seen := map[float64]bool{}
		for step := range 10 {
			b, err := p.nextBatch(step, random.New(uint64(step), "batch", 0))
			require.NoError(t, err)
			require.InDelta(t, want*min(1, float64(step)/5), b.weight, 1e-12)
			rows, _ := b.x.Dims()
			require.Equal(t, 13, rows)
			for i, y := range b.y {
				require.Equal(t, y, b.x.At(i, 0))
				seen[y] = true
			}
		}
		require.Greater(t, len(seen), 30)
	}
}

// Fits of ten thousand observations and of an observation of 50 inputs succeed. A later fit
// starts at the result of an earlier fit.
func TestSizes(t *testing.T) {
	m := Model{Network: surrogate.Network{Hidden: []int{10}}, Steps: 5, Draws: 10, Samples: 10, Spec: prior.Spec{Restarts: 1, Lengthscale: []float64{1}}}
	d := surrogate.Dataset{X: space.Sobol(10000, 10, random.New(1, "x", 0)), Y: make([]float64, 10000)}
	for i := range d.Y {
		d.Y[i] = math.Sin(d.X.At(i, 3))
	}
	_, err := m.Fit(t.Context(), d, random.New(1, "fit", 0))
	require.NoError(t, err)

	one := surrogate.Dataset{X: mat.NewDense(1, 50, nil), Y: []float64{2}}
	post, err := m.Fit(t.Context(), one, random.New(1, "fit", 0))
	require.NoError(t, err)
	state := post.(surrogate.Stater).State()
	for _, s := range []surrogate.State{state, state[:7], {math.Inf(1)}, nil} {
		_, err = m.FitFrom(t.Context(), s, one, random.New(1, "fit", 0))
		require.NoError(t, err)
	}
}

func TestCheck(t *testing.T) {
	require.NoError(t, surrogate.Check(Model{}, 2))
	for want, m := range map[string]Model{
		`prior is "gb", want `:   {Prior: "gb"},
		`score is "plan", want `: {Score: "plan"},
		"draws is 1":             {Draws: 1},
		"eigenvalues is 2":       {Eigenvalues: 2},
		"anneal is -1":           {Anneal: -1},
		"range is [1 0]":         {Prior: "piecewise-linear", Range: []float64{1, 0}},
		"range is [0 1], which needs prior=piecewise-constant": {Range: []float64{0, 1}},
		"changes is 2, which needs prior=piecewise-constant":   {Changes: 2},
		"hidden is 0":          {Network: surrogate.Network{Hidden: []int{0}}},
		"inject is -1":         {Inject: -1},
		"bias is -1":           {Bias: new(-1.0)},
		"noise":                {Spec: prior.Spec{Noise: new(-1.0)}},
		"context is -1, want ": {Context: -1},
	} {
		require.ErrorContains(t, surrogate.Check(m, 2), want)
		_, err := m.Fit(t.Context(), toy.Wave(4), random.New(1, "fit", 0))
		require.ErrorContains(t, err, surrogate.Check(m, 1).Error())
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	ctx = surrogate.WithProgress(ctx, func(p surrogate.Progress) {
		if p.Phase == "train" && p.Done > 0 {
			cancel()
		}
	})
	_, err := Model{Start: "random", Steps: 1e6}.Fit(ctx, toy.Wave(40), random.New(1, "fit", 0))
	require.ErrorIs(t, err, context.Canceled)
}
