package laplace

import (
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/linearized"
)

// posterior has the mean shift + f(x,w) and the covariance J(x)ΣJ(x')ᵀ. The cost per point
// is O(nΣ_l h_l + n²) in the dual form, O(p²) with the full curvature as a matrix, O(pΣ_l h_l)
// with kron and O(p) with diagonal.
type posterior struct {
	linearized.Posterior
	evidence float64
}

var _ surrogate.Evidence = (*posterior)(nil)

// LogMarginalLikelihood returns Laplace's approximation of the log marginal likelihood.
func (p *posterior) LogMarginalLikelihood() float64 { return p.evidence }
