package gp

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/shape"
	"github.com/functionspace/bo/internal/workspace"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate"
)

// pathFeatures is the number of random features of a prior draw. For every number,
// the covariance averaged over draws is the kernel's.
const pathFeatures = 512

// Paths draws functions by Matheron's rule (Wilson et al. 2020, eq. 9): a draw
// of the prior and a correction towards the data,
//
//	f(x) = f₀(x) + k(x,X) A⁻¹ (y - f₀(X) - ε),  ε ~ N(0, (σ²+jitter) I)
//
// where f₀ is a draw with 512 random features of the kernel, new for each path. A
// path costs 2n² flops in addition to the prior draw. White noise in the kernel
// contributes to the variance of f but not to paths, because it has no sample
// functions. Paths panics for a kernel without its own features that is not positive
// definite.
func (p *posterior) Paths(n int, rng *rand.Rand) []surrogate.Path {
	draws, err := p.process.Draw(n, pathFeatures, rng)
	if err != nil {
		panic(fmt.Sprintf("gp: %v", err))
	}
	sd := math.Sqrt(p.process.Noise + p.factor.Jitter())
	paths := make([]surrogate.Path, n)
	for i, draw := range draws {
		weights := make([]float64, len(p.y))
		draw.Eval(weights, nil, p.x)
		for j, y := range p.y {
			weights[j] = y - weights[j] - sd*rng.NormFloat64()
		}
		p.factor.SolveVec(weights)
		paths[i] = &path{draw, expansion{kernel: p.process.Kernel, at: p.x, weights: weights}}
	}
	return paths
}

// path is a draw of the prior plus a correction.
type path struct {
	draw       prior.Function
	correction expansion
}

// Eval costs one kernel value, and one kernel gradient if grad is not nil, per
// observation and point, in addition to the prior draw.
func (p *path) Eval(value []float64, grad, x *mat.Dense) {
	p.draw.Eval(value, grad, x)
	p.correction.add(value, grad, x)
}

// expansion is the function mean + Σ_j weights_j k(x, at_j).
type expansion struct {
	kernel  prior.Kernel
	mean    float64
	at      *mat.Dense
	weights []float64
}

// Eval writes values and, unless grad is nil, gradients.
func (e *expansion) Eval(value []float64, grad, x *mat.Dense) {
	for i := range value {
		value[i] = e.mean
	}
	if grad != nil {
		grad.Zero()
	}
	e.add(value, grad, x)
}

// add adds Σ_j weights_j k(x, at_j) and its gradient.
func (e *expansion) add(value []float64, grad, x *mat.Dense) {
	m := shape.Eval(value, grad, x, e.kernel.Dim())
	n := len(e.weights)
	mem := workspace.Borrow()
	defer mem.Return()
	for lo, step := 0, chunk(n); lo < m; lo += step {
		mem.Reset()
		hi := min(lo+step, m)
		xc, k := mem.Rows(x, lo, hi), mem.Dense(hi-lo, n)
		e.kernel.Cross(k, xc, e.at)
		linalg.MulVec(value[lo:hi], 1, linalg.N, k, e.weights, 1)
		if grad != nil {
			for i := range hi - lo {
				copy(k.RawRowView(i), e.weights)
			}
			e.kernel.CrossVJP(mem.Rows(grad, lo, hi), xc, e.at, k)
		}
	}
}
