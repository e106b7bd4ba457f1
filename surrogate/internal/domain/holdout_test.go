package domain

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/surrogate"
)

func TestHoldOut(t *testing.T) {
	for n, want := range map[int]int{2: 1, 10: 1, 11: 2, 40: 4} {
		d := surrogate.Dataset{X: mat.NewDense(n, 1, nil), Y: make([]float64, n), NoiseFree: true}
		for i := range n {
			d.X.Set(i, 0, float64(i))
			d.Y[i] = float64(i)
		}
		rest, held := HoldOut(d, 0.1, random.New(1, "held", 0))
		require.Len(t, held.Y, want)
		all := slices.Concat(rest.Y, held.Y)
		slices.Sort(all)
		require.Equal(t, d.Y, all)
		for _, part := range []surrogate.Dataset{rest, held} {
			require.Equal(t, part.Y, mat.Col(nil, 0, part.X))
			require.Equal(t, []float64{float64(n - 1)}, part.Hi)
			require.True(t, part.NoiseFree)
		}
	}
	d := surrogate.Dataset{X: mat.NewDense(3, 1, nil), Y: make([]float64, 3)}
	_, held := HoldOut(d, math.Nextafter(1, 0), random.New(1, "held", 0))
	require.Len(t, held.Y, 2)
}
