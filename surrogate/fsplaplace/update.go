package fsplaplace

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/workspace"
)

// update is the covariance A⁻¹ of weights ω given n observations with features φ_i and noise
// variance σ², for ω ~ N(0,I) a priori:
//
//	A = I + σ⁻² Σ_i φ_iᵀφ_i.
//
// It is immutable.
type update interface {
	// root computes the factor shared by variance, covariance and times for rows φ.
	root(mem *workspace.Memory, phi *mat.Dense) *mat.Dense
	// variance writes φA⁻¹φᵀ of each row.
	variance(dst []float64, phi, root *mat.Dense)
	// covariance writes φA⁻¹φᵀ of all pairs of rows.
	covariance(dst *mat.SymDense, phi, root *mat.Dense)
	// times returns the rows φA⁻¹.
	times(mem *workspace.Memory, phi, root *mat.Dense) *mat.Dense
	// draw converts a draw from N(0,I) to a draw from N(0,A⁻¹), in place.
	draw(omega []float64, rng *rand.Rand)
}

// unobserved is A = I.
type unobserved struct{}

func (unobserved) root(_ *workspace.Memory, phi *mat.Dense) *mat.Dense { return phi }
func (unobserved) variance(dst []float64, phi, _ *mat.Dense)           { linalg.RowSquares(dst, phi) }
func (unobserved) covariance(dst *mat.SymDense, phi, _ *mat.Dense) {
	linalg.Syrk(dst, 1, linalg.N, phi, 0)
}
func (unobserved) times(_ *workspace.Memory, phi, _ *mat.Dense) *mat.Dense { return phi }
func (unobserved) draw([]float64, *rand.Rand)                              {}

// factored is a matrix L Lᵀ with L⁻¹ and its transpose, so that the rows of both are
// contiguous.
type factored struct {
	chol      *linalg.Cholesky
	inv, invT *mat.Dense
}

func factorize(a *mat.SymDense) (factored, error) {
	chol, err := linalg.Factorize(a)
	if err != nil {
		return factored{}, err
	}
	return invert(chol), nil
}

func invert(chol *linalg.Cholesky) factored {
	inv := mat.NewDense(chol.N(), chol.N(), nil)
	linalg.SetIdentity(inv)
	chol.SolveLower(inv)
	return factored{chol, inv, mat.DenseCopyOf(inv.T())}
}

// byWeights holds A = L Lᵀ, r×r, and costs O(r²) per point. Roots are φL⁻ᵀ.
type byWeights struct{ a factored }

func (u byWeights) root(mem *workspace.Memory, phi *mat.Dense) *mat.Dense {
	return multiply(mem, phi, u.a.invT)
}

func (u byWeights) variance(dst []float64, _, root *mat.Dense) { linalg.RowSquares(dst, root) }

func (u byWeights) covariance(dst *mat.SymDense, _, root *mat.Dense) {
	linalg.Syrk(dst, 1, linalg.N, root, 0)
}

func (u byWeights) times(mem *workspace.Memory, _, root *mat.Dense) *mat.Dense {
	return multiply(mem, root, u.a.inv)
}

func (u byWeights) draw(omega []float64, _ *rand.Rand) { u.a.chol.SolveUpperVec(omega) }

// byValues holds the n×r features Φ of the observations and costs O(n(r + n)) per point:
//
//	A⁻¹ = I - Φᵀ (ΦΦᵀ + σ²I)⁻¹ Φ,  ΦΦᵀ + σ²I = L Lᵀ.
//
// Roots are φΦᵀL⁻ᵀ.
type byValues struct {
	phi, phiT *mat.Dense
	noise     float64
	g         factored
}

func newByValues(phi *mat.Dense, noise float64) (*byValues, error) {
	n, _ := phi.Dims()
	g := mat.NewSymDense(n, nil)
	linalg.Syrk(g, 1, linalg.N, phi, 0)
	linalg.AddDiagonal(g, noise)
	f, err := factorize(g)
	if err != nil {
		return nil, err
	}
	return &byValues{phi, mat.DenseCopyOf(phi.T()), noise, f}, nil
}

func (u *byValues) root(mem *workspace.Memory, phi *mat.Dense) *mat.Dense {
	return multiply(mem, multiply(mem, phi, u.phiT), u.g.invT)
}

func (u *byValues) variance(dst []float64, phi, root *mat.Dense) {
	for i := range dst {
		f, r := phi.RawRowView(i), root.RawRowView(i)
		dst[i] = max(linalg.Dot(f, f)-linalg.Dot(r, r), 0)
	}
}

func (u *byValues) covariance(dst *mat.SymDense, phi, root *mat.Dense) {
	linalg.Syrk(dst, 1, linalg.N, phi, 0)
	linalg.Syrk(dst, -1, linalg.N, root, 1)
	for i := range dst.SymmetricDim() {
		dst.SetSym(i, i, max(dst.At(i, i), 0))
	}
}

func (u *byValues) times(mem *workspace.Memory, phi, root *mat.Dense) *mat.Dense {
	out := mem.Dense(phi.Dims())
	out.Copy(phi)
	linalg.Mul(out, -1, linalg.N, multiply(mem, root, u.g.inv), linalg.N, u.phi, 1)
	return out
}

// draw corrects ω by Matheron's rule.
func (u *byValues) draw(omega []float64, rng *rand.Rand) {
	e := make([]float64, u.g.chol.N())
	linalg.MulVec(e, 1, linalg.N, u.phi, omega, 0)
	sd := math.Sqrt(u.noise + u.g.chol.Jitter())
	for i := range e {
		e[i] += sd * rng.NormFloat64()
	}
	u.g.chol.SolveVec(e)
	linalg.MulVec(omega, -1, linalg.T, u.phi, e, 1)
}

// multiply returns the product ab.
func multiply(mem *workspace.Memory, a, b *mat.Dense) *mat.Dense {
	m, _ := a.Dims()
	_, n := b.Dims()
	out := mem.Dense(m, n)
	linalg.Mul(out, 1, linalg.N, a, linalg.N, b, 0)
	return out
}

// observe adds noisy observations at the m rows of x. With n observations in total it costs
// O(n²(n + r)) while n(n + r) < r², else O(mr² + r³).
func (p *posterior) observe(x *mat.Dense) error {
	r := p.factor.rank()
	m, _ := x.Dims()
	before, _ := p.update.(*byValues)
	n := 0
	if before != nil {
		n, _ = before.phi.Dims()
	}
	var err error
	if _, ok := p.update.(byWeights); !ok && (n+m)*(n+m+r) < r*r {
		phi := mat.NewDense(n+m, r, nil)
		if before != nil {
			phi.Copy(before.phi)
		}
		p.chunks(x, chunk, func(_ *workspace.Memory, i, k int, at features) {
			phi.Slice(n+i, n+k, 0, r).(*mat.Dense).Copy(at.phi)
		})
		p.update, err = newByValues(phi, p.NoiseVariance)
	} else {
		a := mat.NewSymDense(r, nil)
		switch u := p.update.(type) {
		case byWeights:
			l := mat.NewDense(r, r, nil)
			u.a.chol.Lower(l)
			linalg.Syrk(a, 1, linalg.N, l, 0)
		case *byValues:
			linalg.Syrk(a, 1/p.NoiseVariance, linalg.T, u.phi, 0)
			linalg.AddDiagonal(a, 1)
		default:
			linalg.AddDiagonal(a, 1)
		}
		p.chunks(x, chunk, func(_ *workspace.Memory, _, _ int, at features) {
			linalg.Syrk(a, 1/p.NoiseVariance, linalg.T, at.phi, 1)
		})
		var f factored
		f, err = factorize(a)
		p.update = byWeights{f}
	}
	if err != nil {
		return fmt.Errorf("fsp-laplace: posterior precision: %w", err)
	}
	return nil
}

// pull conditions the mean on values y at the rows of x, the last observations. It adds to m
//
//	A⁻¹ σ⁻² Σ_i φ_iᵀ (y_i - mean(x_i)) = Φᵀ (ΦΦᵀ + σ²I)⁻¹ (y - mean),
//
// with 0 for earlier observations, which the mean already includes. For values equal to the
// mean, as in the kriging believer, m does not change and can remain nil.
func (p *posterior) pull(x *mat.Dense, y []float64) {
	step := make([]float64, p.factor.rank())
	rest := make([]float64, len(y))
	values, few := p.update.(*byValues)
	p.chunks(x, chunk, func(_ *workspace.Memory, i, k int, at features) {
		p.mean(rest[i:k], at)
		for j := i; j < k; j++ {
			rest[j] = y[j] - rest[j]
		}
		if !few {
			linalg.MulVec(step, 1/p.NoiseVariance, linalg.T, at.phi, rest[i:k], 1)
		}
	})
	if floats.Norm(rest, math.Inf(1)) == 0 {
		return
	}
	if few {
		n := values.g.chol.N()
		all := make([]float64, n)
		copy(all[n-len(y):], rest)
		values.g.chol.SolveVec(all)
		linalg.MulVec(step, 1, linalg.T, values.phi, all, 0)
	} else {
		p.update.(byWeights).a.chol.SolveVec(step)
	}
	if p.m != nil {
		linalg.Axpy(1, p.m, step)
	}
	p.m = step
}
