package classify

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/optimize"
	"github.com/functionspace/bo/surrogate/internal/target"
)

// Target is the training target of networks with a prior on functions, given n labels: for
// each latent function the posterior mean of the process at the rows of C with the covariance
// (K⁻¹ + D)⁻¹, which omits the coupling of classes.
type Target struct {
	At       []target.Gaussian
	Given    *Approximation // at the labelled points; nil beyond target.MaxExact of them
	Warnings []string
}

// NewTarget conditions p at the rows of c on labels y at the rows of x: by Condition for up to target.MaxExact
// labels, else by Laplace's approximation within the functions spanned by c.
func NewTarget(ctx context.Context, p Prior, c, x *mat.Dense, y []int) (Target, error) {
	if len(y) > target.MaxExact {
		at, err := sparseTarget(ctx, p, c, x, y)
		return Target{At: at}, err
	}
	mode, warnings, err := p.Condition(ctx, x, y)
	if err != nil {
		return Target{}, err
	}
	return Target{p.At(mode, c, x), mode, warnings}, nil
}

// At returns the mean μ + k(C,X)a at the rows of c, given the mode at the rows of x. The covariance is
// K - k(C,X) E k(X,C) with E = (k(X,X) + D⁻¹)⁻¹.
func (p Prior) At(mode *Approximation, c, x *mat.Dense) []target.Gaussian {
	n, _ := x.Dims()
	nc, _ := c.Dims()
	cross := mat.NewDense(n, nc, nil)
	p.Kernel.Cross(cross, x, c)
	out := make([]target.Gaussian, len(p.Means))
	for k, mean := range p.Means {
		to := target.Gaussian{C: c, Mean: make([]float64, nc), Cov: mat.NewSymDense(nc, nil)}
		linalg.Fill(to.Mean, mean)
		linalg.MulVec(to.Mean, 1, linalg.T, cross, mode.A.RawRowView(k), 1)
		half := mat.DenseCopyOf(cross)
		mode.Factor.Half(k, half)
		p.Kernel.Gram(to.Cov, c)
		linalg.Syrk(to.Cov, -1, linalg.T, half, 1)
		out[k] = to
	}
	return out
}

// sparseTarget returns the mode among the functions μ_c + k(·,C)L⁻ᵀe_c, where K = L Lᵀ. With
// ψ = L⁻¹k(C,X) it minimises
//
//	-Σ_i log p(y_i|μ + eᵀψ_i) + ½ Σ_c |e_c|²,
//
// and the covariance at C is L(I + ψDψᵀ)⁻¹Lᵀ.
func sparseTarget(ctx context.Context, p Prior, c, x *mat.Dense, y []int) ([]target.Gaussian, error) {
	n, l := len(y), len(p.Means)
	nc, _ := c.Dims()
	gram, psi := mat.NewSymDense(nc, nil), mat.NewDense(nc, n, nil)
	p.Kernel.Gram(gram, c)
	chol, err := linalg.Factorize(gram)
	if err != nil {
		return nil, fmt.Errorf("prior covariance at the context points: %w", err)
	}
	p.Kernel.Cross(psi, c, x)
	chol.SolveLower(psi)

	f, prob, grad := mat.NewDense(l, n, nil), mat.NewDense(l, n, nil), mat.NewDense(l, n, nil)
	loss := func(e, de []float64) float64 {
		em, dm := mat.NewDense(l, nc, e), mat.NewDense(l, nc, de)
		for k, mean := range p.Means {
			linalg.Fill(f.RawRowView(k), mean)
		}
		linalg.Mul(f, 1, linalg.N, em, linalg.N, psi, 1)
		value := 0.5*linalg.Dot(e, e) - LogProb(prob, grad, f, y)
		copy(de, e)
		linalg.Mul(dm, -1, linalg.N, grad, linalg.T, psi, 1)
		return value
	}
	best, err := optimize.Minimize(ctx, loss, make([]float64, l*nc), nil, nil, optimize.Settings{MaxIter: 300, GradTol: 1e-3, FuncTol: 1e-7})
	if err != nil {
		return nil, err
	}
	loss(best.X, make([]float64, l*nc))
	d := Diagonal(prob)

	lower := mat.NewDense(nc, nc, nil)
	chol.Lower(lower)
	out := make([]target.Gaussian, l)
	for k, mean := range p.Means {
		to := target.Gaussian{C: c, Mean: append([]float64(nil), best.X[k*nc:(k+1)*nc]...), Cov: mat.NewSymDense(nc, nil)}
		chol.MulLowerVec(to.Mean)
		floats.AddConst(mean, to.Mean)
		root := d.RawRowView(k)
		for i, v := range root {
			root[i] = math.Sqrt(v)
		}
		weighted := mat.NewDense(nc, n, nil)
		linalg.ScaleColumns(weighted, psi, root)
		b := mat.NewSymDense(nc, nil)
		linalg.AddDiagonal(b, 1)
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
