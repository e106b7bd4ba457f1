package regression

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distmv"

	"github.com/functionspace/bo/internal/gradcheck"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/domain"
	"github.com/functionspace/bo/surrogate/network"
)

// The value is a Gaussian log density with the right derivatives, for fewer features than
// observations and for more.
func TestEvidence(t *testing.T) {
	for _, f := range []int{3, 9} {
		const n, noise = 6, 0.3
		rng := random.New(1, "evidence", f)
		draw := func(k int) []float64 {
			v := make([]float64, k)
			for i := range v {
				v[i] = rng.NormFloat64()
			}
			return v
		}
		v := append(append(draw(n*f), draw(n)...), math.Log(noise))
		var e Evidence
		at := func(v []float64) float64 {
			require.NoError(t, e.Compute(mat.NewDense(n, f, v[:n*f]), v[n*f:n*f+n], math.Exp(v[n*f+n])))
			return e.Value
		}
		phi := mat.NewDense(n, f, v[:n*f])
		cov := mat.NewSymDense(n, nil)
		cov.SymOuterK(1, phi)
		for i := range n {
			cov.SetSym(i, i, cov.At(i, i)+noise)
		}
		normal, ok := distmv.NewNormal(make([]float64, n), cov, nil)
		require.True(t, ok)
		require.InDelta(t, normal.LogProb(v[n*f:n*f+n]), at(v), 1e-10)

		grad := append(append(append([]float64{}, e.Phi.RawMatrix().Data...), e.R...), e.Noise)
		require.NoError(t, gradcheck.Gradient(at, v, grad, 1e-7))
	}
}

// Columns of zeros, which make the matrix wide, do not change the value.
func TestWideAndNarrow(t *testing.T) {
	const n, f, noise = 6, 4, 0.2
	rng := random.New(1, "wide", 0)
	narrow, wide, r := mat.NewDense(n, f, nil), mat.NewDense(n, 2*f, nil), make([]float64, n)
	for i := range n {
		for j := range f {
			narrow.Set(i, j, rng.NormFloat64())
			wide.Set(i, j, narrow.At(i, j))
		}
		r[i] = rng.NormFloat64()
	}
	var a, b Evidence
	require.NoError(t, a.Compute(narrow, r, noise))
	require.NoError(t, b.Compute(wide, r, noise))
	require.InDelta(t, a.Value, b.Value, 1e-12)
	require.InDelta(t, a.Noise, b.Noise, 1e-12)
	require.InDeltaSlice(t, a.R, b.R, 1e-12)
	for i := range n {
		require.InDeltaSlice(t, a.Phi.RawRowView(i), b.Phi.RawRowView(i)[:f], 1e-12)
	}
}

// Draws have the moments of the posterior: E w = (1 + φᵀφ/σ²)⁻¹φᵀr/σ² for one feature.
func TestDraw(t *testing.T) {
	phi, r, noise := mat.NewDense(2, 1, []float64{1, 2}), []float64{1, 0.5}, 0.5
	rng := random.New(1, "draw", 0)
	var mean, square float64
	const draws = 20_000
	for range draws {
		w, err := Draw(phi, r, noise, rng)
		require.NoError(t, err)
		mean += w[0] / draws
		square += w[0] * w[0] / draws
	}
	variance := 1 / (1 + 5/noise)
	want := variance * 2 / noise
	require.InDelta(t, want, mean, 5*math.Sqrt(variance/draws))
	require.InEpsilon(t, variance, square-mean*mean, 0.05)
}

// An architecture may have terms without its last weights, which depend on the others: the value is the
// density of the remaining targets, and the gradient includes these terms.
func TestLastLayerOfAnAffineArchitecture(t *testing.T) {
	f := network.Func(func(x network.Node) network.Node {
		rest := x.Dense(2, 1).Apply(network.Sin).Affine(mat.NewDense(2, 1, []float64{2, -1}), nil)
		return x.Dense(3, 1).Apply(network.Tanh).Dense(1, 0).Add(rest).Add(x.Columns(1, 2))
	})
	net, err := domain.Build(surrogate.Network{Architecture: f}, 2)
	require.NoError(t, err)
	const n, noise, scale = 7, 0.2, 0.8
	x, k := space.Uniform(n, 2, random.New(1, "x", 0)), net.Outputs()
	require.Equal(t, 4, k)
	w, y := net.InitBiased(1, 1, 0, random.New(1, "w", 0)), make([]float64, n)
	clear(w[len(w)-k:])
	random.Normal(y, random.New(1, "y", 0))

	l := NewLastLayer(net, n)
	at := func(w []float64, x *mat.Dense) float64 {
		l.Record(net, w, x, scale)
		require.NoError(t, l.Compute(l.Features, l.Residual(y), noise))
		return l.Value
	}
	at(w, x)
	dw, dx := make([]float64, len(w)), mat.NewDense(n, 2, nil)
	l.VJP(dw, dx)
	hidden := len(w) - k
	require.NoError(t, gradcheck.Gradient(func(v []float64) float64 {
		return at(append(append([]float64{}, v...), w[hidden:]...), x)
	}, append([]float64{}, w[:hidden]...), dw[:hidden], 1e-7))
	require.NoError(t, gradcheck.Gradient(func(v []float64) float64 { return at(w, mat.NewDense(n, 2, v)) },
		append([]float64{}, x.RawMatrix().Data...), dx.RawMatrix().Data, 1e-7))

	offset, r := make([]float64, n), make([]float64, n)
	net.Forward(offset, w, x)
	for i := range r {
		r[i] = y[i] - offset[i]
	}
	at(w, x)
	require.InDeltaSlice(t, r, l.Residual(y), 1e-12)
}
