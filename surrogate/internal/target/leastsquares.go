package target

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/nn"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/train"
)

// LeastSquares is the weighted least-squares problem of a network with more weights than
// residuals,
//
//	R(w) = ½ rᵀV⁻¹r,  r = Target - f(Inputs, w).
//
// Calls of Minimize share memory, so that a value serves one goroutine.
type LeastSquares struct {
	Net    *nn.Network
	Inputs *mat.Dense // in the network's units
	Target []float64

	v           *mat.SymDense
	vchol, chol linalg.Cholesky // factors of V and of Θ + λV
	tape        nn.Tape         // at w
	theta, a    *mat.SymDense

	residual, next []float64
	alpha, image   *mat.VecDense // α = (Θ + λV)⁻¹r and Vα
	trial          []float64     // weights
	value          []float64     // output of the network at trial
	white          []float64

	best    float64       // R
	damping train.Damping // a decrease of R by less than 1 % is small
}

// Minimize lowers R from w, in place, by at most steps Levenberg–Marquardt steps. It returns
// R and the number of steps taken. It ends when R per residual is at most tolerance. A step
// is
//
//	δ = Jᵀ (Θ + λV)⁻¹ r,  Θ = J Jᵀ,
//
// the minimiser of ½ (r - Jδ)ᵀV⁻¹(r - Jδ) + ½ λ|δ|². For N residuals it costs the tangent
// kernel Θ and a Cholesky factor, O(N³).
func (q *LeastSquares) Minimize(ctx context.Context, w []float64, v *mat.SymDense, steps int, tolerance float64) (r float64, taken int, err error) {
	if err := q.start(w, v); err != nil {
		return 0, 0, err
	}
	for ; taken < steps && q.best > tolerance*float64(len(q.Target)) && !q.damping.Stalled(); taken++ {
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
	q.damping = train.Damping{Lambda: 1e-2}
	return nil
}

// linearize sets the quantities that depend on w only.
func (q *LeastSquares) linearize(w []float64) {
	q.tape.Record(q.Net, w, q.Inputs)
	nn.KernelSym(q.theta, &q.tape)
	floats.SubTo(q.residual, q.Target, q.tape.Value())
}

func (q *LeastSquares) objective(r []float64) float64 {
	copy(q.white, r)
	q.vchol.SolveLowerVec(q.white)
	return 0.5 * linalg.Dot(q.white, q.white)
}

// step tries one step and accepts it if R decreases.
func (q *LeastSquares) step(w []float64) {
	q.a.CopySym(q.v)
	q.a.ScaleSym(q.damping.Lambda, q.a)
	q.a.AddSym(q.a, q.theta)
	if q.chol.Factorize(q.a) != nil {
		q.damping.Lambda *= 10
		return
	}
	alpha, image := q.alpha.RawVector().Data, q.image.RawVector().Data
	copy(alpha, q.residual)
	q.chol.SolveVec(alpha)
	copy(q.trial, w)
	q.tape.VJP(q.trial, alpha)
	q.Net.Forward(q.value, q.trial, q.Inputs)
	floats.SubTo(q.next, q.Target, q.value)
	reached := q.objective(q.next)
	// In the linear model the residual after the step is λVα.
	q.image.MulVec(q.v, q.alpha)
	predicted := q.best - 0.5*q.damping.Lambda*q.damping.Lambda*linalg.Dot(alpha, image)
	if !q.damping.Accept(q.best-reached, predicted, 1e-2*q.best) {
		return
	}
	copy(w, q.trial)
	q.linearize(w)
	q.best = reached
}

// FitData fits the weights w of a network to targets y at the rows of x, in the network's
// units, by at most 50 steps. It ends at a root mean square error of 0.1.
func FitData(ctx context.Context, net *nn.Network, x *mat.Dense, y, w []float64) error {
	cov := mat.NewSymDense(len(y), nil)
	linalg.AddDiagonal(cov, 0.1*0.1)
	fit := LeastSquares{Net: net, Inputs: x, Target: y}
	_, _, err := fit.Minimize(ctx, w, cov, 50, 0.5)
	return err
}
