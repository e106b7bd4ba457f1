package variational

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/nn"
	"github.com/functionspace/bo/internal/shape"
	"github.com/functionspace/bo/surrogate"
)

// Scales is the problem of finding the standard deviations s of independent weights
// w ~ N(m, diag s²) of a network linearised at m. The criterion at M points under a Gaussian
// prior is
//
//	F(s) = ½ Σ_j Data_j s_j² + KL( N(·, Q) ‖ N(·, Prior) ),  Q = J diag(s²) Jᵀ + Low Lowᵀ + εI.
type Scales struct {
	J     *mat.Dense    // M×p, ∂f/∂w
	Low   *mat.Dense    // M×r, or nil
	Prior *mat.SymDense // ε included
	Eps   float64
	Data  []float64 // Σ_i J_ij²/σ² over the observations
	Least float64   // lower bound of s; without it log s diverges for weights that the prior excludes
}

// Minimize lowers F from log s = logS, in place, by
//
//	s_j² ← s_j² B_j/A_j,  A_j = Data_j + (JᵀPrior⁻¹J)_jj,  B_j = (JᵀQ⁻¹J)_jj.
//
// This is the multiplicative algorithm for D-optimal designs (Yu 2010) with the criterion
// log det Q - Σ A_j s_j². F decreases at every step. A step costs O(M²p + M³).
func (q Scales) Minimize(ctx context.Context, logS []float64, steps int) error {
	m, p := q.J.Dims()
	cost := append([]float64(nil), q.Data...)
	if err := addSolvedSquares(cost, q.Prior, q.J); err != nil {
		return err
	}
	cov, t, gain := mat.NewSymDense(m, nil), mat.NewDense(m, p, nil), make([]float64, p)
	for step := range steps {
		if err := ctx.Err(); err != nil {
			return err
		}
		if step%10 == 0 {
			surrogate.Report(ctx, surrogate.Progress{Phase: "scales", Done: step, Total: steps})
		}
		for j, l := range logS {
			gain[j] = math.Exp(l)
		}
		linalg.ScaleColumns(t, q.J, gain)
		linalg.Syrk(cov, 1, linalg.N, t, 0)
		if q.Low != nil {
			linalg.Syrk(cov, 1, linalg.N, q.Low, 1)
		}
		linalg.AddDiagonal(cov, q.Eps)
		clear(gain)
		if err := addSolvedSquares(gain, cov, q.J); err != nil {
			return err
		}
		for j := range logS {
			if cost[j] > 0 && gain[j] > 0 {
				logS[j] = max(logS[j]+0.5*math.Log(gain[j]/cost[j]), math.Log(q.Least))
			}
		}
	}
	return nil
}

// FitScales sets log s to the minimiser of Scales, for a network recorded in t with the
// Jacobian j. The first rows of j belong to the points at which the prior has the covariance
// k; FitScales adds ε to its diagonal. The last rows belong to the observations, each with
// the given precision. Every s is at least least.
func (q *Gaussian) FitScales(ctx context.Context, t *nn.Tape, j *mat.Dense, k *mat.SymDense, observed int, precision, eps, least float64, steps int) error {
	rows, p := j.Dims()
	m, theta := k.SymmetricDim(), make([]float64, rows)
	nn.KernelDiag(theta, t)
	var variance, slope float64
	for i := range m {
		variance += k.At(i, i)
		slope += theta[i]
	}
	linalg.Fill(q.LogS, 0.5*math.Log(variance/slope))
	problem := Scales{J: shape.Rows(j, 0, m), Prior: k, Eps: eps, Data: make([]float64, p), Least: least}
	linalg.AddDiagonal(k, eps)
	for i := rows - observed; i < rows; i++ {
		for c, g := range j.RawRowView(i) {
			problem.Data[c] += precision * g * g
		}
	}
	if r := q.Rank(); r > 0 {
		problem.Low = mat.NewDense(m, r, nil)
		linalg.Mul(problem.Low, 1, linalg.N, problem.J, linalg.T, q.Ut, 0)
	}
	return problem.Minimize(ctx, q.LogS, steps)
}

// addSolvedSquares adds the diagonal of JᵀA⁻¹J to dst.
func addSolvedSquares(dst []float64, a *mat.SymDense, j *mat.Dense) error {
	chol, err := linalg.Factorize(a)
	if err != nil {
		return err
	}
	half := mat.DenseCopyOf(j)
	chol.SolveLower(half)
	linalg.AddColumnSquares(dst, half)
	return nil
}
