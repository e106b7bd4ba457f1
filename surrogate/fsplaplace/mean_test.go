package fsplaplace

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/benchmarks"
	"github.com/functionspace/bo/internal/gradcheck"
	"github.com/functionspace/bo/internal/racetest"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
)

// In two inputs the mean is the mean of the linearised network. In ten inputs, with distant
// context points, it is the features' mean, which is nearer to the process's mean.
func TestMeanOfFeaturesInManyInputs(t *testing.T) {
	racetest.SkipNumerical(t)
	for _, c := range []struct {
		o          benchmarks.Objective
		n          int
		byFeatures bool
	}{{benchmarks.Branin(), 20, false}, {benchmarks.StyblinskiTang(10), 30, true}} {
		d := c.o.Space.Dim()
		x := space.Sobol(c.n, d, random.New(5, "x", 0))
		y := make([]float64, c.n)
		for i := range y {
			y[i] = c.o.At(c.o.Space.Decode(x.RawRowView(i)))
		}
		scale := surrogate.Standardize(y)
		for i, v := range y {
			y[i] = (v - scale.Mean) / scale.SD
		}
		post, err := Model{}.Fit(t.Context(), surrogate.Dataset{X: x, Y: y, Lo: make([]float64, d), Hi: slices.Repeat([]float64{1}, d), NoiseFree: true}, random.New(1, "fit", 0))
		require.NoError(t, err)
		p := post.(*posterior)
		require.Equal(t, c.byFeatures, p.priorMean, c.o.Name)

		at, mean, variance := space.Halton(1, d, random.New(2, "at", 0)), make([]float64, 1), make([]float64, 1)
		dmean, dvariance := mat.NewDense(1, d, nil), mat.NewDense(1, d, nil)
		p.PredictGrad(mean, variance, dmean, dvariance, at)
		require.NoError(t, gradcheck.Gradient(func(x []float64) float64 {
			p.Predict(mean, variance, mat.NewDense(1, d, x))
			return mean[0]
		}, at.RawRowView(0), dmean.RawRowView(0), 1e-5), c.o.Name)
	}
}

// A posterior with the mean of the features is a Gaussian process with kernel φφᵀ.
func TestMeanOfFeaturesIsTheProcessOfTheFeatures(t *testing.T) {
	const n, m, d = 12, 5, 2
	data := surrogate.Dataset{X: space.Sobol(n+2, d, random.New(1, "x", 0)), Y: make([]float64, n+2)}
	for i := range data.Y {
		data.Y[i] = math.Sin(5*data.X.At(i, 0)) + data.X.At(i, 1)
	}
	first := surrogate.Dataset{X: data.X.Slice(0, n, 0, d).(*mat.Dense), Y: data.Y[:n]}
	post, err := Model{Context: 50, Network: surrogate.Network{Hidden: []int{20}}}.Fit(t.Context(), first, random.New(1, "fit", 0))
	require.NoError(t, err)
	p := post.(*posterior)
	p.priorMean, p.shift, p.m, p.NoiseVariance, p.update = true, nil, nil, 0.01, unobserved{}
	require.NoError(t, p.observe(first.X))
	p.pull(first.X, first.Y)
	after, err := p.Condition(data.X.Slice(n, n+2, 0, d).(*mat.Dense), data.Y[n:])
	require.NoError(t, err)
	post = after

	x := space.Halton(m, d, random.New(2, "at", 0))
	all := new(mat.Dense)
	all.Stack(data.X, x)
	k := mat.NewSymDense(n+2+m, nil)
	prior := *p
	prior.update, prior.m = unobserved{}, nil
	prior.Joint(make([]float64, n+2+m), k, all)
	kxx, kxz := mat.NewSymDense(n+2, nil), mat.NewDense(n+2, m, nil)
	for i := range n + 2 {
		for j := range n + 2 {
			kxx.SetSym(i, j, k.At(i, j))
		}
		kxx.SetSym(i, i, k.At(i, i)+p.NoiseVariance)
		for j := range m {
			kxz.Set(i, j, k.At(i, n+2+j))
		}
	}
	var w mat.Dense
	require.NoError(t, w.Solve(kxx, kxz))
	mean, cov := make([]float64, m), mat.NewSymDense(m, nil)
	post.Joint(mean, cov, x)
	for i := range m {
		want := p.process.Mean
		for j, y := range data.Y {
			want += w.At(j, i) * (y - p.process.Mean)
		}
		require.InDelta(t, want, mean[i], 1e-8)
		for j := range m {
			require.InDelta(t, k.At(n+2+i, n+2+j)-mat.Dot(w.ColView(i), kxz.ColView(j)), cov.At(i, j), 1e-8)
		}
	}
	mbar, cbar := normal(1, m, 3).RawRowView(0), mat.NewSymDense(m, nil)
	for i := range m {
		for j := i; j < m; j++ {
			cbar.SetSym(i, j, float64(1+i*j))
		}
	}
	dx := mat.NewDense(m, d, nil)
	post.JointVJP(dx, mbar, cbar, x)
	require.NoError(t, gradcheck.Gradient(func([]float64) float64 {
		post.Joint(mean, cov, x)
		var s float64
		for i, v := range mean {
			s += mbar[i] * v
			for j := range m {
				s += cbar.At(i, j) * cov.At(i, j)
			}
		}
		return s
	}, x.RawMatrix().Data, dx.RawMatrix().Data, 1e-5))
}

// The values are so large that all residuals round to 0.
func TestConstantLargeValues(t *testing.T) {
	for _, v := range []float64{1, 1e12, 1e15} {
		d := wave(2)
		d.Y, d.NoiseFree = []float64{v, v}, true
		_, err := Model{Context: 60}.Fit(t.Context(), d, random.New(1, "fit", 0))
		require.NoError(t, err)
	}
}
