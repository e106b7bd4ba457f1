package linear

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/internal/shape"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/summary"
)

// Basis is the mean m and the basis functions φ. It is immutable and safe for concurrent
// use.
type Basis interface {
	// Dim returns d, the number of inputs.
	Dim() int
	// Len returns F, the number of basis functions.
	Len() int
	// Eval writes m(x_i) and φ(x_i), rows×F, at the rows of x.
	Eval(mean []float64, phi, x *mat.Dense)
	// EvalVJP adds to dx (rows×d) the gradient of Σ_i mbar_i m(x_i) +
	// Σ_ij phibar_ij φ_j(x_i). A nil mbar is zeros.
	EvalVJP(dx, x *mat.Dense, mbar []float64, phibar *mat.Dense)
	// Path returns the function m(x) + φ(x)ᵀw.
	Path(w []float64) surrogate.Path
}

// chunk is the number of rows of φ in memory.
const chunk = 1024

// Posterior is the posterior w ~ N(A⁻¹shift, A⁻¹) with A = precision and shift = Φᵀr/σ².
// Its exported fields may be set before its first use.
type Posterior struct {
	summary.Summary

	name      string
	basis     Basis
	precision *mat.SymDense
	shift     []float64
	n         int     // observations
	rr        float64 // |r|²

	factor  *linalg.Cholesky // factor of A
	weights []float64        // mean of w
}

var (
	_ surrogate.Conditioner      = (*Posterior)(nil)
	_ surrogate.FeaturePosterior = (*Posterior)(nil)
	_ surrogate.Evidence         = (*Posterior)(nil)
	_ surrogate.Stater           = (*Posterior)(nil)
	_ surrogate.Describer        = (*Posterior)(nil)
)

// New returns the posterior given y, with noise of the given variance, at the rows of x, in
// O(nF² + F³). Errors begin with name.
func New(ctx context.Context, name string, b Basis, noise float64, x *mat.Dense, y []float64) (*Posterior, error) {
	none := &Posterior{
		name: name, basis: b, Summary: summary.Summary{NoiseVariance: noise},
		precision: mat.NewSymDense(b.Len(), nil), shift: make([]float64, b.Len()),
	}
	linalg.AddDiagonal(none.precision, 1)
	return none.observe(ctx, x, y)
}

func (p *Posterior) observe(ctx context.Context, x *mat.Dense, y []float64) (*Posterior, error) {
	out := *p
	out.precision, out.shift = linalg.CloneSym(p.precision), slices.Clone(p.shift)
	out.n += len(y)
	r := make([]float64, len(y))
	for lo := 0; lo < len(y); lo += chunk {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("%s: %w", p.name, err)
		}
		hi := min(lo+chunk, len(y))
		phi := p.eval(r[lo:hi], shape.Rows(x, lo, hi))
		for i := lo; i < hi; i++ {
			r[i] = y[i] - r[i]
			out.rr += r[i] * r[i]
		}
		linalg.Syrk(out.precision, 1/p.NoiseVariance, linalg.T, phi, 1)
		linalg.MulVec(out.shift, 1/p.NoiseVariance, linalg.T, phi, r[lo:hi], 1)
	}
	var err error
	if out.factor, err = linalg.Factorize(out.precision); err != nil {
		return nil, fmt.Errorf("%s: %w", p.name, err)
	}
	out.weights = slices.Clone(out.shift)
	out.factor.SolveVec(out.weights)
	return &out, nil
}

// Condition implements surrogate.Conditioner exactly.
func (p *Posterior) Condition(x *mat.Dense, y []float64) (surrogate.Posterior, error) {
	if err := (surrogate.Dataset{X: x, Y: y}).Validate(); err != nil {
		return nil, err
	}
	shape.Points(x, p.Dim())
	out, err := p.observe(context.Background(), x, y)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// eval writes m and returns φ at the rows of x.
func (p *Posterior) eval(mean []float64, x *mat.Dense) *mat.Dense {
	m, _ := x.Dims()
	phi := mat.NewDense(m, p.basis.Len(), nil)
	p.basis.Eval(mean, phi, x)
	return phi
}

func (p *Posterior) Dim() int { return p.basis.Dim() }

// LogMarginalLikelihood returns log N(y; m(X), ΦΦᵀ + σ²I).
func (p *Posterior) LogMarginalLikelihood() float64 {
	return -0.5 * (float64(p.n)*math.Log(2*math.Pi*p.NoiseVariance) + p.factor.LogDet() + p.rr/p.NoiseVariance - linalg.Dot(p.shift, p.weights))
}

// Features implements surrogate.FeaturePosterior.
func (p *Posterior) Features(x *mat.Dense) (offset []float64, phi *mat.Dense) {
	offset = make([]float64, shape.Points(x, p.Dim()))
	return offset, p.eval(offset, x)
}

// Coefficients implements surrogate.FeaturePosterior.
func (p *Posterior) Coefficients() (mean []float64, cov *mat.SymDense) {
	cov = mat.NewSymDense(len(p.weights), nil)
	p.factor.Inverse(cov)
	return slices.Clone(p.weights), cov
}

// moments writes the mean and the variance at the rows of x and returns L⁻¹φ(x)ᵀ,
// where A = LLᵀ.
func (p *Posterior) moments(mean, variance []float64, x *mat.Dense) *mat.Dense {
	phi := p.eval(mean, x)
	linalg.MulVec(mean, 1, linalg.N, phi, p.weights, 1)
	half := mat.DenseCopyOf(phi.T())
	p.factor.SolveLower(half)
	clear(variance)
	linalg.AddColumnSquares(variance, half)
	return half
}

// Predict costs O(F²) and the basis functions per point.
func (p *Posterior) Predict(mean, variance []float64, x *mat.Dense) {
	shape.Predict(mean, variance, x, p.Dim())
	shape.Chunks(x, chunk, func(i, k int, x *mat.Dense) {
		p.moments(mean[i:k], variance[i:k], x)
	})
}

// PredictGrad costs O(F²) and the basis functions with gradients per point.
func (p *Posterior) PredictGrad(mean, variance []float64, dmean, dvariance, x *mat.Dense) {
	shape.PredictGrad(mean, variance, dmean, dvariance, x, p.Dim())
	dmean.Zero()
	dvariance.Zero()
	shape.Chunks(x, chunk, func(i, k int, x *mat.Dense) {
		half := p.moments(mean[i:k], variance[i:k], x)
		bar, ones := mat.NewDense(k-i, len(p.weights), nil), make([]float64, k-i)
		for r := range ones {
			ones[r] = 1
			copy(bar.RawRowView(r), p.weights)
		}
		p.basis.EvalVJP(shape.Rows(dmean, i, k), x, ones, bar)
		p.factor.SolveUpper(half)
		bar.Copy(half.T())
		bar.Scale(2, bar)
		p.basis.EvalVJP(shape.Rows(dvariance, i, k), x, nil, bar)
	})
}

// Joint costs O(mF² + m²F) for m points.
func (p *Posterior) Joint(mean []float64, cov *mat.SymDense, x *mat.Dense) {
	m := shape.Joint(mean, cov, x, p.Dim())
	half := p.moments(mean, make([]float64, m), x)
	linalg.Syrk(cov, 1, linalg.T, half, 0)
}

// JointVJP costs O(mF² + m²F): with C̄ = cbar and m̄ = mbar the adjoint of φ(x) is
// m̄wᵀ + 2C̄φ(x)A⁻¹.
func (p *Posterior) JointVJP(dx *mat.Dense, mbar []float64, cbar *mat.SymDense, x *mat.Dense) {
	m := shape.JointVJP(dx, mbar, cbar, x, p.Dim())
	half := p.moments(make([]float64, m), make([]float64, m), x)
	p.factor.SolveUpper(half)
	full, bar := mat.DenseCopyOf(cbar), mat.NewDense(m, len(p.weights), nil)
	linalg.Mul(bar, 2, linalg.N, full, linalg.T, half, 0)
	for i, w := range mbar {
		linalg.Axpy(w, p.weights, bar.RawRowView(i))
	}
	p.basis.EvalVJP(dx, x, mbar, bar)
}

// Paths draws w: each path is an exact draw of the posterior.
func (p *Posterior) Paths(n int, rng *rand.Rand) []surrogate.Path {
	paths := make([]surrogate.Path, n)
	for i := range paths {
		w := make([]float64, len(p.weights))
		random.Normal(w, rng)
		p.factor.SolveUpperVec(w)
		linalg.Axpy(1, p.weights, w)
		paths[i] = p.basis.Path(w)
	}
	return paths
}
