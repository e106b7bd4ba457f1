package gp

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/workspace"
	"github.com/functionspace/bo/surrogate"
)

// half is the Half of the Conditional: it returns L⁻¹k(X,x).
func (p *posterior) half(mem *workspace.Memory, mean, variance []float64, x *mat.Dense) *mat.Dense {
	k := mem.Dense(len(p.y), len(mean))
	p.Means(k, mean, x)
	p.L.SolveLower(k)
	p.Process.Kernel.Diag(variance, x)
	linalg.SubColumnSquares(variance, k)
	return k
}

// halfJoint is the HalfJoint of the Conditional.
func (p *posterior) halfJoint(mem *workspace.Memory, mean []float64, cov *mat.SymDense, x *mat.Dense) (w, h *mat.Dense) {
	half := mem.Dense(len(p.y), len(mean))
	p.Process.Kernel.Cross(half, p.Z, x)
	linalg.MulVec(mean, 1, linalg.T, half, p.Weights, 0)
	floats.AddConst(p.Process.Mean, mean)
	p.L.SolveLower(half)
	p.Process.Kernel.Gram(cov, x)
	linalg.Syrk(cov, -1, linalg.T, half, 1)
	return half, half
}

// Paths draws functions by Matheron's rule (Wilson et al. 2020, eq. 9): a draw
// of the prior and a correction towards the data,
//
//	f(x) = f₀(x) + k(x,X) A⁻¹ (y - f₀(X) - ε),  ε ~ N(0, (σ²+jitter) I)
//
// with known noise variances of targets in place of σ². Each path has a new f₀, a draw with 512 random features
// of the kernel. A path costs 2n² flops in addition to the prior draw. Paths panics as DrawPaths does.
func (p *posterior) Paths(n int, rng *rand.Rand) []surrogate.Path {
	sd := make([]float64, len(p.y))
	for j := range sd {
		sd[j] = math.Sqrt(p.noiseAt(j) + p.L.Jitter())
	}
	return p.DrawPaths(n, rng, func(w []float64) {
		for j, y := range p.y {
			w[j] = y - w[j] - sd[j]*rng.NormFloat64()
		}
		p.L.SolveVec(w)
	})
}
