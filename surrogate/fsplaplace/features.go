package fsplaplace

import (
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/internal/shape"
	"github.com/functionspace/bo/internal/workspace"
	"github.com/functionspace/bo/surrogate"
)

var (
	_ surrogate.FeaturePosterior = (*posterior)(nil)
	_ surrogate.WeightPosterior  = (*posterior)(nil)
)

// Features implements surrogate.FeaturePosterior at the cost of Predict.
func (p *posterior) Features(x *mat.Dense) (offset []float64, phi *mat.Dense) {
	m, r := shape.Points(x, p.Dim()), p.factor.rank()
	offset, phi = make([]float64, m), mat.NewDense(m, r, nil)
	p.chunks(x, chunk, func(mem *workspace.Memory, i, k int, at features) {
		p.networkMean(offset[i:k], at.t)
		mem.Rows(phi, i, k).Copy(at.phi)
	})
	return offset, phi
}

// Coefficients implements surrogate.FeaturePosterior in O(r³ + nr²).
func (p *posterior) Coefficients() (mean []float64, cov *mat.SymDense) {
	mem := workspace.Borrow()
	defer mem.Return()
	r := p.factor.rank()
	mean, cov = make([]float64, r), mat.NewSymDense(r, nil)
	copy(mean, p.m)
	id := mem.Dense(r, r)
	linalg.SetIdentity(id)
	p.update.covariance(cov, id, p.update.root(mem, id))
	return mean, cov
}

// weightMean returns the weights at which the linearised network has the posterior mean.
func (p *posterior) weightMean() []float64 {
	mean := slices.Clone(p.W)
	if p.priorMean {
		return mean
	}
	if p.shift != nil {
		linalg.Axpy(1, p.shift, mean)
	}
	if p.m != nil {
		linalg.Axpy(1, p.factor.weights(p.m), mean)
	}
	return mean
}

// WeightMoments implements surrogate.WeightPosterior with the covariance S A⁻¹ Sᵀ, in O(p²r).
func (p *posterior) WeightMoments() (mean []float64, cov *mat.SymDense) {
	_, a := p.Coefficients()
	r, size := a.SymmetricDim(), len(p.W)
	cov = mat.NewSymDense(size, nil)
	l := linalg.PivotedCholesky(a, 1e-14, r)
	_, rank := l.Dims()
	root := mat.NewDense(rank, size, nil) // (S L)ᵀ for A⁻¹ = L Lᵀ
	column := make([]float64, r)
	for k := range rank {
		mat.Col(column, k, l)
		root.SetRow(k, p.factor.weights(column))
	}
	linalg.Syrk(cov, 1, linalg.T, root, 0)
	return p.weightMean(), cov
}

// SampleWeights implements surrogate.WeightPosterior. A draw costs O(p|C|) or O(pr), in addition to
// the draw of ω.
func (p *posterior) SampleWeights(n int, rng *rand.Rand) *mat.Dense {
	at, omega := p.Network, make([]float64, p.factor.rank())
	at.W = p.weightMean()
	return at.Sample(n, func() []float64 {
		random.Normal(omega, rng)
		p.update.draw(omega, rng)
		return p.factor.weights(omega)
	})
}
