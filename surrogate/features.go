package surrogate

import (
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/shape"
)

// FeaturePosterior is a Posterior that is a linear model of r features φ,
//
//	f(x) = offset(x) + φ(x)·ω,  ω ~ N(m, Σ),
//
// so that mean(x) = offset(x) + φ(x)·m and cov(x,x') = φ(x)Σφ(x')ᵀ. All values are in the units of
// the posterior. In laplace and gfsvi φ is the Jacobian of the network, m is 0 and Σ is the covariance
// of the weights. In fsp-laplace φ are the features of the factor of the prior: without data
// ω ~ N(0, I), and φ(x)φ(x')ᵀ approximates the prior covariance. In rff and vip φ are the basis
// functions.
type FeaturePosterior interface {
	Posterior

	// Features returns offset(x) and φ(x) at the m rows of x, of length m and m×r, in new memory.
	Features(x *mat.Dense) (offset []float64, phi *mat.Dense)

	// Coefficients returns m and Σ, of length r and r×r, in new memory.
	Coefficients() (mean []float64, cov *mat.SymDense)
}

// WeightPosterior is a Posterior of a network f(x,w) with a distribution of its p weights w. In a fully
// connected network the weights are, layer by layer, the matrix (a row for each input) and then the biases. In
// other networks they have the order of the architecture.
//
// In laplace, gfsvi and fsp-laplace the distribution is normal and belongs to the linearised network
// f(x,w*) + J(x)(w - w*). The network itself at a drawn w can be far from it, also at the
// observations. In laplace and gfsvi w* is the mean, and Features returns f(x,w*) and J(x). In
// fsp-laplace with the ridge factor the posterior also multiplies J(x)(w - w*) by a factor of x
// that restores the prior variance. If there the mean of the features replaced the mean of the
// network, the mean of the weights is the trained weights.
//
// In mfvi, tfsvi, fvi, hmc, dropout, map and ensemble the posterior is a set of networks. Moments and
// draws are moments and draws of the set, and a path is the network of a draw.
type WeightPosterior interface {
	Posterior

	// WeightMoments returns the mean and the covariance of w, of length p and p×p, in new memory. It
	// needs 8p² bytes and costs O(p²r) for a covariance of rank r.
	WeightMoments() (mean []float64, cov *mat.SymDense)

	// SampleWeights draws n vectors w, n×p.
	SampleWeights(n int, rng *rand.Rand) *mat.Dense

	// WithWeights returns the network f(·,w) in the units of the posterior. It does not copy w. The
	// Path panics if w does not have p weights.
	WithWeights(w []float64) Path
}

// Unscaler is a Posterior of Scaled, which transforms a posterior in scaled units to the user's units.
type Unscaler interface {
	Posterior

	// Unscaled returns the posterior of g in scaled units and the two maps. The posterior in the user's
	// units is the posterior of
	//
	//	f(x) = output.Mean + output.SD·g(u) + m(x),  u_j = (x_j - inputs[j].Mean)/inputs[j].SD,
	//
	// with m the mean function of Scaled. Features, coefficients and weights belong to g.
	Unscaled() (p Posterior, inputs InputMap, output Standardization)
}

// SampleAt draws n functions from p and returns their values at the m rows of x, n×m, in the units of
// p. A row is one function. The cost is n evaluations of a Path.
func SampleAt(p Posterior, n int, x *mat.Dense, rng *rand.Rand) *mat.Dense {
	m := shape.Points(x, p.Dim())
	if n*m == 0 {
		return new(mat.Dense)
	}
	values := mat.NewDense(n, m, nil)
	for i, path := range p.Paths(n, rng) {
		path.Eval(values.RawRowView(i), nil, x)
	}
	return values
}
