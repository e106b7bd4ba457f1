package variational

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/internal/gradcheck"
)

// Coordinates represent q, and the gradient with respect to them follows from the gradient with
// respect to q.
func TestCoordinates(t *testing.T) {
	q := NewLowRank(3, 1)
	for i := range q.Vector {
		q.Vector[i] = math.Sin(float64(3*i)) - 1
	}
	q.LogS[0] = -12
	weight := func(i int) float64 { return 1 + 0.3*float64(i) }
	for name, c := range map[string]*Coordinates{"softplus": NewSoftplus(q), "log variance": NewLogVariance(q)} {
		got := q.Like()
		c.Push(got)
		require.InDeltaSlice(t, q.Vector, got.Vector, 1e-12, name)
		value := func(x []float64) (sum float64) {
			at := *c
			at.At = q.With(x)
			at.Push(got)
			for i, v := range got.Vector {
				sum += weight(i) * v * v
			}
			return sum
		}
		grad := q.Like()
		for i, v := range q.Vector {
			grad.Vector[i] = 2 * weight(i) * v
		}
		c.Pull(grad)
		require.NoError(t, gradcheck.Gradient(value, append([]float64(nil), c.At.Vector...), c.Bar.Vector, 1e-7), name)
	}
	c := NewSoftplus(q)
	for i, x := range c.At.LogS {
		require.InEpsilon(t, math.Exp(q.LogS[i]), math.Log1p(math.Exp(x)), 1e-12)
	}
}
