package pathwise

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/kernelgrad"
	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/shape"
	"github.com/functionspace/bo/internal/workspace"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate"
)

// Basis is w(x) = L⁻¹k(Z,x) for a process and n points Z.
type Basis struct {
	Process prior.Process
	Z       *mat.Dense
	L       *linalg.Cholesky
	Lo, Hi  []float64 // box of later predictions, for draws of the prior; nil is the unit cube
}

// NewBasis returns the basis with L Lᵀ = k(Z,Z).
func NewBasis(p prior.Process, z *mat.Dense) (Basis, error) { return NewBasisFrom(p, z, math.Inf(1)) }

// NewBasisFrom returns the basis with L Lᵀ = k(Z,Z). If the matrix is nearly singular, first bounds the
// first jitter, as in linalg.FactorizeFrom.
func NewBasisFrom(p prior.Process, z *mat.Dense, first float64) (Basis, error) {
	m, _ := z.Dims()
	gram := mat.NewSymDense(m, nil)
	p.Kernel.Gram(gram, z)
	l, err := linalg.FactorizeFrom(gram, first)
	if err != nil {
		return Basis{}, fmt.Errorf("covariance of the inducing points: %w", err)
	}
	return Basis{Process: p, Z: z, L: l}, nil
}

// Dim returns the number of inputs.
func (b *Basis) Dim() int { return b.Process.Kernel.Dim() }

// Eval returns w(x), a column for each row of x.
func (b *Basis) Eval(x *mat.Dense) *mat.Dense {
	n, _ := x.Dims()
	w := mat.NewDense(b.L.N(), n, nil)
	b.Process.Kernel.Cross(w, b.Z, x)
	b.L.SolveLower(w)
	return w
}

// Conditional computes predictions of a Gaussian process given data. With the points Z and the factor L of a
// Basis, a vector α and an n×n matrix H,
//
//	mean(x) = μ + k(x,Z)α,  cov(x,x') = k(x,x') - k(x,Z) H k(Z,x').
type Conditional struct {
	Basis
	// Half writes means, and variances without their lower bound, at the rows of x. It returns h with
	// H k(Z,x) = L⁻ᵀh, which may be in mem.
	Half func(mem *workspace.Memory, mean, variance []float64, x *mat.Dense) *mat.Dense
	// HalfJoint writes means, and the covariance without the lower bound of its diagonal, at the rows
	// of x. It returns w(x) and h, which may be in mem.
	HalfJoint func(mem *workspace.Memory, mean []float64, cov *mat.SymDense, x *mat.Dense) (w, h *mat.Dense)

	Weights []float64 // α; nil is 0
	Floor   float64   // lower bound of a variance
}

// Predict costs O(n²) per point.
func (c *Conditional) Predict(mean, variance []float64, x *mat.Dense) {
	m := shape.Predict(mean, variance, x, c.Dim())
	mem := workspace.Borrow()
	defer mem.Return()
	for lo, step := 0, Chunk(c.L.N()); lo < m; lo += step {
		mem.Reset()
		hi := min(lo+step, m)
		c.Half(mem, mean[lo:hi], variance[lo:hi], mem.Rows(x, lo, hi))
		c.Clamp(variance[lo:hi], nil)
	}
}

// PredictMean implements surrogate.MeanPredictor. It costs one kernel value per row of Z and point.
func (c *Conditional) PredictMean(mean []float64, x *mat.Dense) {
	m := shape.Points(x, c.Dim())
	shape.Len("mean", len(mean), m)
	mem := workspace.Borrow()
	defer mem.Return()
	for lo, step := 0, Chunk(c.L.N()); lo < m; lo += step {
		mem.Reset()
		hi := min(lo+step, m)
		c.Means(mem.Dense(c.L.N(), hi-lo), mean[lo:hi], mem.Rows(x, lo, hi))
	}
}

// Means writes k(Z,x) to k, and the means at the rows of x.
func (c *Conditional) Means(k *mat.Dense, mean []float64, x *mat.Dense) {
	c.Process.Kernel.Cross(k, c.Z, x)
	linalg.Fill(mean, c.Process.Mean)
	for i, a := range c.Weights {
		linalg.Axpy(a, k.RawRowView(i), mean)
	}
}

// Joint costs O(n²m + nm²) for m points.
func (c *Conditional) Joint(mean []float64, cov *mat.SymDense, x *mat.Dense) {
	shape.Joint(mean, cov, x, c.Dim())
	mem := workspace.Borrow()
	defer mem.Return()
	c.joint(mem, mean, cov, x)
}

// joint is Joint that also returns w(x) and h.
func (c *Conditional) joint(mem *workspace.Memory, mean []float64, cov *mat.SymDense, x *mat.Dense) (w, h *mat.Dense) {
	w, h = c.HalfJoint(mem, mean, cov, x)
	for i := range mean {
		cov.SetSym(i, i, max(cov.At(i, i), c.Floor))
	}
	return w, h
}

// PredictGrad costs O(n²) and two kernel gradients per point. A variance at its lower bound
// has the gradient zero.
func (c *Conditional) PredictGrad(mean, variance []float64, dmean, dvariance, x *mat.Dense) {
	m := shape.PredictGrad(mean, variance, dmean, dvariance, x, c.Dim())
	n := c.L.N()
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
		c.L.SolveUpper(solved)
		if c.Weights != nil {
			for i := range free {
				copy(kbar.RawRowView(i), c.Weights)
			}
			c.Process.Kernel.CrossVJP(dm, xc, c.Z, kbar)
		}
		c.Clamp(v, free)
		linalg.Transpose(kbar, solved)
		for i, f := range free {
			floats.Scale(-2*f, kbar.RawRowView(i))
		}
		c.Process.Kernel.DiagVJP(dv, xc, free)
		c.Process.Kernel.CrossVJP(dv, xc, c.Z, kbar)
	}
}

// JointVJP costs O(n²m + nm²) and two kernel gradients for m points. With C̄ = cbar and
// m̄ = mbar, the adjoint of k(x,Z) is m̄αᵀ - 2C̄ k(x,Z)H and the adjoint of k(x,x) is C̄. A
// variance at its lower bound counts as constant.
func (c *Conditional) JointVJP(dx *mat.Dense, mbar []float64, cbar *mat.SymDense, x *mat.Dense) {
	m := shape.JointVJP(dx, mbar, cbar, x, c.Dim())
	mem := workspace.Borrow()
	defer mem.Return()
	mean, diag, free := mem.Floats(m), mem.Floats(m), mem.Floats(m)
	solved := c.Half(mem, mean, diag, x)
	c.L.SolveUpper(solved)
	bar := mem.Sym(m)
	bar.CopySym(cbar)
	c.Clamp(diag, free)
	for i, free := range free {
		bar.SetSym(i, i, free*bar.At(i, i))
	}
	c.Process.Kernel.CrossVJP(dx, x, c.Z, c.adjoint(mem, mbar, bar, solved))
	kernelgrad.Gram(c.Process.Kernel, dx, x, bar)
}

// adjoint returns m̄αᵀ - 2C̄ k(x,Z)H, the adjoint of k(x,Z), given solved = H k(Z,x).
func (c *Conditional) adjoint(mem *workspace.Memory, mbar []float64, cbar *mat.SymDense, solved *mat.Dense) *mat.Dense {
	n, m := solved.Dims()
	full, kbar := mem.Dense(m, m), mem.Zeros(m, n)
	full.Copy(cbar)
	if c.Weights != nil {
		for i, w := range mbar {
			linalg.Axpy(w, c.Weights, kbar.RawRowView(i))
		}
	}
	linalg.Mul(kbar, -2, linalg.N, full, linalg.T, solved, 1)
	return kbar
}

// Clamp raises variances to the lower bound. Unless free is nil, it writes the derivative
// to free: 1 for a variance above the bound, else 0.
func (c *Conditional) Clamp(variance, free []float64) {
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

// DrawPaths draws n paths by Matheron's rule, with random features in the draws f₀ of the
// prior. weights replaces the values f₀(Z) by the weights of k(·,Z). White noise in the kernel is part of f₀(Z),
// but not of paths, because it has no sample functions.
// DrawPaths panics for a kernel without its own features that is not positive definite.
func (c *Conditional) DrawPaths(n int, rng *rand.Rand, weights func(w []float64)) []surrogate.Path {
	draws, err := c.Process.DrawIn(c.Lo, c.Hi, n, features, rng)
	if err != nil {
		panic(fmt.Sprintf("pathwise: %v", err))
	}
	white := white(c.Process.Kernel, c.Z)
	paths := make([]surrogate.Path, n)
	for i, draw := range draws {
		w := make([]float64, c.L.N())
		draw.Eval(w, nil, c.Z)
		for j, v := range white {
			w[j] += math.Sqrt(max(v, 0)) * rng.NormFloat64()
		}
		weights(w)
		paths[i] = &path{draw, &c.Basis, w}
	}
	return paths
}

// white returns the variance of the white noise of k at the rows of x, or nil if there is none.
func white(k prior.Kernel, x *mat.Dense) []float64 {
	smooth := prior.Process{Kernel: k}.WhiteAsNoise(x)
	if smooth.Noise == 0 {
		return nil
	}
	n, _ := x.Dims()
	variance, rest := make([]float64, n), make([]float64, n)
	k.Diag(variance, x)
	smooth.Kernel.Diag(rest, x)
	floats.Sub(variance, rest)
	return variance
}
