package fsplaplace

import (
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/gradcheck"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/domain"
	"github.com/functionspace/bo/surrogate/internal/toy"
)

// The authors standardise all inputs, so the unit of an input has no effect on the preset.
func TestPublishedFitHasNoUnits(t *testing.T) {
	d := toy.Sines(14, 2)
	fit := func(unit float64) (mean, variance []float64) {
		to, at := surrogate.Dataset{X: mat.DenseCopyOf(d.X), Y: d.Y, Lo: []float64{0, 0}, Hi: []float64{1, unit}}, mat.NewDense(3, 2, []float64{0.2, 0.3, 0.5, 0.8, 0.9, 0.1})
		for _, x := range []*mat.Dense{to.X, at} {
			n, _ := x.Dims()
			for i := range n {
				x.Set(i, 1, unit*x.At(i, 1))
			}
		}
		m := Model{Preset: surrogate.Published, Context: 20, CovarianceContext: 60, Steps: 20, Network: surrogate.Network{Hidden: []int{5}}}
		post, err := m.Fit(t.Context(), to, random.New(1, "fit", 0))
		require.NoError(t, err)
		mean, variance = make([]float64, 3), make([]float64, 3)
		post.Predict(mean, variance, at)
		return mean, variance
	}
	mean, variance := fit(1)
	for _, unit := range []float64{0.25, 4} { // powers of two are exact
		m, v := fit(unit)
		require.InDeltaSlice(t, mean, m, 1e-6, "unit %g", unit)
		require.InDeltaSlice(t, variance, v, 1e-6, "unit %g", unit)
	}
}

// A stated lengthscale, period or kernel keeps the unit of the dataset.
func TestPublishedSpec(t *testing.T) {
	for name, c := range map[string]struct {
		spec prior.Spec
		want bool
	}{
		"default":               {prior.Spec{}, true},
		"rbf":                   {prior.Spec{Kernel: "rbf"}, true},
		"variance":              {prior.Spec{Variance: new(2.0)}, true},
		"lengthscale":           {prior.Spec{Lengthscale: []float64{0.3}}, false},
		"lengthscale in kernel": {prior.Spec{Kernel: "rbf(lengthscale=0.3)"}, false},
		"period":                {prior.Spec{Kernel: "periodic(period=0.3)"}, false},
		"each input":            {prior.Spec{Isotropic: new(false)}, false},
		"Go":                    {prior.Spec{Custom: prior.RBF(2)}, false},
	} {
		m, err := Model{Preset: surrogate.Published, Spec: c.spec}.resolve(2)
		require.NoError(t, err, name)
		s, err := m.publishedSpec(toy.Sines(6, 2).X)
		require.NoError(t, err, name)
		_, got := s.Custom.(standardized)
		require.Equal(t, c.want, got, name)
	}
}

// The component of a velocity stays 0 or 1, and its coordinates keep one unit.
func TestPublishedVelocity(t *testing.T) {
	x := mat.NewDense(4, 3, []float64{0, 0, 0, 0, 0, 1, 0.5, 3, 0, 0.5, 3, 1})
	m, err := Model{Preset: surrogate.Published, Spec: prior.Spec{Kernel: "potential + stream"}}.resolve(3)
	require.NoError(t, err)
	s, err := m.publishedSpec(x)
	require.NoError(t, err)
	fitted, err := s.Fit(t.Context(), x, []float64{1, 0, 0.5, 2}, false, nil, random.New(1, "fit", 0))
	require.NoError(t, err)
	variance := make([]float64, 4)
	fitted.Kernel.Diag(variance, x)
	for _, v := range variance { // of both components
		require.InEpsilon(t, variance[0], v, 1e-12)
	}
}

// A kernel of several parts has ten starts, also with standardised inputs.
func TestPublishedStarts(t *testing.T) {
	d := toy.Sines(20, 2)
	state := func(restarts int) []float64 {
		m, err := Model{Preset: surrogate.Published, Spec: prior.Spec{Kernel: "rbf+rbf*linear", Restarts: restarts}}.resolve(2)
		require.NoError(t, err)
		s, err := m.publishedSpec(d.X)
		require.NoError(t, err)
		require.IsType(t, standardized{}, s.Custom)
		fitted, err := s.Fit(t.Context(), d.X, d.Y, false, nil, random.New(1, "fit", 0))
		require.NoError(t, err)
		return fitted.State
	}
	require.NotEqual(t, state(3), state(10), "ten starts find another optimum")
	require.Equal(t, state(10), state(0))
}

func TestStandardizedKernel(t *testing.T) {
	x, y := toy.Sines(5, 2).X, toy.Sines(4, 2).X
	inner, err := prior.Parse("rbf+linear", 2)
	require.NoError(t, err)
	k := standardized{inner, domain.Affine{Shift: []float64{0.3, -1}, Scale: []float64{2, 5}}}
	bar, dbar := mat.NewDense(5, 4, nil), []float64{1, -2, 0.5, 3, -1}
	for i := range 20 {
		bar.RawMatrix().Data[i] = float64(i%7) - 3
	}
	value := func(data []float64) (sum float64) {
		at, c, diag := mat.NewDense(5, 2, data), mat.NewDense(5, 4, nil), make([]float64, 5)
		k.Cross(c, at, y)
		k.Diag(diag, at)
		for i, v := range c.RawMatrix().Data {
			sum += v * bar.RawMatrix().Data[i]
		}
		for i, v := range diag {
			sum += v * dbar[i]
		}
		return sum
	}
	dx := mat.NewDense(5, 2, nil)
	k.CrossVJP(dx, x, y, bar)
	k.DiagVJP(dx, x, dbar)
	require.NoError(t, gradcheck.Gradient(value, append([]float64(nil), x.RawMatrix().Data...), dx.RawMatrix().Data, 1e-6))
}
