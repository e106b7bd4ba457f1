package prior

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// A product with a number that is not positive and finite is no kernel.
func TestScaleByPanics(t *testing.T) {
	for _, v := range []float64{-1, 0, math.NaN(), math.Inf(1)} {
		require.Panics(t, func() { ScaleBy(v, RBF(1)) }, v)
	}
	require.NotPanics(t, func() { ScaleBy(1e-300, RBF(1)) })
}
