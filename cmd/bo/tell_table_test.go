package main

import (
	"math"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// Spreadsheets write numbers with six digits.
func TestSameSetting(t *testing.T) {
	for _, x := range []float64{3.147013485089156e-06, 1.000005e-4, -1.031391405977646e-05, 0, 123456.5} {
		rounded, err := strconv.ParseFloat(strconv.FormatFloat(x, 'e', 5, 64), 64)
		require.NoError(t, err)
		require.True(t, sameSetting(x, rounded), x)
		require.False(t, sameSetting(x, 1.0001*rounded+math.Copysign(1e-9, x)), x)
	}
	require.True(t, sameSetting("a", "a"))
	require.False(t, sameSetting("1", 1.0))
}
