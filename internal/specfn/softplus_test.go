package specfn

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSoftplus(t *testing.T) {
	for _, x := range []float64{-700, -30, -1, 0, 1e-3, 2, 40, 800} {
		value, deriv := Softplus(x)
		const h = 1e-5
		above, _ := Softplus(x + h)
		below, _ := Softplus(x - h)
		require.InDelta(t, (above-below)/(2*h), deriv, 1e-8)
		require.InDelta(t, x, SoftplusInverse(value), 1e-12*(1+math.Abs(x)))
	}
}
