package fsplaplace

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/fspace"
	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/optimize"
	"github.com/functionspace/bo/surrogate/internal/classify"
)

// labelTarget is what training on labels aims at, for each latent: the mode of the
// process at the rows of C, and (K⁻¹ + D)⁻¹.
type labelTarget struct {
	at   []fspace.Target
	mode *classify.Mode // at the labelled points; nil beyond fspace.MaxExact of them
}

func (p *labelProblem) target(ctx context.Context, c *mat.Dense) (labelTarget, error) {
	if len(p.y) > fspace.MaxExact {
		at, err := p.sparseTarget(ctx, c)
		return labelTarget{at: at}, err
	}
	mode, err := classify.FindMode(ctx, p.prior.Grams(p.data.X), p.prior.Means, p.y, nil)
	if err != nil {
		return labelTarget{}, err
	}
	return labelTarget{p.exactTarget(mode, c), mode}, nil
}

// exactTarget is the mode μ + k(C,X)a, with the covariance K - k(C,X) E k(X,C),
// E = (k(X,X) + D⁻¹)⁻¹.
func (p *labelProblem) exactTarget(mode *classify.Mode, c *mat.Dense) []fspace.Target {
	nc, _ := c.Dims()
	cross := mat.NewDense(len(p.y), nc, nil)
	p.prior.Kernel.Cross(cross, p.data.X, c)
	out := make([]fspace.Target, len(p.prior.Means))
	for k, mean := range p.prior.Means {
		to := fspace.Target{C: c, Mean: make([]float64, nc), Cov: mat.NewSymDense(nc, nil)}
		for i := range to.Mean {
			to.Mean[i] = mean
		}
		linalg.MulVec(to.Mean, 1, linalg.T, cross, mode.A.RawRowView(k), 1)
		half := mat.DenseCopyOf(cross)
		mode.Factor.Half(k, half)
		p.prior.Kernel.Gram(to.Cov, c)
		linalg.Syrk(to.Cov, -1, linalg.T, half, 1)
		out[k] = to
	}
	return out
}

// sparseTarget is the mode among the functions μ_c + k(·,C)L⁻ᵀe_c, where K = L Lᵀ:
// with ψ = L⁻¹k(C,X) it minimises
//
//	-Σ_i log p(y_i|μ + eᵀψ_i) + ½ Σ_c |e_c|²,
//
// and the covariance at C is L(I + ψDψᵀ)⁻¹Lᵀ.
func (p *labelProblem) sparseTarget(ctx context.Context, c *mat.Dense) ([]fspace.Target, error) {
	n, l := len(p.y), len(p.prior.Means)
	nc, _ := c.Dims()
	gram, psi := mat.NewSymDense(nc, nil), mat.NewDense(nc, n, nil)
	p.prior.Kernel.Gram(gram, c)
	chol, err := linalg.Factorize(gram)
	if err != nil {
		return nil, fmt.Errorf("prior covariance of the context: %w", err)
	}
	p.prior.Kernel.Cross(psi, c, p.data.X)
	chol.SolveLower(psi)

	f, prob, grad := mat.NewDense(l, n, nil), mat.NewDense(l, n, nil), mat.NewDense(l, n, nil)
	loss := func(e, de []float64) float64 {
		em, dm := mat.NewDense(l, nc, e), mat.NewDense(l, nc, de)
		for k, mean := range p.prior.Means {
			row := f.RawRowView(k)
			for i := range row {
				row[i] = mean
			}
		}
		linalg.Mul(f, 1, linalg.N, em, linalg.N, psi, 1)
		value := 0.5*linalg.Dot(e, e) - classify.LogProb(prob, grad, f, p.y)
		copy(de, e)
		linalg.Mul(dm, -1, linalg.N, grad, linalg.T, psi, 1)
		return value
	}
	best, err := optimize.Minimize(ctx, loss, make([]float64, l*nc), nil, nil, optimize.Settings{MaxIter: 300, GradTol: 1e-3, FuncTol: 1e-7})
	if err != nil {
		return nil, err
	}
	loss(best.X, make([]float64, l*nc))
	d := classify.Diagonal(prob)

	lower := mat.NewDense(nc, nc, nil)
	chol.Lower(lower)
	out := make([]fspace.Target, l)
	for k, mean := range p.prior.Means {
		to := fspace.Target{C: c, Mean: append([]float64(nil), best.X[k*nc:(k+1)*nc]...), Cov: mat.NewSymDense(nc, nil)}
		chol.MulLowerVec(to.Mean)
		for i := range to.Mean {
			to.Mean[i] += mean
		}
		root := d.RawRowView(k)
		for i, v := range root {
			root[i] = math.Sqrt(v)
		}
		weighted := mat.DenseCopyOf(psi)
		for i := range nc {
			row := weighted.RawRowView(i)
			for j, v := range root {
				row[j] *= v
			}
		}
		b := mat.NewSymDense(nc, nil)
		fspace.AddDiagonal(b, 1)
		linalg.Syrk(b, 1, linalg.N, weighted, 1)
		inner, err := linalg.Factorize(b)
		if err != nil {
			return nil, fmt.Errorf("covariance of the labels: %w", err)
		}
		half := mat.DenseCopyOf(lower.T())
		inner.SolveLower(half)
		linalg.Syrk(to.Cov, 1, linalg.T, half, 0)
		out[k] = to
	}
	return out, nil
}
