package domain

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate"
)

func TestPointsFillTheBox(t *testing.T) {
	b := Widen([]float64{0, 2}, []float64{10, 2}, 0.1)
	require.Equal(t, Box{[]float64{-1, 1.5}, []float64{11, 2.5}}, b)
	for _, x := range []*mat.Dense{b.Halton(200, random.New(1, "h", 0)), b.Chebyshev(200, random.New(1, "c", 0)), b.Uniform(200, random.New(1, "u", 0))} {
		for j := range 2 {
			col := mat.Col(nil, j, x)
			lo, hi := min(col[0], col[1]), max(col[0], col[1])
			for _, v := range col {
				lo, hi = min(lo, v), max(hi, v)
			}
			width := b.Hi[j] - b.Lo[j]
			require.GreaterOrEqual(t, lo, b.Lo[j])
			require.LessOrEqual(t, hi, b.Hi[j])
			require.Greater(t, hi-lo, 0.9*width)
		}
	}
}

// The variogram of an RBF kernel reaches 1-e^{-1/2} of the variance at one lengthscale for
// every variance, and no scaled input is beyond ±6.
func TestScaleInputs(t *testing.T) {
	k := prior.ScaleBy(7, prior.RBF(3).WithParams([]float64{0.5, 1, 0.01}))
	a := ScaleInputs(k, []float64{0, 0, 0}, []float64{1, 2, 1})
	require.Equal(t, []float64{0.5, 1, 0.5}, a.Shift)
	require.InEpsilonSlice(t, []float64{2, 1, 12}, a.Scale, 0.07)
	require.InEpsilon(t, math.Sqrt((1+1+36)/3.0), a.Spread(Box{[]float64{0, 0, 0}, []float64{1, 2, 1}}), 0.07)

	x := mat.NewDense(1, 3, []float64{1, 1, 1})
	y := a.Apply(x)
	require.InDelta(t, a.Scale[0]*0.5, y.At(0, 0), 1e-15)
	a.Pull(x)
	require.Equal(t, a.Scale, x.RawRowView(0))
}

// The variogram of a periodic kernel with a long lengthscale stays far below the variance.
// The relevant level is then relative to its first maximum, at half a period: a sine
// reaches 39 % of it in a fifth of the period.
func TestScaleInputsOfAConstantInput(t *testing.T) {
	a := ScaleInputs(prior.RBF(2), []float64{0, 3}, []float64{1, 3})
	require.Equal(t, 1.0, a.Scale[1])
	require.Equal(t, 3.0, a.Shift[1])
}

func TestScaleInputsOfAnOscillatingPrior(t *testing.T) {
	k, err := prior.Parse("periodic(period=0.3,lengthscale=10)", 1)
	require.NoError(t, err)
	a := ScaleInputs(k, []float64{0}, []float64{1})
	require.InEpsilon(t, 1/max(0.3*math.Acos(1-2*0.3935)/(2*math.Pi), 1.0/12), a.Scale[0], 0.1)
}

func TestInputsOfABox(t *testing.T) {
	b := Box{Lo: []float64{-1, 2}, Hi: []float64{3, 2.5}}
	u := b.Inputs(5).Apply(mat.NewDense(2, 2, []float64{-1, 2, 3, 2.5}))
	require.InDeltaSlice(t, []float64{-5, -5, 5, 5}, u.RawMatrix().Data, 1e-12)
	require.InDelta(t, 5, b.Inputs(5).Spread(b), 1e-12)
}

func TestZScore(t *testing.T) {
	x := mat.NewDense(3, 2, []float64{1, 5, 2, 5, 3, 5})
	require.Equal(t, Affine{Shift: []float64{2, 5}, Scale: []float64{1, 1}}, ZScore(x))
}

func TestDrawBox(t *testing.T) {
	inside := mat.NewDense(2, 2, []float64{0.2, 0.5, 0.6, 0.5})
	for name, c := range map[string]struct {
		data surrogate.Dataset
		want Box
	}{
		"a box":       {surrogate.Dataset{X: inside, Lo: []float64{0, -1}, Hi: []float64{3, 1}}, Box{[]float64{0, -1}, []float64{3, 1}}},
		"width 0":     {surrogate.Dataset{X: inside, Lo: []float64{0, 2}, Hi: []float64{3, 2}}, Box{[]float64{0, 1.5}, []float64{3, 2.5}}},
		"unit cube":   {surrogate.Dataset{X: inside}, Box{[]float64{0, 0}, []float64{1, 1}}},
		"of the data": {surrogate.Dataset{X: mat.NewDense(2, 2, []float64{10, 0.5, 12, 0.7})}, Box{[]float64{10, 0.5}, []float64{12, 0.7}}},
	} {
		require.Equal(t, c.want, DrawBox(c.data), name)
	}
}
