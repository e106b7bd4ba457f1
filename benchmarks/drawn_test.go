package benchmarks

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/prior"
)

// The value is -(Σ_k v_k tanh(w_k·x + b_k) + c) with numbers drawn in the order of nn.
func TestNetworkDraw(t *testing.T) {
	const d, width = 10, 256
	o := NetworkDraw(d, 0)
	assert.Equal(t, "network10", o.Name)
	assert.InDelta(t, -12.115084, o.Minimum, 1e-6)
	verify(t, o, 10_000)

	rng, x := random.New(0, "network draw", d), []float64{0.1, 0.9, 0, 1, 0.3, 0.4, 0.5, 0.6, 0.7, 0.2}
	hidden := make([]float64, width)
	for j := range x {
		for k := range hidden {
			hidden[k] += x[j] * rng.NormFloat64()
		}
	}
	for k := range hidden {
		hidden[k] = math.Tanh(hidden[k] + rng.NormFloat64())
	}
	var want float64
	for k := range hidden {
		want -= hidden[k] * rng.NormFloat64()
	}
	want -= rng.NormFloat64()
	assert.InDelta(t, want, o.Func(x), 1e-12*width)
	assert.NotEqual(t, want, NetworkDraw(d, 1).Func(x))
}

// The search finds the minimum of smooth and piecewise smooth functions, and nearly
// the minimum of a rough one.
func TestPriorDraw(t *testing.T) {
	for expr, slack := range map[string]float64{
		"rbf(lengthscale=0.3)":     1e-10,
		"matern12(lengthscale=1)":  0.05,
		"arccos(weight=10,bias=1)": 1e-10,
	} {
		kernel, err := prior.Parse(expr, 3)
		require.NoError(t, err)
		o := PriorDraw(kernel, 0)
		x := o.Minimizers[0]
		require.Equal(t, o.Minimum, o.Func(x))
		require.Greater(t, descend(o, x), o.Minimum-slack, expr)
	}
}
