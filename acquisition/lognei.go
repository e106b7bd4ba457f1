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
	"github.com/functionspace/bo/internal/settings"
)

// LogNEI is QLogEI for noisy observations. In each joint sample the value to improve on
// is the lowest latent value at the evaluated points (Letham et al. 2019; Ament et al.
// 2023), so a lucky observation does not count as the optimum. Problem.Best is not used.
type LogNEI struct {
	// Samples is the number of base samples. 0 means 512; powers of two are best.
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
// points that may be lowest: O(n³) for n evaluated points.
func (a LogNEI) Build(_ context.Context, p Problem, q int, rng *rand.Rand) (Function, error) {
	if rowCount(p.Observed) == 0 {
		return nil, fmt.Errorf("%w: LogNEI needs evaluated points", ErrProblem)
	}
	a, err := settings.Resolve("lognei", a)
	if err != nil {
		return nil, err
	}
	samples := a.Samples
	prune := random.Split(rng, "baseline", 0)
	f, err := sampleAt(p, p.Observed, baseSamples(samples, rowCount(p.Observed), prune))
	if err != nil {
		return nil, err
	}
	baseline := mostOftenLowest(f, p.Observed)
	ahead := rowCount(baseline)
	base := baseSamples(samples, ahead+q+rowCount(p.Pending), rng)
	// All candidates share the samples at the baseline.
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

// sampleAt returns samples of f at the rows of x, one column per row of x.
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

// mostOftenLowest returns at most maxBaseline rows of x, in their order: the rows that
// are lowest in the largest numbers of samples.
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
