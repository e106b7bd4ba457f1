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
	// ErrBatch reports a recipe that was asked for several points at once and
	// chooses one at a time.
	ErrBatch = errors.New("acquisition: chooses one point at a time")
	// ErrProblem reports a problem that lacks what the recipe needs.
	ErrProblem = errors.New("acquisition: incomplete problem")
	// ErrFlat reports that a function had one value, or none that is finite,
	// wherever it was asked.
	ErrFlat = errors.New("acquisition: function is flat")
)

// Function is an acquisition function with everything but the candidate fixed:
// deterministic, smooth enough for L-BFGS, safe for concurrent use. A candidate
// is a row of x: q points of d numbers, one after the other.
type Function interface {
	// Dim is q·d.
	Dim() int
	// Eval writes the value at each of the m rows of x and, if grad is not nil,
	// the gradients (m×Dim). A candidate without a finite value is infeasible.
	Eval(value []float64, grad, x *mat.Dense)
}

// Problem is what is known when the next point is to be chosen.
type Problem struct {
	Posterior surrogate.Posterior
	Best      float64    // the value to improve on
	Observed  *mat.Dense // evaluated points, a row each; may be nil
	Pending   *mat.Dense // points being evaluated; may be nil
}

// Acquisition is a recipe for a Function.
type Acquisition interface {
	// Build returns the function of q points at once that p calls for. It takes
	// p.Pending into account. Base samples come from rng, so that one rng state
	// gives one function.
	Build(ctx context.Context, p Problem, q int, rng *rand.Rand) (Function, error)
}

// Joint is an Acquisition that can choose a whole batch at once.
type Joint interface {
	Acquisition
	// JointBatch reports whether Suggest should: if not, it chooses the points
	// of a batch one after the other.
	JointBatch() bool
}

// minVariance is the floor under posterior variances, in squared output units.
const minVariance = 1e-12

func (p Problem) checkBest() error {
	if math.IsNaN(p.Best) || math.IsInf(p.Best, 0) {
		return fmt.Errorf("%w: the best value is %v", ErrProblem, p.Best)
	}
	return nil
}

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

func rowCount(x *mat.Dense) int {
	if x == nil || x.IsEmpty() {
		return 0
	}
	n, _ := x.Dims()
	return n
}

// stack returns the rows of all parts, one below the other; nil if there are
// none.
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

func rows(x *mat.Dense, lo, hi int) *mat.Dense {
	_, d := x.Dims()
	return x.Slice(lo, hi, 0, d).(*mat.Dense)
}
