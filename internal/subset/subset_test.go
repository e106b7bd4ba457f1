package subset

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/random"
)

func TestRowsStayWithTheirTargets(t *testing.T) {
	x, y := mat.NewDense(5, 2, []float64{0, 0, 1, 10, 2, 20, 3, 30, 4, 40}), []int{0, 1, 2, 3, 4}
	few, labels := TakeBoth(x, y, []int{3, 1, 3})
	require.Equal(t, []int{3, 1, 3}, labels)
	require.Equal(t, []float64{3, 30, 1, 10, 3, 30}, few.RawMatrix().Data)

	same, all := AtMost(x, y, 5, random.New(1, "rows", 0))
	require.Same(t, x, same)
	require.Equal(t, y, all)

	few, labels = AtMost(x, y, 4, random.New(1, "rows", 0))
	require.Len(t, labels, 4)
	for i, r := range labels {
		require.Equal(t, x.RawRowView(r), few.RawRowView(i))
	}
	slices.Sort(labels)
	require.Len(t, slices.Compact(labels), 4)
}

func TestDistinct(t *testing.T) {
	x := mat.NewDense(5, 2, []float64{0, 1, 2, 3, math.Copysign(0, -1), 1, 2, 3.5, 2, 3})
	require.Equal(t, []int{0, 1, 3}, Distinct(x, All(5)))
	require.Equal(t, []int{4, 2}, Distinct(x, []int{4, 2, 1, 0}))
}

func TestDrawIsWithoutReplacement(t *testing.T) {
	order, rng := All(6), random.New(1, "draw", 0)
	count := make([]int, 6)
	for range 600 {
		first := slices.Clone(Draw(order, 4, rng))
		slices.Sort(first)
		require.Len(t, slices.Compact(first), 4)
		for _, i := range first {
			count[i]++
		}
	}
	for _, c := range count {
		require.InDelta(t, 400, c, 60) // five standard deviations
	}
	slices.Sort(order)
	require.Equal(t, All(6), order)
}
