package prior

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

// The posterior of two hyperparameters on a fine grid has the means, variances and quantiles of the draws.
func TestDraws(t *testing.T) {
	noise := 0.05
	s := Spec{Kernel: "rbf", Noise: &noise}
	x, y := mat.NewDense(6, 1, []float64{0, 0.1, 0.35, 0.5, 0.8, 1}), []float64{-1, -0.6, 0.9, 1.2, -0.1, -0.4}
	m, err := s.model(1, false)
	require.NoError(t, err)
	require.Len(t, m.free, 2)
	e := newObjective(m, observations{x: x, y: y})
	lo, hi := m.bounds()
	var weights []float64
	var grid [2][]float64
	for a := max(lo[0], -6); a < min(hi[0], 8); a += 0.05 {
		for b := max(lo[1], -8); b < min(hi[1], 8); b += 0.05 {
			weights = append(weights, math.Exp(a+b-e.loss(t.Context(), []float64{a, b}, nil)))
			grid[0], grid[1] = append(grid[0], a), append(grid[1], b)
		}
	}
	fitted, err := s.Fit(t.Context(), x, y, false, nil, rand.New(rand.NewPCG(1, 1)))
	require.NoError(t, err)
	const k = 2000
	draws, err := s.Draws(t.Context(), x, y, false, fitted.State, k, rand.New(rand.NewPCG(1, 2)))
	require.NoError(t, err)
	require.Len(t, draws, k)
	for j := range 2 {
		column := make([]float64, k)
		for i, d := range draws {
			column[i] = d[j]
		}
		mean, variance := stat.MeanVariance(column, nil)
		wantMean, wantVariance := stat.PopMeanVariance(grid[j], weights)
		require.InDelta(t, wantMean, mean, 5*math.Sqrt(2*wantVariance/k), "hyperparameter %d", j) // the draws are correlated
		require.InEpsilon(t, wantVariance, variance, 0.15, "hyperparameter %d", j)
	}
}

func TestDrawsErrors(t *testing.T) {
	x, y := mat.NewDense(2, 1, []float64{0, 1}), []float64{1, 2}
	one := 1.0
	fixed := Spec{Kernel: "rbf", Noise: &one, Lengthscale: []float64{1}, Variance: &one}
	draws, err := fixed.Draws(t.Context(), x, y, false, nil, 3, rand.New(rand.NewPCG(1, 1)))
	require.NoError(t, err)
	require.Empty(t, draws)

	known := Spec{Kernel: "rbf", Lengthscale: []float64{1}, Variance: &one}
	draws, err = known.Draws(t.Context(), x, y, true, []float64{-9}, 3, rand.New(rand.NewPCG(1, 1)))
	require.NoError(t, err)
	require.Empty(t, draws, "the noise of exact data is not drawn")
	draws, err = Spec{Kernel: "rbf"}.Draws(t.Context(), x, y, true, []float64{0, 0, -9}, 3, rand.New(rand.NewPCG(1, 1)))
	require.NoError(t, err)
	for _, d := range draws {
		require.NotZero(t, d[0])
		require.InDelta(t, -9, d[2], 0)
	}

	_, err = Spec{}.Draws(t.Context(), x, []float64{1, math.NaN()}, false, nil, 3, nil)
	require.ErrorIs(t, err, ErrData)
	_, err = Spec{Lengthscale: []float64{1, 2}}.Draws(t.Context(), x, y, false, nil, 3, nil)
	require.ErrorIs(t, err, ErrSpec)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = Spec{}.Draws(ctx, x, y, false, make([]float64, 3), 3, rand.New(rand.NewPCG(1, 1)))
	require.ErrorIs(t, err, context.Canceled)
	require.Panics(t, func() { _, _ = Spec{}.Draws(t.Context(), x, y, false, make([]float64, 2), 3, nil) })
}

// After a change of any one hyperparameter or none, the values are the values of a new tape.
func TestValuesOnly(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 3))
	x := mat.NewDense(9, 2, nil)
	for i := range 9 {
		x.SetRow(i, []float64{rng.Float64(), rng.Float64()})
	}
	for _, kernel := range []string{"rbf", "matern52", "rq", "rbf+linear", "2*arccos+constant", "periodic*matern52", "rbf[0]+3*(matern32[1]+rq[0])"} {
		k, err := Parse(kernel, 2)
		require.NoError(t, err)
		theta := make([]float64, len(k.Params()))
		for i, p := range k.Params() {
			theta[i] = p.Value
		}
		sequence, got, want := valuesOnly(newTape(k, x), len(theta)), mat.NewSymDense(9, nil), mat.NewSymDense(9, nil)
		for step := range 6 * len(theta) {
			if step%3 > 0 {
				theta[rng.IntN(len(theta))] *= 1 + rng.Float64()/10
			}
			sequence.gram(got, theta)
			newTape(k, x).gram(want, theta)
			require.Equal(t, want, got, "%s, step %d", kernel, step)
		}
	}
}
