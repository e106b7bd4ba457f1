package gp

import (
	"context"
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/classify"
)

// maxLabels bounds the memory of a classifier, three n×n matrices for each latent
// function.
const maxLabels = 5000

// FitLabels fits a Gaussian-process classifier. Two classes have one latent process; more classes have one each,
// with a common kernel and separate means. Kernel and means maximise Laplace's approximation of the marginal
// likelihood (Rasmussen and Williams 2006, chapter 3) times the priors of the Spec. The posterior of the latent
// processes is the variational Gaussian approximation (Opper and Archambeau, Neural Computation 21, 2009). A Spec
// with a fixed noise variance is an error, as are more than 5000 labels. In addition to the search, the fit costs
// O(n³) for each latent process and step.
func (m Model) FitLabels(ctx context.Context, d surrogate.Labels, rng *rand.Rand) (surrogate.ClassPosterior, error) {
	if n, _ := d.Dims(); n > maxLabels {
		return nil, fmt.Errorf("gp: %d labels, at most %d: fsp-laplace takes more", n, maxLabels)
	}
	return classify.Fit(ctx, "gp", m.Spec, d, rng, func(p classify.Prior) (classify.Posterior, error) {
		return newClassPosterior(ctx, p, d)
	})
}

func newClassPosterior(ctx context.Context, p classify.Prior, d surrogate.Labels) (classify.Posterior, error) {
	x := mat.DenseCopyOf(d.X)
	given, warnings, err := p.Condition(ctx, x, d.Y)
	if err != nil {
		return classify.Posterior{}, err
	}
	return classify.Posterior{
		Process: &classify.Conditioned{Prior: p, X: x, Given: given},
		Labels:  d.Classes, Numbers: p.Hypers(), Notes: warnings, Evidence: &given.Evidence,
	}, nil
}
