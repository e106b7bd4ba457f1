package fsplaplace

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/internal/workspace"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
)

func normal(r, c int, seed uint64) *mat.Dense {
	rng := random.New(seed, "normal", 0)
	m := mat.NewDense(r, c, nil)
	for i := range r {
		for j := range c {
			m.Set(i, j, rng.NormFloat64())
		}
	}
	return m
}

// The two forms of the covariance of the weights agree.
func TestUpdatesAgree(t *testing.T) {
	const n, r, m, noise = 7, 12, 5, 0.1
	phi, at := normal(n, r, 1), normal(m, r, 2)
	a := mat.NewSymDense(r, nil)
	linalg.Syrk(a, 1/noise, linalg.T, phi, 0)
	linalg.AddDiagonal(a, 1)
	f, err := factorize(a)
	require.NoError(t, err)
	v, err := newByValues(phi, noise)
	require.NoError(t, err)

	mem := workspace.Borrow()
	defer mem.Return()
	want, got := byWeights{f}, v
	wroot, groot := want.root(mem, at), got.root(mem, at)
	wv, gv := make([]float64, m), make([]float64, m)
	want.variance(wv, at, wroot)
	got.variance(gv, at, groot)
	require.InDeltaSlice(t, wv, gv, 1e-12)
	wc, gc := mat.NewSymDense(m, nil), mat.NewSymDense(m, nil)
	want.covariance(wc, at, wroot)
	got.covariance(gc, at, groot)
	require.LessOrEqual(t, maxDiff(wc, gc), 1e-12)
	require.LessOrEqual(t, maxDiff(want.times(mem, at, wroot), got.times(mem, at, groot)), 1e-12)

	// The test computes the covariance of draws, each entry within five standard errors.
	const draws = 20000
	inverse := mat.NewSymDense(r, nil)
	f.chol.Inverse(inverse)
	for name, u := range map[string]update{"weights": want, "values": got} {
		rng := random.New(3, "draws", 0)
		second := mat.NewSymDense(r, nil)
		for range draws {
			omega := make([]float64, r)
			for i := range omega {
				omega[i] = rng.NormFloat64()
			}
			u.draw(omega, rng)
			second.SymRankOne(second, 1./draws, mat.NewVecDense(r, omega))
		}
		for i := range r {
			for j := range r {
				v := inverse.At(i, j)
				se := math.Sqrt((inverse.At(i, i)*inverse.At(j, j) + v*v) / draws)
				require.InDelta(t, v, second.At(i, j), 5*se, name)
			}
		}
	}
}

// Observations added in parts give the same posterior as all at once, also across the change
// from byValues to byWeights.
func TestObserveInParts(t *testing.T) {
	d := wave(24)
	post, err := Model{Context: 40, Network: surrogate.Network{Hidden: []int{20}}}.Fit(t.Context(), d, random.New(1, "fit", 0))
	require.NoError(t, err)
	whole := post.(*posterior)
	r := whole.factor.rank()
	x := space.Sobol(r, 1, random.New(2, "x", 0))
	y := make([]float64, r)
	fresh := *whole
	fresh.update, fresh.m, fresh.NoiseVariance = unobserved{}, nil, 0.01
	at := space.Halton(30, 1, random.New(3, "at", 0))
	moments := func(p *posterior) (mean, variance []float64) {
		mean, variance = make([]float64, 30), make([]float64, 30)
		p.Predict(mean, variance, at)
		return mean, variance
	}
	once, parts := fresh, fresh
	require.NoError(t, once.observe(x))
	require.IsType(t, byWeights{}, once.update)
	once.pull(x, y)
	from := 0
	for _, to := range []int{3, r / 2, r} {
		next, err := parts.Condition(x.Slice(from, to, 0, 1).(*mat.Dense), y[from:to])
		require.NoError(t, err)
		parts, from = *next.(*posterior), to
		if to < r {
			require.IsType(t, &byValues{}, parts.update)
		}
	}
	require.IsType(t, byWeights{}, parts.update)
	wantMean, wantVariance := moments(&once)
	mean, variance := moments(&parts)
	require.InDeltaSlice(t, wantMean, mean, 1e-6)
	require.InDeltaSlice(t, wantVariance, variance, 1e-8)
}

// Both forms of LeaveOneOut give the posterior given the other observations. With this small
// noise variance, rounding destroys the posterior variance at an observation.
func TestLeaveOneOutOfExactData(t *testing.T) {
	d := wave(15)
	d.NoiseFree = true
	post, err := Model{Spec: prior.Spec{Lengthscale: []float64{0.1}}, Context: 60, Network: surrogate.Network{Hidden: []int{20}}}.Fit(t.Context(), d, random.New(1, "fit", 0))
	require.NoError(t, err)
	p := post.(*posterior)
	values := p.update.(*byValues)
	require.Less(t, p.NoiseVariance, 1e-6)
	a := mat.NewSymDense(p.factor.rank(), nil)
	linalg.Syrk(a, 1/p.NoiseVariance, linalg.T, values.phi, 0)
	linalg.AddDiagonal(a, 1)
	f, err := factorize(a)
	require.NoError(t, err)
	q := *p
	q.update = byWeights{f}
	mean, variance, wantMean, want := make([]float64, 15), make([]float64, 15), make([]float64, 15), make([]float64, 15)
	p.LeaveOneOut(mean, variance)
	q.LeaveOneOut(wantMean, want)
	for i, v := range want {
		require.InEpsilon(t, v, variance[i], 1e-4)
		require.InDelta(t, wantMean[i], mean[i], 1e-2*math.Sqrt(v))
	}
}
