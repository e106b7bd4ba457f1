package acquisition

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/specfn"
	"github.com/functionspace/bo/internal/workspace"
	"github.com/functionspace/bo/surrogate"
)

// EI is the expected improvement (Močkus 1975; Jones et al. 1998),
//
//	E max(best - f(x), 0) = s·h(z),  h(z) = φ(z) + zΦ(z)
//
// in units of the output. Far from the optimum it underflows and its gradient
// vanishes: LogEI has the same maximiser and does not.
type EI struct{}

// LogEI is the logarithm of the expected improvement, log s + log h(z), without
// loss of digits for any z (Ament et al. 2023, eq. 9).
type LogEI struct{}

// PI is the logarithm of the probability of improvement, log Φ(z) (Kushner
// 1964). The logarithm, which has the same maximiser, is also what is reported.
type PI struct{}

// LCB is minus the lower confidence bound, √β·s - μ (Srinivas et al. 2010).
type LCB struct {
	// Beta is β. 0 means 4, two standard deviations. Small values exploit.
	Beta float64 `set:"beta" help:"square of the number of standard deviations below the mean" default:"4"`
}

// Build costs one update of the posterior if points are pending.
func (EI) Build(_ context.Context, p Problem, q int, _ *rand.Rand) (Function, error) {
	return improvement("EI", p, q, func(z, s float64) (value, dmean, dsd float64) {
		l, r := specfn.LogEI(z)
		h := math.Exp(l)
		return s * h, -r * h, math.Exp(-z*z/2) / math.Sqrt(2*math.Pi)
	})
}

// Build costs one update of the posterior if points are pending.
func (LogEI) Build(_ context.Context, p Problem, q int, _ *rand.Rand) (Function, error) {
	return improvement("LogEI", p, q, func(z, s float64) (value, dmean, dsd float64) {
		l, r := specfn.LogEI(z)
		return math.Log(s) + l, -r / s, (1 - z*r) / s
	})
}

// Build costs one update of the posterior if points are pending.
func (PI) Build(_ context.Context, p Problem, q int, _ *rand.Rand) (Function, error) {
	return improvement("PI", p, q, func(z, s float64) (value, dmean, dsd float64) {
		l, r := specfn.LogNormCDF(z)
		return l, -r / s, -z * r / s
	})
}

// Build costs one update of the posterior if points are pending.
func (a LCB) Build(_ context.Context, p Problem, q int, _ *rand.Rand) (Function, error) {
	if q != 1 {
		return nil, fmt.Errorf("%w: LCB asked for %d", ErrBatch, q)
	}
	switch {
	case a.Beta == 0:
		a.Beta = 4
	case !(a.Beta > 0) || math.IsInf(a.Beta, 1):
		return nil, fmt.Errorf("%w: LCB with beta %v, want a positive number", ErrProblem, a.Beta)
	}
	posterior, _, err := p.condition()
	if err != nil {
		return nil, err
	}
	root := math.Sqrt(a.Beta)
	return &marginal{posterior, func(mean, s float64) (value, dmean, dsd float64) {
		return root*s - mean, -1, root
	}}, nil
}

// improvement builds a function of z and s.
func improvement(name string, p Problem, q int, score func(z, s float64) (value, dmean, dsd float64)) (Function, error) {
	if q != 1 {
		return nil, fmt.Errorf("%w: %s asked for %d", ErrBatch, name, q)
	}
	if err := p.checkBest(); err != nil {
		return nil, err
	}
	posterior, best, err := p.condition()
	if err != nil {
		return nil, err
	}
	return &marginal{posterior, func(mean, s float64) (value, dmean, dsd float64) {
		return score((best-mean)/s, s)
	}}, nil
}

// marginal is a function of μ and s alone. It costs one Predict or PredictGrad
// of all candidates together.
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
