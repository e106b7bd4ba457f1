package optimize

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The first step has the length of the rate in every coordinate, for any gradient.
// Later steps converge to the minimum of a quadratic.
func TestAdam(t *testing.T) {
	var a Adam
	x := []float64{3, -200}
	grad := func() []float64 { return []float64{x[0] - 1, 1e-3 * x[1]} }
	a.Step(0.1, x, grad())
	require.InDeltaSlice(t, []float64{2.9, -199.9}, x, 1e-6)

	x = []float64{3, -2}
	a = Adam{}
	for range 2000 {
		a.Step(0.05, x, grad())
	}
	require.InDeltaSlice(t, []float64{1, 0}, x, 1e-3)
	require.Panics(t, func() { a.Step(0.1, x, x[:1]) })
}
