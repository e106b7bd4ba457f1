// Package pathwise computes the posterior of a Gaussian process from kernel functions at n
// points: moments, their reverse-mode products, and draws by Matheron's rule (Wilson et al.
// 2020), which are draws of the prior plus a combination of the kernel functions.
package pathwise

import (
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/shape"
	"github.com/functionspace/bo/internal/workspace"
	"github.com/functionspace/bo/prior"
)

// features is the number of random features of a prior draw. For every number, the
// covariance averaged over draws is the kernel's.
const features = 512

// path is the function draw(x) + Σ_j weights_j k(x, Z_j).
type path struct {
	draw prior.Function
	*Basis
	weights []float64
}

// Chunk returns the number of points to evaluate at once against n others. It is large
// enough for an efficient triangular solve, and small enough for n×Chunk numbers to stay in
// cache.
func Chunk(n int) int { return max(256, 1<<16/n) }

// Eval costs one kernel value, and one kernel gradient if grad is not nil, per row of Z and
// point, in addition to the draw.
func (p *path) Eval(value []float64, grad, x *mat.Dense) {
	m, n := shape.Eval(value, grad, x, p.Dim()), len(p.weights)
	p.draw.Eval(value, grad, x)
	mem := workspace.Borrow()
	defer mem.Return()
	for lo, step := 0, Chunk(n); lo < m; lo += step {
		mem.Reset()
		hi := min(lo+step, m)
		xc, k := mem.Rows(x, lo, hi), mem.Dense(hi-lo, n)
		p.Process.Kernel.Cross(k, xc, p.Z)
		linalg.MulVec(value[lo:hi], 1, linalg.N, k, p.weights, 1)
		if grad != nil {
			for i := range hi - lo {
				copy(k.RawRowView(i), p.weights)
			}
			p.Process.Kernel.CrossVJP(mem.Rows(grad, lo, hi), xc, p.Z, k)
		}
	}
}
