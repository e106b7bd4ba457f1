package fsplaplace

import (
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/subset"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/domain"
	"github.com/functionspace/bo/surrogate/internal/target"
)

// holdoutPoints is the number of points at which the ridge and the mean are chosen.
const holdoutPoints = 128

// contextPoints returns n points for the context, and holdoutPoints uniform ones of
// the same box. With the ridge factor the context is denser towards the faces,
// where a network extrapolates and where acquisitions look.
func (p *problem) contextPoints(n int, rng *rand.Rand) (context, holdout *mat.Dense) {
	if p.Factor == "ridge" {
		return p.box.Chebyshev(n, rng), p.box.Halton(holdoutPoints, rng)
	}
	return p.box.Halton(n, rng), p.box.Halton(holdoutPoints, rng)
}

// zscore gives each column of x mean 0 and standard deviation 1.
func zscore(x *mat.Dense) domain.Affine {
	n, d := x.Dims()
	a := domain.Affine{Shift: make([]float64, d), Scale: make([]float64, d)}
	for j := range d {
		s := surrogate.Standardize(mat.Col(make([]float64, n), j, x))
		a.Shift[j], a.Scale[j] = s.Mean, 1/s.SD
	}
	return a
}

// withInputs returns the context points followed by the distinct training
// inputs, or by a random inducingRows of them where there are more than
// target.MaxExact.
func (p *problem) withInputs(context *mat.Dense, rng *rand.Rand) *mat.Dense {
	n, _ := p.data.Dims()
	index := subset.All(n)
	if n > target.MaxExact {
		index = rng.Perm(n)[:inducingRows]
	}
	out := new(mat.Dense)
	out.Stack(context, subset.Take(p.data.X, subset.Distinct(p.data.X, index)))
	return out
}
