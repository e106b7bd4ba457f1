package prior

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/gradcheck"
	"github.com/functionspace/bo/internal/kernelgrad"
	"github.com/functionspace/bo/internal/random"
)

// Gradients of weighted sums over a cross matrix and over a diagonal.
func TestCrossParamVJP(t *testing.T) {
	rng := random.New(1, "cross", 0)
	random := func(r, c int) *mat.Dense {
		m := mat.NewDense(r, c, nil)
		for i := range m.RawMatrix().Data {
			m.RawMatrix().Data[i] = rng.NormFloat64()
		}
		return m
	}
	x, y, kbar := random(11, 2), random(5, 2), random(11, 5)
	dbar := random(1, 11).RawRowView(0)
	for _, expr := range []string{
		"rbf", "matern52(ard=false)", "variance*rq", "matern32 + 0.5*linear", "rbf*periodic + polynomial", "arccos(depth=2)",
		"variance*(matern12 + linear[1])", "rbf + white",
	} {
		k, err := Parse(expr, 2)
		require.NoError(t, err)
		var log []float64
		for _, p := range k.Params() {
			log = append(log, math.Log(p.Value)+0.1*rng.NormFloat64())
		}
		at := func(log []float64) Kernel {
			theta := make([]float64, len(log))
			for i, v := range log {
				theta[i] = math.Exp(v)
			}
			return k.WithParams(theta)
		}
		cross, diag := make([]float64, len(log)), make([]float64, len(log))
		kernelgrad.CrossParam(at(log), cross, x, y, kbar)
		kernelgrad.DiagParam(at(log), diag, x, dbar)
		require.NoError(t, gradcheck.Gradient(func(log []float64) float64 {
			c := mat.NewDense(11, 5, nil)
			at(log).Cross(c, x, y)
			c.MulElem(c, kbar)
			return mat.Sum(c)
		}, log, cross, 1e-7), expr)
		require.NoError(t, gradcheck.Gradient(func(log []float64) float64 {
			d := make([]float64, 11)
			at(log).Diag(d, x)
			return floats.Dot(d, dbar)
		}, log, diag, 1e-7), expr)
	}
}

func TestHyperparameters(t *testing.T) {
	k, params, err := Spec{Kernel: "rbf", Lengthscale: []float64{0.3}}.Hyperparameters(2, false)
	require.NoError(t, err)
	require.Equal(t, "rbf", k.String())
	names, fixed := []string{}, []bool{}
	for _, p := range params {
		names, fixed = append(names, p.Name), append(fixed, p.Fixed)
	}
	require.Equal(t, []string{"variance", "lengthscale[0]", "lengthscale[1]", "noise"}, names)
	require.Equal(t, []bool{false, true, true, false}, fixed)
	_, _, err = Spec{Mean: "none"}.Hyperparameters(2, false)
	require.ErrorIs(t, err, ErrSpec)
}
