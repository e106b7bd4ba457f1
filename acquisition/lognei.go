package acquisition

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/internal/settings"
	"github.com/functionspace/bo/internal/specfn"
	"github.com/functionspace/bo/internal/subset"
	"github.com/functionspace/bo/internal/vecmath"
	"github.com/functionspace/bo/internal/workspace"
	"github.com/functionspace/bo/surrogate"
)

// LogNEI is QLogEI for noisy observations. In each joint sample the value to improve on
// is the lowest latent value at the evaluated points (Letham et al. 2019; Ament et al.
// 2023), so a lucky observation does not count as the optimum. A finite
// Problem.Best is not used.
//
// The value for one point is a closed form in a batch of Suggest, and if the problem is Concurrent or has
// constraints. Given joint samples s at the evaluated and the pending points, as in LogNEHVI, it is
//
//	log 1/S Σ_s P_s(x) s(x) h((best_s-μ_s(x))/s(x)),  h(z) = φ(z) + zΦ(z)
//
// with best_s the lowest feasible value of sample s, and μ_s and s the moments of f(x) given the sample. P_s is
// the probability that x meets the constraints. Its maximiser estimates the same point, because the improvement
// by the pending points does not depend on x. It needs a quarter to an eighth of the samples, and costs about a
// tenth. The points of a batch share the evaluated points that may be lowest.
type LogNEI struct {
	// Samples is the number of base samples. 0 means 512; powers of two are best. The closed
	// form uses at most 64, and at most 16 in a batch. It finds the evaluated points that may be
	// lowest with 64. Before a feasible point at most 64 are used for one point.
	Samples int `set:"samples" default:"512" range:"[1,65536]" help:"joint samples"`
	// Joint chooses all points of a batch together instead of one after another.
	Joint bool `set:"joint" default:"false" help:"choose the points of a batch together"`
}

var _ Joint = LogNEI{}

// maxBaseline bounds the number of evaluated points in the joint sample. The points
// that are most often lowest in a first sample are kept.
const maxBaseline = 16

// JointBatch returns the field Joint.
func (a LogNEI) JointBatch() bool { return a.Joint }

// Build returns the function. It samples f jointly at all evaluated points to find the
// points that may be lowest: O(n³) for n evaluated points, of which at most 500 are sampled.
func (a LogNEI) Build(_ context.Context, p Problem, q int, rng *rand.Rand) (Function, error) {
	if rowCount(p.Observed) == 0 {
		return nil, fmt.Errorf("%w: LogNEI needs evaluated points", ErrProblem)
	}
	a, err := settings.Resolve("lognei", a)
	if err != nil {
		return nil, err
	}
	if err := p.checkOne("LogNEI"); err != nil {
		return nil, err
	}
	switch {
	case q == 1 && p.shared != nil:
		return p.improvementGiven(a.Samples, manySamples, rng)
	case q == 1 && (p.Concurrent || !p.unconstrained()):
		return p.improvementGiven(a.Samples, closedSamples, rng)
	case !p.unconstrained():
		return a.constrained(p, q, rng)
	}
	p = p.amongLowest()
	samples := a.Samples
	prune := random.Split(rng, "baseline", 0)
	f, err := sampleAt(p.Posterior, p.Observed, baseSamples(samples, rowCount(p.Observed), prune))
	if err != nil {
		return nil, err
	}
	baseline := mostOftenLowest(f, nil, p.Observed)
	ahead := rowCount(baseline)
	base := baseSamples(samples, ahead+q+rowCount(p.Pending), rng)
	// All candidates share the samples at the baseline.
	f, err = sampleAt(p.Posterior, baseline, mat.DenseCopyOf(base.Slice(0, samples, 0, ahead)))
	if err != nil {
		return nil, err
	}
	best := make([]float64, samples)
	for s := range best {
		best[s] = slices.Min(f.RawRowView(s))
	}
	return &monteCarlo{posterior: p.Posterior, joint: anchored(p.Posterior, baseline), q: q, ahead: baseline, behind: p.Pending, base: base, best: best, gain: logPositivePart}, nil
}

// Joint samples at n evaluated points cost O(n³). Of more than manyObserved points, the lowestKept
// of lowest confidence bound are sampled.
const (
	manyObserved = 500
	lowestKept   = 250
)

// amongLowest is among with the lower confidence bounds.
func (p Problem) amongLowest() Problem {
	return p.among(func([]bool) []float64 { return p.lowerBounds(p.Posterior) })
}

// leastFeasible is the probability of feasibility from which an evaluated point counts as possibly feasible. It is
// about Φ(-2): a lower confidence bound of the constraint meets the bound.
const leastFeasible = 0.02

// among returns p with at most manyObserved evaluated points: of more, the lowestKept with the lowest scores. Points
// that are possibly feasible come first.
func (p Problem) among(score func(possible []bool) []float64) Problem {
	n := rowCount(p.Observed)
	if n <= manyObserved {
		return p
	}
	possible, order := make([]bool, n), subset.All(n)
	for i, v := range p.feasibilityAtObserved() {
		possible[i] = v >= leastFeasible
	}
	scores := score(possible)
	slices.SortStableFunc(order, func(i, j int) int {
		return cmp.Or(cmp.Compare(btoi(!possible[i]), btoi(!possible[j])), compare(scores[i], scores[j]))
	})
	keep := order[:lowestKept]
	slices.Sort(keep)
	p.Observed = subset.Take(p.Observed, keep)
	return p
}

// lowerBounds returns the means minus two standard deviations of posterior at the evaluated points.
func (p Problem) lowerBounds(posterior surrogate.Posterior) []float64 {
	mean, variance := p.atObserved(posterior)
	bound := make([]float64, len(mean))
	for i, m := range mean {
		bound[i] = m - 2*math.Sqrt(max(variance[i], 0))
	}
	return bound
}

// closedSamples bounds the number of joint samples of the closed form, and manySamples in a batch of
// several points.
const closedSamples, manySamples = 64, 16

// directFrom is a z above which h(z) is far from the subnormal numbers.
const directFrom = -30

// improvementGiven returns the closed form of LogNEI given at most most joint samples, or anyFeasible if no
// evaluated point is feasible.
func (p Problem) improvementGiven(samples, most int, rng *rand.Rand) (Function, error) {
	if p.infeasible() {
		return p.anyFeasible(1, samples, rng)
	}
	samples = min(samples, most)
	p.Objectives = []surrogate.Posterior{p.Posterior}
	contenders, err := p.sharedContenders("lognei", func() (*mat.Dense, error) { return p.amongLowest().contenders(lowest, closedSamples, rng) })
	if err != nil {
		return nil, err
	}
	f, joint, err := p.sampleContenders(contenders, samples, rng)
	if err != nil {
		return nil, err
	}
	worst := sync.OnceValue(p.worst)
	best := make([]float64, samples)
	for s := range best {
		if y, _ := joint.at(s); len(y) > 0 {
			best[s] = y[lowest(y)[0]][0]
		} else {
			best[s] = worst()
		}
	}
	f.gain = func(mem *workspace.Memory) momentGain {
		z, pdf, erf := mem.Floats(samples), mem.Floats(samples), mem.Floats(samples)
		return func(logs []float64, mean [][]float64, sd []float64, dmean, dsd [][]float64) {
			for s, m := range mean[0] {
				z[s] = (best[s] - m) / sd[0]
				erf[s] = z[s] * (1 / math.Sqrt2)
			}
			vecmath.NormPDF(pdf, z)
			vecmath.Erf(erf, nil, erf)
			scale := math.Log(sd[0])
			for s, z := range z {
				var l, r float64
				if z > directFrom {
					h, cdf := specfn.EI(z, pdf[s], erf[s])
					l, r = math.Log(h), cdf/h
				} else {
					l, r = specfn.LogEI(z)
				}
				if dmean != nil {
					dmean[0][s], dsd[0][s] = -r/sd[0], (1-z*r)/sd[0]
				}
				logs[s] = scale + l
			}
		}
	}
	return f, nil
}

// lowest returns the index of the lowest value of one objective, or nothing for no points.
func lowest(y [][]float64) []int {
	low := -1
	for i, v := range y {
		if low < 0 || v[0] < y[low][0] {
			low = i
		}
	}
	if low < 0 {
		return nil
	}
	return []int{low}
}

// worst returns a value that is improved on by every point: the largest posterior mean at an
// evaluated point plus six standard deviations.
func (p Problem) worst() float64 {
	mean, variance := p.atObserved(p.Posterior)
	worst := math.Inf(-1)
	for i, m := range mean {
		worst = max(worst, m+6*math.Sqrt(max(variance[i], 0)))
	}
	return worst
}

// constrained is Build for several points with constraints or failures. In each joint sample the value to beat
// is the lowest value at the evaluated points that are feasible in the sample. A point counts by a smooth
// indicator of its feasibility. Samples without a feasible point have a value that every point improves on.
func (a LogNEI) constrained(p Problem, q int, rng *rand.Rand) (Function, error) {
	if p.infeasible() {
		return p.anyFeasible(q, a.Samples, rng)
	}
	worst := p.worst()
	p = p.amongLowest()
	prune := random.Split(rng, "baseline", 0)
	n := rowCount(p.Observed)
	base := baseSamples(a.Samples, n*(1+len(p.Constraints)), prune)
	all := append([]Constraint{{Posterior: p.Posterior}}, p.Constraints...)
	samples := make([]*mat.Dense, len(all))
	for i, o := range all {
		var err error
		if samples[i], err = sampleAt(o.Posterior, p.Observed, mat.DenseCopyOf(base.Slice(0, a.Samples, i*n, (i+1)*n))); err != nil {
			return nil, err
		}
	}
	baseline := mostOftenLowest(samples[0], meeting(samples[1:], p.bounds()), p.Observed)
	f := p.newMulti(q, a.Samples, []surrogate.Posterior{p.Posterior}, baseline, rng)
	ahead := rowCount(baseline)
	for i, o := range f.outputs { // all candidates share the samples at the baseline
		var err error
		if samples[i], err = sampleAt(o.posterior, baseline, mat.DenseCopyOf(o.base.Slice(0, a.Samples, 0, ahead))); err != nil {
			return nil, err
		}
	}
	feasible := meeting(samples[1:], p.bounds())
	best := make([]float64, a.Samples)
	for s := range best {
		best[s] = worst
		for j, v := range samples[0].RawRowView(s) {
			if feasible(s, j) {
				best[s] = min(best[s], v)
			}
		}
	}
	f.gain = logConstrainedPart(best, p.bounds())
	return f, nil
}

// meeting returns the function that reports whether the samples of all outputs at point j are
// within the bounds.
func meeting(samples []*mat.Dense, bounds []float64) func(s, j int) bool {
	return func(s, j int) bool {
		for c, b := range bounds {
			if samples[c].At(s, j) > b {
				return false
			}
		}
		return true
	}
}

// sampleAt returns samples of f at the rows of x, one column per row of x.
func sampleAt(p surrogate.Posterior, x, base *mat.Dense) (*mat.Dense, error) {
	n, samples := rowCount(x), rowCount(base)
	mean, cov := make([]float64, n), mat.NewSymDense(n, nil)
	p.Joint(mean, cov, x)
	for i := range n {
		cov.SetSym(i, i, cov.At(i, i)+minVariance)
	}
	factor, err := linalg.Factorize(cov)
	if err != nil {
		return nil, fmt.Errorf("acquisition: sampling at %d evaluated points: %w", n, err)
	}
	lower, f := mat.NewDense(n, n, nil), mat.NewDense(samples, n, nil)
	factor.Lower(lower)
	for s := range samples {
		f.SetRow(s, mean)
	}
	linalg.Mul(f, 1, linalg.N, base, linalg.T, lower, 1)
	return f, nil
}

// mostOftenLowest returns at most maxBaseline rows of x, in their order: the rows that
// are lowest in the largest numbers of samples. If counts is not nil, only pairs of a sample and
// a row for which it returns true count; the result has at least one row.
func mostOftenLowest(f *mat.Dense, counts func(s, j int) bool, x *mat.Dense) *mat.Dense {
	samples, n := f.Dims()
	wins, order := make([]int, n), make([]int, n)
	for i := range order {
		order[i] = i
	}
	for s := range samples {
		row := f.RawRowView(s)
		low := -1
		for j, v := range row {
			if (counts == nil || counts(s, j)) && (low < 0 || v < row[low]) {
				low = j
			}
		}
		if low >= 0 {
			wins[low]++
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(wins[j], wins[i]) })
	keep := order[:min(n, maxBaseline)]
	keep = slices.DeleteFunc(keep, func(i int) bool { return wins[i] == 0 && i != keep[0] })
	slices.Sort(keep)
	out := mat.NewDense(len(keep), x.RawMatrix().Cols, nil)
	for k, i := range keep {
		out.SetRow(k, x.RawRowView(i))
	}
	return out
}
