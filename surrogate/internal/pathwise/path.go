// Package pathwise holds draws of a Gaussian process given data, by Matheron's rule
// (Wilson et al. 2020): a draw of the prior plus a combination of kernel functions.
package pathwise

import (
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/shape"
	"github.com/functionspace/bo/internal/workspace"
	"github.com/functionspace/bo/prior"
)

// Features is the number of random features of a prior draw. For every number, the
// covariance averaged over draws is the kernel's.
const Features = 512

// Path is the function Draw(x) + Σ_j Weights_j k(x, At_j).
type Path struct {
	Draw    prior.Function
	Kernel  prior.Kernel
	At      *mat.Dense
	Weights []float64
}

// Chunk returns the number of points to evaluate at once against n others. It is large
// enough for an efficient triangular solve, and small enough for n×Chunk numbers to stay in
// cache.
func Chunk(n int) int { return max(256, 1<<16/n) }

// Eval implements surrogate.Path. It costs one kernel value, and one kernel gradient
// if grad is not nil, per row of At and point, in addition to the draw.
func (p *Path) Eval(value []float64, grad, x *mat.Dense) {
	m, n := shape.Eval(value, grad, x, p.Kernel.Dim()), len(p.Weights)
	p.Draw.Eval(value, grad, x)
	mem := workspace.Borrow()
	defer mem.Return()
	for lo, step := 0, Chunk(n); lo < m; lo += step {
		mem.Reset()
		hi := min(lo+step, m)
		xc, k := mem.Rows(x, lo, hi), mem.Dense(hi-lo, n)
		p.Kernel.Cross(k, xc, p.At)
		linalg.MulVec(value[lo:hi], 1, linalg.N, k, p.Weights, 1)
		if grad != nil {
			for i := range hi - lo {
				copy(k.RawRowView(i), p.Weights)
			}
			p.Kernel.CrossVJP(mem.Rows(grad, lo, hi), xc, p.At, k)
		}
	}
}
