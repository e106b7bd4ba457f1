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
)

// chunk is the number of rows of φ in memory.
const chunk = 1024

// Posterior is the distribution of f(x) = m(x) + φ(x)·w with normal coefficients w. New and Regress make one; the zero
// Posterior has no basis. A model may set the fields before it returns the posterior.
type Posterior struct {
	Notes      []string          // Warnings returns them
	Parameters []surrogate.Hyper // Hypers returns them, for display
	Learned    surrogate.State   // State returns it, the start of a later fit

	basis     Basis
	noise     float64
	precision *mat.SymDense // A: the coefficients of basis are N(A⁻¹shift, A⁻¹)
	shift     []float64
	factor    *linalg.Cholesky // of A
	weights   []float64        // A⁻¹shift
}

var (
	_ surrogate.Conditioner      = (*Posterior)(nil)
	_ surrogate.FeaturePosterior = (*Posterior)(nil)
	_ surrogate.Stater           = (*Posterior)(nil)
	_ surrogate.Describer        = (*Posterior)(nil)

	_ surrogate.Conditioner = (*Regression)(nil)
	_ surrogate.Evidence    = (*Regression)(nil)
)

// New returns the distribution with w ~ N(mean, root·rootᵀ). The F×k root may have any number of columns: k < F is a
// covariance of lower rank. Noise is the noise variance of observations, which Condition needs: its error wraps
// surrogate.ErrSetting unless the noise variance is positive and finite. New copies the mean and the root. A prediction costs
// the features and O(Fk + k²) for each point.
func New(b Basis, mean []float64, root mat.Matrix, noise float64) *Posterior {
	_, k := root.Dims()
	shape.Len("mean", len(mean), b.Len())
	shape.Dims("root", root, b.Len(), k)
	p := standard(whitened{b, slices.Clone(mean), mat.DenseCopyOf(root)}, noise)
	p.factor, _ = linalg.Factorize(p.precision) // the identity
	p.weights = make([]float64, k)
	return p
}

// standard returns the distribution with w ~ N(0, I), without the factor and the weights.
func standard(b Basis, noise float64) *Posterior {
	p := &Posterior{
		basis: b, noise: noise,
		precision: mat.NewSymDense(b.Len(), nil), shift: make([]float64, b.Len()),
	}
	linalg.AddDiagonal(p.precision, 1)
	return p
}

// Regression is a Posterior with the evidence of the observations.
type Regression struct {
	Posterior
	n  int     // observations
	rr float64 // |r|²
}

// Regress returns the posterior of w ~ N(0, I) given d, with noise of the given variance, in O(nF² + F³). The
// error wraps the error of d.Validate, the error of the context, or surrogate.ErrNotPositiveDefinite. It wraps
// surrogate.ErrSetting if the noise variance is not positive and finite or the mean is not finite. A Fit
// returns nil, not a nil *Regression, with an error.
func Regress(ctx context.Context, b Basis, noise float64, d surrogate.Dataset) (*Regression, error) {
	if err := d.Validate(); err != nil {
		return nil, err
	}
	shape.Points(d.X, b.Dim())
	p, rr, err := standard(b, noise).observe(ctx, d.X, d.Y)
	if err != nil {
		return nil, err
	}
	return &Regression{*p, len(d.Y), rr}, nil
}

// observe conditions p on y at the rows of x, and returns |r|².
func (p *Posterior) observe(ctx context.Context, x *mat.Dense, y []float64) (*Posterior, float64, error) {
	if !(p.noise > 0) || math.IsInf(p.noise, 1) {
		return nil, 0, fmt.Errorf("%w: the noise variance is %v, want a positive number", surrogate.ErrSetting, p.noise)
	}
	out := *p
	out.precision, out.shift = linalg.CloneSym(p.precision), slices.Clone(p.shift)
	r, rr := make([]float64, len(y)), 0.0
	for lo := 0; lo < len(y); lo += chunk {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		hi := min(lo+chunk, len(y))
		phi := p.eval(r[lo:hi], shape.Rows(x, lo, hi))
		for i := lo; i < hi; i++ {
			if r[i] = y[i] - r[i]; math.IsNaN(r[i]) || math.IsInf(r[i], 0) {
				return nil, 0, fmt.Errorf("%w: the mean is not a finite number at observation %d", surrogate.ErrSetting, i+1)
			}
			rr += r[i] * r[i]
		}
		linalg.Syrk(out.precision, 1/p.noise, linalg.T, phi, 1)
		linalg.MulVec(out.shift, 1/p.noise, linalg.T, phi, r[lo:hi], 1)
	}
	var err error
	if out.factor, err = linalg.Factorize(out.precision); err != nil {
		return nil, 0, err
	}
	out.weights = slices.Clone(out.shift)
	out.factor.SolveVec(out.weights)
	return &out, rr, nil
}

// Condition implements surrogate.Conditioner exactly.
func (p *Posterior) Condition(x *mat.Dense, y []float64) (surrogate.Posterior, error) {
	out, _, err := p.given(x, y)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Condition implements surrogate.Conditioner exactly.
func (p *Regression) Condition(x *mat.Dense, y []float64) (surrogate.Posterior, error) {
	out, rr, err := p.given(x, y)
	if err != nil {
		return nil, err
	}
	return &Regression{*out, p.n + len(y), p.rr + rr}, nil
}

// given validates the observations and conditions p on them.
func (p *Posterior) given(x *mat.Dense, y []float64) (*Posterior, float64, error) {
	if err := (surrogate.Dataset{X: x, Y: y}).Validate(); err != nil {
		return nil, 0, err
	}
	shape.Points(x, p.Dim())
	return p.observe(context.Background(), x, y)
}

// eval writes m and returns φ at the rows of x.
func (p *Posterior) eval(mean []float64, x *mat.Dense) *mat.Dense {
	m, _ := x.Dims()
	phi := mat.NewDense(m, p.basis.Len(), nil)
	p.basis.Eval(mean, phi, x)
	return phi
}

func (p *Posterior) Dim() int                  { return p.basis.Dim() }
func (p *Posterior) Noise() float64            { return p.noise }
func (p *Posterior) Warnings() []string        { return slices.Clone(p.Notes) }
func (p *Posterior) Hypers() []surrogate.Hyper { return slices.Clone(p.Parameters) }
func (p *Posterior) State() surrogate.State    { return slices.Clone(p.Learned) }

// LogMarginalLikelihood returns log N(y; m(X), ΦΦᵀ + σ²I).
func (p *Regression) LogMarginalLikelihood() float64 {
	return -0.5 * (float64(p.n)*math.Log(2*math.Pi*p.noise) + p.factor.LogDet() + p.rr/p.noise - linalg.Dot(p.shift, p.weights))
}

// Features implements surrogate.FeaturePosterior with m and φ.
func (p *Posterior) Features(x *mat.Dense) (offset []float64, phi *mat.Dense) {
	offset = make([]float64, shape.Points(x, p.Dim()))
	b := p.basis
	if w, ok := b.(whitened); ok {
		b = w.Basis
	}
	phi = mat.NewDense(len(offset), b.Len(), nil)
	b.Eval(offset, phi, x)
	return offset, phi
}

// Coefficients implements surrogate.FeaturePosterior with the moments of w.
func (p *Posterior) Coefficients() (mean []float64, cov *mat.SymDense) {
	b, ok := p.basis.(whitened)
	if !ok {
		cov = mat.NewSymDense(len(p.weights), nil)
		p.factor.Inverse(cov)
		return slices.Clone(p.weights), cov
	}
	half := mat.DenseCopyOf(b.root.T())
	p.factor.SolveLower(half)
	cov = mat.NewSymDense(len(b.mean), nil)
	linalg.Syrk(cov, 1, linalg.T, half, 0)
	return b.coefficients(p.weights), cov
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
		combineGrad(shape.Rows(dmean, i, k), p.basis, x, p.weights)
		p.factor.SolveUpper(half)
		bar := mat.DenseCopyOf(half.T())
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
		paths[i] = pathOf(p.basis, w)
	}
	return paths
}
