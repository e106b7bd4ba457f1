package acquisition

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/pareto"
	"github.com/functionspace/bo/internal/settings"
)

// LogNEHVI is the logarithm of the noisy expected hypervolume improvement for two to four
// objectives (Daulton, Balandat and Bakshy 2021; in logarithmic form Ament et al. 2023). It
// takes one point at a time: Suggest chooses a batch one after another, and
// earlier points are pending.
//
// The objectives, the constraints and their noise are independent. Fixed quasi-random samples s are
// drawn jointly at the evaluated and the pending points. The points that are feasible in a sample have a Pareto
// front there. The part of the region below the reference point that the front does not dominate consists of
// disjoint boxes b. Given the sample, objective j at x is normal with mean μ_js and standard deviation s_j. The
// expected improvement therefore has a closed form (Emmerich, Giannakoglou and Naujoks 2006; Yang et al. 2019),
//
//	log 1/S Σ_s P_s(x) Σ_b Π_j s_j (h((u_bj-μ_js)/s_j) - h((l_bj-μ_js)/s_j)),  h(z) = φ(z) + zΦ(z)
//
// P_s is the probability that x meets the constraints given the sample. In comparison to
// the published estimator, which also samples x, the samples need to resolve only
// the noise at known points. Without noise and pending points there is one sample, and the value is the
// exact expected improvement. The logarithm is accurate far into the tails, so the gradient vanishes
// nowhere.
//
// Build samples all evaluated points. Of more than 500 it samples 250, the first fronts of the lower confidence
// bounds. It keeps the points that belong to a front in some sample. The samples cost O(n³) for each objective and n
// points. In a batch there are at most 16 samples, and the other points take the kept ones of the first. A value costs
// O(S·boxes); Boxes in package pareto states their number.
type LogNEHVI struct {
	// Samples is the number of base samples. 0 means 64; powers of two are best.
	Samples int `set:"samples" default:"64" range:"[1,65536]" help:"joint samples"`
}

// maxBoxObjectives is the largest number of objectives with a decomposition into boxes: more
// objectives have too many boxes.
const maxBoxObjectives = 4

var _ Acquisition = LogNEHVI{}

// Build returns the function of one point.
func (a LogNEHVI) Build(_ context.Context, p Problem, q int, rng *rand.Rand) (Function, error) {
	if err := p.checkSeveral("LogNEHVI", q); err != nil {
		return nil, err
	}
	if n := len(p.Objectives); n > maxBoxObjectives {
		return nil, fmt.Errorf("%w: LogNEHVI takes at most %d objectives, not %d: use auto or lognparego", ErrProblem, maxBoxObjectives, n)
	}
	a, err := settings.Resolve("lognehvi", a)
	if err != nil {
		return nil, err
	}
	if p.infeasible() {
		return p.anyFeasible(1, a.Samples, rng)
	}
	count := p.sampleCount(a.Samples)
	contenders, err := p.sharedContenders("lognehvi", func() (*mat.Dense, error) {
		return p.amongFront().contenders(func(y [][]float64) []int { return frontBelow(y, p.Reference) }, count, rng)
	})
	if err != nil {
		return nil, err
	}
	if p.shared != nil {
		count = min(count, manySamples)
	}
	f, samples, err := p.sampleContenders(contenders, count, rng)
	if err != nil {
		return nil, err
	}
	r := newRegions(len(p.Reference))
	for s := range f.samples {
		y, _ := samples.at(s)
		r.add(pareto.Boxes(y, p.Reference))
	}
	f.gain = r.gain
	return f, nil
}

// frontBelow returns the indices of the points on the front of y that are below the reference
// point.
func frontBelow(y [][]float64, reference []float64) []int {
	return slices.DeleteFunc(pareto.Front(y), func(i int) bool {
		for j, r := range reference {
			if !(y[i][j] < r) {
				return true
			}
		}
		return false
	})
}
