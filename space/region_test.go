package space

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// A walk goes on if the encoding of a point that violates a constraint decodes to a point that does not, by rounding.
func TestStepAtRounding(t *testing.T) {
	const low = 1e5
	border := math.Nextafter(low, 2*low)
	high := low
	for range 64 {
		high = math.Nextafter(high, 2*low)
	}
	s, err := New(LogFloat("x", low, high))
	require.NoError(t, err)
	s, err = s.Constrain(Condition{
		Text: "x is small", On: []string{"x"},
		Holds:  func(p Point) bool { return p.Float("x") <= border },
		Excess: func(p Point) float64 { return max(0, p.Float("x")-border) },
	})
	require.NoError(t, err)
	rng := rand.New(rand.NewPCG(1, 1))
	p := Point{space: s, codes: []float64{low}}
	for range 10_000 {
		p = s.step(p, rng)
		require.True(t, s.feasible(p))
	}
}
