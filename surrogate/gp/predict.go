package gp

import (
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/kernelgrad"
	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/shape"
	"github.com/functionspace/bo/internal/workspace"
	"github.com/functionspace/bo/surrogate/internal/pathwise"
)

// Predict costs n²m flops. The variance never falls below 1e-12 of the prior
// variance.
func (p *posterior) Predict(mean, variance []float64, x *mat.Dense) {
	m := shape.Predict(mean, variance, x, p.Dim())
	n := len(p.y)
	mem := workspace.Borrow()
	defer mem.Return()
	for lo, step := 0, pathwise.Chunk(n); lo < m; lo += step {
		mem.Reset()
		hi := min(lo+step, m)
		p.moments(mean[lo:hi], variance[lo:hi], mem.Dense(n, hi-lo), mem.Rows(x, lo, hi))
		clamp(variance[lo:hi], nil, p.floor)
	}
}

// PredictGrad costs 2n²m flops and two kernel gradients. A variance at its lower
// bound has the gradient zero.
func (p *posterior) PredictGrad(mean, variance []float64, dmean, dvariance, x *mat.Dense) {
	m := shape.PredictGrad(mean, variance, dmean, dvariance, x, p.Dim())
	n := len(p.y)
	mem := workspace.Borrow()
	defer mem.Return()
	dmean.Zero()
	dvariance.Zero()
	for lo, step := 0, pathwise.Chunk(n); lo < m; lo += step {
		mem.Reset()
		hi := min(lo+step, m)
		c := hi - lo
		xc, k, kbar := mem.Rows(x, lo, hi), mem.Dense(n, c), mem.Dense(c, n)
		dm, dv, v := mem.Rows(dmean, lo, hi), mem.Rows(dvariance, lo, hi), variance[lo:hi]
		p.moments(mean[lo:hi], v, k, xc)

		for i := range c {
			copy(kbar.RawRowView(i), p.alpha)
		}
		p.process.Kernel.CrossVJP(dm, xc, p.x, kbar)

		p.factor.SolveUpper(k)
		free := mem.Floats(c)
		clamp(v, free, p.floor)
		transposeInto(kbar, k)
		for i := range c {
			floats.Scale(-2*free[i], kbar.RawRowView(i))
		}
		p.process.Kernel.DiagVJP(dv, xc, free)
		p.process.Kernel.CrossVJP(dv, xc, p.x, kbar)
	}
}

// moments writes the mean and the variance without its lower bound at the rows of x,
// and L⁻¹k(X,x) to k (n×m).
func (p *posterior) moments(mean, variance []float64, k, x *mat.Dense) {
	p.process.Kernel.Cross(k, p.x, x)
	linalg.Fill(mean, p.process.Mean)
	for i, a := range p.alpha {
		linalg.Axpy(a, k.RawRowView(i), mean)
	}
	p.factor.SolveLower(k)
	p.process.Kernel.Diag(variance, x)
	linalg.SubColumnSquares(variance, k)
}

// clamp raises variances to the floor. Unless free is nil, it writes the derivative
// to free: 1 for a variance above the floor, else 0.
func clamp(variance, free []float64, floor float64) {
	for i, v := range variance {
		above := 1.0
		if !(v > floor) {
			variance[i], above = floor, 0
		}
		if free != nil {
			free[i] = above
		}
	}
}

// Joint costs n²m + nm² flops.
func (p *posterior) Joint(mean []float64, cov *mat.SymDense, x *mat.Dense) {
	m := shape.Joint(mean, cov, x, p.Dim())
	mem := workspace.Borrow()
	defer mem.Return()
	k := mem.Dense(len(p.y), m)
	p.process.Kernel.Cross(k, p.x, x)
	linalg.MulVec(mean, 1, linalg.T, k, p.alpha, 0)
	floats.AddConst(p.process.Mean, mean)
	p.factor.SolveLower(k)
	p.process.Kernel.Gram(cov, x)
	linalg.Syrk(cov, -1, linalg.T, k, 1)
	for i := range m {
		cov.SetSym(i, i, max(cov.At(i, i), p.floor))
	}
}

// JointVJP costs 2n²m + nm² flops and two kernel gradients. With C̄ = cbar,
// m̄ = mbar and B = A⁻¹k(X,x), the adjoint of k(x,X) is m̄αᵀ - 2C̄Bᵀ and the adjoint
// of k(x,x) is C̄. A variance at its floor is treated as constant.
func (p *posterior) JointVJP(dx *mat.Dense, mbar []float64, cbar *mat.SymDense, x *mat.Dense) {
	m := shape.JointVJP(dx, mbar, cbar, x, p.Dim())
	n := len(p.y)
	mem := workspace.Borrow()
	defer mem.Return()
	k, mean, diag, free := mem.Dense(n, m), mem.Floats(m), mem.Floats(m), mem.Floats(m)
	p.moments(mean, diag, k, x)
	p.factor.SolveUpper(k)

	c := mem.Sym(m)
	c.CopySym(cbar)
	clamp(diag, free, p.floor)
	for i, free := range free {
		c.SetSym(i, i, free*c.At(i, i))
	}
	full := mem.Dense(m, m)
	full.Copy(c)
	kbar := mem.Zeros(m, n)
	for i, w := range mbar {
		linalg.Axpy(w, p.alpha, kbar.RawRowView(i))
	}
	linalg.Mul(kbar, -2, linalg.N, full, linalg.T, k, 1)
	p.process.Kernel.CrossVJP(dx, x, p.x, kbar)
	kernelgrad.Gram(p.process.Kernel, dx, x, c)
}

// transposeInto writes aᵀ to dst.
func transposeInto(dst, a *mat.Dense) {
	raw := dst.RawMatrix()
	for i := range raw.Cols {
		for j, v := range a.RawRowView(i) {
			raw.Data[j*raw.Stride+i] = v
		}
	}
}
