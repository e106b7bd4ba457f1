package fsplaplace

import (
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/subset"
	"github.com/functionspace/bo/surrogate/internal/target"
)

// holdoutPoints is the number of held-out points for the choice of the ridge and of the mean.
const holdoutPoints = 128

// contextPoints returns n context points, or the points of the source, and holdoutPoints uniform
// points of the box. With the ridge factor the context points of the box are denser near the
// faces, where a network extrapolates and acquisition functions are often largest. The published
// points are a Latin hypercube.
func (p *problem) contextPoints(n int, rng *rand.Rand) (context, holdout *mat.Dense) {
	design := p.box.Halton
	switch {
	case p.Factor == "ridge":
		design = p.box.Chebyshev
	case p.published():
		design = p.box.LatinHypercube
	}
	return p.source.Points(p.box, n, rng, design), p.box.Halton(holdoutPoints, rng)
}

// sourceErr returns the error of the source of context points.
func (p *problem) sourceErr() error {
	if err := p.source.Err(); err != nil {
		return fmt.Errorf("fsp-laplace: %w", err)
	}
	return nil
}

// withInputs returns the context points followed by the distinct training inputs. Beyond
// target.MaxExact inputs it adds inducingRows of them, chosen at random.
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
