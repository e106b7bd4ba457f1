package prior

import (
	"math"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/functionspace/bo/internal/optimize"
	"github.com/functionspace/bo/internal/racetest"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/space"
)

// A search in stages reaches the posterior density of a search on all rows, with and without the state of an
// earlier fit. It is deterministic for any number of processors.
func TestSearchInStages(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const n = 600
	rng := random.New(1, "stages", 0)
	x, y := space.Uniform(n, 2, rng), make([]float64, n)
	for i := range y {
		y[i] = math.Sin(5*x.At(i, 0)) + x.At(i, 1) + 0.1*rng.NormFloat64()
	}
	m, err := Spec{}.model(2, false)
	require.NoError(t, err)
	found, err := m.search(t.Context(), func() *objective { return newObjective(m, observations{x: x, y: y}) }, m.starts(2, nil, rng), optimize.Settings{})
	require.NoError(t, err)
	loss := func(free []float64) float64 {
		return newObjective(m, observations{x: x, y: y}).loss(t.Context(), free, make([]float64, len(free)))
	}
	var state []float64
	for range 2 {
		f, err := Spec{}.Fit(t.Context(), x, y, false, state, random.New(1, "fit", 0))
		require.NoError(t, err)
		require.InDelta(t, loss(found.X), loss(f.State), 0.01)
		runtime.GOMAXPROCS(4)
		again, err := Spec{}.Fit(t.Context(), x, y, false, state, random.New(1, "fit", 0))
		require.NoError(t, err)
		require.Equal(t, f.State, again.State)
		runtime.GOMAXPROCS(1)
		state = f.State
	}
}

// With many rows the fit finds ripples that few rows do not show.
func TestRippled(t *testing.T) {
	m, err := Spec{Noise: new(float64)}.model(2, true)
	require.NoError(t, err)
	got := m.rippled([]float64{1, 2, 3})
	require.Equal(t, [][]float64{{1, 2, 3}, {1, 2 - math.Log(ripple), 3}, {1, 2, 3 - math.Log(ripple)}}, got)
}

// A fit of many lengthscales finds the function. With 300 rows in the first stage it ends where the values
// are independent.
func TestStagesOfManyLengthscales(t *testing.T) {
	racetest.SkipNumerical(t)
	const n, dim, active = 600, 100, 10
	rng := random.New(1, "many lengthscales", 0)
	x, y := space.Uniform(n, dim, rng), make([]float64, n)
	for i := range y {
		for j := range active {
			y[i] += math.Sin(6*x.At(i, j) + 6*x.At(i, j+1))
		}
	}
	f, err := Spec{}.Fit(t.Context(), x, y, false, nil, random.New(1, "fit", 0))
	require.NoError(t, err)
	_, sd := stat.MeanStdDev(y, nil)
	independent := distuv.Normal{Sigma: sd}.LogProb(0)*n - n/2
	require.Greater(t, f.LogMarginal, independent+50)
}

// A fit to strong noise finds it. From starts with little noise alone, the fit to 300 rows explains the noise by short
// lengthscales, and so do later stages.
func TestStagesOfStrongNoise(t *testing.T) {
	racetest.SkipNumerical(t)
	const n, dim = 600, 8
	for seed := range uint64(2) {
		rng := random.New(1+seed, "strong noise", 0)
		x := space.Uniform(n, dim, rng)
		k := Matern52(dim).WithParams([]float64{1, 1, 1, 1, 1, 1, 1, 1})
		f, err := Process{Kernel: k}.Sample(1, x, rng)
		require.NoError(t, err)
		y := f.RawRowView(0)
		for i := range y {
			y[i] += rng.NormFloat64()
		}
		got, err := Spec{}.Fit(t.Context(), x, y, false, nil, random.New(1, "fit", 0))
		require.NoError(t, err)
		require.InDelta(t, 1, got.Noise, 0.4)
	}
}
