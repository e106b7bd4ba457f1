package shape

import (
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
)

func TestPanicsSayGotAndWant(t *testing.T) {
	x := mat.NewDense(2, 3, nil)
	require.PanicsWithValue(t, "mean has length 2, want 3", func() { Len("mean", 2, 3) })
	require.PanicsWithValue(t, "cov is 2×3, want 2×2", func() { Dims("cov", x, 2, 2) })
	require.PanicsWithValue(t, "points of 3 inputs, want 4", func() { Points(x, 4) })
	require.Equal(t, 2, Points(x, 3))
	require.NotPanics(t, func() { Len("mean", 3, 3); Dims("x", x, 2, 3) })
}

func TestChunks(t *testing.T) {
	x := mat.NewDense(5, 1, []float64{0, 1, 2, 3, 4})
	var seen []float64
	Chunks(x, 2, func(i, k int, part *mat.Dense) {
		require.Equal(t, float64(i), part.At(0, 0))
		require.LessOrEqual(t, k-i, 2)
		seen = append(seen, mat.Col(nil, 0, part)...)
	})
	require.Equal(t, []float64{0, 1, 2, 3, 4}, seen)
	Chunks(new(mat.Dense), 2, func(i, k int, x *mat.Dense) { t.Error("no rows, no chunk") })
}
