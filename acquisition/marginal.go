package acquisition

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/workspace"
	"github.com/functionspace/bo/surrogate"
)

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
