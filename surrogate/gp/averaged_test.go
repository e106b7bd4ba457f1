package gp

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
)

// observed returns n observations with noise of a function of two inputs.
func observed(n int) surrogate.Dataset {
	d := surrogate.Dataset{X: space.Sobol(n, 2, random.New(1, "x", n)), Y: make([]float64, n)}
	rng := random.New(1, "noise", n)
	for i := range d.Y {
		x := d.X.RawRowView(i)
		d.Y[i] = math.Sin(6*x[0]) + x[1] + 0.1*rng.NormFloat64()
	}
	return d
}

// A mixture has the first and second moments of the mixture: E f = Σ E_k f/K and E ff' = Σ E_k ff'/K.
func TestMixture(t *testing.T) {
	d := observed(8)
	x := mat.NewDense(3, 2, []float64{0.2, 0.3, 0.25, 0.3, 0.9, 0.1})
	var m mixture
	want, second, noise := make([]float64, 3), mat.NewDense(3, 3, nil), 0.0
	for k, lengthscale := range []float64{0.2, 0.5, 2} {
		sigma := 0.01 * float64(k+1)
		fitted, err := prior.Spec{Lengthscale: []float64{lengthscale}, Noise: &sigma}.Fit(t.Context(), d.X, d.Y, false, nil, random.New(1, "fit", k))
		require.NoError(t, err)
		p, err := newPosterior(fitted.Process, d)
		require.NoError(t, err)
		m = append(m, p)
		mean, cov := make([]float64, 3), mat.NewSymDense(3, nil)
		p.Joint(mean, cov, x)
		noise += sigma / 3
		for i := range 3 {
			want[i] += mean[i] / 3
			for j := range 3 {
				second.Set(i, j, second.At(i, j)+(cov.At(i, j)+mean[i]*mean[j])/3)
			}
		}
	}
	mean, cov := make([]float64, 3), mat.NewSymDense(3, nil)
	m.Joint(mean, cov, x)
	alone, variance := make([]float64, 3), make([]float64, 3)
	m.Predict(alone, variance, x)
	require.InDelta(t, noise, m.Noise(), 1e-15)
	for i := range 3 {
		assert.InDelta(t, want[i], mean[i], 1e-12)
		assert.InDelta(t, want[i], alone[i], 1e-12)
		assert.InDelta(t, cov.At(i, i), variance[i], 1e-12)
		for j := range 3 {
			assert.InDelta(t, second.At(i, j)-want[i]*want[j], cov.At(i, j), 1e-12, "covariance %d, %d", i, j)
		}
	}
}

func TestAveragedOfFewObservations(t *testing.T) {
	fixed := 0.01
	for name, c := range map[string]struct {
		model    Model
		n        int
		averaged bool
	}{
		"few":         {Model{}, 8, true},
		"at limit":    {Model{}, 40, true},
		"many":        {Model{}, 41, false},
		"one":         {Model{}, 1, false},
		"off":         {Model{Averaged: 1}, 8, false},
		"higher":      {Model{Averaged: 50}, 41, true},
		"fixed":       {Model{Spec: prior.Spec{Lengthscale: []float64{1}, Variance: &fixed, Noise: &fixed}}, 8, false},
		"fixed noise": {Model{Spec: prior.Spec{Noise: &fixed}}, 8, true},
	} {
		t.Run(name, func(t *testing.T) {
			d := observed(c.n)
			p, err := c.model.Fit(t.Context(), d, random.New(1, "fit", 0))
			require.NoError(t, err)
			m, averaged := surrogate.Averaged(p).(mixture)
			require.Equal(t, c.averaged, averaged)
			if averaged {
				require.Len(t, m, averagedDraws)
			}
			if averaged && c.model.Noise != nil {
				require.InDelta(t, fixed, m.Noise(), 1e-15)
			}
			next, err := p.(surrogate.Conditioner).Condition(mat.NewDense(1, 2, []float64{0.5, 0.5}), []float64{1})
			require.NoError(t, err)
			require.Same(t, next, surrogate.Averaged(next), "hyperparameters of more observations are not drawn")
		})
	}
	_, err := Model{Averaged: 201}.Fit(t.Context(), observed(3), random.New(1, "fit", 0))
	require.ErrorContains(t, err, "averaged")
}

// The draws are made at the first use. They do not read the dataset and the settings, which the caller may
// have overwritten.
func TestAveragedAfterItsArgumentsWereOverwritten(t *testing.T) {
	averaged := func(d surrogate.Dataset, noise *float64, overwrite func()) []float64 {
		m := Model{Spec: prior.Spec{Noise: noise}}
		p, err := m.Fit(t.Context(), d, random.New(1, "fit", 0))
		require.NoError(t, err)
		overwrite()
		mean, variance := make([]float64, 1), make([]float64, 1)
		surrogate.Averaged(p).Predict(mean, variance, mat.NewDense(1, 2, []float64{0.4, 0.9}))
		return append(mean, variance...)
	}
	d, noise := observed(8), 0.1
	d.Lo, d.Hi = []float64{0, 0}, []float64{1, 1}
	want := averaged(d, &noise, func() {})
	require.Equal(t, want, averaged(d, &noise, func() { noise = 2 }))
	noise = 0.1
	require.Equal(t, want, averaged(d, &noise, func() {
		d.X.Zero()
		clear(d.Y)
		d.Lo[0], d.Hi[0] = math.NaN(), math.Inf(-1)
	}))
}
