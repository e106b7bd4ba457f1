package acquisition

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/surrogate"
)

var (
	// ErrBatch reports a joint batch from an Acquisition for single points.
	ErrBatch = errors.New("acquisition: no function of several points")
	// ErrProblem reports an invalid Problem or option.
	ErrProblem = errors.New("acquisition: invalid problem")
	// ErrFlat reports that a function has fewer than two distinct finite values at
	// the points where it was evaluated.
	ErrFlat = errors.New("acquisition: function is flat")
)

// Function is an acquisition function of a candidate; all else is fixed. It is
// deterministic, smooth enough for L-BFGS and safe for concurrent use. A candidate is
// q points of d numbers, one after the other, in one row.
type Function interface {
	// Dim returns q·d.
	Dim() int
	// Eval writes the values at the m rows of x and, if grad is not nil, the
	// gradients (m×Dim). A candidate whose value is not finite is infeasible.
	Eval(value []float64, grad, x *mat.Dense)
}

// Problem is the information from which the next point is chosen.
type Problem struct {
	// Posterior is the posterior of the objective, or of the first of several objectives.
	Posterior surrogate.Posterior
	// Best is the value to improve on; with several objectives a finite Best is not used. +Inf
	// means that no evaluated point meets the Constraints; see the package comment.
	Best     float64
	Observed *mat.Dense // points with a value, a row each; may be nil
	Failed   *mat.Dense // evaluated points without a value, a row each; may be nil
	Pending  *mat.Dense // pending points, a row each; may be nil

	// Baseline are the points with which a candidate is compared in place of Observed, a row each; nil is Observed. They need
	// not be evaluated. A search in a part of the space compares with points of this part, because values elsewhere may be out
	// of reach there. Best, the value that LogEI, EI and PI improve on, is a posterior mean at a point of the Baseline. Auto is
	// then LogEI, also under noise: the improvement of LogNEI at a point of the Baseline is 0, though the point need not be
	// evaluated and may be the best. Observed and Failed then are points of the part alone:
	// they are not suggested again.
	Baseline *mat.Dense
	// Elsewhere are pending points outside the part with the Baseline, a row each; may be nil. They count as observed at
	// their posterior means, and not as points to improve on.
	Elsewhere *mat.Dense

	// Concurrent selects the closed form of LogNEI, which is cheaper. It is for problems in which a free worker
	// may wait for the next point, because evaluations of Pending are in progress. It is also for problems in
	// which points have very many neighbours.
	Concurrent bool
	shared     *shared         // results for the next points of a batch; nil for a single point
	done       <-chan struct{} // closed when a Suggest is cancelled

	// LogWeight is added to the acquisition function at every point, by Suggest and by Problem.Function. Build does not
	// use it. The Acquisition must be Logarithmic. Nil is 0.
	LogWeight Function

	// Constraints are conditions on further outputs: measured ones, or a label of failures.
	// An Acquisition that is not Feasible returns an error for them.
	Constraints []Constraint

	// Objectives are the posteriors of several objectives, Posterior included; nil for one.
	// Reference is the reference point: a value of each objective, below which improvement
	// counts.
	Objectives []surrogate.Posterior
	Reference  []float64
}

// Constraint is the condition that the latent output of Posterior is at most Bound.
type Constraint struct {
	Posterior surrogate.Posterior
	Bound     float64
}

// Feasible is an Acquisition that takes Constraints of a Problem: it weighs improvements by the
// probability that a point is feasible.
type Feasible interface {
	Acquisition
	WeighsFeasibility()
}

// Several is an Acquisition that takes Objectives and Reference of a Problem.
type Several interface {
	Acquisition
	TakesSeveral()
}

// Acquisition builds a Function from a Problem. It is an option struct whose zero
// value is a documented default.
type Acquisition interface {
	// Build returns a function of q points for p, conditioned on p.Pending. The
	// result depends only on p, q and the state of rng, the source of base samples.
	// The error wraps ErrProblem, or ErrBatch if q > 1 and the function takes one
	// point. Other errors come from the context or the posterior.
	Build(ctx context.Context, p Problem, q int, rng *rand.Rand) (Function, error)
}

// Joint is an Acquisition that can choose all points of a batch together.
type Joint interface {
	Acquisition
	// JointBatch reports whether Suggest chooses the points of a batch together.
	// Otherwise Suggest chooses them one after another.
	JointBatch() bool
}

// minVariance is the lower bound of posterior variances, in squared output units.
const minVariance = 1e-12

// checkBest returns an error unless Best is finite.
func (p Problem) checkBest() error {
	if math.IsNaN(p.Best) || math.IsInf(p.Best, 0) {
		return fmt.Errorf("%w: the best value is %v, want a finite number", ErrProblem, p.Best)
	}
	return nil
}

// checkEval panics if the sizes of the arguments of f.Eval disagree.
func checkEval(f Function, value []float64, grad, x *mat.Dense) {
	m, d := x.Dims()
	if d != f.Dim() || len(value) != m {
		panic(fmt.Sprintf("acquisition: %d×%d candidates and %d values, want %d columns", m, d, len(value), f.Dim()))
	}
	if grad != nil {
		if gm, gd := grad.Dims(); gm != m || gd != d {
			panic(fmt.Sprintf("acquisition: gradient is %d×%d, want %d×%d", gm, gd, m, d))
		}
	}
}

// rowCount returns the number of rows of x, 0 if x is nil.
func rowCount(x *mat.Dense) int {
	if x == nil || x.IsEmpty() {
		return 0
	}
	n, _ := x.Dims()
	return n
}

// stack returns the rows of all parts, one below another; nil if there are none.
func stack(parts ...*mat.Dense) *mat.Dense {
	var data []float64
	n, d := 0, 0
	for _, p := range parts {
		for i := range rowCount(p) {
			data = append(data, p.RawRowView(i)...)
			n, d = n+1, len(p.RawRowView(i))
		}
	}
	if n == 0 {
		return nil
	}
	return mat.NewDense(n, d, data)
}

// rows returns a view of the rows lo to hi-1 of x.
func rows(x *mat.Dense, lo, hi int) *mat.Dense {
	_, d := x.Dims()
	return x.Slice(lo, hi, 0, d).(*mat.Dense)
}
