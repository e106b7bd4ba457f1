package surrogate_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/gp"
	"github.com/functionspace/bo/surrogate/rff"
	"github.com/functionspace/bo/surrogate/surrogatetest"
)

// wave is m(x) = 3 + 2 sin(x₁) - x_d² of d inputs.
type wave struct{}

func (wave) Eval(value []float64, grad, x *mat.Dense) {
	_, d := x.Dims()
	for i := range value {
		a, b := x.At(i, 0), x.At(i, d-1)
		value[i] = 3 + 2*math.Sin(a) - b*b
		if grad != nil {
			row := grad.RawRowView(i)
			clear(row)
			row[0] = 2 * math.Cos(a)
			row[d-1] -= 2 * b
		}
	}
}

func TestScaledWithMeanConforms(t *testing.T) {
	fast := surrogatetest.Options{Fast: true}
	fast.Run(t, surrogate.Scaled{Model: gp.Model{Spec: prior.Spec{Restarts: 1}}, Mean: wave{}})
}

// The posterior with mean m for y is the posterior with mean zero for y - m, plus m.
func TestScaledMeanIsAShift(t *testing.T) {
	rng := random.New(1, "mean", 0)
	x := mat.NewDense(12, 2, nil)
	m, y := make([]float64, 12), make([]float64, 12)
	for i := range y {
		x.SetRow(i, []float64{rng.Float64(), rng.Float64()})
	}
	wave{}.Eval(m, nil, x)
	for i := range y {
		y[i] = m[i] + 0.1*math.Cos(9*x.At(i, 0))
	}
	at := mat.NewDense(2, 2, []float64{0.3, 0.4, 0.9, 0.1})
	shift := make([]float64, 2)
	wave{}.Eval(shift, nil, at)
	rest := make([]float64, 12)
	floats.SubTo(rest, y, m)
	scale := surrogate.Standardize(rest)

	for _, inner := range []surrogate.Model{gp.Model{}, gp.Model{Spec: prior.Spec{Mean: prior.MeanZero}}, rff.Model{}} {
		p, err := surrogate.Scaled{Model: inner, Inputs: surrogate.Raw, Mean: wave{}}.Fit(t.Context(), surrogate.Dataset{X: x, Y: y}, random.New(2, "fit", 0))
		require.NoError(t, err)
		q, err := inner.Fit(t.Context(), surrogate.Dataset{X: x, Y: scale.Apply(nil, rest)}, random.New(2, "fit", 0))
		require.NoError(t, err)
		got, want, v, w := make([]float64, 2), make([]float64, 2), make([]float64, 2), make([]float64, 2)
		p.Predict(got, v, at)
		q.Predict(want, w, at)
		for i := range want {
			require.InDelta(t, scale.Invert(want[i])+shift[i], got[i], 1e-12)
			require.InDelta(t, w[i]*scale.SD*scale.SD, v[i], 1e-12)
		}
		surrogate.Means(p.(surrogate.MeanPredictor), v, at)
		require.Equal(t, got, v)
		require.Implements(t, (*surrogate.Anchorer)(nil), p) // surrogatetest compares its moments with Joint
		e, of := make([]float64, 12), make([]float64, 12)
		errors, ok := p.(surrogate.Whitener)
		if direct, is := q.(surrogate.Whitener); is {
			require.True(t, ok)
			errors.Whiten(e)
			direct.Whiten(of)
			require.InDeltaSlice(t, of, e, 1e-9)
		} else {
			require.False(t, ok)
		}
		require.True(t, surrogate.StatesPrior(surrogate.Scaled{Model: inner, Mean: wave{}}))
	}
	x.Set(0, 0, math.NaN())
	_, err := surrogate.Scaled{Model: gp.Model{}, Mean: wave{}}.Fit(t.Context(), surrogate.Dataset{X: x, Y: y}, rng)
	require.ErrorIs(t, err, surrogate.ErrNotFinite)
}

// A known noise variance of Scaled has the squared unit of the targets, with and without a mean function.
func TestScaledFixNoise(t *testing.T) {
	rng := random.New(1, "noise", 0)
	d := surrogate.Dataset{X: mat.NewDense(15, 2, nil), Y: make([]float64, 15)}
	for i := range d.Y {
		d.X.SetRow(i, []float64{rng.Float64(), rng.Float64()})
		d.Y[i] = 50*math.Sin(6*d.X.At(i, 0)) + 5*rng.NormFloat64()
	}
	for _, m := range []surrogate.Model{
		surrogate.Scaled{Model: gp.Model{}},
		&surrogate.Scaled{Model: gp.Model{}, Mean: wave{}},
		surrogate.Scaled{Model: surrogate.Scaled{Model: gp.Model{}}, Outputs: surrogate.Raw, Mean: wave{}},
	} {
		known, err := surrogate.FixNoise(m, new(25.))
		require.NoError(t, err)
		require.True(t, surrogate.StatesPrior(known))
		p, err := known.Fit(t.Context(), d, random.New(1, "fit", 0))
		require.NoError(t, err)
		require.InEpsilon(t, 25, p.Noise(), 1e-9)

		learned, err := surrogate.FixNoise(known, nil)
		require.NoError(t, err)
		p, err = learned.Fit(t.Context(), d, random.New(1, "fit", 0))
		require.NoError(t, err)
		require.Greater(t, math.Abs(p.Noise()-25), 0.01)
	}
}
