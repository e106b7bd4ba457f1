package classify

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
)

// Approximation is a Gaussian approximation N(F, (K⁻¹ + W)⁻¹) of latent Gaussian processes at n labelled points. In
// Laplace's approximation F is the maximum f̂ of
//
//	Ψ(f) = log p(y|f) - ½ (f-m)ᵀK⁻¹(f-m)
//
// and W the curvature of -log p(y|f) at f̂.
type Approximation struct {
	F, A     *mat.Dense // L×n: the mean and a = K⁻¹(F-m), which is ∂log p/∂f at f̂
	D        *mat.Dense // D of W
	Prob     *mat.Dense // probabilities at f̂; nil for Variational
	Factor   *Factor
	Evidence float64 // Ψ(f̂) - ½ log|I + KW| (RW eq. 3.32 and 3.44)
}

const (
	newtonSteps = 100
	newtonGain  = 1e-11 // nats; a step with a smaller gain is the last
)

// FindMode finds the maximum by Newton's method (RW algorithms 3.1 and 3.3, with the term
// log|M| of the evidence that algorithm 3.3 omits). It halves a step until Ψ increases. K
// and m have an element for each latent function. start is the a of an earlier mode, or nil.
// A step costs O(Ln³).
func FindMode(ctx context.Context, k []*mat.SymDense, m []float64, y []int, start *mat.Dense) (*Approximation, error) {
	l, n := len(k), len(y)
	if start == nil {
		start = mat.NewDense(l, n, nil)
	}
	s := &Approximation{F: mat.NewDense(l, n, nil), A: mat.DenseCopyOf(start), Prob: mat.NewDense(l, n, nil)}
	grad, step, rise := mat.NewDense(l, n, nil), mat.NewDense(l, n, nil), mat.NewDense(l, n, nil)
	mulBlocks(s.F, k, s.A)
	shiftRows(s.F, 1, m)
	psi := LogProb(s.Prob, grad, s.F, y) - 0.5*quadratic(s.A, s.F, m)
	for i, gain := 0, math.Inf(1); ; i++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var err error
		s.D = Diagonal(s.Prob)
		if s.Factor, err = NewFactor(k, s.D); err != nil {
			return nil, err
		}
		if gain < newtonGain || i == newtonSteps {
			s.Evidence = psi - 0.5*s.Factor.LogDet()
			return s, nil
		}
		s.newton(step, rise, k, m, grad)
		mulBlocks(rise, k, step)

		gain = 0
		f, a := mat.NewDense(l, n, nil), mat.NewDense(l, n, nil)
		for t := 1.0; t > 1e-9; t /= 2 {
			f.Scale(t, rise)
			f.Add(f, s.F)
			a.Scale(t, step)
			a.Add(a, s.A)
			reached := LogProb(s.Prob, grad, f, y) - 0.5*quadratic(a, f, m)
			// Near the maximum a decrease by rounding errors is permitted.
			if reached >= psi-1e-13*(1+math.Abs(psi)) {
				gain, psi = reached-psi, reached
				s.F, s.A = f, a
				break
			}
		}
		LogProb(s.Prob, grad, s.F, y) // at the accepted step
		if math.IsNaN(psi) {
			return nil, fmt.Errorf("latent values are not finite: %w", linalg.ErrNotPositiveDefinite)
		}
	}
}

// newton writes a step of Newton's method for a, given the gradient of log p(y|f). The step ends at a = b - RKb, b = W(f-m) + ∂log p/∂f. The rise has its shape and is overwritten.
func (s *Approximation) newton(step, rise *mat.Dense, k []*mat.SymDense, m []float64, grad *mat.Dense) {
	step.Copy(s.F)
	shiftRows(step, -1, m)
	MulCurvature(step, s.D)
	step.Add(step, grad)
	mulBlocks(rise, k, step)
	s.Factor.Solve(rise)
	step.Sub(step, rise)
	step.Sub(step, s.A)
}

// covariances returns the posterior covariances of the latent functions at the labelled points, n×L².
func (s *Approximation) covariances(k []*mat.SymDense) *mat.Dense {
	l, n := s.F.Dims()
	cov, q := mat.NewDense(n, l*l, nil), make([]*mat.Dense, l)
	for c := range l {
		q[c] = mat.DenseCopyOf(k[c])
		for i := range n {
			cov.RawRowView(i)[c*l+c] = k[c].At(i, i)
		}
	}
	s.Factor.Reduce(cov, q)
	return cov
}

// quadratic returns Σ_c a_cᵀ(f_c - m_c).
func quadratic(a, f *mat.Dense, m []float64) float64 {
	var sum float64
	for c, mean := range m {
		row := f.RawRowView(c)
		for i, v := range a.RawRowView(c) {
			sum += v * (row[i] - mean)
		}
	}
	return sum
}

// mulBlocks writes K_c v_c to the rows of dst.
func mulBlocks(dst *mat.Dense, k []*mat.SymDense, v *mat.Dense) {
	for c := range k {
		mulSym(dst.RawRowView(c), k[c], v.RawRowView(c))
	}
}

// shiftRows adds sign·m_c to row c of v.
func shiftRows(v *mat.Dense, sign float64, m []float64) {
	for c, b := range m {
		floats.AddConst(sign*b, v.RawRowView(c))
	}
}

// Adjoint returns the derivatives of the evidence with respect to the elements of a K that all latent functions
// share: d = Σ_ij kbar_ij dK_ij. It also returns the derivatives with respect to the means (RW algorithm 5.1,
// for any L). With s = ∂/∂f of -½log|I+KW| and u = s - RKs,
//
//	kbar = ½ Σ_c (a_c a_cᵀ - R_cc + u_c a_cᵀ + a_c u_cᵀ),  dmean_c = Σ_i a_ci + u_ci.
//
// s is -½W(diag S - 2Sπ) for the posterior covariance S of the latent functions at a point.
func (s *Approximation) Adjoint() (kbar *mat.SymDense, dmean []float64) {
	l, n := s.F.Dims()
	k := s.Factor.k
	cov := s.covariances(k)
	u, ru := mat.NewDense(l, n, nil), mat.NewDense(l, n, nil)
	for i := range n {
		row := cov.RawRowView(i)
		for c := range l {
			v := row[c*l+c]
			for d := range l {
				v -= 2 * row[c*l+d] * s.Prob.At(d, i)
			}
			u.Set(c, i, -v/2)
		}
	}
	MulCurvature(u, s.D)
	mulBlocks(ru, k, u)
	s.Factor.Solve(ru)
	u.Sub(u, ru)

	kbar, dmean = mat.NewSymDense(n, nil), make([]float64, l)
	raw := kbar.RawSymmetric()
	for c := range l {
		a, uc, r := s.A.RawRowView(c), u.RawRowView(c), s.Factor.block(c).RawSymmetric()
		for i := range n {
			dmean[c] += a[i] + uc[i]
			for j := i; j < n; j++ {
				raw.Data[i*raw.Stride+j] += 0.5 * (a[i]*a[j] - r.Data[i*r.Stride+j] + uc[i]*a[j] + a[i]*uc[j])
			}
		}
	}
	return kbar, dmean
}
