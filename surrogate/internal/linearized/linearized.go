// Package linearized implements a network linearised at its weights w,
//
//	f(x,w) + J(x)e,  J = ∂f/∂w,
//
// as a function of inputs in the units of the dataset.
package linearized

import (
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/nn"
	"github.com/functionspace/bo/internal/shape"
	"github.com/functionspace/bo/internal/workspace"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/domain"
	"github.com/functionspace/bo/surrogate/internal/mixture"
)

// chunk is the number of points of one pass through the network.
const chunk = 256

// Network is Shift + f(Inputs(x), W). It is immutable.
type Network struct {
	Net    *nn.Network
	Inputs domain.Affine
	W      []float64
	Shift  float64
}

func (n Network) Dim() int { return n.Net.In }

// Record returns the network at the rows of x on a borrowed tape.
func (n Network) Record(x *mat.Dense) *nn.Tape {
	mem := workspace.Borrow()
	defer mem.Return()
	u := mem.Dense(x.Dims())
	n.Inputs.ApplyTo(u, x)
	t := nn.BorrowTape()
	t.Record(n.Net, n.W, u)
	return t
}

// Path returns the linearised network with e added to the weights.
func (n Network) Path(e []float64) surrogate.Path { return path{n, e} }

// WithWeights returns the network with weights w, which replace W.
func (n Network) WithWeights(w []float64) surrogate.Path {
	return mixture.Path(n.Net, n.Inputs, n.Shift, w)
}

// Sample returns n vectors W + e, a row for each, for the draws e of a function.
func (n Network) Sample(count int, draw func() []float64) *mat.Dense {
	if count == 0 {
		return new(mat.Dense)
	}
	out := mat.NewDense(count, len(n.W), nil)
	for i := range count {
		row := out.RawRowView(i)
		copy(row, n.W)
		linalg.Axpy(1, draw(), row)
	}
	return out
}

type path struct {
	Network
	e []float64
}

// Eval implements surrogate.Path in O(p) per point for p weights.
func (q path) Eval(value []float64, grad, x *mat.Dense) {
	shape.Eval(value, grad, x, q.Dim())
	shape.Chunks(x, chunk, func(i, k int, x *mat.Dense) {
		t := q.Record(x)
		defer t.Return()
		t.JVP(value[i:k], q.e)
		for j, v := range t.Value() {
			value[i+j] += q.Shift + v
		}
		if grad != nil {
			mem := workspace.Borrow()
			defer mem.Return()
			dx := mem.Rows(grad, i, k)
			t.InputGrad(dx)
			t.JVPInputGrad(dx, q.e)
			q.Inputs.Pull(dx)
		}
	})
}
