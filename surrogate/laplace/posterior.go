package laplace

import (
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/linearized"
)

// posterior has the mean shift + f(x,w) and the covariance J(x)ΣJ(x')ᵀ. A prediction
// costs O(nΣ_l h_l + n²) a point by the dual, O(p²) with the full curvature as a
// matrix, O(pΣ_l h_l) and O(p) with the approximations.
type posterior struct {
	linearized.Posterior
	evidence float64
}

var _ surrogate.Evidence = (*posterior)(nil)

// LogMarginalLikelihood is Laplace's approximation of it.
func (p *posterior) LogMarginalLikelihood() float64 { return p.evidence }
