package loop

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWinsorize(t *testing.T) {
	for _, c := range []struct{ in, want []float64 }{
		{[]float64{3}, []float64{3}},
		{[]float64{1, 1e6}, nil},
		{[]float64{5, 5, 5, 5}, []float64{5, 5, 5, 5}},
		{[]float64{-1e9, 1, 2, 3, 4}, nil}, // good values are unchanged at any distance
		{[]float64{-1e300, -1e300, 1e300, 1e300}, nil},
		{[]float64{0, 0, 0, 100, 0, 0, 0, 0}, nil}, // a plateau and a worse region
		{[]float64{3, 3 + 4e-16, 3, 100, 3 - 4e-16, 3, 3, 3}, nil},
		{[]float64{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 1e6}, []float64{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 6.5}},
	} {
		if c.want == nil {
			c.want = append([]float64(nil), c.in...)
		}
		got := append([]float64(nil), c.in...)
		winsorize(got)
		require.Equal(t, c.want, got)
	}
	z := []float64{4, 1, 100, 2, 3, 5, 6, 7, 8}
	winsorize(z)
	require.Less(t, z[2], 20.0)
	require.Greater(t, z[2], 8.0)
	require.False(t, math.IsNaN(z[2]))
	require.Equal(t, []float64{4, 1}, z[:2])
}
