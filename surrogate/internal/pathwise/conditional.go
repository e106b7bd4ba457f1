package pathwise

import (
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/kernelgrad"
	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/shape"
	"github.com/functionspace/bo/internal/workspace"
	"github.com/functionspace/bo/prior"
)

// Halves computes moments of a Conditional.
type Halves interface {
	// Half writes means, and variances without their lower bound, at the rows of x, and
	// returns h with H k(Z,x) = L⁻ᵀh, which may be in mem.
	Half(mem *workspace.Memory, mean, variance []float64, x *mat.Dense) *mat.Dense
}

// Conditional computes predictions of a Gaussian process given data, with n points Z, a
// vector α and an n×n matrix H,
//
//	mean(x) = μ + k(x,Z)α,  cov(x,x') = k(x,x') - k(x,Z) H k(Z,x').
type Conditional struct {
	Halves
	Kernel  prior.Kernel
	At      *mat.Dense       // Z
	Factor  *linalg.Cholesky // L
	Weights []float64        // α; nil is 0
	Floor   float64          // lower bound of a variance
}

func (c Conditional) Predict(mean, variance []float64, x *mat.Dense) {
	m := shape.Predict(mean, variance, x, c.Kernel.Dim())
	mem := workspace.Borrow()
	defer mem.Return()
	for lo, step := 0, Chunk(c.Factor.N()); lo < m; lo += step {
		mem.Reset()
		hi := min(lo+step, m)
		c.Half(mem, mean[lo:hi], variance[lo:hi], mem.Rows(x, lo, hi))
		c.clamp(variance[lo:hi], nil)
	}
}

// PredictGrad writes moments and their gradients. A variance at its lower bound has the
// gradient zero.
func (c Conditional) PredictGrad(mean, variance []float64, dmean, dvariance, x *mat.Dense) {
	m := shape.PredictGrad(mean, variance, dmean, dvariance, x, c.Kernel.Dim())
	n := c.Factor.N()
	mem := workspace.Borrow()
	defer mem.Return()
	dmean.Zero()
	dvariance.Zero()
	for lo, step := 0, Chunk(n); lo < m; lo += step {
		mem.Reset()
		hi := min(lo+step, m)
		xc, kbar, free := mem.Rows(x, lo, hi), mem.Dense(hi-lo, n), mem.Floats(hi-lo)
		dm, dv, v := mem.Rows(dmean, lo, hi), mem.Rows(dvariance, lo, hi), variance[lo:hi]
		solved := c.Half(mem, mean[lo:hi], v, xc)
		c.Factor.SolveUpper(solved)
		if c.Weights != nil {
			for i := range free {
				copy(kbar.RawRowView(i), c.Weights)
			}
			c.Kernel.CrossVJP(dm, xc, c.At, kbar)
		}
		c.clamp(v, free)
		linalg.Transpose(kbar, solved)
		for i, f := range free {
			floats.Scale(-2*f, kbar.RawRowView(i))
		}
		c.Kernel.DiagVJP(dv, xc, free)
		c.Kernel.CrossVJP(dv, xc, c.At, kbar)
	}
}

// JointVJP implements surrogate.Posterior. With C̄ = cbar and m̄ = mbar, the adjoint of k(x,Z)
// is m̄αᵀ - 2C̄ k(x,Z)H and the adjoint of k(x,x) is C̄. A variance at its lower bound is
// treated as constant.
func (c Conditional) JointVJP(dx *mat.Dense, mbar []float64, cbar *mat.SymDense, x *mat.Dense) {
	m := shape.JointVJP(dx, mbar, cbar, x, c.Kernel.Dim())
	n := c.Factor.N()
	mem := workspace.Borrow()
	defer mem.Return()
	mean, diag, free := mem.Floats(m), mem.Floats(m), mem.Floats(m)
	solved := c.Half(mem, mean, diag, x)
	c.Factor.SolveUpper(solved)
	bar := mem.Sym(m)
	bar.CopySym(cbar)
	c.clamp(diag, free)
	for i, free := range free {
		bar.SetSym(i, i, free*bar.At(i, i))
	}
	full, kbar := mem.Dense(m, m), mem.Zeros(m, n)
	full.Copy(bar)
	if c.Weights != nil {
		for i, w := range mbar {
			linalg.Axpy(w, c.Weights, kbar.RawRowView(i))
		}
	}
	linalg.Mul(kbar, -2, linalg.N, full, linalg.T, solved, 1)
	c.Kernel.CrossVJP(dx, x, c.At, kbar)
	kernelgrad.Gram(c.Kernel, dx, x, bar)
}

// clamp raises variances to the lower bound. Unless free is nil, it writes the derivative
// to free: 1 for a variance above the bound, else 0.
func (c Conditional) clamp(variance, free []float64) {
	for i, v := range variance {
		above := 1.0
		if !(v > c.Floor) {
			variance[i], above = c.Floor, 0
		}
		if free != nil {
			free[i] = above
		}
	}
}
