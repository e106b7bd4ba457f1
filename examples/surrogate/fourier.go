package main

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/surrogate"
)

// Fourier is Bayesian linear regression on random cosines. It approximates a Gaussian
// process with an RBF kernel, and its cost is linear in the number of observations.
type Fourier struct{ Lengthscale float64 }

const size, noise = 100, 1e-5

func (m Fourier) Fit(ctx context.Context, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
	if err := errors.Join(d.Validate(), ctx.Err()); err != nil {
		return nil, err
	}
	eye := mat.NewDiagDense(size, slices.Repeat([]float64{1}, size))
	p := &posterior{path{mat.NewDense(d.X.RawMatrix().Cols, size, nil), eye, new(mat.VecDense)}}
	p.omega.Apply(func(_, _ int, _ float64) float64 { return rng.NormFloat64() / m.Lengthscale }, p.omega)
	phi, _ := p.features(d.X)
	precision, chol, root := new(mat.SymDense), new(mat.Cholesky), new(mat.Dense)
	precision.SymRankK(eye, 1/noise, phi.T())
	if !chol.Factorize(precision) || root.Inverse(chol.RawU()) != nil {
		return nil, surrogate.ErrNotPositiveDefinite
	}
	p.root = root
	phi, _ = p.features(d.X)
	p.z.MulVec(phi.T(), mat.NewVecDense(len(d.Y), d.Y))
	p.z.ScaleVec(1/noise, p.z)
	return p, nil
}

// path is the function f(x) = φ(x)·root·z of the features
// φ_k(x) = √(2/100) cos(ω_k·x + k).
type path struct {
	omega *mat.Dense
	root  mat.Matrix
	z     *mat.VecDense
}

// features returns φ·root at the rows of x, and the slopes of the cosines.
func (f path) features(x *mat.Dense) (phi, slope *mat.Dense) {
	phi, slope = new(mat.Dense), new(mat.Dense)
	slope.Mul(x, f.omega)
	phi.Apply(func(_, k int, v float64) float64 { return math.Sqrt(2./size) * math.Cos(v+float64(k)) }, slope)
	slope.Apply(func(_, k int, v float64) float64 { return -math.Sqrt(2./size) * math.Sin(v+float64(k)) }, slope)
	phi.Mul(phi, f.root)
	return phi, slope
}

// pull converts a gradient with respect to φ·root into a gradient with respect to x.
func (f path) pull(dx, bar, slope *mat.Dense) {
	bar.Mul(bar, f.root.T())
	bar.MulElem(bar, slope)
	dx.Mul(bar, f.omega.T())
}

func (f path) Eval(value []float64, grad, x *mat.Dense) {
	phi, slope := f.features(x)
	mat.NewVecDense(len(value), value).MulVec(phi, f.z)
	if grad != nil {
		phi.Apply(func(_, k int, _ float64) float64 { return f.z.AtVec(k) }, phi)
		f.pull(grad, phi, slope)
	}
}

// posterior is the distribution z ~ N(path.z, I) with root·rootᵀ = (I + ΦᵀΦ/σ²)⁻¹.
type posterior struct{ path }

func (p *posterior) Dim() int           { return p.omega.RawMatrix().Rows }
func (p *posterior) Noise() float64     { return noise }
func (p *posterior) Warnings() []string { return nil }

func (p *posterior) Predict(mean, variance []float64, x *mat.Dense) {
	grad := mat.NewDense(len(mean), p.Dim(), nil)
	p.PredictGrad(mean, variance, grad, grad, x)
}

func (p *posterior) PredictGrad(mean, variance []float64, dmean, dvariance, x *mat.Dense) {
	p.Eval(mean, dmean, x)
	phi, slope := p.features(x)
	v := mat.NewVecDense(len(mean), variance)
	for i := range mean {
		v.SetVec(i, mat.Dot(phi.RowView(i), phi.RowView(i)))
	}
	phi.Scale(2, phi)
	p.pull(dvariance, phi, slope)
}

func (p *posterior) Joint(mean []float64, cov *mat.SymDense, x *mat.Dense) {
	p.Eval(mean, nil, x)
	phi, _ := p.features(x)
	cov.SymOuterK(1, phi)
}

func (p *posterior) JointVJP(dx *mat.Dense, mbar []float64, cbar *mat.SymDense, x *mat.Dense) {
	phi, slope := p.features(x)
	phi.Mul(cbar, phi)
	phi.Scale(2, phi)
	phi.RankOne(phi, 1, mat.NewVecDense(len(mbar), mbar), p.z)
	grad := new(mat.Dense)
	p.pull(grad, phi, slope)
	dx.Add(dx, grad)
}

func (p *posterior) Paths(n int, rng *rand.Rand) (paths []surrogate.Path) {
	for range n {
		z := mat.VecDenseCopyOf(p.z)
		for k := range size {
			z.SetVec(k, z.AtVec(k)+rng.NormFloat64())
		}
		paths = append(paths, path{p.omega, p.root, z})
	}
	return paths
}
