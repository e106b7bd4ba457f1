package gwi

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate/internal/inducing"
	"github.com/functionspace/bo/surrogate/internal/variational"
)

const (
	// pivotTol is the share of the prior variance at a measured point that the factor of the
	// prior covariance may omit.
	pivotTol = 1e-8

	// leastRoot makes √λ differentiable at 0, as √(λ + δ) - √δ. It is √δ divided by the trace of
	// the prior covariance.
	leastRoot = 1e-7

	// leastDistance makes W₂ = √(W₂²) differentiable at 0.
	leastDistance = 1e-6
)

// points are the rows at which the objective is evaluated: observations, and a set C at which
// the distance is measured. A row may be both.
type points struct {
	x        *mat.Dense
	measured int       // number of leading rows, which are C
	y        []float64 // observations at the last rows
	weight   float64   // N/B

	phi   *mat.Dense    // φ = L_B⁻¹w(x), a column for each row of x
	rest  []float64     // k(x,x) - |w(x)|²
	e     *mat.Dense    // φ(C)F, with F Fᵀ = k(C,C)
	h     *mat.SymDense // Fᵀ(k(C,C) - w(C)ᵀw(C))F
	trace float64       // trace of k(C,C)
}

// newPoints computes the quantities that depend on the prior only, in O(m²) per row and
// O(|C|³).
func newPoints(q *inducing.Posterior, x *mat.Dense, measured int, y []float64, weight float64) *points {
	n, d := x.Dims()
	p := &points{x: x, measured: measured, y: y, weight: weight, rest: make([]float64, n)}
	w, phi := q.Features(x)
	p.phi = phi
	q.Process.Kernel.Diag(p.rest, x)
	for _, v := range p.rest[:measured] {
		p.trace += v
	}
	linalg.SubColumnSquares(p.rest, w)

	k := mat.NewSymDense(measured, nil)
	q.Process.Kernel.Gram(k, x.Slice(0, measured, 0, d).(*mat.Dense))
	f := linalg.PivotedCholesky(k, pivotTol, measured)
	_, r := f.Dims()
	full, kf, wf := mat.NewDense(measured, measured, nil), mat.NewDense(measured, r, nil), mat.NewDense(q.L.N(), r, nil)
	full.Copy(k)
	linalg.Mul(kf, 1, linalg.N, full, linalg.N, f, 0)
	linalg.Mul(wf, 1, linalg.N, left(w, measured), linalg.N, f, 0)
	inner := mat.NewDense(r, r, nil)
	linalg.Mul(inner, 1, linalg.T, f, linalg.N, kf, 0)
	linalg.Mul(inner, -1, linalg.T, wf, linalg.N, wf, 1)
	p.h = linalg.Symmetric(inner)
	p.e = mat.NewDense(q.L.N(), r, nil)
	linalg.Mul(p.e, 1, linalg.N, left(phi, measured), linalg.N, f, 0)
	return p
}

// objective is the generalised variational loss
//
//	F = (N/B) Σ_batch [ ½ log 2πσ² + ((y - m_Q(x))² + r(x,x))/(2σ²) ] + D
//
// with D = Ŵ or Ŵ², and, over the M points of C,
//
//	Ŵ² = 1/M [ Σ (m_Q - μ)² + tr K + tr R - 2 tr (K^½ R K^½)^½ ],  K = k(C,C), R = r(C,C).
//
// The last trace equals tr (FᵀR F)^½ for F Fᵀ = K.
type objective struct {
	mean    mean
	process prior.Process
	squared bool
}

// eval returns F and writes its gradient. With P = (FᵀR F + δI)^-½ the gradient of the last
// trace with respect to T is E P Eᵀ T. The cost is O(m²) per row and O(|C|³).
func (o *objective) eval(v *variational.Gaussian, p *points, grad *variational.Gaussian) (float64, error) {
	rows := len(p.rest)
	m, r := p.e.Dims()
	count := float64(p.measured)

	clear(grad.Vector)
	f := o.mean.eval(v.M, p)
	psi := mat.NewDense(m, rows, nil)
	linalg.Mul(psi, 1, linalg.T, v.Ut, linalg.N, p.phi, 0)
	variance := append([]float64(nil), p.rest...)
	linalg.AddColumnSquares(variance, psi)

	u := mat.NewDense(m, r, nil) // TᵀE
	linalg.Mul(u, 1, linalg.T, v.Ut, linalg.N, p.e, 0)
	h := linalg.CloneSym(p.h)
	linalg.Syrk(h, 1, linalg.T, u, 1)
	root, power, err := squareRoot(h, leastRoot*p.trace)
	if err != nil {
		return 0, err
	}
	distance := p.trace - 2*root
	for i, s := range variance[:p.measured] {
		e := f[i] - o.process.Mean
		distance += e*e + s
	}
	distance = max(distance/count, 0)
	slope := 1.0 // derivative of D with respect to Ŵ²
	if !o.squared {
		distance = math.Sqrt(distance + leastDistance*leastDistance)
		slope = 0.5 / distance
	}

	value, fbar, each := o.loss(v, p, f, variance, distance, slope, grad)
	o.mean.vjp(grad.M, fbar, p)
	floats.Scale(2, each)
	linalg.ScaleColumns(psi, psi, each)
	linalg.Mul(grad.Ut, 1, linalg.N, p.phi, linalg.T, psi, 0)
	ep := mat.NewDense(m, r, nil)
	linalg.Mul(ep, 1, linalg.N, p.e, linalg.N, power, 0)
	linalg.Mul(grad.Ut, -2*slope/count, linalg.N, ep, linalg.T, u, 1)
	return value, nil
}

// loss returns F for a given distance D, and its derivatives for every row. The derivatives with respect to
// f = m_Q(x) are in fbar, and with respect to variance = r(x,x) in each. It writes ∂F/∂log σ to grad. slope is
// ∂D/∂Ŵ². each leaves out the last trace of Ŵ², which is no sum over rows.
func (o *objective) loss(v *variational.Gaussian, p *points, f, variance []float64, distance, slope float64, grad *variational.Gaussian) (value float64, fbar, each []float64) {
	rows := len(p.rest)
	first := rows - len(p.y)
	n, count, precision := float64(len(p.y)), float64(p.measured), math.Exp(-2*v.LogSD[0])
	fbar, each = make([]float64, rows), make([]float64, rows)
	for i := range p.measured {
		fbar[i] = slope * 2 / count * (f[i] - o.process.Mean)
		each[i] = slope / count
	}
	var sum float64
	for i, y := range p.y {
		e := f[first+i] - y
		sum += e*e + variance[first+i]
		fbar[first+i] += p.weight * precision * e
		each[first+i] += 0.5 * p.weight * precision
	}
	grad.LogSD[0] = p.weight * (n - precision*sum)
	return p.weight*(n*(0.5*math.Log(2*math.Pi)+v.LogSD[0])+0.5*precision*sum) + distance, fbar, each
}

// squareRoot returns Σ (√(λ + δ) - √δ) over the eigenvalues λ of h, and (h + δI)^-½, for a
// given √δ. Negative eigenvalues are rounding errors and count as 0.
func squareRoot(h *mat.SymDense, rootDelta float64) (trace float64, power *mat.Dense, err error) {
	r := h.SymmetricDim()
	values, vectors, err := linalg.Eigen(h)
	if err != nil {
		return 0, nil, fmt.Errorf("covariances: %w", err)
	}
	scaled, delta := mat.NewDense(r, r, nil), max(rootDelta*rootDelta, math.SmallestNonzeroFloat64)
	for i, l := range values {
		root := math.Sqrt(max(l, 0) + delta)
		trace += root - math.Sqrt(delta)
		linalg.Axpy(1/root, vectors.RawRowView(i), scaled.RawRowView(i))
	}
	power = mat.NewDense(r, r, nil)
	linalg.Mul(power, 1, linalg.T, scaled, linalg.N, vectors, 0)
	return trace, power, nil
}

// left returns the first n columns of a.
func left(a *mat.Dense, n int) *mat.Dense {
	r, _ := a.Dims()
	return a.Slice(0, r, 0, n).(*mat.Dense)
}
