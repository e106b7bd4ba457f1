package fvi

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/surrogate/internal/domain"
)

// grid returns a grid of [2,4], and a function in each row of f.
func grid(p piecewise, draws int) (x, f *mat.Dense) {
	const m = 201
	x, f = mat.NewDense(m, 1, nil), mat.NewDense(draws, m, nil)
	for i := range m {
		x.Set(i, 0, 2+2*float64(i)/(m-1))
	}
	p.Sample(f, x, random.New(1, "draws", 0))
	return x, f
}

// A function has one plus Poisson(3) pieces with independent values. Two points are in one
// piece with probability exp(-3 times their distance over the width), which is their
// correlation.
func TestPiecewiseConstant(t *testing.T) {
	const draws = 4000
	p := piecewise{box: domain.Box{Lo: []float64{2}, Hi: []float64{4}}, lo: -math.Sqrt(3), hi: math.Sqrt(3), changes: 3}
	_, f := grid(p, draws)
	var pieces, most float64
	for i := range draws {
		pieces += 1. / draws
		row := f.RawRowView(i)
		for c, v := range row[1:] {
			most = max(most, math.Abs(v))
			if v != row[c] {
				pieces += 1. / draws
			}
		}
	}
	require.InDelta(t, 4, pieces, 0.1)
	require.InDelta(t, math.Sqrt(3), most, 1e-3)
	cov := covariance(f, 0)
	for _, c := range []int{0, 50, 200} {
		require.InDelta(t, 1, cov.At(c, c), 0.05)
		require.InDelta(t, math.Exp(-3*math.Abs(float64(c)-100)/200), cov.At(100, c), 0.06)
	}
}

// The function is continuous and linear between its knots. At the ends, which are knots, its
// variance is the variance of the values.
func TestPiecewiseLinear(t *testing.T) {
	p := piecewise{box: domain.Box{Lo: []float64{2}, Hi: []float64{4}}, lo: 0, hi: 1, changes: 3, linear: true}
	x, f := grid(p, 4000)
	require.Equal(t, 1., p.at(3.5, []float64{3, 4, 6}, []float64{0, 2, 5}))
	require.Equal(t, 3.5, p.at(5, []float64{3, 4, 6}, []float64{0, 2, 5}))
	require.Equal(t, []float64{0, 5}, []float64{p.at(1, []float64{3, 6}, []float64{0, 5}), p.at(7, []float64{3, 6}, []float64{0, 5})})
	n, m := f.Dims()
	cov, bends := covariance(f, 0), 0
	for i := range n {
		row := f.RawRowView(i)
		for c := 2; c < m; c++ {
			if math.Abs(row[c]-2*row[c-1]+row[c-2]) > 1e-9 {
				bends++
			}
		}
	}
	require.InDelta(t, 6, float64(bends)/float64(n), 0.3, "a change between grid points gives two bends")
	for _, c := range []int{0, m - 1} {
		require.InDelta(t, 1./12, cov.At(c, c), 0.006)
	}
	require.InDelta(t, 0.5, mat.Sum(f.ColView(100))/float64(n), 0.02)
	require.Equal(t, 3., x.At(100, 0))
}

// Mean and variance do not depend on the number of inputs.
func TestPiecewiseInSeveralDimensions(t *testing.T) {
	p := piecewise{box: domain.Box{Lo: []float64{0, 0, 0}, Hi: []float64{1, 1, 1}}, lo: 1, hi: 3, changes: 2}
	f := mat.NewDense(4000, 2, nil)
	p.Sample(f, mat.NewDense(2, 3, []float64{0.1, 0.5, 0.9, 0.1, 0.5, 0.2}), random.New(1, "draws", 0))
	cov := covariance(f, 0)
	require.InDelta(t, 2, mat.Sum(f.ColView(0))/4000, 0.03)
	require.InDelta(t, 1./3, cov.At(0, 0), 0.02)
	require.InDelta(t, (2+math.Exp(-2*0.7))/9, cov.At(0, 1), 0.02)
}
