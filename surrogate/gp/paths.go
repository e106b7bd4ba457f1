package gp

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/pathwise"
)

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
	draws, err := p.process.Draw(n, pathwise.Features, rng)
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
		paths[i] = &pathwise.Path{Draw: draw, Kernel: p.process.Kernel, At: p.x, Weights: weights}
	}
	return paths
}
