package pathwise

import (
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/kernelgrad"
	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/shape"
	"github.com/functionspace/bo/internal/workspace"
	"github.com/functionspace/bo/surrogate"
)

// anchored computes joint moments of the k rows of z and further points. It keeps the moments at z,
// w(z) and H k(Z,z).
type anchored struct {
	*Conditional
	z         *mat.Dense
	mu        []float64
	cov       *mat.SymDense
	w, solved *mat.Dense // n×k
}

// Anchor implements surrogate.Anchorer at the cost of Joint.
func (c *Conditional) Anchor(z *mat.Dense) surrogate.Jointer {
	k := shape.Points(z, c.Dim())
	a := &anchored{Conditional: c, z: mat.DenseCopyOf(z), mu: make([]float64, k), cov: mat.NewSymDense(k, nil)}
	mem := workspace.Borrow()
	defer mem.Return()
	w, h := c.joint(mem, a.mu, a.cov, z)
	a.w, a.solved = mat.DenseCopyOf(w), mat.DenseCopyOf(h)
	c.L.SolveUpper(a.solved)
	return a
}

// Joint implements surrogate.Jointer in O(n²m + n(k+m)m) for m points after the k anchors. With h of the
// Conditional,
//
//	cov(z,x) = k(z,x) - w(z)ᵀh(x)
func (a *anchored) Joint(mean []float64, cov *mat.SymDense, x *mat.Dense) {
	all, k := shape.Joint(mean, cov, x, a.Dim()), copy(mean, a.mu)
	x = shape.Rows(x, k, all)
	mem := workspace.Borrow()
	defer mem.Return()
	own, cross := mem.Sym(all-k), mem.Dense(k, all-k)
	_, h := a.joint(mem, mean[k:], own, x)
	a.Process.Kernel.Cross(cross, a.z, x)
	linalg.Mul(cross, -1, linalg.T, a.w, linalg.N, h, 1)
	for i := range all {
		for j := i; j < all; j++ {
			switch {
			case j < k:
				cov.SetSym(i, j, a.cov.At(i, j))
			case i < k:
				cov.SetSym(i, j, cross.At(i, j-k))
			default:
				cov.SetSym(i, j, own.At(i-k, j-k))
			}
		}
	}
}

// JointVJP costs O(n²m + n(k+m)m) and the kernel gradients of the m points.
func (a *anchored) JointVJP(dx *mat.Dense, mbar []float64, cbar *mat.SymDense, x *mat.Dense) {
	all, k := shape.JointVJP(dx, mbar, cbar, x, a.Dim()), len(a.mu)
	m := all - k
	x, dx, mbar = shape.Rows(x, k, all), shape.Rows(dx, k, all), mbar[k:]
	mem := workspace.Borrow()
	defer mem.Return()
	mean, variance, free := mem.Floats(m), mem.Floats(m), mem.Floats(m)
	solved := a.Half(mem, mean, variance, x)
	a.L.SolveUpper(solved)
	a.Clamp(variance, free)
	own, cross := mem.Sym(m), mem.Dense(m, k)
	for i := range m {
		for j := i; j < m; j++ {
			own.SetSym(i, j, cbar.At(k+i, k+j))
		}
		own.SetSym(i, i, free[i]*own.At(i, i))
		for j := range k {
			cross.Set(i, j, 2*cbar.At(k+i, j))
		}
	}
	kbar := a.adjoint(mem, mbar, own, solved)
	linalg.Mul(kbar, -1, linalg.N, cross, linalg.T, a.solved, 1)
	a.Process.Kernel.CrossVJP(dx, x, a.Z, kbar)
	a.Process.Kernel.CrossVJP(dx, x, a.z, cross)
	kernelgrad.Gram(a.Process.Kernel, dx, x, own)
}
