package gradcheck

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// f has values and derivatives of different magnitudes.
func f(x []float64) float64 {
	return math.Sin(3*x[0])*math.Exp(-x[1]) + x[0]*x[1]*x[2]
}

func gradient(x []float64) []float64 {
	e := math.Exp(-x[1])
	return []float64{3*math.Cos(3*x[0])*e + x[1]*x[2], -math.Sin(3*x[0])*e + x[0]*x[2], x[0] * x[1]}
}

func TestGradientAccepts(t *testing.T) {
	for _, x := range [][]float64{{0.3, -0.2, 1}, {0, 0, 0}, {5, 2, -40}} {
		before := append([]float64{}, x...)
		require.NoError(t, Gradient(f, x, gradient(x), 1e-9))
		require.Equal(t, before, x, "the point is restored")
	}
	require.NoError(t, Gradient(f, nil, nil, 0))
}

// The documented error of the differences.
func TestDifferencesAreAccurate(t *testing.T) {
	x := []float64{0.3, -0.2, 1}
	for i, want := range gradient(x) {
		assert.InDelta(t, want, derivative(f, x, i), 1e-10)
	}
}

func TestGradientRejects(t *testing.T) {
	x := []float64{0.3, -0.2, 1}
	for i := range x {
		for name, harm := range map[string]func(g float64) float64{
			"sign":     func(g float64) float64 { return -g },
			"factor":   func(g float64) float64 { return 2 * g },
			"offset":   func(g float64) float64 { return g + 1e-5 },
			"NaN":      func(float64) float64 { return math.NaN() },
			"infinite": func(float64) float64 { return math.Inf(1) },
		} {
			g := gradient(x)
			g[i] = harm(g[i])
			assert.ErrorContains(t, Gradient(f, x, g, 1e-6), fmt.Sprintf("x[%d]", i), name)
		}
	}
	assert.ErrorContains(t, Gradient(f, x, gradient(x)[:2], 1e-6), "length 2, want 3")
	nan := func([]float64) float64 { return math.NaN() }
	assert.Error(t, Gradient(nan, x, []float64{0, 0, 0}, 1e-6), "a value that is not a number")
	wall := func(x []float64) float64 { return math.Inf(int(math.Copysign(1, x[0]-0.3))) }
	assert.Error(t, Gradient(wall, x, []float64{0, 0, 0}, 1e-6), "an infinite difference")
}

// A tolerance is relative for large gradients.
func TestToleranceScales(t *testing.T) {
	big := func(x []float64) float64 { return 1e6 * x[0] }
	require.NoError(t, Gradient(big, []float64{1}, []float64{1e6 + 0.5}, 1e-6))
	require.Error(t, Gradient(big, []float64{1}, []float64{1e6 + 2}, 1e-6))
}

func ExampleGradient() {
	square := func(x []float64) float64 { return x[0] * x[0] }
	fmt.Println(Gradient(square, []float64{3}, []float64{6}, 1e-6))
	fmt.Println(Gradient(square, []float64{3}, []float64{5}, 1e-6) != nil)
	// Output:
	// <nil>
	// true
}
