package gp

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate"
)

// noisySines returns n observations of a sine whose noise variances, except each third, are known.
func noisySines(n int, seed uint64) surrogate.Dataset {
	rng := rand.New(rand.NewPCG(seed, 0))
	d := surrogate.Dataset{X: mat.NewDense(n, 1, nil)}
	for i := range n {
		x, v := rng.Float64(), math.Pow(10, -3+2.5*rng.Float64())
		d.X.Set(i, 0, x)
		d.Y = append(d.Y, math.Sqrt2*math.Sin(6*x)+math.Sqrt(v)*rng.NormFloat64())
		if i%3 == 2 {
			v = math.NaN()
		}
		d.Noise = append(d.Noise, v)
	}
	return d
}

// With known noise variances the covariance has these variances on its diagonal. The posterior has the moments,
// the evidence, the leave-one-out moments and the whitened errors of this covariance.
func TestKnownNoiseByDefinition(t *testing.T) {
	const n, noise = 12, 0.05
	d := noisySines(n, 1)
	kernel, err := prior.Parse("rbf", 1)
	require.NoError(t, err)
	p := prior.Process{Kernel: kernel, Mean: 0.1, Noise: noise}
	post, err := New(p, d)
	require.NoError(t, err)

	a := mat.NewSymDense(n, nil)
	kernel.Gram(a, d.X)
	r := mat.NewVecDense(n, nil)
	for i := range n {
		v := d.Noise[i]
		if math.IsNaN(v) {
			v = noise
		}
		a.SetSym(i, i, a.At(i, i)+v)
		r.SetVec(i, d.Y[i]-p.Mean)
	}
	var chol mat.Cholesky
	require.True(t, chol.Factorize(a))
	alpha := mat.NewVecDense(n, nil)
	require.NoError(t, chol.SolveVecTo(alpha, r))
	require.InDelta(t, -0.5*(mat.Dot(r, alpha)+chol.LogDet()+n*math.Log(2*math.Pi)), post.(surrogate.Evidence).LogMarginalLikelihood(), 1e-10)

	at := mat.NewDense(2, 1, []float64{0.33, 1.2})
	cross := mat.NewDense(n, 2, nil)
	kernel.Cross(cross, d.X, at)
	mean, variance := make([]float64, 2), make([]float64, 2)
	post.Predict(mean, variance, at)
	for j := range 2 {
		c := cross.ColView(j)
		solved := mat.NewVecDense(n, nil)
		require.NoError(t, chol.SolveVecTo(solved, c))
		require.InDelta(t, p.Mean+mat.Dot(c, alpha), mean[j], 1e-10)
		require.InDelta(t, 1-mat.Dot(c, solved), variance[j], 1e-10)
	}

	var inverse mat.SymDense
	require.NoError(t, chol.InverseTo(&inverse))
	left, spread := make([]float64, n), make([]float64, n)
	post.(surrogate.LeaveOneOut).LeaveOneOut(left, spread)
	for i := range n {
		require.InDelta(t, d.Y[i]-alpha.AtVec(i)/inverse.At(i, i), left[i], 1e-9)
		require.InDelta(t, 1/inverse.At(i, i), spread[i]+d.NoiseAt(i, noise), 1e-9)
	}
	white := make([]float64, n)
	post.(surrogate.Whitener).Whiten(white)
	var sum float64
	for _, w := range white {
		sum += w * w
	}
	require.InDelta(t, mat.Dot(r, alpha), sum, 1e-9)
}

// Equal known variances give the fit and the posterior of a fixed noise variance, exact and approximate.
func TestKnownNoiseOfEqualVariances(t *testing.T) {
	for _, m := range []Model{{}, {Exact: 20}} {
		d := noisySines(40, 2)
		const v = 0.03
		for i := range d.Noise {
			d.Noise[i] = v
		}
		fixed := Model{Exact: m.Exact, Spec: prior.Spec{Noise: new(v)}}
		given, err := fixed.Fit(t.Context(), d, rand.New(rand.NewPCG(3, 0)))
		require.NoError(t, err)
		d.Noise = nil
		plain, err := fixed.Fit(t.Context(), d, rand.New(rand.NewPCG(3, 0)))
		require.NoError(t, err)
		at := mat.NewDense(3, 1, []float64{0.1, 0.5, 0.9})
		moments := func(p surrogate.Posterior) (mean, variance []float64) {
			mean, variance = make([]float64, 3), make([]float64, 3)
			p.Predict(mean, variance, at)
			return mean, variance
		}
		mean, variance := moments(given)
		wantMean, wantVariance := moments(plain)
		require.InDeltaSlice(t, wantMean, mean, 1e-10)
		require.InDeltaSlice(t, wantVariance, variance, 1e-10)
		left, spread := make([]float64, 40), make([]float64, 40)
		wantLeft, wantSpread := make([]float64, 40), make([]float64, 40)
		given.(surrogate.LeaveOneOut).LeaveOneOut(left, spread)
		plain.(surrogate.LeaveOneOut).LeaveOneOut(wantLeft, wantSpread)
		require.InDeltaSlice(t, wantLeft, left, 1e-9)
		require.InDeltaSlice(t, wantSpread, spread, 1e-9)
	}
}

// The approximate posterior with known noise variances of single targets has the moments, the evidence and the
// leave-one-out moments of its covariance with these variances.
func TestKnownNoiseSparse(t *testing.T) {
	const n = 40
	d := noisySines(n, 2)
	got, err := Model{Exact: 12}.Fit(t.Context(), d, rand.New(rand.NewPCG(3, 0)))
	require.NoError(t, err)
	s := got.(*sparse)
	k := s.Basis.Process.Kernel
	mu, noise := s.Basis.Process.Mean, s.Basis.Process.Noise
	w := s.Basis.Eval(d.X)
	var q mat.Dense
	q.Mul(w.T(), w)
	diag := make([]float64, n)
	k.Diag(diag, d.X)
	a := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			a.SetSym(i, j, q.At(i, j))
		}
		a.SetSym(i, i, diag[i]+d.NoiseAt(i, noise))
	}
	var ch mat.Cholesky
	require.True(t, ch.Factorize(a))
	r := mat.NewVecDense(n, nil)
	for i := range n {
		r.SetVec(i, d.Y[i]-mu)
	}
	al := mat.NewVecDense(n, nil)
	require.NoError(t, ch.SolveVecTo(al, r))
	require.InDelta(t, -0.5*(mat.Dot(r, al)+ch.LogDet()+n*math.Log(2*math.Pi)), got.(surrogate.Evidence).LogMarginalLikelihood(), 1e-6)
	at := mat.NewDense(2, 1, []float64{0.33, 1.2})
	features := s.Basis.Eval(at)
	mean, variance := make([]float64, 2), make([]float64, 2)
	got.Predict(mean, variance, at)
	prior := make([]float64, 2)
	k.Diag(prior, at)
	for j := range 2 {
		var c mat.VecDense
		c.MulVec(w.T(), features.ColView(j))
		sol := mat.NewVecDense(n, nil)
		require.NoError(t, ch.SolveVecTo(sol, &c))
		require.InDelta(t, mu+mat.Dot(&c, al), mean[j], 1e-6)
		require.InDelta(t, prior[j]-mat.Dot(&c, sol), variance[j], 1e-6)
	}
	var inv mat.SymDense
	require.NoError(t, ch.InverseTo(&inv))
	left, spread := make([]float64, n), make([]float64, n)
	s.LeaveOneOut(left, spread)
	for i := range n {
		require.InDelta(t, d.Y[i]-al.AtVec(i)/inv.At(i, i), left[i], 1e-6)
		require.InDelta(t, 1/inv.At(i, i), spread[i]+d.NoiseAt(i, noise), 1e-6)
	}
}

// Conditioning on further rows equals the posterior of all rows, of which the new ones have the noise of the process.
func TestKnownNoiseCondition(t *testing.T) {
	d := noisySines(9, 4)
	kernel, err := prior.Parse("rbf", 1)
	require.NoError(t, err)
	p := prior.Process{Kernel: kernel, Noise: 0.02}
	post, err := New(p, d)
	require.NoError(t, err)
	x, y := mat.NewDense(2, 1, []float64{0.4, 0.7}), []float64{1, -1}
	more, err := post.(surrogate.Conditioner).Condition(x, y)
	require.NoError(t, err)

	all := surrogate.Dataset{X: mat.NewDense(11, 1, nil), Y: append(append([]float64(nil), d.Y...), y...)}
	all.X.Stack(d.X, x)
	all.Noise = append(append([]float64(nil), d.Noise...), math.NaN(), math.NaN())
	want, err := New(p, all)
	require.NoError(t, err)
	require.InDelta(t, want.(surrogate.Evidence).LogMarginalLikelihood(), more.(surrogate.Evidence).LogMarginalLikelihood(), 1e-9)
	left, spread := make([]float64, 11), make([]float64, 11)
	wantLeft, wantSpread := make([]float64, 11), make([]float64, 11)
	more.(surrogate.LeaveOneOut).LeaveOneOut(left, spread)
	want.(surrogate.LeaveOneOut).LeaveOneOut(wantLeft, wantSpread)
	require.InDeltaSlice(t, wantLeft, left, 1e-9)
	require.InDeltaSlice(t, wantSpread, spread, 1e-9)
}

// Paths have the mean and the variance of the posterior.
func TestKnownNoisePaths(t *testing.T) {
	d := noisySines(15, 5)
	kernel, err := prior.Parse("rbf", 1)
	require.NoError(t, err)
	post, err := New(prior.Process{Kernel: kernel, Noise: 0.02}, d)
	require.NoError(t, err)
	at := mat.NewDense(1, 1, []float64{0.5})
	mean, variance := make([]float64, 1), make([]float64, 1)
	post.Predict(mean, variance, at)
	const n = 4000
	var sum, square float64
	for _, f := range post.Paths(n, rand.New(rand.NewPCG(6, 0))) {
		v := make([]float64, 1)
		f.Eval(v, nil, at)
		sum, square = sum+v[0]-mean[0], square+(v[0]-mean[0])*(v[0]-mean[0])
	}
	sd := math.Sqrt(variance[0])
	require.InDelta(t, 0, sum/n, 4*sd/math.Sqrt(n))
	require.InDelta(t, 1, square/n/variance[0], 4*math.Sqrt(2./n))
}

// Known variances give a better prediction than one learned variance, if they differ: over ten datasets the squared error is
// smaller, and the noise variance is fitted to the other rows alone.
func TestKnownNoisePredictsBetter(t *testing.T) {
	better := 0
	for seed := range uint64(10) {
		d := noisySines(30, 100+seed)
		at := mat.NewDense(50, 1, nil)
		for i := range 50 {
			at.Set(i, 0, float64(i)/49)
		}
		miss := func(d surrogate.Dataset) (sum float64) {
			p, err := Model{}.Fit(t.Context(), d, rand.New(rand.NewPCG(seed, 1)))
			require.NoError(t, err)
			mean, variance := make([]float64, 50), make([]float64, 50)
			p.Predict(mean, variance, at)
			for i, m := range mean {
				e := m - math.Sqrt2*math.Sin(6*at.At(i, 0))
				sum += e * e
			}
			return sum
		}
		known := miss(d)
		d.Noise = nil
		if known < miss(d) {
			better++
		}
	}
	require.GreaterOrEqual(t, better, 8)
}

// Invalid variances are errors.
func TestKnownNoiseErrors(t *testing.T) {
	d := noisySines(5, 7)
	d.Noise[1] = -1
	_, err := Model{}.Fit(t.Context(), d, rand.New(rand.NewPCG(1, 1)))
	require.ErrorIs(t, err, surrogate.ErrNoise)
	d.Noise = d.Noise[:3]
	_, err = Model{}.Fit(t.Context(), d, rand.New(rand.NewPCG(1, 1)))
	require.ErrorIs(t, err, surrogate.ErrShape)
}
