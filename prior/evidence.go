package prior

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
)

// evidence evaluates the objective of a fit. It is a workspace: one per
// goroutine.
type evidence struct {
	m model
	x *mat.Dense
	y []float64

	theta, dtheta []float64
	gram, inv     *mat.SymDense
	alpha         []float64 // A⁻¹(y - mean·1)
	mem           memory

	mean, logMarginal float64
}

func newEvidence(m model, x *mat.Dense, y []float64) *evidence {
	n := len(y)
	return &evidence{
		m: m, x: x, y: y,
		theta: m.start(), dtheta: make([]float64, len(m.params)),
		gram: mat.NewSymDense(n, nil), inv: mat.NewSymDense(n, nil), alpha: make([]float64, n),
	}
}

// loss is minus the log posterior of the free log hyper-parameters, up to a
// constant, with its gradient. A covariance that is not positive definite, and
// a cancelled context, give +Inf.
func (e *evidence) loss(ctx context.Context, free, grad []float64) float64 {
	e.m.unpack(e.theta, free)
	last := len(e.theta) - 1
	noise := e.theta[last]
	e.mem.reset()
	back := gramTape(e.m.kernel.WithParams(e.theta[:last]), &e.mem, e.gram, e.x)
	addDiag(e.gram, noise)
	chol, err := e.factorize(ctx)
	if err != nil {
		return math.Inf(1)
	}
	if ctx.Err() != nil {
		return math.Inf(1)
	}
	// K̄ = ½(ααᵀ - A⁻¹)
	chol.Inverse(e.inv)
	if ctx.Err() != nil {
		return math.Inf(1)
	}
	var trace float64
	for i, a := range e.alpha {
		row := upper(e.inv, i)
		for j := range row {
			row[j] = 0.5 * (a*e.alpha[i+j] - row[j])
		}
		trace += row[0]
	}
	clear(e.dtheta)
	back(e.dtheta[:last], e.inv)
	e.dtheta[last] = trace * noise

	value := e.logMarginal
	for i, at := range e.m.free {
		grad[i] = -e.dtheta[at]
		if prior := e.m.params[at].Prior; prior != nil {
			lp, dlp := prior.LogProb(e.theta[at])
			value += lp
			grad[i] -= dlp * e.theta[at]
		}
	}
	return -value
}

// solve evaluates the log marginal likelihood of p with the mean that belongs
// to it.
func (e *evidence) solve(ctx context.Context, p Process) (*linalg.Cholesky, error) {
	p.Covariance(e.gram, e.x)
	return e.factorize(ctx)
}

// factorize factors e.gram and sets the mean, α and the log marginal
// likelihood.
func (e *evidence) factorize(ctx context.Context) (*linalg.Cholesky, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	chol, err := linalg.Factorize(e.gram)
	if err != nil {
		return nil, err
	}
	n := len(e.y)
	e.mean = 0
	if e.m.mean {
		ones := make([]float64, n)
		fill(ones, 1)
		chol.SolveVec(ones)
		e.mean = floats.Dot(ones, e.y) / floats.Sum(ones)
	}
	copy(e.alpha, e.y)
	floats.AddConst(-e.mean, e.alpha)
	chol.SolveLowerVec(e.alpha)
	e.logMarginal = gaussianLog(floats.Dot(e.alpha, e.alpha), chol.LogDet(), n)
	chol.SolveUpperVec(e.alpha)
	return chol, nil
}
