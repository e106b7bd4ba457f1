package fvi

import (
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/prior"
)

// scored is a prior on functions with a known or an estimated score.
type scored interface {
	// score writes ∇ log p at the values f, a row for each function, at the rows of x. p is the
	// prior's density with noise injected.
	score(dst, f, x *mat.Dense, rng *rand.Rand) error
}

// gaussian is a Gaussian process. Its score is
//
//	∇ log p(f) = -(K + γ²I)⁻¹ (f - μ).
type gaussian struct {
	process prior.Process
	inject  float64 // γ
}

// score costs O(m³ + km²) for k functions at m points.
func (g gaussian) score(dst, f, x *mat.Dense, _ *rand.Rand) error {
	k, m := f.Dims()
	cov, residual := mat.NewSymDense(m, nil), mat.NewDense(m, k, nil)
	g.process.Kernel.Gram(cov, x)
	linalg.AddDiagonal(cov, g.inject*g.inject)
	chol, err := linalg.Factorize(cov)
	if err != nil {
		return err
	}
	for i := range k {
		for j, v := range f.RawRowView(i) {
			residual.Set(j, i, g.process.Mean-v)
		}
	}
	chol.Solve(residual)
	dst.Copy(residual.T())
	return nil
}

// implicit is a prior without a known density. Its score is estimated from as many draws as
// there are functions.
type implicit struct {
	sampler Sampler
	inject  float64 // γ
	method  method
}

// score costs O(k³ + k²m + m³) for k functions at m points.
func (p implicit) score(dst, f, x *mat.Dense, rng *rand.Rand) error {
	k, m := f.Dims()
	draws := mat.NewDense(k, m, nil)
	p.sampler.Sample(draws, x, rng)
	raw := draws.RawMatrix().Data
	for i := range raw {
		raw[i] += p.inject * rng.NormFloat64()
	}
	e, err := p.method.estimate(draws, f)
	if err != nil {
		return err
	}
	e.score(dst, f)
	return nil
}
