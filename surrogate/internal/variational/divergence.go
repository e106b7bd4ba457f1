// Package variational implements Gaussian distributions of a network's weights, and their
// Kullback–Leibler divergence from a Gaussian prior on functions at a set of points.
package variational

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
)

// Divergence is the regularised Kullback–Leibler divergence of two Gaussians at M points
// (Quang 2019), with its gradients:
//
//	D = KL( N(a, Q + εI) ‖ N(b, P + εI) )
//	  = ½ [ tr(P_ε⁻¹Q_ε) + ΔᵀP_ε⁻¹Δ - M + log det P_ε - log det Q_ε ],  Δ = a - b.
type Divergence struct {
	Value float64
	Delta []float64 // ∂D/∂Δ = P_ε⁻¹Δ

	q    *mat.SymDense // Q_ε
	qinv *mat.SymDense
	pinv *mat.SymDense
}

// NewDivergence returns D in O(M³). If P_ε or Q_ε is not positive definite in floating point,
// the same jitter is added to both.
func NewDivergence(delta []float64, q, p *mat.SymDense, eps float64) (*Divergence, error) {
	m := len(delta)
	if a, b := q.SymmetricDim(), p.SymmetricDim(); a != m || b != m {
		panic(fmt.Sprintf("variational: covariances of size %d and %d, want %d", a, b, m))
	}
	qe, pe := linalg.CloneSym(q), linalg.CloneSym(p)
	linalg.AddDiagonal(qe, eps)
	linalg.AddDiagonal(pe, eps)
	cp, cq, err := factorizeBoth(pe, qe)
	if err != nil {
		return nil, err
	}
	d := &Divergence{Delta: append([]float64(nil), delta...), q: qe, qinv: mat.NewSymDense(m, nil), pinv: mat.NewSymDense(m, nil)}
	cp.Inverse(d.pinv)
	cq.Inverse(d.qinv)
	cp.SolveVec(d.Delta)
	d.Value = 0.5 * (inner(d.pinv, qe) + linalg.Dot(delta, d.Delta) - float64(m) + cp.LogDet() - cq.LogDet())
	return d, nil
}

// factorizeBoth factorises both matrices. It adds the larger of the jitters they need to both.
func factorizeBoth(a, b *mat.SymDense) (ca, cb *linalg.Cholesky, err error) {
	for {
		if ca, err = linalg.Factorize(a); err != nil {
			return nil, nil, err
		}
		if cb, err = linalg.Factorize(b); err != nil {
			return nil, nil, err
		}
		j := max(ca.Jitter(), cb.Jitter())
		if j == 0 {
			return ca, cb, nil
		}
		linalg.AddDiagonal(a, j)
		linalg.AddDiagonal(b, j)
	}
}

// Q returns ∂D/∂Q = ½ (P_ε⁻¹ - Q_ε⁻¹) as a full matrix.
func (d *Divergence) Q() *mat.Dense {
	m := len(d.Delta)
	out := mat.NewDense(m, m, nil)
	p, q := d.pinv.RawSymmetric(), d.qinv.RawSymmetric()
	raw := out.RawMatrix()
	for i := range m {
		for j := i; j < m; j++ {
			v := 0.5 * (p.Data[i*p.Stride+j] - q.Data[i*q.Stride+j])
			raw.Data[i*m+j], raw.Data[j*m+i] = v, v
		}
	}
	return out
}

// P returns ∂D/∂P = ½ (P_ε⁻¹ - P_ε⁻¹(Q_ε + ΔΔᵀ)P_ε⁻¹) as a full matrix.
func (d *Divergence) P() *mat.Dense {
	m := len(d.Delta)
	pinv, out, tmp := mat.DenseCopyOf(d.pinv), mat.DenseCopyOf(d.pinv), mat.NewDense(m, m, nil)
	linalg.Mul(tmp, 1, linalg.N, pinv, linalg.N, mat.DenseCopyOf(d.q), 0)
	linalg.Mul(out, -0.5, linalg.N, tmp, linalg.N, pinv, 0.5)
	for i, a := range d.Delta {
		linalg.Axpy(-0.5*a, d.Delta, out.RawRowView(i))
	}
	return out
}

// inner returns Σ_ij a_ij b_ij.
func inner(a, b *mat.SymDense) float64 {
	m := a.SymmetricDim()
	x, y := a.RawSymmetric(), b.RawSymmetric()
	var sum float64
	for i := range m {
		r, s := x.Data[i*x.Stride+i:i*x.Stride+m], y.Data[i*y.Stride+i:i*y.Stride+m]
		sum += 2*linalg.Dot(r, s) - r[0]*s[0]
	}
	return sum
}
