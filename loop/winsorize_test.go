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
		{[]float64{0, 0, 0, 100, 0, 0, 0, 0}, nil},                     // a plateau and a worse region
		{[]float64{1e12, 1e12 + 3, 1e12 + 1, 1e12 + 2, 1e12 + 1}, nil}, // differences beyond rounding errors
		{[]float64{3, 3 + 4e-16, 3, 100, 3 - 4e-16, 3, 3, 3}, nil},
		{[]float64{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 1e6}, []float64{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 6.5}},
	} {
		if c.want == nil {
			c.want = append([]float64(nil), c.in...)
		}
		got := append([]float64(nil), c.in...)
		winsorize(got, nil)
		require.Equal(t, c.want, got)
	}
	z := []float64{4, 1, 100, 2, 3, 5, 6, 7, 8}
	winsorize(z, nil)
	require.Less(t, z[2], 20.0)
	require.Greater(t, z[2], 8.0)
	require.False(t, math.IsNaN(z[2]))
	require.Equal(t, []float64{4, 1}, z[:2])
}

// Feasible values above the fence of all values keep their differences.
func TestWinsorizeKeepsFeasibleValues(t *testing.T) {
	z := []float64{1.2, 1.3, 1.5, 90}
	for i := range 16 {
		z = append(z, 0.1+0.01*float64(i))
	}
	got := append([]float64(nil), z...)
	winsorize(got, z[:3])
	require.Equal(t, z[:3], got[:3])
	require.Less(t, got[3], 3.0)
	require.Equal(t, z[4:], got[4:])
	winsorize(z, nil)
	require.Equal(t, z[0], z[2])
}
