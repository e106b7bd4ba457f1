package summary

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/surrogate"
)

func TestStates(t *testing.T) {
	s := EncodeState([]float64{7, 8}, []float64{1, 2, 3})
	require.Equal(t, surrogate.State{2, 7, 8, 1, 2, 3}, s)
	ofPrior, rest := DecodeState(s, 3)
	require.Equal(t, []float64{7, 8}, []float64(ofPrior))
	require.Equal(t, []float64{1, 2, 3}, []float64(rest))
	for _, bad := range []surrogate.State{nil, {}, {-1, 2}, {1e300}, {math.NaN(), 1}, s[:5]} {
		ofPrior, rest = DecodeState(bad, 3)
		require.Nil(t, ofPrior)
		require.Nil(t, rest)
	}
}
