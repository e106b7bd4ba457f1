package hmc

import (
	"context"
	"math"
	"testing"

	"github.com/functionspace/bo/internal/racetest"
	"github.com/functionspace/bo/internal/settings"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distmv"

	"github.com/functionspace/bo/internal/gradcheck"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/mapnet"
	"github.com/functionspace/bo/surrogate/internal/nuts"
	"github.com/functionspace/bo/surrogate/surrogatetest"
)

func TestConformance(t *testing.T) {
	fast := surrogatetest.Options{Fast: true}
	m := Model{Network: surrogate.Network{Hidden: []int{6}}, Chains: 2, Warmup: 30, Draws: 20, Samples: 15, Depth: 5}
	t.Run("map", func(t *testing.T) { fast.Run(t, m) })
	m.Hidden, m.Start, m.Chains, m.Noise = []int{4, 4}, "random", 1, new(0.1)
	t.Run("random", func(t *testing.T) { fast.Run(t, m) })
}

// toy is a sine with a gap.
func toy(n int) surrogate.Dataset {
	rng := random.New(1, "toy", 0)
	d := surrogate.Dataset{X: mat.NewDense(n, 1, nil), Lo: []float64{-2}, Hi: []float64{2}}
	for i := range n {
		x := -1 + 0.5*rng.Float64()
		if i%2 == 1 {
			x += 1.5
		}
		d.X.Set(i, 0, x)
		d.Y = append(d.Y, math.Sin(2*math.Pi*x)+0.1*rng.NormFloat64())
	}
	return d
}

func problem(t testing.TB, m Model, d surrogate.Dataset) *mapnet.Problem {
	m, err := settings.Resolve("hmc", m)
	require.NoError(t, err)
	p, err := mapnet.New(mapnet.Settings{Network: m.network()}, d)
	require.NoError(t, err)
	return p
}

func TestGradient(t *testing.T) {
	for _, m := range []Model{
		{Network: surrogate.Network{Hidden: []int{4, 3}}},
		{Network: surrogate.Network{Hidden: []int{12}}}, // more units than observations
		{Network: surrogate.Network{Hidden: []int{5}}, Precision: new(0.7)},
		{Network: surrogate.Network{Hidden: []int{5}}, Noise: new(0.05)},
		{Network: surrogate.Network{Hidden: []int{5}}, Noise: new(0.05), Precision: new(0.7)},
		{Network: surrogate.Network{Hidden: []int{}}},
	} {
		target := newPosterior(problem(t, m, toy(9)))
		w, h := target.p.Start(nil, random.New(2, "w", 0))
		q := target.pack(w, h)
		grad := make([]float64, len(q))
		target.logDensity(grad, q)
		require.NoError(t, gradcheck.Gradient(func(q []float64) float64 { return target.logDensity(make([]float64, len(q)), q) }, q, grad, 1e-6))
	}
}

// The density of the chains is the joint density of all weights divided by the density
// of the output weights given the others.
func TestOutputWeightsAreIntegrated(t *testing.T) {
	const delta, noise = 0.7, 0.05
	p := problem(t, Model{Network: surrogate.Network{Hidden: []int{3}}, Precision: new(delta), Noise: new(noise)}, toy(7))
	target := newPosterior(p)
	joint := func(w []float64) float64 {
		f, total := make([]float64, 7), 0.0
		p.Net.Forward(f, w, p.X)
		for i, y := range p.Y {
			total -= 0.5*math.Log(2*math.Pi*noise) + (y-f[i])*(y-f[i])/(2*noise)
		}
		for _, v := range w {
			total -= 0.5 * delta * v * v
		}
		return total
	}
	// The density of the output weights given the others, by regression.
	w := p.Initial(random.New(1, "w", 0))
	q := target.pack(w, mapnet.Hypers{Precision: delta, Noise: noise})
	target.features(q)
	precision, shift := mat.NewSymDense(4, nil), mat.NewVecDense(4, nil)
	precision.SymOuterK(1/noise, target.evidence.Features.T())
	for i := range 4 {
		precision.SetSym(i, i, precision.At(i, i)+1)
	}
	shift.MulVec(target.evidence.Features.T(), mat.NewVecDense(7, p.Y))
	shift.ScaleVec(1/noise, shift)
	var chol mat.Cholesky
	require.True(t, chol.Factorize(precision))
	var cov mat.SymDense
	require.NoError(t, chol.InverseTo(&cov))
	mean := make([]float64, 4)
	require.NoError(t, chol.SolveVecTo(mat.NewVecDense(4, mean), shift))
	given, ok := distmv.NewNormal(mean, &cov, nil)
	require.True(t, ok)
	for i := range 3 {
		out := p.Initial(random.New(1, "out", i))[target.hidden:]
		scaled := make([]float64, 4)
		for j, v := range out {
			w[target.hidden+j] = v
			scaled[j] = math.Sqrt(delta) * v
		}
		// log N(0, I) of the output weights has the constant -2 log 2π.
		want := joint(w) - 2*math.Log(2*math.Pi) - given.LogProb(scaled)
		require.InDelta(t, want, target.logDensity(make([]float64, len(q)), q), 1e-9)
	}
}

// Without hidden layers and at fixed hyperparameters the draws are independent draws
// from Bayesian linear regression.
func TestLinearModel(t *testing.T) {
	racetest.SkipNumerical(t)
	const delta, noise = 0.7, 0.05
	m := Model{Network: surrogate.Network{Hidden: []int{}}, Precision: new(delta), Noise: new(noise), Draws: 600, Warmup: 1, Samples: 2400, Start: "random"}
	d := toy(9)
	post, err := m.Fit(context.Background(), d, random.New(1, "fit", 0))
	require.NoError(t, err)
	x := mat.NewDense(2, 1, []float64{0.2, 1.5})
	mean, cov := make([]float64, 2), mat.NewSymDense(2, nil)
	post.Joint(mean, cov, x)

	target := newPosterior(problem(t, m, d))
	target.features(nil)
	a := mat.NewSymDense(2, nil)
	a.SymOuterK(1/noise, target.evidence.Features.T())
	a.SetSym(0, 0, a.At(0, 0)+1)
	a.SetSym(1, 1, a.At(1, 1)+1)
	var inverse, phi, want mat.Dense
	require.NoError(t, inverse.Inverse(a))
	at := target.p.Inputs.Apply(x)
	phi.Apply(func(_, j int, _ float64) float64 { return 1 / math.Sqrt(delta) }, mat.NewDense(2, 2, nil))
	phi.Set(0, 0, at.At(0, 0)/math.Sqrt(delta))
	phi.Set(1, 0, at.At(1, 0)/math.Sqrt(delta))
	want.Product(&phi, &inverse, phi.T())
	var centre mat.VecDense
	centre.MulVec(target.evidence.Features.T(), mat.NewVecDense(9, target.p.Y))
	centre.MulVec(&inverse, &centre)
	centre.MulVec(&phi, &centre)
	for i := range 2 {
		require.InDelta(t, target.p.Shift+centre.AtVec(i)/noise, mean[i], 5*math.Sqrt(want.At(i, i)/2400))
		for j := range 2 {
			require.InDelta(t, want.At(i, j), cov.At(i, j), 0.15*want.At(0, 0))
		}
	}
}

// Simulation-based calibration (Talts et al. 2018): if parameters are drawn from the
// prior and data given the parameters, the rank of the parameters among the posterior
// draws is uniform.
func TestRanksAreUniform(t *testing.T) {
	racetest.SkipNumerical(t)
	const runs, draws, thin = 60, 19, 3
	m := Model{Network: surrogate.Network{Hidden: []int{3}}}
	ranks := [3][draws + 1]int{}
	for run := range runs {
		rng := random.New(5, "truth", run)
		p := problem(t, m, toy(6))
		target := newPosterior(p)
		truth := mapnet.Hypers{Precision: math.Exp(-2 * rng.NormFloat64()), Noise: target.floor + math.Exp(-4+rng.NormFloat64())}
		w := make([]float64, p.Net.NumParams())
		for i := range w {
			w[i] = rng.NormFloat64() / math.Sqrt(truth.Precision)
		}
		p.Net.Forward(p.Y, w, p.X)
		for i := range p.Y {
			p.Y[i] += math.Sqrt(truth.Noise) * rng.NormFloat64()
		}
		at, value := mat.NewDense(1, 1, []float64{0.3}), make([]float64, 1)
		p.Net.Forward(value, w, at)
		want := [3]float64{value[0], truth.Precision, truth.Noise}

		c, err := nuts.Sample(context.Background(), target.logDensity, target.pack(p.Start(nil, rng)),
			nuts.Settings{Warmup: 60, Draws: draws * thin, Accept: 0.9, Depth: 8}, rng, func() {})
		require.NoError(t, err)
		var rank [3]int
		for k := range draws {
			w, h, err := target.network(c.Draws[k*thin], rng)
			require.NoError(t, err)
			p.Net.Forward(value, w, at)
			for i, v := range [3]float64{value[0], h.Precision, h.Noise} {
				if v < want[i] {
					rank[i]++
				}
			}
		}
		for i, r := range rank {
			ranks[i][r]++
		}
	}
	for i, counts := range ranks {
		// Five bins of four ranks; the 99.99 % point of χ² with 4 degrees of freedom is 23.5.
		var chi2 float64
		for b := range 5 {
			n := counts[4*b] + counts[4*b+1] + counts[4*b+2] + counts[4*b+3]
			e := float64(n) - runs/5
			chi2 += e * e / (runs / 5)
		}
		require.Less(t, chi2, 23.5, "quantity %d: %v", i, counts)
	}
}

func hyper(t *testing.T, p surrogate.Posterior, name string) float64 {
	for _, h := range p.(surrogate.Describer).Hypers() {
		if h.Name == name {
			return h.Value
		}
	}
	t.Fatalf("no hyperparameter %s", name)
	return 0
}

func TestDiagnosis(t *testing.T) {
	racetest.SkipNumerical(t)
	m := Model{Network: surrogate.Network{Hidden: []int{10}}, Warmup: 200, Draws: 200, Noise: new(0.05)}
	good, err := m.Fit(context.Background(), toy(12), random.New(1, "fit", 0))
	require.NoError(t, err)
	require.Empty(t, good.Warnings())
	require.Less(t, hyper(t, good, "rhat"), maxRHat)
	require.Greater(t, hyper(t, good, "ess"), 50.)

	m.Start, m.Chains, m.Warmup, m.Draws, m.Depth = "random", 2, 1, 10, 1
	bad, err := m.Fit(context.Background(), toy(12), random.New(1, "fit", 0))
	require.NoError(t, err)
	require.Greater(t, hyper(t, bad, "rhat"), maxRHat)
	require.Contains(t, bad.Warnings()[0], "the chains have not converged (R̂")
}

// The posterior contains networks of all chains.
func TestThinning(t *testing.T) {
	for _, samples := range []int{2, 3, 7, 20, 100} {
		m := Model{Network: surrogate.Network{Hidden: []int{2}}, Chains: 2, Warmup: 5, Draws: 10, Samples: samples}
		post, err := m.Fit(context.Background(), toy(5), random.New(1, "fit", 0))
		require.NoError(t, err)
		require.Equal(t, float64(min(samples, 20)), hyper(t, post, "networks"))
	}
}

func TestCheck(t *testing.T) {
	require.NoError(t, surrogate.Check(Model{}, 2))
	require.ErrorContains(t, surrogate.Check(Model{Start: "maps"}, 2), `start is "maps", want `)
	require.ErrorContains(t, surrogate.Check(Model{Chains: -1}, 2), "chains is -1")
	require.ErrorContains(t, surrogate.Check(Model{Draws: 3}, 2), "draws is 3, want 8 to")
	require.ErrorContains(t, surrogate.Check(Model{Accept: 1}, 2), "accept is 1, want more than 0 and less than 1")
	require.ErrorContains(t, surrogate.Check(Model{Depth: 21}, 2), "depth is 21, want 1 to 20")
	require.ErrorContains(t, surrogate.Check(Model{Network: surrogate.Network{Activation: "tahn"}}, 2), "activation is")
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	ctx = surrogate.WithProgress(ctx, func(p surrogate.Progress) {
		if p.Phase == "sample" {
			cancel()
		}
	})
	_, err := Model{}.Fit(ctx, toy(20), random.New(1, "fit", 0))
	require.ErrorIs(t, err, context.Canceled)
}
