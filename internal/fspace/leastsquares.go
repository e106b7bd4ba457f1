package fspace

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
// of a network with more weights than residuals.
type LeastSquares struct {
	Net    *nn.Network
	Inputs *mat.Dense // in the network's units
	Target []float64
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
func (q LeastSquares) Minimize(ctx context.Context, w []float64, v *mat.SymDense, steps int, tolerance float64) (r float64, taken int, err error) {
	n := len(q.Target)
	vchol, err := linalg.Factorize(v)
	if err != nil {
		return 0, 0, fmt.Errorf("covariance of the residuals: %w", err)
	}
	objective := func(r []float64) float64 {
		s := append([]float64(nil), r...)
		vchol.SolveLowerVec(s)
		return 0.5 * linalg.Dot(s, s)
	}
	tape := q.Net.Record(w, q.Inputs)
	residual, alpha, next := make([]float64, n), make([]float64, n), make([]float64, n)
	trial, value := make([]float64, len(w)), make([]float64, n)
	theta, a := mat.NewSymDense(n, nil), mat.NewSymDense(n, nil)
	nn.KernelSym(theta, tape)
	subtract(residual, q.Target, tape.Value())
	best := objective(residual)

	lambda, grow, slow := 1e-2, 2.0, 0
	for ; taken < steps && best > tolerance*float64(n) && slow < 3 && lambda < 1e12; taken++ {
		if err := ctx.Err(); err != nil {
			return best, taken, err
		}
		surrogate.Report(ctx, surrogate.Progress{Phase: "train", Done: taken, Total: steps})
		a.CopySym(v)
		a.ScaleSym(lambda, a)
		a.AddSym(a, theta)
		chol, err := linalg.Factorize(a)
		if err != nil {
			lambda *= 10
			continue
		}
		copy(alpha, residual)
		chol.SolveVec(alpha)
		copy(trial, w)
		tape.VJP(trial, alpha)
		q.Net.Forward(value, trial, q.Inputs)
		subtract(next, q.Target, value)
		reached := objective(next)
		// The linear model leaves the residual λVα.
		mat.NewVecDense(n, next).MulVec(v, mat.NewVecDense(n, alpha))
		predicted := best - 0.5*lambda*lambda*linalg.Dot(alpha, next)
		gain := (best - reached) / predicted
		if !(gain > 0) {
			lambda *= grow
			grow *= 2
			continue
		}
		slow++
		if best-reached > 1e-2*best {
			slow = 0
		}
		copy(w, trial)
		tape.Record(q.Net, w, q.Inputs)
		nn.KernelSym(theta, tape)
		subtract(residual, q.Target, tape.Value())
		best = reached
		lambda = max(lambda*max(0.1, 1-math.Pow(2*gain-1, 3)), 1e-12)
		grow = 2
	}
	return best, taken, nil
}

func subtract(dst, a, b []float64) {
	for i := range dst {
		dst[i] = a[i] - b[i]
	}
}
