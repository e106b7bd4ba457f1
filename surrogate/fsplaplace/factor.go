package fsplaplace

import (
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/nn"
	"github.com/functionspace/bo/internal/scratch"
)

// factor is a p×r matrix S with posterior covariance S Sᵀ in weight space, seen
// through its features φ(x) = J(x) S. It is immutable.
type factor interface {
	rank() int
	// features writes φ at the rows recorded in t, m×r.
	features(dst *mat.Dense, t *nn.Tape)
	// vjp adds to dx the gradient of Σ_ij fbar_ij φ_ij with respect to the
	// network's inputs.
	vjp(dx *mat.Dense, t *nn.Tape, fbar *mat.Dense)
	// solve returns S L^{-T}.
	solve(l *linalg.Cholesky) factor
	// weights returns S e, of length p.
	weights(e []float64) []float64
}

// dualFactor is S = J(C)ᵀ B: features are Θ(x,C) B, at O(|C|(Σ_l h_l + r)) a
// point.
type dualFactor struct {
	ctx *nn.Tape   // at C
	bt  *mat.Dense // Bᵀ, r×|C|
}

func (f *dualFactor) rank() int { r, _ := f.bt.Dims(); return r }

func (f *dualFactor) features(dst *mat.Dense, t *nn.Tape) {
	mem := scratch.Borrow()
	defer mem.Return()
	theta := mem.Dense(t.Len(), f.ctx.Len())
	nn.Kernel(theta, t, f.ctx)
	linalg.Mul(dst, 1, linalg.N, theta, linalg.T, f.bt, 0)
}

func (f *dualFactor) vjp(dx *mat.Dense, t *nn.Tape, fbar *mat.Dense) {
	mem := scratch.Borrow()
	defer mem.Return()
	kbar := mem.Dense(t.Len(), f.ctx.Len())
	linalg.Mul(kbar, 1, linalg.N, fbar, linalg.N, f.bt, 0)
	nn.KernelVJP(dx, t, f.ctx, kbar)
}

func (f *dualFactor) solve(l *linalg.Cholesky) factor {
	bt := mat.DenseCopyOf(f.bt)
	l.SolveLower(bt)
	return &dualFactor{ctx: f.ctx, bt: bt}
}

func (f *dualFactor) weights(e []float64) []float64 {
	mem := scratch.Borrow()
	defer mem.Return()
	a := mem.Floats(f.ctx.Len())
	linalg.MulVec(a, 1, linalg.T, f.bt, e, 0)
	w := make([]float64, f.ctx.NumParams())
	f.ctx.VJP(w, a)
	return w
}

// primalFactor holds S itself: features are J(x) S, at O(pr) a point.
type primalFactor struct {
	st *mat.Dense // Sᵀ, r×p
}

func (f *primalFactor) rank() int { r, _ := f.st.Dims(); return r }

func (f *primalFactor) features(dst *mat.Dense, t *nn.Tape) {
	mem := scratch.Borrow()
	defer mem.Return()
	j := mem.Dense(t.Len(), t.NumParams())
	t.Jacobian(j)
	linalg.Mul(dst, 1, linalg.N, j, linalg.T, f.st, 0)
}

func (f *primalFactor) vjp(dx *mat.Dense, t *nn.Tape, fbar *mat.Dense) {
	mem := scratch.Borrow()
	defer mem.Return()
	u := mem.Dense(t.Len(), t.NumParams())
	linalg.Mul(u, 1, linalg.N, fbar, linalg.N, f.st, 0)
	t.JVPInputGradRows(dx, u)
}

func (f *primalFactor) solve(l *linalg.Cholesky) factor {
	st := mat.DenseCopyOf(f.st)
	l.SolveLower(st)
	return &primalFactor{st: st}
}

func (f *primalFactor) weights(e []float64) []float64 {
	_, p := f.st.Dims()
	w := make([]float64, p)
	linalg.MulVec(w, 1, linalg.T, f.st, e, 0)
	return w
}
