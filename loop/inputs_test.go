package loop

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/space"
)

// The unit of an input is the change of the parameter over the width of its column.
func TestInputs(t *testing.T) {
	s, err := space.New(
		space.Float("hour", 0, 48), space.LogFloat("rate", 1e-3, 0.1), space.Fixed("data", "mnist"),
		space.Ordinal("width", 32, 64, 128), space.Bool("amp"), space.Categorical("opt", "a", "b", "c"),
	)
	require.NoError(t, err)
	got := Inputs(s)
	require.InDelta(t, math.Log(100), got[1].Unit, 1e-12)
	got[1].Unit = 0
	require.Equal(t, []prior.Input{
		{Name: "hour", First: 0, Columns: 1, Unit: 48},
		{Name: "rate", First: 1, Columns: 1, Aperiodic: "logarithmic"},
		{Name: "data", First: 2, Columns: 0, Unit: 1},
		{Name: "width", First: 2, Columns: 1, Unit: 3},
		{Name: "amp", First: 3, Columns: 1, Unit: 1, Aperiodic: "bool"},
		{Name: "opt", First: 4, Columns: 3, Unit: 1, Aperiodic: "categorical"},
	}, got)
}

// A categorical of many values is an input of values at equal distances.
func TestInputsWithoutOrder(t *testing.T) {
	for n, want := range map[int]int{16: 0, 17: 17, 64: 64, 200: 200} {
		sp, err := space.New(space.Bool("a"), values("v", n))
		require.NoError(t, err)
		in := Inputs(sp)[1]
		require.Equal(t, want, in.Values)
		if want == 0 {
			continue
		}
		var mean float64
		points := make([][]float64, n)
		for i := range n {
			p, err := sp.PointOf(map[string]any{"a": true, "v": fmt.Sprint("v", i)})
			require.NoError(t, err)
			points[i] = sp.Encode(p)[in.First : in.First+in.Columns]
			require.Equal(t, i, in.Index(points[i]))
			for _, q := range points[:i] {
				mean += math.Pow(floats.Distance(points[i], q, 2), 2) / float64(n*(n-1)/2)
			}
		}
		require.InEpsilon(t, in.Distance, math.Sqrt(mean), 0.02)
	}
}
