package figures

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDistinct(t *testing.T) {
	require.Equal(t, []string{"0.28", "0.32"}, Distinct(4, 0.28, 0.32))
	require.Equal(t, []string{"1", "1"}, Distinct(4, 1, 1), "equal numbers have equal texts")
	require.Equal(t, []string{"1000000000000001", "1000000000000000"}, Distinct(4, 1e15+1, 1e15))
	require.Equal(t, []string{"3e-300", "3.00001e-300"}, Distinct(4, 3e-300, 3.00001e-300))
	require.Equal(t, []string{"1e+15", "1e+15"}, Distinct(4, 1e15, 1e15))
	require.Equal(t, []string{"NaN", "NaN", "+Inf"}, Distinct(4, math.NaN(), math.NaN(), math.Inf(1)))
	a, b := 0.1, math.Nextafter(0.1, 1)
	both := Distinct(4, a, b)
	require.NotEqual(t, both[0], both[1])
	require.Empty(t, Distinct(4))
}

func TestMean(t *testing.T) {
	require.Equal(t, "0.304111 ± 0.0084", Mean(6, 0.3041112, 0.00841))
	require.Equal(t, "1000000000000003 ± 4", Mean(6, 1e15+3, 4))
	require.Equal(t, "2 ± 0", Mean(6, 2, 0))
}

func TestResolve(t *testing.T) {
	require.Equal(t, 6, Resolve(6, 0, 1))
	require.Equal(t, 8, Resolve(6, 900, 900.9))
	require.Equal(t, 17, Resolve(6, 1e15, 1e15+4))
	require.Equal(t, 6, Resolve(6, 1e15, 1e15), "equal numbers")
	require.Equal(t, 6, Resolve(6, math.Inf(1), math.Inf(-1)), "no numbers")
	require.Equal(t, 6, Resolve(6, -math.MaxFloat64, math.MaxFloat64))
	require.Equal(t, 6, Resolve(6, 1e-300, 2e-300))
}
