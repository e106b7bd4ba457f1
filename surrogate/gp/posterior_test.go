package gp

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/functionspace/bo/internal/gradcheck"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/pathwise"
)

func process(dim int, noise float64) prior.Process {
	l := make([]float64, dim)
	for j := range l {
		l[j] = 0.4 + 0.1*float64(j)
	}
	k := prior.ScaleBy(1.7, prior.RBF(dim))
	return prior.Process{Kernel: k.WithParams(append([]float64{1.7}, l...)), Mean: 0.3, Noise: noise}
}

func points(n, dim int, rng *rand.Rand) *mat.Dense {
	x := mat.NewDense(n, dim, nil)
	for i := range x.RawMatrix().Data {
		x.RawMatrix().Data[i] = rng.Float64()
	}
	return x
}

func dataset(n, dim int, rng *rand.Rand) surrogate.Dataset {
	d := surrogate.Dataset{X: points(n, dim, rng), Y: make([]float64, n)}
	for i := range d.Y {
		x := d.X.RawRowView(i)
		d.Y[i] = math.Sin(5*x[0]) + x[dim-1]*x[dim-1] + 0.1*rng.NormFloat64()
	}
	return d
}

func mustNew(t testing.TB, p prior.Process, d surrogate.Dataset) *posterior {
	t.Helper()
	post, err := newPosterior(p, d)
	require.NoError(t, err)
	return post
}

func predict(p surrogate.Posterior, x *mat.Dense) (mean, variance []float64) {
	m, _ := x.Dims()
	mean, variance = make([]float64, m), make([]float64, m)
	p.Predict(mean, variance, x)
	return mean, variance
}

func without(d surrogate.Dataset, i int) surrogate.Dataset {
	n, dim := d.Dims()
	out := surrogate.Dataset{X: mat.NewDense(n-1, dim, nil)}
	for r := range n {
		if r != i {
			out.X.SetRow(len(out.Y), d.X.RawRowView(r))
			out.Y = append(out.Y, d.Y[r])
		}
	}
	return out
}

func inDeltas(t *testing.T, want, got []float64, tol float64, what string) {
	t.Helper()
	require.Len(t, got, len(want), what)
	for i := range want {
		require.InDelta(t, want[i], got[i], tol, "%s[%d]", what, i)
	}
}

// The posterior agrees with its formulas by dense inversion.
func TestAgainstDenseAlgebra(t *testing.T) {
	rng := random.New(1, "dense", 0)
	d, p := dataset(15, 3, rng), process(3, 0.01)
	post, x := mustNew(t, p, d), points(6, 3, rng)
	a := mat.NewSymDense(15, nil)
	p.Kernel.Gram(a, d.X)
	for i := range 15 {
		a.SetSym(i, i, a.At(i, i)+p.Noise)
	}
	var inverse, kInverse, cov mat.Dense
	require.NoError(t, inverse.Inverse(a))
	k := mat.NewDense(6, 15, nil)
	p.Kernel.Cross(k, x, d.X)
	kInverse.Mul(k, &inverse)
	cov.Mul(&kInverse, k.T())
	prior := mat.NewSymDense(6, nil)
	p.Kernel.Gram(prior, x)
	mean, variance := predict(post, x)
	jointMean, joint := make([]float64, 6), mat.NewSymDense(6, nil)
	post.Joint(jointMean, joint, x)
	for i := range 6 {
		want := p.Mean
		for j, y := range d.Y {
			want += kInverse.At(i, j) * (y - p.Mean)
		}
		require.InDelta(t, want, mean[i], 1e-11)
		require.InDelta(t, want, jointMean[i], 1e-11)
		require.InDelta(t, prior.At(i, i)-cov.At(i, i), variance[i], 1e-11)
		for j := range 6 {
			require.InDelta(t, prior.At(i, j)-cov.At(i, j), joint.At(i, j), 1e-11)
		}
	}
}

func TestOneObservation(t *testing.T) {
	d := surrogate.Dataset{X: mat.NewDense(1, 1, []float64{0.5}), Y: []float64{2}}
	p := process(1, 0.1)
	post := mustNew(t, p, d)
	mean, variance := predict(post, d.X)
	// Two Gaussians: prior N(0.3, 1.7), likelihood N(2 | f, 0.1).
	assert.InDelta(t, 0.3+1.7*(2-0.3)/1.8, mean[0], 1e-14)
	assert.InDelta(t, 1.7*0.1/1.8, variance[0], 1e-14)
	assert.InDelta(t, -0.5*(1.7*1.7/1.8+math.Log(2*math.Pi*1.8)), post.LogMarginalLikelihood(), 1e-14)
	post.LeaveOneOut(mean, variance)
	assert.InDelta(t, 0.3, mean[0], 1e-14)
	assert.InDelta(t, 1.7, variance[0], 1e-14)
}

func TestFarFromDataIsPrior(t *testing.T) {
	rng := random.New(1, "far", 0)
	post := mustNew(t, process(2, 0.01), dataset(10, 2, rng))
	x := mat.NewDense(2, 2, []float64{100, 100, 100, 100.3})
	mean, cov := make([]float64, 2), mat.NewSymDense(2, nil)
	post.Joint(mean, cov, x)
	want := mat.NewSymDense(2, nil)
	post.Process.Kernel.Gram(want, x)
	assert.Equal(t, []float64{0.3, 0.3}, mean)
	assert.True(t, mat.Equal(want, cov))
	dmean, dvariance, variance := mat.NewDense(2, 2, nil), mat.NewDense(2, 2, nil), make([]float64, 2)
	post.PredictGrad(mean, variance, dmean, dvariance, x)
	assert.Equal(t, []float64{1.7, 1.7}, variance)
	assert.Zero(t, mat.Norm(dmean, 1)+mat.Norm(dvariance, 1))
}

func TestDoublingIsHalvingTheNoise(t *testing.T) {
	rng := random.New(1, "double", 0)
	d := dataset(12, 2, rng)
	twice := surrogate.Dataset{X: mat.NewDense(24, 2, nil), Y: append(append([]float64{}, d.Y...), d.Y...)}
	twice.X.Stack(d.X, d.X)
	x := points(9, 2, rng)
	mean, variance := predict(mustNew(t, process(2, 0.02), twice), x)
	wantMean, wantVariance := predict(mustNew(t, process(2, 0.01), d), x)
	inDeltas(t, wantMean, mean, 1e-10, "mean")
	inDeltas(t, wantVariance, variance, 1e-10, "variance")
}

// The latent variance at an observed point excludes the noise variance and tends to
// zero with it.
func TestNoiseIsNotInThePrediction(t *testing.T) {
	rng := random.New(1, "noise", 0)
	d := dataset(5, 2, rng)
	for _, noise := range []float64{1e-3, 1e-5, 1e-7} {
		mean, variance := predict(mustNew(t, process(2, noise), d), d.X)
		for i := range mean {
			assert.InDelta(t, d.Y[i], mean[i], 100*noise)
			assert.LessOrEqual(t, variance[i], noise)
			assert.GreaterOrEqual(t, variance[i], 0.5*noise)
		}
	}
}

func TestVarianceFloor(t *testing.T) {
	rng := random.New(1, "floor", 0)
	d := dataset(30, 1, rng)
	post := mustNew(t, process(1, 0), d)
	require.NotEmpty(t, post.Warnings())
	require.Contains(t, post.Warnings()[0], "jitter 2e-10")
	x := d.X
	mean, variance := make([]float64, 30), make([]float64, 30)
	dmean, dvariance := mat.NewDense(30, 1, nil), mat.NewDense(30, 1, nil)
	post.PredictGrad(mean, variance, dmean, dvariance, x)
	_, same := predict(post, x)
	require.Equal(t, same, variance)
	cov := mat.NewSymDense(30, nil)
	post.Joint(mean, cov, x)
	for i, v := range variance {
		require.GreaterOrEqual(t, v, post.Floor)
		require.InDelta(t, v, cov.At(i, i), 1e-13)
		if v == post.Floor {
			require.Zero(t, dvariance.At(i, 0))
		}
	}

	// Exactly at the floor: one observation without noise.
	d = surrogate.Dataset{X: mat.NewDense(1, 1, []float64{0.5}), Y: []float64{2}}
	post = mustNew(t, process(1, 0), d)
	post.PredictGrad(mean[:1], variance[:1], dmean.Slice(0, 1, 0, 1).(*mat.Dense), dvariance.Slice(0, 1, 0, 1).(*mat.Dense), d.X)
	require.Equal(t, post.Floor, variance[0])
	require.Zero(t, dvariance.At(0, 0))
	dx := mat.NewDense(1, 1, nil)
	post.JointVJP(dx, []float64{0}, mat.NewSymDense(1, []float64{1}), d.X)
	require.Zero(t, dx.At(0, 0))
}

func TestChunksAgree(t *testing.T) {
	rng := random.New(1, "chunks", 0)
	post := mustNew(t, process(2, 0.01), dataset(200, 2, rng))
	m := 2*pathwise.Chunk(200) + 17
	x := points(m, 2, rng)
	mean, variance := predict(post, x)
	gm, gv := make([]float64, m), make([]float64, m)
	dmean, dvariance := mat.NewDense(m, 2, nil), mat.NewDense(m, 2, nil)
	post.PredictGrad(gm, gv, dmean, dvariance, x)
	require.Equal(t, mean, gm)
	require.Equal(t, variance, gv)
	one, two := mat.NewDense(1, 2, nil), mat.NewDense(1, 2, nil)
	for _, i := range []int{0, pathwise.Chunk(200) - 1, pathwise.Chunk(200), m - 1} {
		post.PredictGrad(gm[:1], gv[:1], one, two, rows(x, i, i+1))
		require.InDelta(t, mean[i], gm[0], 1e-12)
		require.InDelta(t, variance[i], gv[0], 1e-12)
		inDeltas(t, dmean.RawRowView(i), one.RawRowView(0), 1e-11, "dmean")
		inDeltas(t, dvariance.RawRowView(i), two.RawRowView(0), 1e-11, "dvariance")
	}
}

func TestGradients(t *testing.T) {
	for _, dim := range []int{1, 3} {
		rng := random.New(1, "gradients", dim)
		post := mustNew(t, process(dim, 0.01), dataset(10, dim, rng))
		const m = 4
		x := points(m, dim, rng)
		flat := x.RawMatrix().Data
		mean, variance := make([]float64, m), make([]float64, m)
		dmean, dvariance := mat.NewDense(m, dim, nil), mat.NewDense(m, dim, nil)
		post.PredictGrad(mean, variance, dmean, dvariance, x)
		sum := func(which int) func([]float64) float64 {
			return func([]float64) float64 {
				a, b := predict(post, x)
				var s float64
				for i := range a {
					s += [][]float64{a, b}[which][i]
				}
				return s
			}
		}
		require.NoError(t, gradcheck.Gradient(sum(0), flat, dmean.RawMatrix().Data, 1e-8))
		require.NoError(t, gradcheck.Gradient(sum(1), flat, dvariance.RawMatrix().Data, 1e-8))

		mbar, cbar := make([]float64, m), mat.NewSymDense(m, nil)
		for i := range m {
			mbar[i] = rng.NormFloat64()
			for j := i; j < m; j++ {
				cbar.SetSym(i, j, rng.NormFloat64())
			}
		}
		joint := func([]float64) float64 {
			cov := mat.NewSymDense(m, nil)
			mean := make([]float64, m)
			post.Joint(mean, cov, x)
			var s float64
			for i := range m {
				s += mbar[i] * mean[i]
				for j := range m {
					s += cbar.At(i, j) * cov.At(i, j)
				}
			}
			return s
		}
		dx := mat.NewDense(m, dim, nil)
		for i := range dx.RawMatrix().Data {
			dx.RawMatrix().Data[i] = 1
		}
		post.JointVJP(dx, mbar, cbar, x)
		for i := range dx.RawMatrix().Data {
			dx.RawMatrix().Data[i]-- // JointVJP adds
		}
		require.NoError(t, gradcheck.Gradient(joint, flat, dx.RawMatrix().Data, 1e-8))
	}
}

func TestLeaveOneOutAgainstRefits(t *testing.T) {
	rng := random.New(1, "loo", 0)
	d, p := dataset(14, 2, rng), process(2, 0.01)
	mean, variance := make([]float64, 14), make([]float64, 14)
	mustNew(t, p, d).LeaveOneOut(mean, variance)
	for i := range 14 {
		m, v := predict(mustNew(t, p, without(d, i)), rows(d.X, i, i+1))
		require.InDelta(t, m[0], mean[i], 1e-10)
		require.InDelta(t, v[0], variance[i], 1e-10)
	}
}

func TestConditionEqualsRebuild(t *testing.T) {
	rng := random.New(1, "condition", 0)
	p, all := process(2, 1e-4), dataset(20, 2, rng)
	x := points(8, 2, rng)
	head := surrogate.Dataset{X: rows(all.X, 0, 12), Y: all.Y[:12]}
	start := mustNew(t, p, head)
	before, _ := predict(start, x)
	batch, err := start.Condition(rows(all.X, 12, 20), all.Y[12:])
	require.NoError(t, err)
	var one surrogate.Posterior = start
	for i := 12; i < 20; i++ {
		one, err = one.(surrogate.Conditioner).Condition(rows(all.X, i, i+1), all.Y[i:i+1])
		require.NoError(t, err)
	}
	want := mustNew(t, p, all)
	for _, got := range []surrogate.Posterior{batch, one} {
		wantMean, wantVariance := predict(want, x)
		mean, variance := predict(got, x)
		inDeltas(t, wantMean, mean, 1e-9, "mean")
		inDeltas(t, wantVariance, variance, 1e-9, "variance")
		require.InEpsilon(t, want.LogMarginalLikelihood(), got.(surrogate.Evidence).LogMarginalLikelihood(), 1e-11)
		a, b, c, e := make([]float64, 20), make([]float64, 20), make([]float64, 20), make([]float64, 20)
		want.LeaveOneOut(a, b)
		got.(surrogate.LeaveOneOut).LeaveOneOut(c, e)
		inDeltas(t, a, c, 1e-9, "leave-one-out mean")
		inDeltas(t, b, e, 1e-9, "leave-one-out variance")
	}
	after, _ := predict(start, x)
	require.Equal(t, before, after, "the old posterior is unchanged")
}

func TestConditionOnDuplicateWithoutNoise(t *testing.T) {
	rng := random.New(1, "duplicate", 0)
	d, p := dataset(6, 2, rng), process(2, 0)
	got, err := mustNew(t, p, d).Condition(rows(d.X, 2, 3), d.Y[2:3])
	require.NoError(t, err)
	again := surrogate.Dataset{X: mat.NewDense(7, 2, nil), Y: append(append([]float64{}, d.Y...), d.Y[2])}
	again.X.Stack(d.X, rows(d.X, 2, 3))
	x := points(5, 2, rng)
	wantMean, wantVariance := predict(mustNew(t, p, again), x)
	mean, variance := predict(got, x)
	inDeltas(t, wantMean, mean, 1e-6, "mean")
	inDeltas(t, wantVariance, variance, 1e-6, "variance")
}

func TestBadData(t *testing.T) {
	p := process(1, 0.1)
	for _, c := range []struct {
		d    surrogate.Dataset
		want error
	}{
		{surrogate.Dataset{}, surrogate.ErrNoData},
		{surrogate.Dataset{X: mat.NewDense(1, 1, nil)}, surrogate.ErrShape},
		{surrogate.Dataset{X: mat.NewDense(1, 1, nil), Y: []float64{math.NaN()}}, surrogate.ErrNotFinite},
		{surrogate.Dataset{X: mat.NewDense(1, 1, []float64{math.Inf(1)}), Y: []float64{1}}, surrogate.ErrNotFinite},
	} {
		post, err := New(p, c.d)
		require.ErrorIs(t, err, c.want)
		require.Nil(t, post)
		_, err = mustNew(t, p, surrogate.Dataset{X: mat.NewDense(1, 1, nil), Y: []float64{0}}).Condition(c.d.X, c.d.Y)
		require.ErrorIs(t, err, c.want)
	}
	p.Kernel = p.Kernel.WithParams([]float64{math.NaN(), 1})
	post, err := New(p, surrogate.Dataset{X: mat.NewDense(1, 1, nil), Y: []float64{0}})
	require.ErrorIs(t, err, surrogate.ErrNotPositiveDefinite)
	require.True(t, post == nil, "a nil pointer in an interface is not nil")
}

func TestInvalidProcess(t *testing.T) {
	d := surrogate.Dataset{X: mat.NewDense(1, 1, nil), Y: []float64{0}}
	for _, c := range []struct {
		p    prior.Process
		want string
	}{
		{prior.Process{}, "gp: invalid prior: the process has no kernel"},
		{prior.Process{Kernel: prior.RBF(3)}, "gp: invalid prior: kernel of 3 inputs, data of 1"},
		{prior.Process{Kernel: prior.RBF(1), Mean: math.NaN()}, "gp: invalid prior: the mean is NaN, want a finite number"},
		{prior.Process{Kernel: prior.RBF(1), Noise: -1}, "gp: invalid prior: the noise variance is -1, want a finite number of at least 0"},
		{prior.Process{Kernel: prior.RBF(1), Noise: math.Inf(1)}, "gp: invalid prior: the noise variance is +Inf, want a finite number of at least 0"},
		{prior.Process{Kernel: prior.RBF(1), Noise: math.NaN()}, "gp: invalid prior: the noise variance is NaN, want a finite number of at least 0"},
	} {
		post, err := New(c.p, d)
		require.EqualError(t, err, c.want)
		require.ErrorIs(t, err, prior.ErrSpec)
		require.Nil(t, post)
	}
}

func TestPosteriorOwnsItsData(t *testing.T) {
	rng := random.New(1, "own", 0)
	d := dataset(6, 2, rng)
	post, x := mustNew(t, process(2, 0.01), d), points(4, 2, rng)
	want, _ := predict(post, x)
	d.X.Zero()
	clear(d.Y)
	got, _ := predict(post, x)
	require.Equal(t, want, got)
}

func TestSameWhateverTheProcessors(t *testing.T) {
	rng := random.New(1, "procs", 0)
	d, x := dataset(90, 2, rng), points(300, 2, rng)
	var want []float64
	for _, procs := range []int{1, 2} {
		old := runtime.GOMAXPROCS(procs)
		mean, variance := predict(mustNew(t, process(2, 0.01), d), x)
		runtime.GOMAXPROCS(old)
		if want == nil {
			want = append(mean, variance...)
		}
		require.Equal(t, want, append(mean, variance...))
	}
}

// The last whitened target is the error of the prediction from all other rows, and the
// squares sum to the quadratic form of the evidence.
func TestWhiten(t *testing.T) {
	d := dataset(12, 2, random.New(1, "whiten", 0))
	p, err := New(process(2, 0.1), d)
	require.NoError(t, err)
	n := len(d.Y)
	e, mean, variance := make([]float64, n), make([]float64, n), make([]float64, n)
	p.(surrogate.Whitener).Whiten(e)
	p.(surrogate.LeaveOneOut).LeaveOneOut(mean, variance)
	require.InDelta(t, (d.Y[n-1]-mean[n-1])/math.Sqrt(variance[n-1]+0.1), e[n-1], 1e-9)
	for k := 2; k < n; k++ {
		first := surrogate.Dataset{X: mat.DenseCopyOf(d.X.Slice(0, k, 0, 2)), Y: d.Y[:k]}
		q, err := New(process(2, 0.1), first)
		require.NoError(t, err)
		short := make([]float64, k)
		q.(surrogate.Whitener).Whiten(short)
		require.InDeltaSlice(t, e[:k], short, 1e-9)
	}
	require.Panics(t, func() { p.(surrogate.Whitener).Whiten(e[1:]) })
}

func TestShapePanics(t *testing.T) {
	post := mustNew(t, process(2, 0.1), dataset(3, 2, random.New(1, "shape", 0)))
	x := mat.NewDense(2, 2, nil)
	v, w := make([]float64, 2), make([]float64, 3)
	require.PanicsWithValue(t, "points of 3 inputs, want 2", func() { post.Predict(v, v, mat.NewDense(2, 3, nil)) })
	require.PanicsWithValue(t, "mean has length 3, want 2", func() { post.Predict(w, v, x) })
	require.Panics(t, func() { post.Predict(v, w, x) })
	require.Panics(t, func() { post.PredictGrad(v, v, x, mat.NewDense(3, 2, nil), x) })
	require.Panics(t, func() { post.Joint(v, mat.NewSymDense(3, nil), x) })
	require.Panics(t, func() { post.JointVJP(x, w, mat.NewSymDense(2, nil), x) })
	require.Panics(t, func() { post.LeaveOneOut(v, w) })
	require.Panics(t, func() { _, _ = post.Condition(mat.NewDense(1, 3, nil), []float64{1}) })
}

func BenchmarkPredict(b *testing.B) {
	for _, n := range []int{20, 100, 500} {
		b.Run(fmt.Sprintf("n=%d/m=1024", n), func(b *testing.B) {
			rng := random.New(1, "bench", n)
			post, x := mustNew(b, process(6, 0.01), dataset(n, 6, rng)), points(1024, 6, rng)
			mean, variance := make([]float64, 1024), make([]float64, 1024)
			b.ReportAllocs()
			for b.Loop() {
				post.Predict(mean, variance, x)
			}
		})
	}
}

func BenchmarkPredictGrad(b *testing.B) {
	for _, m := range []int{1, 20} {
		b.Run(fmt.Sprintf("n=100/m=%d", m), func(b *testing.B) {
			rng := random.New(1, "bench", 0)
			post, x := mustNew(b, process(6, 0.01), dataset(100, 6, rng)), points(m, 6, rng)
			mean, variance := make([]float64, m), make([]float64, m)
			dmean, dvariance := mat.NewDense(m, 6, nil), mat.NewDense(m, 6, nil)
			b.ReportAllocs()
			for b.Loop() {
				post.PredictGrad(mean, variance, dmean, dvariance, x)
			}
		})
	}
}

func BenchmarkPaths(b *testing.B) {
	rng := random.New(1, "bench", 0)
	post := mustNew(b, process(6, 0.01), dataset(100, 6, rng))
	b.Run("draw", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			post.Paths(1, rng)
		}
	})
	for _, m := range []int{20, 1024} {
		x, value, grad := points(m, 6, rng), make([]float64, m), mat.NewDense(m, 6, nil)
		path := post.Paths(1, rng)[0]
		b.Run(fmt.Sprintf("value/m=%d", m), func(b *testing.B) {
			for b.Loop() {
				path.Eval(value, nil, x)
			}
		})
		b.Run(fmt.Sprintf("gradient/m=%d", m), func(b *testing.B) {
			for b.Loop() {
				path.Eval(value, grad, x)
			}
		})
	}
}

func BenchmarkFit(b *testing.B) {
	for _, n := range []int{20, 100} {
		b.Run(fmt.Sprintf("n=%d/d=6", n), func(b *testing.B) {
			d := dataset(n, 6, random.New(1, "bench", n))
			for b.Loop() {
				if _, err := (Model{}).Fit(context.Background(), d, random.New(1, "fit", 0)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkCondition(b *testing.B) {
	rng := random.New(1, "bench", 0)
	post, x := mustNew(b, process(6, 0.01), dataset(100, 6, rng)), points(1, 6, rng)
	for b.Loop() {
		if _, err := post.Condition(x, []float64{0.5}); err != nil {
			b.Fatal(err)
		}
	}
}

func rows(x *mat.Dense, lo, hi int) *mat.Dense {
	_, d := x.Dims()
	return x.Slice(lo, hi, 0, d).(*mat.Dense)
}

// White noise in a kernel has no sample functions. The paths without it have the variance of f without it. A sparse
// posterior has such paths too.
func TestPathsWithWhiteNoiseInTheKernel(t *testing.T) {
	const n, white, draws = 40, 0.5, 2000
	d := surrogate.Dataset{X: mat.NewDense(n, 1, nil), Y: make([]float64, n)}
	rng := random.New(1, "data", 0)
	for i := range n {
		d.X.Set(i, 0, float64(i)/(n-1))
		d.Y[i] = math.Sin(5*d.X.At(i, 0)) + math.Sqrt(white)*rng.NormFloat64()
	}
	spec := prior.Spec{Kernel: "rbf(lengthscale=0.2)+0.5*white", Noise: new(1e-4), Mean: prior.MeanZero}
	for _, m := range []Model{{Spec: spec}, {Spec: spec, Exact: 10}} {
		p, err := m.Fit(t.Context(), d, rng)
		require.NoError(t, err)
		x := mat.NewDense(3, 1, []float64{0.1, 0.5, 1})
		mean, variance := make([]float64, 3), make([]float64, 3)
		p.Predict(mean, variance, x)
		values := surrogate.SampleAt(p, draws, x, rng)
		for j, v := range variance {
			got, sd := stat.MeanStdDev(mat.Col(nil, j, values), nil)
			want := math.Sqrt(v - white)
			require.InEpsilon(t, want, sd, 0.1)
			require.InDelta(t, mean[j], got, 5*want/math.Sqrt(draws))
		}
	}
}
