package loop

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

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
	require.InDelta(t, math.Sqrt2, got[5].Distance, 1e-12)
	require.Equal(t, 1, got[5].Index([]float64{0.2, 0.9, 0.3}))
	got[1].Unit, got[5].Distance, got[5].Index = 0, 0, nil
	require.Equal(t, []prior.Input{
		{Name: "hour", First: 0, Columns: 1, Unit: 48},
		{Name: "rate", First: 1, Columns: 1, Aperiodic: "logarithmic"},
		{Name: "data", First: 2, Columns: 0, Unit: 1},
		{Name: "width", First: 2, Columns: 1, Unit: 3},
		{Name: "amp", First: 3, Columns: 1, Unit: 1, Aperiodic: "bool"},
		{Name: "opt", First: 4, Columns: 3, Unit: 1, Values: 3, Aperiodic: "categorical"},
	}, got)
}
