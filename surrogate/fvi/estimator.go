package fvi

import (
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
)

// method holds the settings of the estimate of scores from samples.
type method struct {
	share float64 // share of the trace in the leading eigenvalues to use
	plain bool    // as published: neither whitened nor calibrated
	ridge float64 // added to the samples' covariance
}

// estimator is the spectral estimator in whitened coordinates z = L⁻¹x, multiplied by a number
// c. L Lᵀ is the covariance of the samples plus the ridge:
//
//	∇ log q(x) ≈ c L⁻ᵀ ŝ(L⁻¹x).
//
// Values of a smooth function at neighbouring points are nearly equal. Without whitening, a
// kernel with one width per value does not resolve their differences, and the estimate is too
// small in these directions. The remaining error grows with the dimension. c is chosen so that
// Stein's identity E_q[(x - E x)·∇ log q] = -d holds for the samples.
type estimator struct {
	spectral *spectral
	chol     *linalg.Cholesky // nil for the plain estimator
	factor   float64          // c
}

// mostFactor is the upper bound of c.
const mostFactor = 10

// estimate returns the estimator in O(n³ + n²d + d³) for n samples in R^d. A non-nil x holds
// further points at which the score is evaluated. The kernel's widths then include them, so
// that the kernel is not zero at points far from all samples.
func (m method) estimate(samples, x *mat.Dense) (*estimator, error) {
	e := &estimator{factor: 1}
	if !m.plain {
		var err error
		if e.chol, err = linalg.Factorize(covariance(samples, m.ridge)); err != nil {
			return nil, err
		}
		samples = e.whiten(samples)
	}
	both := samples
	if x != nil {
		both = new(mat.Dense)
		both.Stack(samples, e.whiten(x))
	}
	var err error
	if e.spectral, err = newSpectral(samples, widths(both), m.share); err != nil || m.plain {
		return e, err
	}
	n, d := samples.Dims()
	s := mat.NewDense(n, d, nil)
	linalg.Mul(s, 1, linalg.N, e.spectral.gram, linalg.N, e.spectral.weights, 0)
	if stein := -inner(s, centred(samples)) / float64(n*d); stein*mostFactor > 1 {
		e.factor = 1 / stein
	} else {
		e.factor = mostFactor
	}
	return e, nil
}

// score writes the estimate at the rows of x.
func (e *estimator) score(dst, x *mat.Dense) {
	e.spectral.score(dst, e.whiten(x))
	if e.chol == nil {
		return
	}
	t := mat.DenseCopyOf(dst.T())
	e.chol.SolveUpper(t)
	dst.Copy(t.T())
	dst.Scale(e.factor, dst)
}

// whiten returns L⁻¹ times each row of x.
func (e *estimator) whiten(x *mat.Dense) *mat.Dense {
	if e.chol == nil {
		return x
	}
	t := mat.DenseCopyOf(x.T())
	e.chol.SolveLower(t)
	return mat.DenseCopyOf(t.T())
}

// covariance returns the covariance of the rows of x with ridge added to its diagonal.
func covariance(x *mat.Dense, ridge float64) *mat.SymDense {
	n, d := x.Dims()
	cov := mat.NewSymDense(d, nil)
	linalg.Syrk(cov, 1/float64(n), linalg.T, centred(x), 0)
	linalg.AddDiagonal(cov, ridge)
	return cov
}

// centred returns the rows of x minus their mean.
func centred(x *mat.Dense) *mat.Dense {
	n, d := x.Dims()
	out, mean := mat.DenseCopyOf(x), make([]float64, d)
	for i := range n {
		linalg.Axpy(1/float64(n), x.RawRowView(i), mean)
	}
	for i := range n {
		linalg.Axpy(-1, mean, out.RawRowView(i))
	}
	return out
}

// inner returns Σ_ij a_ij b_ij.
func inner(a, b *mat.Dense) float64 {
	n, _ := a.Dims()
	var sum float64
	for i := range n {
		sum += linalg.Dot(a.RawRowView(i), b.RawRowView(i))
	}
	return sum
}
