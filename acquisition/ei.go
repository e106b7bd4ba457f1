package acquisition

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/functionspace/bo/internal/specfn"
)

// EI is the expected improvement (Močkus 1975; Jones et al. 1998),
//
//	E max(best - f(x), 0) = s·h(z),  h(z) = φ(z) + zΦ(z)
//
// in output units. Far from the optimum it underflows and its gradient vanishes. LogEI
// has the same maximiser without this defect.
type EI struct{}

// LogEI is the logarithm of the expected improvement, log s + log h(z), accurate for
// every z (Ament et al. 2023, eq. 9).
type LogEI struct{}

// PI is the logarithm of the probability of improvement, log Φ(z) (Kushner 1964). The
// logarithm has the same maximiser as the probability; Candidate.Value contains the
// logarithm.
type PI struct{}

// Build returns the function; it conditions the posterior once if points are pending.
func (EI) Build(_ context.Context, p Problem, q int, _ *rand.Rand) (Function, error) {
	if err := p.checkPlain("EI"); err != nil {
		return nil, err
	}
	return improvement("EI", p, q, func(z, s float64) (value, dmean, dsd float64) {
		l, r := specfn.LogEI(z)
		h := math.Exp(l)
		return s * h, -r * h, math.Exp(-z*z/2) / math.Sqrt(2*math.Pi)
	})
}

// Build returns the function. If points are pending, it conditions the posterior once; before a feasible point it
// samples the constraints at them.
func (LogEI) Build(_ context.Context, p Problem, q int, rng *rand.Rand) (Function, error) {
	if err := p.checkOne("LogEI"); err != nil {
		return nil, err
	}
	if q == 1 && p.infeasible() {
		return p.anyFeasible(q, defaultSamples, rng)
	}
	return improvement("LogEI", p, q, func(z, s float64) (value, dmean, dsd float64) {
		l, r := specfn.LogEI(z)
		return math.Log(s) + l, -r / s, (1 - z*r) / s
	})
}

// Build returns the function. If points are pending, it conditions the posterior once; before a feasible point it
// samples the constraints at them.
func (PI) Build(_ context.Context, p Problem, q int, rng *rand.Rand) (Function, error) {
	if err := p.checkOne("PI"); err != nil {
		return nil, err
	}
	if q == 1 && p.infeasible() {
		return p.anyFeasible(q, defaultSamples, rng)
	}
	return improvement("PI", p, q, func(z, s float64) (value, dmean, dsd float64) {
		l, r := specfn.LogNormCDF(z)
		return l, -r / s, -z * r / s
	})
}

// improvement returns the function score of z and s, with its derivatives with respect
// to μ and s.
func improvement(name string, p Problem, q int, score func(z, s float64) (value, dmean, dsd float64)) (Function, error) {
	if q != 1 {
		return nil, fmt.Errorf("%w: %s with a batch of %d", ErrBatch, name, q)
	}
	if err := p.checkBest(); err != nil {
		return nil, err
	}
	posterior, best, err := p.Condition()
	if err != nil {
		return nil, err
	}
	return p.weighFeasible(&marginal{posterior, func(mean, s float64) (value, dmean, dsd float64) {
		return score((best-mean)/s, s)
	}})
}
