package surrogate

import "gonum.org/v1/gonum/mat"

// Jointer has the joint moments of a Posterior.
type Jointer interface {
	Joint(mean []float64, cov *mat.SymDense, x *mat.Dense)
	JointVJP(dx *mat.Dense, mbar []float64, cbar *mat.SymDense, x *mat.Dense)
}

// Anchorer is a Posterior that can keep its computations at fixed points, for joint moments of
// these points and many others.
type Anchorer interface {
	Posterior
	// Anchor returns Joint and JointVJP for points of which the first are the rows of z. The
	// moments equal the posterior's. The gradient at the rows of z is not computed.
	Anchor(z *mat.Dense) Jointer
}

// Anchor returns p.Anchor(z), or p if it is no Anchorer.
func Anchor(p Posterior, z *mat.Dense) Jointer {
	if a, ok := p.(Anchorer); ok {
		return a.Anchor(z)
	}
	return p
}
