package acquisition

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/workspace"
	"github.com/functionspace/bo/surrogate"
)

// Marginal is a function of your own of the posterior mean μ and standard deviation s at one point. It treats pending
// points as observed at their posterior means.
type Marginal struct {
	// Score returns the value at μ and s, where larger is better, and its derivatives with respect to μ and s. Best is
	// the value to improve on, see Problem. Score is called from several goroutines. Nil is an error.
	Score func(mean, sd, best float64) (value, dmean, dsd float64)
}

// Build returns the function; it conditions the posterior once if points are pending.
func (a Marginal) Build(_ context.Context, p Problem, q int, _ *rand.Rand) (Function, error) {
	if a.Score == nil {
		return nil, fmt.Errorf("%w: Marginal has no Score", ErrProblem)
	}
	return a.build("Marginal", p, q)
}

func (a Marginal) build(name string, p Problem, q int) (Function, error) {
	if q != 1 {
		return nil, fmt.Errorf("%w: %s with a batch of %d", ErrBatch, name, q)
	}
	if err := p.checkPlain(name); err != nil {
		return nil, err
	}
	posterior, best, err := p.Condition()
	if err != nil {
		return nil, err
	}
	return &marginal{posterior, func(mean, sd float64) (value, dmean, dsd float64) { return a.Score(mean, sd, best) }}, nil
}

// marginal is a function of μ and s alone. Eval costs one Predict or PredictGrad of
// all candidates.
type marginal struct {
	posterior surrogate.Posterior
	score     func(mean, sd float64) (value, dmean, dsd float64)
}

func (f *marginal) Dim() int { return f.posterior.Dim() }

func (f *marginal) Eval(value []float64, grad, x *mat.Dense) {
	checkEval(f, value, grad, x)
	m, d := x.Dims()
	mem := workspace.Borrow()
	defer mem.Return()
	mean, variance := mem.Floats(m), mem.Floats(m)
	if grad == nil {
		f.posterior.Predict(mean, variance, x)
		for i := range value {
			value[i], _, _ = f.score(mean[i], math.Sqrt(max(variance[i], minVariance)))
		}
		return
	}
	dvariance := mem.Dense(m, d)
	f.posterior.PredictGrad(mean, variance, grad, dvariance, x)
	for i := range value {
		s := math.Sqrt(max(variance[i], minVariance))
		v, dmean, dsd := f.score(mean[i], s)
		value[i] = v
		dvar := dsd / (2 * s)
		if variance[i] < minVariance {
			dvar = 0
		}
		g, dv := grad.RawRowView(i), dvariance.RawRowView(i)
		for j := range g {
			g[j] = dmean*g[j] + dvar*dv[j]
		}
	}
}
