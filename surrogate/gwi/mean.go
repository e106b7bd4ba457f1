package gwi

import (
	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/nn"
	"github.com/functionspace/bo/surrogate/internal/domain"
)

// mean is the mean m_Q as a function of its parameters.
type mean interface {
	// eval returns m_Q at the rows of p.
	eval(params []float64, p *points) []float64
	// vjp adds Σ_i bar_i ∂m_Q(x_i)/∂params, at the arguments of the last eval, to grad.
	vjp(grad, bar []float64, p *points)
}

// sparseMean is the mean μ + φ(x)ᵀa.
type sparseMean struct{ mu float64 }

func (s sparseMean) eval(a []float64, p *points) []float64 {
	f := make([]float64, len(p.rest))
	linalg.Fill(f, s.mu)
	linalg.MulVec(f, 1, linalg.T, p.phi, a, 1)
	return f
}

func (s sparseMean) vjp(grad, bar []float64, p *points) {
	linalg.MulVec(grad, 1, linalg.N, p.phi, bar, 1)
}

// networkMean is a network. Its output bias includes μ.
type networkMean struct {
	net    *nn.Network
	inputs domain.Affine
	tape   nn.Tape
}

func (n *networkMean) eval(w []float64, p *points) []float64 {
	n.tape.Record(n.net, w, n.inputs.Apply(p.x))
	return n.tape.Value()
}

func (n *networkMean) vjp(grad, bar []float64, _ *points) { n.tape.VJP(grad, bar) }
