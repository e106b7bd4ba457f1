package prior_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/prior/priortest"
)

// gibbs is a kernel with a lengthscale that grows with the first input, a = θ exp(x₀):
// (2ab/(a²+b²))^(d/2) exp(-|x-y|²/(a²+b²)) with b = θ exp(y₀) (Rasmussen and Williams 2006, equation 4.32).
func gibbs(theta, x, y, dx, dtheta []float64) float64 {
	a, b := theta[0]*math.Exp(x[0]), theta[0]*math.Exp(y[0])
	s := a*a + b*b
	var r2 float64
	for j := range x {
		r2 += (x[j] - y[j]) * (x[j] - y[j])
	}
	k := math.Pow(2*a*b/s, float64(len(x))/2) * math.Exp(-r2/s)
	if dx != nil {
		for j := range x {
			dx[j] = -2 * k * (x[j] - y[j]) / s
		}
		dx[0] += k * (float64(len(x))/2*(1-2*a*a/s) + 2*r2*a*a/(s*s))
		dtheta[0] = 2 * k * r2 / (s * theta[0])
	}
	return k
}

func TestPairwise(t *testing.T) {
	length := prior.Param{Name: "lengthscale", Value: 0.5, Lo: 0.1, Hi: 10}
	nonstationary := prior.Pairwise("gibbs", 2, []prior.Param{length}, gibbs)
	require.Equal(t, "gibbs", nonstationary.String())
	for name, k := range map[string]prior.Kernel{
		"alone": nonstationary, "scaled": prior.Scale(nonstationary), "product": prior.Product(nonstationary, prior.Linear(2)),
	} {
		t.Run(name, func(t *testing.T) { priortest.Run(t, k) })
	}
}

// The kernel exp(-s/2) of pairs has the matrices and gradients of RBF, and its fit ends at the same log marginal likelihood.
func TestPairwiseEqualsRBF(t *testing.T) {
	rbf := prior.RBF(2)
	pairs := prior.Pairwise("pairs", 2, rbf.Params(), func(theta, x, y, dx, dtheta []float64) float64 {
		var s float64
		for j := range x {
			r := (x[j] - y[j]) / theta[j]
			s += r * r
		}
		k := math.Exp(-s / 2)
		if dx != nil {
			for j := range x {
				d := x[j] - y[j]
				dx[j], dtheta[j] = -k*d/(theta[j]*theta[j]), k*d*d/(theta[j]*theta[j]*theta[j])
			}
		}
		return k
	})
	rng := rand.New(rand.NewPCG(1, 2))
	x, y := mat.NewDense(9, 2, nil), make([]float64, 9)
	for i := range y {
		x.SetRow(i, []float64{rng.Float64(), rng.Float64()})
		y[i] = math.Sin(5*x.At(i, 0)) + x.At(i, 1)
	}
	want, got := mat.NewSymDense(9, nil), mat.NewSymDense(9, nil)
	rbf.Gram(want, x)
	pairs.Gram(got, x)
	require.True(t, mat.EqualApprox(want, got, 1e-14))
	wantG, gotG := make([]float64, 2), make([]float64, 2)
	rbf.ParamVJP(wantG, x, want)
	pairs.ParamVJP(gotG, x, want)
	require.InDeltaSlice(t, wantG, gotG, 1e-12)

	fit := func(k prior.Kernel) prior.Fitted {
		f, err := prior.Spec{Custom: k}.Fit(t.Context(), x, y, true, nil, rand.New(rand.NewPCG(3, 4)))
		require.NoError(t, err)
		return f
	}
	a, b := fit(rbf), fit(pairs)
	require.InDelta(t, a.LogMarginal, b.LogMarginal, 1e-4)
}
