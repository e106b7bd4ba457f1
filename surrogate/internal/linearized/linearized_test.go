package linearized

import (
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/gradcheck"
	"github.com/functionspace/bo/internal/nn"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate/internal/domain"
)

// A path agrees with the network at small steps of the weights, for several chunks.
func TestPath(t *testing.T) {
	rng := random.New(1, "tangent", 0)
	n := Network{Net: &nn.Network{In: 2, Hidden: []int{5}}, Inputs: domain.Affine{Shift: []float64{0.5, 1}, Scale: []float64{2, 3}}, Shift: 0.7}
	n.W = n.Net.Init(rng)
	e := make([]float64, len(n.W))
	for i := range e {
		e[i] = 1e-5 * rng.NormFloat64()
	}
	x := space.Uniform(chunk+3, 2, rng)
	value, grad, want := make([]float64, chunk+3), mat.NewDense(chunk+3, 2, nil), make([]float64, chunk+3)
	n.Path(e).Eval(value, grad, x)
	moved := n
	moved.W = make([]float64, len(e))
	for i, v := range e {
		moved.W[i] = n.W[i] + v
		e[i] *= 1e5
	}
	moved.Net.Forward(want, moved.W, n.Inputs.Apply(x))
	for i, v := range want {
		require.InDelta(t, v+n.Shift, value[i], 1e-8)
	}

	p, g := n.Path(e), make([]float64, 2)
	f := func(x []float64) float64 {
		value := make([]float64, 1)
		p.Eval(value, nil, mat.NewDense(1, 2, x))
		return value[0]
	}
	at := []float64{0.3, 0.8}
	p.Eval(value[:1], mat.NewDense(1, 2, g), mat.NewDense(1, 2, at))
	require.NoError(t, gradcheck.Gradient(f, at, g, 1e-8))
}
