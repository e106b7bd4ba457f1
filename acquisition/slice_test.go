package acquisition

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/specfn"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
)

// shifted adds a constant to the mean where the last coordinate is above ½: a context that makes everything worse.
type shifted struct {
	*toy
	by float64
}

func (s shifted) shift(mean []float64, x *mat.Dense) {
	for i := range mean {
		if row := x.RawRowView(i); row[len(row)-1] > 0.5 {
			mean[i] += s.by
		}
	}
}

func (s shifted) Predict(mean, variance []float64, x *mat.Dense) {
	s.toy.Predict(mean, variance, x)
	s.shift(mean, x)
}

func (s shifted) PredictGrad(mean, variance []float64, dmean, dvariance, x *mat.Dense) {
	s.toy.PredictGrad(mean, variance, dmean, dvariance, x)
	s.shift(mean, x)
}

func (s shifted) Joint(mean []float64, cov *mat.SymDense, x *mat.Dense) {
	s.toy.Joint(mean, cov, x)
	s.shift(mean, x)
}

// inSlice returns the problem of the slice with the last coordinate c, in which all evaluated points have been tried.
func inSlice(posterior surrogate.Posterior, observed *mat.Dense, c float64) Problem {
	p := Problem{Posterior: posterior, Baseline: mat.DenseCopyOf(observed), Best: math.Inf(1)}
	n, d := observed.Dims()
	for i := range n {
		p.Baseline.Set(i, d-1, c)
	}
	mean, variance := make([]float64, n), make([]float64, n)
	posterior.Predict(mean, variance, p.Baseline)
	for _, m := range mean {
		p.Best = min(p.Best, m)
	}
	return p
}

// With one point b in the baseline the expected improvement on f(b) is s·h(z), with the mean and the variance of
// f(b) - f(x).
func TestImprovementOnOneBaseline(t *testing.T) {
	toy, x, _ := newToy(t, 2, 8, 1e-6, 3)
	p := inSlice(toy, rows(x, 0, 1), 0.9)
	for _, concurrent := range []bool{false, true} {
		p.Concurrent = concurrent
		f, err := p.Function(t.Context(), LogNEI{Samples: 4096}, 1, rng(1))
		require.NoError(t, err)
		for i := range 4 { // at the next point 64 samples leave an error of 0.2 in a logarithm of -5
			at := mat.NewDense(1, 2, []float64{0.1 + 0.2*float64(i), 0.9})
			mean, cov := make([]float64, 2), mat.NewSymDense(2, nil)
			toy.Joint(mean, cov, stack(p.Baseline, at))
			s := math.Sqrt(cov.At(0, 0) + cov.At(1, 1) - 2*cov.At(0, 1))
			l, _ := specfn.LogEI((mean[0] - mean[1]) / s)
			assert.InDelta(t, math.Log(s)+l, valueAt(f, at.RawRowView(0)), 0.1, "concurrent %v, point %d", concurrent, i)
		}
	}
}

// A context that raises all values by a constant does not change the expected improvement on the baseline. The
// improvement on the best observed value of all contexts vanishes.
func TestBaselineIgnoresShift(t *testing.T) {
	toy, x, _ := newToy(t, 3, 12, 1e-6, 5)
	at := []float64{0.3, 0.6, 0.9}
	for _, a := range []Acquisition{Auto{}, LogNEI{}, LogEI{}, PI{}, EI{}} {
		var value []float64
		for _, by := range []float64{0, 40} {
			f, err := inSlice(shifted{toy, by}, x, 0.9).Function(t.Context(), a, 1, rng(1))
			require.NoError(t, err)
			value = append(value, valueAt(f, at))
		}
		assert.InDelta(t, value[0], value[1], 1e-6, "%T", a)
	}
	p := Problem{Posterior: shifted{toy, 40}, Observed: x, Best: inSlice(toy, x, 0.1).Best}
	f, err := p.Function(t.Context(), LogEI{}, 1, rng(1))
	require.NoError(t, err)
	assert.Less(t, valueAt(f, at), -100.0)
}

// The best point of the baseline may be the best point of the slice, so Auto has an improvement there, also under noise.
// LogNEI has none.
func TestImprovementAtBaseline(t *testing.T) {
	for _, noise := range []float64{1e-6, 0.1} {
		toy, x, _ := newToy(t, 3, 12, noise, 5)
		p := inSlice(toy, x, 0.9)
		mean, variance := make([]float64, 12), make([]float64, 12)
		toy.Predict(mean, variance, p.Baseline)
		k := floats.MinIdx(mean)
		auto, err := p.Function(t.Context(), Auto{}, 1, rng(1))
		require.NoError(t, err)
		best := p.Baseline.RawRowView(k)
		assert.InDelta(t, math.Log(math.Sqrt(variance[k]/(2*math.Pi))), valueAt(auto, best), 1e-6, "s·h(0)")
		nei, err := p.Function(t.Context(), LogNEI{}, 1, rng(1))
		require.NoError(t, err)
		assert.Less(t, valueAt(nei, best), valueAt(auto, best)-3)
	}
}

// Points of a slice stay in the slice, and are no known points. Points of the baseline may be suggested.
func TestSuggestInSlice(t *testing.T) {
	s := newSpace(t, space.Float("x", 0, 1), space.Float("y", 0, 1), space.Float("c", 0, 1))
	slice, err := s.Slice(map[string]any{"c": 0.75})
	require.NoError(t, err)
	toy, x, _ := newToy(t, 3, 12, 1e-6, 5)
	p := inSlice(toy, x, 0.75)
	p.Pending, p.Elsewhere = mat.NewDense(1, 3, []float64{0.5, 0.5, 0.75}), mat.NewDense(2, 3, []float64{0.5, 0.5, 0.1, 0.2, 0.9, 0.4})
	for _, a := range recipes {
		if _, ok := a.(MES); ok {
			_, err := Suggest(t.Context(), a, p, slice, 1, quick, rng(4))
			require.ErrorIs(t, err, ErrProblem)
			continue
		}
		got, err := Suggest(t.Context(), a, p, slice, 3, quick, rng(4))
		require.NoError(t, err, name(a))
		for _, c := range got {
			assert.Equal(t, 0.75, c.X[2], name(a))
			assert.False(t, equal(c.X, p.Pending.RawRowView(0)))
			mean, variance := make([]float64, 1), make([]float64, 1)
			toy.Predict(mean, variance, mat.NewDense(1, 3, c.X))
			assert.InDelta(t, math.Sqrt(variance[0]), c.SD, 1e-12, "the prediction is not conditioned on pending points")
		}
	}
	known := newKnown(p, slice)
	assert.False(t, known.reject()(p.Baseline.RawRowView(0)))
	assert.True(t, known.reject()(p.Pending.RawRowView(0)))
}

// A pending point elsewhere reduces the variance in the slice, and no improvement is compared with it.
func TestElsewhere(t *testing.T) {
	toy, x, _ := newToy(t, 2, 6, 1e-4, 5)
	p := inSlice(toy, x, 0.9)
	p.Elsewhere = mat.NewDense(1, 2, []float64{0.4, 0.85})
	got, err := p.compared()
	require.NoError(t, err)
	at := mat.NewDense(2, 2, []float64{0.4, 0.9, 0.7, 0.9})
	mean, variance, before, wide := make([]float64, 2), make([]float64, 2), make([]float64, 2), make([]float64, 2)
	got.Posterior.Predict(mean, variance, at)
	toy.Predict(before, wide, at)
	assert.InDeltaSlice(t, before, mean, 1e-9)
	assert.Less(t, variance[0], 0.5*wide[0])
	assert.Equal(t, p.Baseline, got.Observed)
	assert.Nil(t, got.Pending)
}
