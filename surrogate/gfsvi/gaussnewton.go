package gfsvi

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
)

// gaussNewton lowers a meanLoss at a given noise, batch and set of measurement points by
// Levenberg–Marquardt steps
//
//	δ = -(A + λ tr(A)/p I)⁻¹ ∂G/∂m,  A = (n/(Bσ²)) J_Bᵀ J_B + J_Cᵀ (K + γM I)⁻¹ J_C.
type gaussNewton struct {
	*meanLoss
	lambda float64

	a, damped *mat.SymDense
	g, trial  []float64
}

const (
	firstDamping = 1e-3
	mostDamping  = 1e3
)

func newGaussNewton(l *meanLoss) *gaussNewton {
	p := l.net.NumParams()
	return &gaussNewton{meanLoss: l, lambda: firstDamping, a: mat.NewSymDense(p, nil), damped: mat.NewSymDense(p, nil), g: make([]float64, p)}
}

// step moves m to a smaller G and reports whether G decreased. It costs O((B+M)p² + p³).
func (q *gaussNewton) step(m []float64, logSD float64) (bool, error) {
	q.linearize(m, logSD)
	before := q.value(m, logSD)
	for ; q.lambda <= mostDamping; q.lambda *= 4 {
		q.damped.CopySym(q.a)
		linalg.AddDiagonal(q.damped, q.lambda*mat.Trace(q.a)/float64(len(m)))
		chol, err := linalg.Factorize(q.damped)
		if err != nil {
			return false, err
		}
		q.trial = append(q.trial[:0], q.g...)
		chol.SolveVec(q.trial)
		for i, d := range q.trial {
			q.trial[i] = m[i] - d
		}
		if q.value(q.trial, logSD) < before {
			copy(m, q.trial)
			q.lambda /= 3
			return true, nil
		}
	}
	return false, nil
}

// linearize writes A and ∂G/∂m at m.
func (q *gaussNewton) linearize(m []float64, logSD float64) {
	q.a.Zero()
	clear(q.g)
	precision := q.weight() * math.Exp(-2*logSD)
	for i := 0; i < len(q.y); i += chunk {
		r := q.errors(m, i, min(len(q.y), i+chunk))
		j := q.tape.NewJacobian()
		linalg.Syrk(q.a, precision, linalg.T, j, 1)
		linalg.MulVec(q.g, precision, linalg.T, j, r, 1)
	}
	u := q.whitened(m)
	j := q.tape.NewJacobian()
	q.chol.SolveLower(j)
	linalg.Syrk(q.a, 1, linalg.T, j, 1)
	linalg.MulVec(q.g, 1, linalg.T, j, u, 1)
}
