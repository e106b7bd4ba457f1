package target

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/nn"
	"github.com/functionspace/bo/surrogate"
)

// LeastSquares is the weighted least-squares problem
//
//	R(w) = ½ rᵀV⁻¹r,  r = Target - f(Inputs, w),
//
// of a network with more weights than residuals. It keeps its memory from one
// Minimize to the next: one per goroutine.
type LeastSquares struct {
	Net    *nn.Network
	Inputs *mat.Dense // in the network's units
	Target []float64

	v           *mat.SymDense
	vchol, chol linalg.Cholesky // of V and of Θ + λV
	tape        nn.Tape         // at w
	theta, a    *mat.SymDense

	residual, next []float64
	alpha, image   *mat.VecDense // (Θ + λV)⁻¹r and what V makes of it
	trial          []float64     // weights
	value          []float64     // of the network there
	white          []float64

	best         float64 // R
	lambda, grow float64
	slow         int // steps in a row that brought little
}

// Minimize lowers R from w, in place, by at most steps Levenberg–Marquardt
// steps, and returns R and the number of steps taken. It stops where R per
// residual falls to tolerance. A step is
//
//	δ = Jᵀ (Θ + λV)⁻¹ r,  Θ = J Jᵀ,
//
// the minimiser of ½ (r - Jδ)ᵀV⁻¹(r - Jδ) + ½ λ|δ|². Each costs the tangent
// kernel Θ and a Cholesky factor, O(N³) for N residuals. λ follows the ratio of
// what a step brought to what the linear model promised (Nielsen 1999).
func (q *LeastSquares) Minimize(ctx context.Context, w []float64, v *mat.SymDense, steps int, tolerance float64) (r float64, taken int, err error) {
	if err := q.start(w, v); err != nil {
		return 0, 0, err
	}
	for ; taken < steps && q.best > tolerance*float64(len(q.Target)) && q.slow < 3 && q.lambda < 1e12; taken++ {
		if err := ctx.Err(); err != nil {
			return q.best, taken, err
		}
		surrogate.Report(ctx, surrogate.Progress{Phase: "train", Done: taken, Total: steps})
		q.step(w)
	}
	return q.best, taken, nil
}

func (q *LeastSquares) start(w []float64, v *mat.SymDense) error {
	if n := len(q.Target); len(q.value) != n {
		q.theta, q.a = mat.NewSymDense(n, nil), mat.NewSymDense(n, nil)
		q.alpha, q.image = mat.NewVecDense(n, nil), mat.NewVecDense(n, nil)
		q.residual, q.next, q.value, q.white = make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
		q.trial = make([]float64, len(w))
	}
	if err := q.vchol.Factorize(v); err != nil {
		return fmt.Errorf("covariance of the residuals: %w", err)
	}
	q.v = v
	q.linearize(w)
	q.best = q.objective(q.residual)
	q.lambda, q.grow, q.slow = 1e-2, 2, 0
	return nil
}

// linearize sets what depends on w alone.
func (q *LeastSquares) linearize(w []float64) {
	q.tape.Record(q.Net, w, q.Inputs)
	nn.KernelSym(q.theta, &q.tape)
	subtract(q.residual, q.Target, q.tape.Value())
}

func (q *LeastSquares) objective(r []float64) float64 {
	copy(q.white, r)
	q.vchol.SolveLowerVec(q.white)
	return 0.5 * linalg.Dot(q.white, q.white)
}

// step tries one step, and takes it if R falls.
func (q *LeastSquares) step(w []float64) {
	q.a.CopySym(q.v)
	q.a.ScaleSym(q.lambda, q.a)
	q.a.AddSym(q.a, q.theta)
	if q.chol.Factorize(q.a) != nil {
		q.lambda *= 10
		return
	}
	alpha, image := q.alpha.RawVector().Data, q.image.RawVector().Data
	copy(alpha, q.residual)
	q.chol.SolveVec(alpha)
	copy(q.trial, w)
	q.tape.VJP(q.trial, alpha)
	q.Net.Forward(q.value, q.trial, q.Inputs)
	subtract(q.next, q.Target, q.value)
	reached := q.objective(q.next)
	// The linear model leaves the residual λVα.
	q.image.MulVec(q.v, q.alpha)
	predicted := q.best - 0.5*q.lambda*q.lambda*linalg.Dot(alpha, image)
	gain := (q.best - reached) / predicted
	if !(gain > 0) {
		q.lambda *= q.grow
		q.grow *= 2
		return
	}
	q.slow++
	if q.best-reached > 1e-2*q.best {
		q.slow = 0
	}
	copy(w, q.trial)
	q.linearize(w)
	q.best = reached
	q.lambda = max(q.lambda*max(0.1, 1-math.Pow(2*gain-1, 3)), 1e-12)
	q.grow = 2
}

func subtract(dst, a, b []float64) {
	for i := range dst {
		dst[i] = a[i] - b[i]
	}
}
