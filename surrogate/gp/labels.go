package gp

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/shape"
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
	l := &latents{Prior: p, x: mat.DenseCopyOf(d.X)}
	var warnings []string
	var err error
	if l.mode, warnings, err = p.Condition(ctx, l.x, d.Y); err != nil {
		return classify.Posterior{}, err
	}
	return classify.Posterior{Process: l, Labels: d.Classes, Numbers: p.Hypers(), Notes: warnings, Evidence: &l.mode.Evidence}, nil
}

// latents holds the posterior of the latent processes: with q = k(X,x),
//
//	mean_c = m_c + qᵀa_c,  cov_cc' = k(x,x) δ_cc' - qᵀR_cc'q
type latents struct {
	classify.Prior
	x    *mat.Dense
	mode *classify.Mode
}

func (p *latents) Dim() int { return p.Kernel.Dim() }

// Moments implements classify.Process in O(Ln²) per point, with L latent processes.
func (p *latents) Moments(mean, cov, x *mat.Dense) {
	l := len(p.Means)
	n, _ := p.x.Dims()
	m := shape.Points(x, p.Dim())
	q := make([]*mat.Dense, l)
	q[0] = mat.NewDense(n, m, nil)
	p.Kernel.Cross(q[0], p.x, x)
	for c := 1; c < l; c++ {
		q[c] = mat.DenseCopyOf(q[0])
	}
	diag := make([]float64, m)
	p.Kernel.Diag(diag, x)
	column := make([]float64, m)
	for c := range l {
		linalg.MulVec(column, 1, linalg.T, q[c], p.mode.A.RawRowView(c), 0)
		for i, v := range column {
			mean.Set(i, c, p.Means[c]+v)
			cov.Set(i, c*l+c, diag[i])
		}
	}
	p.mode.Factor.Reduce(cov, q)
}

// MomentsGrad implements classify.Process in O(n²) per point.
func (p *latents) MomentsGrad(mean, variance []float64, dmean, dvariance, x *mat.Dense) {
	n, _ := p.x.Dims()
	m, _ := x.Dims()
	q, kbar := mat.NewDense(n, m, nil), mat.NewDense(m, n, nil)
	p.Kernel.Cross(q, p.x, x)
	a := p.mode.A.RawRowView(0)
	linalg.MulVec(mean, 1, linalg.T, q, a, 0)
	for i := range mean {
		mean[i] += p.Means[0]
		copy(kbar.RawRowView(i), a)
	}
	dmean.Zero()
	p.Kernel.CrossVJP(dmean, x, p.x, kbar)

	p.Kernel.Diag(variance, x)
	kbar = p.mode.Factor.ReduceGrad(variance, q)
	ones := slices.Repeat([]float64{1}, m)
	dvariance.Zero()
	p.Kernel.DiagVJP(dvariance, x, ones)
	p.Kernel.CrossVJP(dvariance, x, p.x, kbar)
}
