package acquisition

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/gradcheck"
	"github.com/functionspace/bo/internal/racetest"
)

// A believer equals exact conditioning on the mean.
func TestBelieverIsExact(t *testing.T) {
	p, _, _ := newToy(t, 2, 6, 1e-2, 4)
	z := uniform(3, 2, 9)
	mean, variance := make([]float64, 3), make([]float64, 3)
	p.Predict(mean, variance, z)
	exact := p.observe(t, z, mean)
	b, err := believe(p, z)
	require.NoError(t, err)

	const m = blockSize + 9
	x := uniform(m, 2, 10)
	m1, v1, dm1, dv1 := make([]float64, m), make([]float64, m), mat.NewDense(m, 2, nil), mat.NewDense(m, 2, nil)
	m2, v2, dm2, dv2 := make([]float64, m), make([]float64, m), mat.NewDense(m, 2, nil), mat.NewDense(m, 2, nil)
	exact.PredictGrad(m1, v1, dm1, dv1, x)
	b.PredictGrad(m2, v2, dm2, dv2, x)
	assert.InDeltaSlice(t, m1, m2, 1e-9)
	assert.InDeltaSlice(t, v1, v2, 1e-9)
	assert.True(t, mat.EqualApprox(dm1, dm2, 1e-8))
	assert.True(t, mat.EqualApprox(dv1, dv2, 1e-8))
	b.Predict(m2, v2, x)
	assert.InDeltaSlice(t, v1, v2, 1e-9)

	few := uniform(4, 2, 11)
	c1, c2 := mat.NewSymDense(4, nil), mat.NewSymDense(4, nil)
	exact.Joint(m1[:4], c1, few)
	b.Joint(m2[:4], c2, few)
	assert.InDeltaSlice(t, m1[:4], m2[:4], 1e-9)
	assert.True(t, mat.EqualApprox(c1, c2, 1e-9))

	mbar, cbar := []float64{0.3, -1, 2, 0.1}, mat.NewSymDense(4, nil)
	for i := range 4 {
		for j := i; j < 4; j++ {
			cbar.SetSym(i, j, float64(1+i)*0.7-float64(j))
		}
	}
	d1, d2 := mat.NewDense(4, 2, nil), mat.NewDense(4, 2, nil)
	exact.JointVJP(d1, mbar, cbar, few)
	b.JointVJP(d2, mbar, cbar, few)
	assert.True(t, mat.EqualApprox(d1, d2, 1e-8))
}

// Paths have the conditioned moments and correct gradients.
func TestBelieverPaths(t *testing.T) {
	racetest.SkipNumerical(t)
	p, _, _ := newToy(t, 2, 6, 1e-2, 4)
	z := uniform(3, 2, 9)
	b, err := believe(p, z)
	require.NoError(t, err)
	x := stack(uniform(4, 2, 12), z)
	const n = 1500
	mean, cov := make([]float64, 7), mat.NewSymDense(7, nil)
	b.Joint(mean, cov, x)
	paths := b.Paths(n, rand.New(rand.NewPCG(5, 5)))
	v := make([]float64, 7)
	sum, outer := make([]float64, 7), mat.NewDense(7, 7, nil)
	for _, path := range paths {
		path.Eval(v, nil, x)
		for i := range v {
			sum[i] += v[i] / n
			for j := range v {
				outer.Set(i, j, outer.At(i, j)+(v[i]-mean[i])*(v[j]-mean[j])/n)
			}
		}
	}
	assert.InDeltaSlice(t, mean, sum, 0.08)
	assert.True(t, mat.EqualApprox(cov, outer, 0.08))

	g := mat.NewDense(7, 2, nil)
	paths[0].Eval(v, g, x)
	one := make([]float64, 1)
	for i := range 7 {
		err := gradcheck.Gradient(func(x []float64) float64 {
			paths[0].Eval(one, nil, mat.NewDense(1, 2, x))
			return one[0]
		}, mat.Row(nil, i, x), g.RawRowView(i), 1e-7)
		require.NoError(t, err)
	}
}

// Conditioning on a pending point keeps the mean, and reduces the variance there to at most the noise variance.
// It lowers the best value to the mean there.
func TestConditionOnPending(t *testing.T) {
	toy, x, y := newToy(t, 2, 6, 1e-3, 4)
	for _, p := range []Problem{{Posterior: toy}, {Posterior: conditioner{toy, t}}} {
		p.Best, p.Observed = y[0]+10, x
		same, best, err := p.Condition()
		require.NoError(t, err)
		assert.Equal(t, p.Best, best)
		assert.Equal(t, p.Posterior, same)

		p.Pending = uniform(2, 2, 30)
		after, best, err := p.Condition()
		require.NoError(t, err)
		before, mean, variance := make([]float64, 2), make([]float64, 2), make([]float64, 2)
		p.Posterior.Predict(before, variance, p.Pending)
		after.Predict(mean, variance, p.Pending)
		assert.InDeltaSlice(t, before, mean, 1e-8)
		for _, v := range variance {
			assert.LessOrEqual(t, v, 1e-3)
		}
		assert.InDelta(t, min(before[0], before[1]), best, 1e-12)
	}
}
