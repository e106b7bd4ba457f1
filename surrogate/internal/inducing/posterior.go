package inducing

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/internal/workspace"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/pathwise"
	"github.com/functionspace/bo/surrogate/internal/summary"
)

// varianceFloor is the lower bound of a posterior variance, relative to the mean prior
// variance at the inducing points.
const varianceFloor = 1e-12

// Posterior is the process with the distribution q at Z: with the basis w(x) and
// S = L_B⁻ᵀ T Tᵀ L_B⁻¹, where L_B is the factor of B,
//
//	mean(x) = μ + w(x)ᵀm,  cov(x,x') = k(x,x') - w(x)ᵀ(I - S)w(x')
//
// Prepare must be called before all other methods.
type Posterior struct {
	pathwise.Conditional
	B *linalg.Cholesky
	T *mat.Dense // nil is the identity
	M []float64  // nil is 0

	Bound float64 // see LogMarginalLikelihood
	summary.Summary
}

var (
	_ surrogate.Anchorer      = (*Posterior)(nil)
	_ surrogate.MeanPredictor = (*Posterior)(nil)
	_ surrogate.Evidence      = (*Posterior)(nil)
	_ surrogate.Stater        = (*Posterior)(nil)
	_ surrogate.Describer     = (*Posterior)(nil)
)

// Prepare computes the quantities that predictions use, and returns p.
func (p *Posterior) Prepare() *Posterior {
	if p.M != nil {
		p.Weights = slices.Clone(p.M) // L⁻ᵀm
		p.L.SolveUpperVec(p.Weights)
	}
	diag := make([]float64, p.L.N())
	p.Process.Kernel.Diag(diag, p.Z)
	for _, v := range diag {
		p.Floor += varianceFloor * v / float64(len(diag))
	}
	p.Half, p.HalfJoint = p.half, p.halfJoint
	p.NoiseVariance = p.Process.Noise
	p.Parameters = append(summary.KernelHypers(p.Process.Kernel),
		surrogate.Hyper{Name: "noise", Value: p.Process.Noise},
		surrogate.Hyper{Name: "mean", Value: p.Process.Mean},
		surrogate.Hyper{Name: "inducing points", Value: float64(p.L.N())})
	return p
}

// LogMarginalLikelihood returns Bound: for svgp a lower bound of the log marginal likelihood, and
// for gp the log marginal likelihood of its approximate model, which can be larger. Both are equal to the log
// marginal likelihood if Z = X and q is optimal.
func (p *Posterior) LogMarginalLikelihood() float64 { return p.Bound }

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

// half is the Half of the Conditional: it returns (I - S)W.
func (p *Posterior) half(_ *workspace.Memory, mean, variance []float64, x *mat.Dense) *mat.Dense {
	_, _, less := p.moments(mean, variance, x)
	return less
}

// halfJoint is the HalfJoint of the Conditional: it returns W and (I - S)W.
func (p *Posterior) halfJoint(mem *workspace.Memory, mean []float64, cov *mat.SymDense, x *mat.Dense) (_, _ *mat.Dense) {
	w, psi, less := p.moments(mean, mem.Floats(len(mean)), x)
	p.Process.Kernel.Gram(cov, x)
	linalg.Syrk(cov, -1, linalg.T, w, 1)
	linalg.Syrk(cov, 1, linalg.T, psi, 1)
	return w, less
}

// Paths draws functions by Matheron's rule (Wilson et al. 2020, eq. 13): a draw f₀ of the
// prior, corrected to values drawn from q at the inducing points,
//
//	f(x) = f₀(x) + k(x,Z) L⁻ᵀ( v - L⁻¹(f₀(Z) - μ) ),  v ~ N(m, S)
//
// Paths panics as DrawPaths does.
func (p *Posterior) Paths(n int, rng *rand.Rand) []surrogate.Path {
	jitter := math.Sqrt(p.L.Jitter())
	return p.DrawPaths(n, rng, func(w []float64) {
		v := make([]float64, len(w))
		random.Normal(v, rng)
		if p.T != nil {
			linalg.MulVec(v, 1, linalg.N, p.T, slices.Clone(v), 0)
		}
		p.B.SolveUpperVec(v)
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
	})
}
