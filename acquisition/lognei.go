package acquisition

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/random"
)

// LogNEI is QLogEI for noisy observations: in each joint sample the value to
// improve on is the lowest latent value at the evaluated points (Letham et al.
// 2019; Ament et al. 2023), so that a lucky observation is not taken for an
// optimum. Problem.Best plays no part.
type LogNEI struct {
	// Samples is the number of base samples. 0 means 512; powers of two are best.
	Samples int `set:"samples" help:"joint samples" default:"512"`
	// Joint chooses all points of a batch at once instead of one after the other.
	Joint bool `set:"joint" help:"choose the points of a batch together" default:"false"`
}

var _ Joint = LogNEI{}

// maxBaseline is how many evaluated points, those most often lowest in the
// samples, are kept.
const maxBaseline = 16

// JointBatch returns the field Joint.
func (a LogNEI) JointBatch() bool { return a.Joint }

// Build draws the base samples, and samples f jointly at all evaluated points to
// find those that may be lowest.
func (a LogNEI) Build(_ context.Context, p Problem, q int, rng *rand.Rand) (Function, error) {
	if rowCount(p.Observed) == 0 {
		return nil, fmt.Errorf("%w: LogNEI needs evaluated points", ErrProblem)
	}
	samples, err := sampleCount(a.Samples)
	if err != nil {
		return nil, err
	}
	prune := random.Split(rng, "baseline", 0)
	f, err := sampleAt(p, p.Observed, baseSamples(samples, rowCount(p.Observed), prune))
	if err != nil {
		return nil, err
	}
	baseline := mostOftenLowest(f, p.Observed)
	ahead := rowCount(baseline)
	base := baseSamples(samples, ahead+q+rowCount(p.Pending), rng)
	// The samples at the baseline are the same for every candidate.
	f, err = sampleAt(p, baseline, mat.DenseCopyOf(base.Slice(0, samples, 0, ahead)))
	if err != nil {
		return nil, err
	}
	best := make([]float64, samples)
	for s := range best {
		best[s] = slices.Min(f.RawRowView(s))
	}
	return &monteCarlo{posterior: p.Posterior, q: q, ahead: baseline, behind: p.Pending, base: base, best: best, gain: logPositivePart}, nil
}

// sampleAt returns samples of f at the rows of x, a column each.
func sampleAt(p Problem, x, base *mat.Dense) (*mat.Dense, error) {
	n, samples := rowCount(x), rowCount(base)
	mean, cov := make([]float64, n), mat.NewSymDense(n, nil)
	p.Posterior.Joint(mean, cov, x)
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

// mostOftenLowest returns the rows of x that are lowest in most samples, at most
// maxBaseline, in their order.
func mostOftenLowest(f, x *mat.Dense) *mat.Dense {
	samples, n := f.Dims()
	wins, order := make([]int, n), make([]int, n)
	for i := range order {
		order[i] = i
	}
	for s := range samples {
		row := f.RawRowView(s)
		low := 0
		for j, v := range row {
			if v < row[low] {
				low = j
			}
		}
		wins[low]++
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(wins[j], wins[i]) })
	keep := slices.DeleteFunc(order[:min(n, maxBaseline)], func(i int) bool { return wins[i] == 0 })
	slices.Sort(keep)
	out := mat.NewDense(len(keep), x.RawMatrix().Cols, nil)
	for k, i := range keep {
		out.SetRow(k, x.RawRowView(i))
	}
	return out
}
