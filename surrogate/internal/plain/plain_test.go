package plain_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/surrogate/internal/plain"
)

func TestRowIsTheGradient(t *testing.T) {
	n := plain.Network{2, 3, 4}
	require.Equal(t, 3*3+4*4+5, n.Size())
	w, x := make([]float64, n.Size()), []float64{0.3, -0.7}
	random.Normal(w, random.New(1, "weights", 0))
	f, row := n.Row(w, x)
	require.Equal(t, n.Value(w, x), f)
	for i := range w {
		const h = 1e-5
		w[i] += h
		above := n.Value(w, x)
		w[i] -= 2 * h
		require.InDelta(t, (above-n.Value(w, x))/(2*h), row[i], 1e-8)
		w[i] += h
	}
}

func TestSoftplus(t *testing.T) {
	require.InDelta(t, math.Ln2, plain.Softplus(0), 1e-15)
	require.InDelta(t, 0.3, plain.Softplus(plain.Inverse(0.3)), 1e-15)
	require.Equal(t, 0.5, plain.Logistic(0))
}

func TestZScore(t *testing.T) {
	rows, scale := plain.ZScore([][]float64{{1, 0}, {2, 0}, {3, 6}})
	require.InDeltaSlice(t, []float64{-1, -2 / math.Sqrt(12)}, rows[0], 1e-12)
	require.InDeltaSlice(t, []float64{2, 1 / math.Sqrt(12)}, scale([]float64{4, 3}), 1e-12)
}
