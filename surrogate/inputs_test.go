package surrogate_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/surrogate"
)

// The second column does not vary.
func TestInputMap(t *testing.T) {
	x := mat.NewDense(3, 2, []float64{2, 7, 4, 7, 6, 7})
	for scaling, want := range map[surrogate.Scaling][]float64{
		surrogate.Unit:   {0.25, 0, 0.5, 0, 0.75, 0},
		"":               {0.25, 0, 0.5, 0, 0.75, 0},
		surrogate.ZScore: {-1, 0, 0, 0, 1, 0},
		surrogate.Raw:    {2, 7, 4, 7, 6, 7},
	} {
		m, err := surrogate.NewInputMap(scaling, x, []float64{0, 7}, []float64{8, 7})
		require.NoError(t, err)
		require.Equal(t, want, m.Apply(x).RawMatrix().Data, scaling)
		require.Panics(t, func() { m.Apply(mat.NewDense(1, 1, nil)) })
	}
	_, err := surrogate.NewInputMap("log", x, []float64{0, 7}, []float64{8, 7})
	require.EqualError(t, err, `surrogate: input scaling "log", want raw, unit or zscore`)
	_, err = surrogate.NewInputMap(surrogate.Unit, x, []float64{9, 7}, []float64{8, 7})
	require.EqualError(t, err, "surrogate: input 1 cannot be scaled, its range is -1")
}
