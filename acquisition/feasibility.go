package acquisition

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/specfn"
	"github.com/functionspace/bo/internal/workspace"
	"github.com/functionspace/bo/surrogate"
)

var (
	_ Feasible = Auto{}
	_ Feasible = LogEI{}
	_ Feasible = LogNEI{}
	_ Feasible = PI{}
	_ Feasible = QLogEI{}

	_ Several = Auto{}
	_ Several = LogNEHVI{}
	_ Several = LogNParEGO{}
)

// TakesSeveral implements Several.
func (Auto) TakesSeveral() {}

// TakesSeveral implements Several.
func (LogNEHVI) TakesSeveral() {}

// TakesSeveral implements Several.
func (LogNParEGO) TakesSeveral() {}

// WeighsFeasibility implements Feasible: the front of a joint sample has feasible points alone.
func (LogNEHVI) WeighsFeasibility() {}

// WeighsFeasibility implements Feasible, as for LogNEHVI.
func (LogNParEGO) WeighsFeasibility() {}

// WeighsFeasibility implements Feasible: in the closed form the improvement and the
// feasibility are independent (Gardner et al. 2014), in LogNEI each joint sample has a
// feasible incumbent of its own (Letham et al. 2019).
func (Auto) WeighsFeasibility() {}

// WeighsFeasibility implements Feasible: the value is log EI + Σ log P(feasible).
func (LogEI) WeighsFeasibility() {}

// WeighsFeasibility implements Feasible, as for Auto.
func (LogNEI) WeighsFeasibility() {}

// WeighsFeasibility implements Feasible: the value is log PI + Σ log P(feasible).
func (PI) WeighsFeasibility() {}

// WeighsFeasibility implements Feasible: in each joint sample a point counts by a smooth
// indicator of its feasibility.
func (QLogEI) WeighsFeasibility() {}

// unconstrained reports whether every point is feasible.
func (p Problem) unconstrained() bool { return len(p.Constraints) == 0 }

// infeasible reports whether no evaluated point meets the constraints.
func (p Problem) infeasible() bool { return len(p.Constraints) > 0 && math.IsInf(p.Best, 1) }

// CheckConstraints returns an error unless a is Feasible.
func CheckConstraints(a Acquisition) error {
	if _, ok := a.(Feasible); !ok {
		return errConstraints
	}
	return nil
}

var errConstraints = errors.New("takes no outcome constraints: use auto, logei, lognei, qlogei or pi")

// checkPlain returns an error if p has parts that an acquisition function of one objective
// alone does not use.
func (p Problem) checkPlain(name string) error {
	if !p.unconstrained() {
		return fmt.Errorf("%w: %s %w", ErrProblem, name, errConstraints)
	}
	return p.checkOne(name)
}

// checkOne returns an error if p has several objectives.
func (p Problem) checkOne(name string) error {
	if len(p.Objectives) > 0 {
		return fmt.Errorf("%w: %s takes one objective: use auto for %d", ErrProblem, name, len(p.Objectives))
	}
	return nil
}

// sum is the sum of functions of the same candidates.
type sum []Function

func (f sum) Dim() int { return f[0].Dim() }

func (f sum) Eval(value []float64, grad, x *mat.Dense) {
	f[0].Eval(value, grad, x)
	v := make([]float64, len(value))
	var g *mat.Dense
	if grad != nil {
		g = mat.NewDense(len(value), f.Dim(), nil)
	}
	for _, term := range f[1:] {
		term.Eval(v, g, x)
		linalg.Axpy(1, v, value)
		if grad != nil {
			for i := range value {
				linalg.Axpy(1, g.RawRowView(i), grad.RawRowView(i))
			}
		}
	}
}

// feasibility returns the terms log Φ((bound-μ)/s) of a single point, with constraints
// conditioned on the pending points.
func (p Problem) feasibility() ([]Function, error) {
	var terms []Function
	for _, c := range p.Constraints {
		own := p
		own.Posterior = c.Posterior
		posterior, _, err := own.Condition()
		if err != nil {
			return nil, err
		}
		terms = append(terms, &marginal{posterior, func(mean, s float64) (value, dmean, dsd float64) {
			z := (c.Bound - mean) / s
			l, r := specfn.LogNormCDF(z)
			return l, -r / s, -z * r / s
		}})
	}
	return terms, nil
}

// weighFeasible returns the sum of f, a logarithm, and the terms of feasibility.
func (p Problem) weighFeasible(f Function) (Function, error) {
	if p.unconstrained() {
		return f, nil
	}
	terms, err := p.feasibility()
	return append(sum{f}, terms...), err
}

// Feasibility writes the probability that the points in the rows of x are feasible: the
// product over the constraints.
func (p Problem) Feasibility(prob []float64, x *mat.Dense) {
	p.multiplied(prob, x, func(q surrogate.Posterior) surrogate.Moments { return q })
}

// AveragedFeasibility is Feasibility with the moments of surrogate.Averaged, for probabilities that are shown.
func (p Problem) AveragedFeasibility(prob []float64, x *mat.Dense) {
	p.multiplied(prob, x, surrogate.Averaged)
}

// multiplied writes the product of the constraints' probabilities under the moments of their posteriors.
func (p Problem) multiplied(prob []float64, x *mat.Dense, moments func(surrogate.Posterior) surrogate.Moments) {
	for i := range prob {
		prob[i] = 1
	}
	mean, variance := make([]float64, len(prob)), make([]float64, len(prob))
	for _, c := range p.Constraints {
		moments(c.Posterior).Predict(mean, variance, x)
		c.multiply(prob, mean, variance)
	}
}

// feasibilityAtObserved is Feasibility at the evaluated points, from the moments that a batch keeps.
func (p Problem) feasibilityAtObserved() []float64 {
	prob := make([]float64, rowCount(p.Observed))
	for i := range prob {
		prob[i] = 1
	}
	for _, c := range p.Constraints {
		mean, variance := p.atObserved(c.Posterior)
		c.multiply(prob, mean, variance)
	}
	return prob
}

// multiply multiplies prob by the probabilities that the constraint is met.
func (c Constraint) multiply(prob, mean, variance []float64) {
	for i := range prob {
		l, _ := specfn.LogNormCDF((c.Bound - mean[i]) / math.Sqrt(max(variance[i], minVariance)))
		prob[i] *= math.Exp(l)
	}
}

// anyFeasible returns the function of q points while no evaluated point is feasible; see the package comment.
func (p Problem) anyFeasible(q, samples int, rng *rand.Rand) (Function, error) {
	switch {
	case q == 1 && rowCount(p.Pending) == 0:
		terms, err := p.feasibility()
		return sum(terms), err
	case q == 1:
		return p.nextFeasible(min(samples, closedSamples), rng)
	}
	f := p.newMulti(q, samples, nil, nil, rng)
	f.gain = logFeasiblePart(p.bounds())
	return f, nil
}

// nextFeasible returns the function of one point x beside pending points,
//
//	log 1/S Σ_s exp fatmax( r_s, Σ_c log step(bound_c - μ_cs - s_c z_cs) )
//
// in which r_s is the fatmax over the pending points of Σ_c log step(bound_c - g_cs) in joint sample s. The
// moments of constraint c at x given the sample are μ_cs and s_c. The samples g at the pending points do not
// depend on x, so a value costs O(n² + Sn) for each constraint and n pending points.
func (p Problem) nextFeasible(samples int, rng *rand.Rand) (Function, error) {
	bounds := p.bounds()
	p.Objectives, p.Constraints = p.outputs()[len(p.Objectives):], nil
	f, pending, err := newConditional(p, nil, samples, rng)
	if err != nil {
		return nil, err
	}
	f.anchor()
	reached := make([]float64, samples) // fatmax over the pending points of log step
	for s := range reached {
		at := make([]float64, rowCount(p.Pending))
		for i := range at {
			for c, b := range bounds {
				l, _ := logFatStep(b - pending[c].At(s, i))
				at[i] += l
			}
		}
		reached[s] = fatMax(at, nil)
	}
	base := f.candidateSamples(rng)
	f.gain = func(mem *workspace.Memory) momentGain {
		slope := mem.Floats(len(bounds))
		return func(logs []float64, mean [][]float64, sd []float64, dmean, dsd [][]float64) {
			for s := range logs {
				z := base.RawRowView(s)
				either := [2]float64{reached[s]}
				for c, b := range bounds {
					l, d := logFatStep(b - mean[c][s] - sd[c]*z[c])
					either[1] += l
					slope[c] = -d
				}
				var share [2]float64
				logs[s] = fatMax(either[:], share[:])
				if dmean == nil {
					continue
				}
				for c, d := range slope {
					dmean[c][s], dsd[c][s] = share[1]*d, share[1]*d*z[c]
				}
			}
		}
	}
	return f, nil
}

// bounds returns the bounds of the constraints.
func (p Problem) bounds() []float64 {
	bounds := make([]float64, len(p.Constraints))
	for i, c := range p.Constraints {
		bounds[i] = c.Bound
	}
	return bounds
}

// tauFeasible is the width of the smooth indicator of a constraint, in standard deviations of
// its observations.
const tauFeasible = 1e-2

// logFatStep returns log step(u/τ) and its derivative, with τ = tauFeasible: a smooth
// indicator of u > 0 whose tails decay like 1/u², so that its gradient vanishes nowhere
// (Ament et al. 2023, appendix A.4):
//
//	step(v) = ⅔/(1+(v-m)²)      for v < 0,  m = 1/√3
//	step(v) = 1 - ⅔/(1+(v+m)²)  otherwise
func logFatStep(u float64) (value, deriv float64) {
	const m = 0.577350269189625764509148780502 // 1/√3
	v := u / tauFeasible
	if v < 0 {
		c := 1 / (1 + (v-m)*(v-m))
		return math.Log(2 * c / 3), -2 * (v - m) * c / tauFeasible
	}
	c := 1 / (1 + (v+m)*(v+m))
	return math.Log1p(-2 * c / 3), 4 * (v + m) * c * c / 3 / (1 - 2*c/3) / tauFeasible
}

// logFeasiblePart returns the gain log mean over samples of exp fatmax_j Σ_c log step(bound_c -
// g_cj) of the outputs g_c.
func logFeasiblePart(bounds []float64) multiGain {
	return logWeighted(func(_, _ []*mat.Dense, _, _ int) (float64, float64) { return 0, 0 }, 0, bounds)
}

// logConstrainedPart returns the gain of LogNEI with constraints: the formula of QLogEI for
// output 0, with log step(bound_c - g_cj) of each further output added to the logarithm
// for point j.
func logConstrainedPart(best, bounds []float64) multiGain {
	return logWeighted(func(f, _ []*mat.Dense, s, j int) (float64, float64) {
		v, d := logFatPlus(best[s] - f[0].At(s, j))
		return v, -d
	}, 1, bounds)
}

// logWeighted returns the gain log mean_s exp fatmax_j (first(s, j) + Σ_c log step). The
// outputs from index skip on are constraints. The function first also returns its derivative with
// respect to output 0.
func logWeighted(first func(f, fbar []*mat.Dense, s, j int) (value, deriv float64), skip int, bounds []float64) multiGain {
	return func(f, fbar []*mat.Dense) float64 {
		n, k := f[0].Dims()
		top, v, bar := make([]float64, n), make([]float64, k), make([]float64, k)
		if fbar == nil {
			bar = nil
		}
		high := math.Inf(-1)
		share := mat.NewDense(n, k, nil) // ∂top_s/∂v_sj
		for s := range n {
			for j := range v {
				var d float64
				v[j], d = first(f, fbar, s, j)
				if fbar != nil && skip > 0 {
					fbar[0].Set(s, j, d)
				}
				for c, b := range bounds {
					l, dl := logFatStep(b - f[skip+c].At(s, j))
					v[j] += l
					if fbar != nil {
						fbar[skip+c].Set(s, j, -dl)
					}
				}
			}
			top[s] = fatMax(v, bar)
			if bar != nil {
				share.SetRow(s, bar)
			}
			high = max(high, top[s])
		}
		var total float64
		for s := range top {
			top[s] = math.Exp(top[s] - high)
			total += top[s]
		}
		if fbar == nil {
			return high + math.Log(total/float64(n))
		}
		for s := range top {
			for j := range k {
				weight := share.At(s, j) * top[s] / total
				for _, g := range fbar {
					g.Set(s, j, g.At(s, j)*weight)
				}
			}
		}
		return high + math.Log(total/float64(n))
	}
}
