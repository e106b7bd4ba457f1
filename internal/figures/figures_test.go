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
	for _, c := range []struct {
		mean, sd float64
		text     string
	}{
		{0.3041112, 0.00841, "0.3041 ± 0.0084"},
		{2152.51, 110.3, "2150 ± 110"},
		{2152.51, 9.96, "2153 ± 10"},
		{2152.51, 99.6, "2150 ± 100"},
		{61.3, 2.06, "61.3 ± 2.1"},
		{-3.8627, 0.0995, "-3.86 ± 0.10"},
		{-0.004, 0.3, "0.00 ± 0.30"},
		{-3, 110, "0 ± 110"},
		{12345678, 1.2e6, "12300000 ± 1200000"},
		{1e15 + 3, 4, "1000000000000003.0 ± 4.0"},
		{0.39788738, 1.04e-6, "0.3978874 ± 0.0000010"},
		{0.397887357729, 1e-9, "0.3978873577 ± 1.0e-09"},
		{1.204e-9, 3.4e-10, "1.20e-09 ± 3.4e-10"},
		{1.5e300, 2.6e299, "1.50e+300 ± 2.6e+299"},
		{1e300, 1, "1.0000000000000001e+300 ± 1.0"},
		{2, 0, "2 ± 0"},
		{1234567, math.NaN(), "1.23457e+06 ± NaN"},
	} {
		require.Equal(t, c.text, Mean(c.mean, c.sd), "%v ± %v", c.mean, c.sd)
	}
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
