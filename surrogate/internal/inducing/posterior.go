package inducing

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/internal/shape"
	"github.com/functionspace/bo/internal/workspace"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/pathwise"
	"github.com/functionspace/bo/surrogate/internal/summary"
)

// varianceFloor is the lower bound of a posterior variance, relative to the mean prior
// variance at the inducing points.
const varianceFloor = 1e-12

// Basis is w(x) = L⁻¹k(Z,x) for inducing points Z.
type Basis struct {
	Process prior.Process
	Z       *mat.Dense
	L       *linalg.Cholesky // factor of k(Z,Z)
}

// NewBasis computes L.
func NewBasis(p prior.Process, z *mat.Dense) (Basis, error) {
	m, _ := z.Dims()
	gram := mat.NewSymDense(m, nil)
	p.Kernel.Gram(gram, z)
	l, err := linalg.Factorize(gram)
	if err != nil {
		return Basis{}, fmt.Errorf("covariance of the inducing points: %w", err)
	}
	return Basis{p, z, l}, nil
}

// Eval returns w(x), a column for each row of x.
func (b Basis) Eval(x *mat.Dense) *mat.Dense {
	n, _ := x.Dims()
	w := mat.NewDense(b.L.N(), n, nil)
	b.Process.Kernel.Cross(w, b.Z, x)
	b.L.SolveLower(w)
	return w
}

// Posterior is the process with the distribution q at Z: with the basis w(x) and
// S = L_B⁻ᵀ T Tᵀ L_B⁻¹, where L_B is the factor of B,
//
//	mean(x) = μ + w(x)ᵀm,  cov(x,x') = k(x,x') - w(x)ᵀ(I - S)w(x')
//
// Prepare must be called before all other methods.
type Posterior struct {
	Basis
	B *linalg.Cholesky
	T *mat.Dense // nil is the identity
	M []float64  // nil is 0

	Bound float64 // on the log marginal likelihood
	summary.Summary

	weights []float64 // L⁻ᵀm: mean(x) = μ + k(x,Z)·weights
	floor   float64
}

var (
	_ surrogate.Evidence  = (*Posterior)(nil)
	_ surrogate.Stater    = (*Posterior)(nil)
	_ surrogate.Describer = (*Posterior)(nil)
)

// Prepare computes the quantities that predictions use, and returns p.
func (p *Posterior) Prepare() *Posterior {
	if p.M != nil {
		p.weights = slices.Clone(p.M)
		p.L.SolveUpperVec(p.weights)
	}
	diag := make([]float64, p.L.N())
	p.Process.Kernel.Diag(diag, p.Z)
	for _, v := range diag {
		p.floor += varianceFloor * v / float64(len(diag))
	}
	return p
}

func (p *Posterior) Dim() int       { return p.Process.Kernel.Dim() }
func (p *Posterior) Noise() float64 { return p.Process.Noise }

// LogMarginalLikelihood returns the collapsed bound, which is at most the log marginal
// likelihood and equals it for Z = X.
func (p *Posterior) LogMarginalLikelihood() float64 { return p.Bound }

func (p *Posterior) Hypers() []surrogate.Hyper {
	return append(summary.KernelHypers(p.Process.Kernel),
		surrogate.Hyper{Name: "noise", Value: p.Process.Noise},
		surrogate.Hyper{Name: "mean", Value: p.Process.Mean},
		surrogate.Hyper{Name: "inducing points", Value: float64(p.L.N())})
}

// Features returns W = w(x) and L_B⁻¹W, a column for each row of x.
func (p *Posterior) Features(x *mat.Dense) (w, phi *mat.Dense) {
	w = p.Eval(x)
	phi = mat.DenseCopyOf(w)
	p.B.SolveLower(phi)
	return w, phi
}

// moments writes the mean and the variance without its lower bound at the rows of x. It
// returns W, the ψ with WᵀS W = ψᵀψ, and (I - S)W.
func (p *Posterior) moments(mean, variance []float64, x *mat.Dense) (w, psi, less *mat.Dense) {
	w, phi := p.Features(x)
	psi, less = phi, mat.DenseCopyOf(phi)
	if p.T != nil {
		psi = mat.NewDense(phi.RawMatrix().Rows, phi.RawMatrix().Cols, nil)
		linalg.Mul(psi, 1, linalg.T, p.T, linalg.N, phi, 0)
		linalg.Mul(less, 1, linalg.N, p.T, linalg.N, psi, 0)
	}
	p.B.SolveUpper(less)
	p.Process.Kernel.Diag(variance, x)
	for i := range p.L.N() {
		row, gap := w.RawRowView(i), less.RawRowView(i)
		for j, v := range row {
			gap[j] = v - gap[j]
			variance[j] -= v * gap[j]
		}
	}
	linalg.Fill(mean, p.Process.Mean)
	if p.M != nil {
		linalg.MulVec(mean, 1, linalg.T, w, p.M, 1)
	}
	return w, psi, less
}

// conditional returns p with its gradients.
func (p *Posterior) conditional() pathwise.Conditional {
	return pathwise.Conditional{Halves: p, Kernel: p.Process.Kernel, At: p.Z, Factor: p.L, Weights: p.weights, Floor: p.floor}
}

// Half implements pathwise.Halves: it returns (I - S)W.
func (p *Posterior) Half(_ *workspace.Memory, mean, variance []float64, x *mat.Dense) *mat.Dense {
	_, _, less := p.moments(mean, variance, x)
	return less
}

// Predict costs O(m²) per point.
func (p *Posterior) Predict(mean, variance []float64, x *mat.Dense) {
	p.conditional().Predict(mean, variance, x)
}

// PredictGrad costs O(m²) and two kernel gradients per point. A variance at its lower
// bound has the gradient zero.
func (p *Posterior) PredictGrad(mean, variance []float64, dmean, dvariance, x *mat.Dense) {
	p.conditional().PredictGrad(mean, variance, dmean, dvariance, x)
}

// Joint costs O(nm² + n²m) for n points.
func (p *Posterior) Joint(mean []float64, cov *mat.SymDense, x *mat.Dense) {
	n := shape.Joint(mean, cov, x, p.Dim())
	w, psi, _ := p.moments(mean, make([]float64, n), x)
	p.Process.Kernel.Gram(cov, x)
	linalg.Syrk(cov, -1, linalg.T, w, 1)
	linalg.Syrk(cov, 1, linalg.T, psi, 1)
	for i := range n {
		cov.SetSym(i, i, max(cov.At(i, i), p.floor))
	}
}

// JointVJP costs O(nm² + n²m).
func (p *Posterior) JointVJP(dx *mat.Dense, mbar []float64, cbar *mat.SymDense, x *mat.Dense) {
	p.conditional().JointVJP(dx, mbar, cbar, x)
}

// Paths draws functions by Matheron's rule (Wilson et al. 2020, eq. 13): a draw f₀ of the
// prior, corrected to values drawn from q at the inducing points,
//
//	f(x) = f₀(x) + k(x,Z) L⁻ᵀ( v - L⁻¹(f₀(Z) - μ) ),  v ~ N(m, S)
//
// Paths panics for a kernel without its own features that is not positive definite.
func (p *Posterior) Paths(n int, rng *rand.Rand) []surrogate.Path {
	draws, err := p.Process.Draw(n, pathwise.Features, rng)
	if err != nil {
		panic(fmt.Sprintf("inducing: %v", err))
	}
	jitter := math.Sqrt(p.L.Jitter())
	paths := make([]surrogate.Path, n)
	for i, draw := range draws {
		v, w := make([]float64, p.L.N()), make([]float64, p.L.N())
		random.Normal(v, rng)
		if p.T != nil {
			linalg.MulVec(v, 1, linalg.N, p.T, append([]float64(nil), v...), 0)
		}
		p.B.SolveUpperVec(v)
		draw.Eval(w, nil, p.Z)
		for j := range w {
			w[j] -= p.Process.Mean
			if jitter > 0 {
				w[j] += jitter * rng.NormFloat64()
			}
		}
		p.L.SolveLowerVec(w)
		for j := range w {
			w[j] = v[j] - w[j]
		}
		if p.M != nil {
			linalg.Axpy(1, p.M, w)
		}
		p.L.SolveUpperVec(w)
		paths[i] = &pathwise.Path{Draw: draw, Kernel: p.Process.Kernel, At: p.Z, Weights: w}
	}
	return paths
}
