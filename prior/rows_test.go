package prior

import (
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/stream"
)

func TestSampleOfManyRows(t *testing.T) {
	x, y := mat.NewDense(maxRows+50, 1, nil), make([]float64, maxRows+50)
	for i := range y {
		x.Set(i, 0, float64(i))
		y[i] = float64(-i)
	}
	few := x.Slice(0, maxRows, 0, 1).(*mat.Dense)
	xs, ys := sample(few, y[:maxRows], nil)
	require.Equal(t, few, xs)
	require.Equal(t, y[:maxRows], ys)

	xs, ys = sample(x, y, stream.New(1, "rows", 0))
	seen := map[float64]bool{}
	for i, v := range ys {
		require.Equal(t, v, -xs.At(i, 0))
		seen[v] = true
	}
	require.Len(t, seen, maxRows)
}
