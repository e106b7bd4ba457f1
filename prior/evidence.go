package prior

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/subset"
)

// observations are targets y at the rows of x, of which some have a known noise variance.
type observations struct {
	x      *mat.Dense
	y      []float64
	noises []float64 // nil, or a variance for each row; NaN is the noise variance of the process
}

// observations returns y at the rows of x, with the noise variances of WithNoises.
func (s Spec) observations(x *mat.Dense, y []float64) observations {
	if s.noises != nil {
		checkLen("noises", len(s.noises), len(y))
	}
	return observations{x, y, s.noises}
}

// take returns the rows with the given indices.
func (o observations) take(index []int) observations {
	var out observations
	out.x, out.y = subset.TakeBoth(o.x, o.y, index)
	if o.noises != nil {
		_, out.noises = subset.TakeBoth(o.x, o.noises, index)
	}
	return out
}

// known reports whether the noise variance of row i is known.
func (o observations) known(i int) bool { return o.noises != nil && !math.IsNaN(o.noises[i]) }

// noise returns the noise variance of row i, given the one of the process.
func (o observations) noise(i int, ofProcess float64) float64 {
	if o.known(i) {
		return o.noises[i]
	}
	return ofProcess
}

// addNoise adds the noise variances of the rows to the diagonal of gram.
func (o observations) addNoise(gram *mat.SymDense, ofProcess float64) {
	for i := range o.y {
		gram.SetSym(i, i, gram.At(i, i)+o.noise(i, ofProcess))
	}
}

// objective evaluates the loss of a fit. It holds memory, so every goroutine needs one.
type objective struct {
	evidence
	m             model
	tape          tape
	theta, dtheta []float64
	inv           *mat.SymDense
}

func newObjective(m model, data observations) *objective {
	return &objective{
		evidence: newEvidence(m, data), m: m, tape: newTape(m.kernel, data.x),
		theta: m.start(), dtheta: make([]float64, len(m.params)), inv: mat.NewSymDense(len(data.y), nil),
	}
}

// loss returns minus the log posterior density of the free log hyperparameters, up to a constant. It writes its
// gradient unless grad is nil, which takes a third of the time. It returns +Inf if the covariance is not
// positive definite or the context is cancelled.
func (e *objective) loss(ctx context.Context, free, grad []float64) float64 {
	e.m.unpack(e.theta, free)
	last := len(e.theta) - 1
	noise := e.theta[last]
	e.tape.gram(e.gram, e.theta[:last])
	e.addNoise(e.gram, noise)
	if e.factorize(ctx) != nil {
		return math.Inf(1)
	}
	if ctx.Err() != nil {
		return math.Inf(1)
	}
	value := e.logMarginal
	for _, at := range e.m.free {
		if prior := e.m.params[at].Prior; prior != nil && !e.m.flat {
			lp, _ := prior.LogProb(e.theta[at])
			value += lp
		}
	}
	if grad == nil {
		return -value
	}
	e.chol.SolveUpperVec(e.alpha)
	e.chol.Inverse(e.inv)
	if ctx.Err() != nil {
		return math.Inf(1)
	}
	eachRow(len(e.alpha), e, (*objective).adjointRow)
	var trace float64
	for i := range e.alpha {
		if !e.known(i) {
			trace += e.inv.At(i, i)
		}
	}
	clear(e.dtheta)
	e.tape.pull(e.dtheta[:last], e.inv)
	e.dtheta[last] = trace * noise

	for i, at := range e.m.free {
		grad[i] = -e.dtheta[at]
		if prior := e.m.params[at].Prior; prior != nil && !e.m.flat {
			_, dlp := prior.LogProb(e.theta[at])
			grad[i] -= dlp * e.theta[at]
		}
	}
	return -value
}

// adjointRow overwrites row i of A⁻¹ with the row of K̄ = ½(ααᵀ - A⁻¹).
func (e *objective) adjointRow(i int) {
	row := upper(e.inv, i)
	for j, a := range e.alpha[i:] {
		row[j] = 0.5 * (e.alpha[i]*a - row[j])
	}
}

// evidence is the marginal likelihood of y under a covariance A.
type evidence struct {
	observations
	learned bool // the mean is fitted
	gram    *mat.SymDense
	chol    linalg.Cholesky
	ones    []float64 // A⁻¹1
	alpha   []float64 // L⁻¹(y - mean·1), where A = LLᵀ; for a gradient A⁻¹(y - mean·1)

	mean, logMarginal float64
}

func newEvidence(m model, data observations) evidence {
	n := len(data.y)
	return evidence{observations: data, learned: m.mean, gram: mat.NewSymDense(n, nil), ones: make([]float64, n), alpha: make([]float64, n)}
}

// factorize factors A, the content of e.gram, and sets the mean, L⁻¹(y - mean·1) and the
// log marginal likelihood.
func (e *evidence) factorize(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := e.chol.Factorize(e.gram); err != nil {
		return err
	}
	e.mean = 0
	if e.learned {
		fill(e.ones, 1)
		e.chol.SolveVec(e.ones)
		e.mean = floats.Dot(e.ones, e.y) / floats.Sum(e.ones)
	}
	copy(e.alpha, e.y)
	floats.AddConst(-e.mean, e.alpha)
	e.chol.SolveLowerVec(e.alpha)
	e.logMarginal = gaussianLog(floats.Dot(e.alpha, e.alpha), e.chol.LogDet(), len(e.y))
	return nil
}
