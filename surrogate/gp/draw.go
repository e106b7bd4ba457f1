package gp

import (
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate"
)

// supportPoints is how many points carry a draw of a prior without features.
const supportPoints = 256

// supported draws n functions of p that are exact at support points and the
// prior mean given those elsewhere: points spread over the bounding box of x and
// the unit cube, and x.
func supported(p prior.Process, n int, x *mat.Dense, rng *rand.Rand) ([]surrogate.Path, error) {
	m, dim := x.Dims()
	z := mat.NewDense(m+supportPoints, dim, nil)
	z.Slice(0, m, 0, dim).(*mat.Dense).Copy(x)
	for j := range dim {
		lo, hi := 0.0, 1.0
		for i := range m {
			lo, hi = min(lo, x.At(i, j)), max(hi, x.At(i, j))
		}
		for i := range supportPoints {
			z.Set(m+i, j, lo+(hi-lo)*rng.Float64())
		}
	}
	gram := mat.NewSymDense(m+supportPoints, nil)
	p.Kernel.Gram(gram, z)
	factor, err := linalg.Factorize(gram)
	if err != nil {
		return nil, err
	}
	paths := make([]surrogate.Path, n)
	for i := range paths {
		// K⁻¹(Lε) = L⁻ᵀε
		weights := make([]float64, factor.N())
		for j := range weights {
			weights[j] = rng.NormFloat64()
		}
		factor.SolveUpperVec(weights)
		paths[i] = &expansion{kernel: p.Kernel, mean: p.Mean, at: z, weights: weights}
	}
	return paths, nil
}
