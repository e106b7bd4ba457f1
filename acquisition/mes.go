package acquisition

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/optimize"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/internal/settings"
	"github.com/functionspace/bo/internal/specfn"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
)

// MES is max-value entropy search for a minimum (Wang and Jegelka 2017, eq. 6): an
// approximation of the mutual information, in nats, of f(x) and the minimum y* of f. Given y*,
// f(x) has its normal distribution truncated to values above y*:
//
//	mean over sampled y* of  γφ(γ)/(2Φ(γ)) - log Φ(γ),  γ = (μ - y*)/s
//
// which is the formula for a maximum with the opposite sign of γ. Each y* is the minimum
// of a function drawn from the posterior over the unit cube. Gradient descent from the best
// of many points finds the minimum.
type MES struct {
	// Samples is the number of minima y*. 0 means 16.
	Samples int `set:"samples" default:"16" range:"[1,10000]" help:"sampled minima"`
}

const (
	mesRaw    = 512 // points at which each drawn function is evaluated first
	mesStarts = 4   // descents per drawn function
)

// Build draws Samples functions, minimises them and returns the function.
func (a MES) Build(ctx context.Context, p Problem, q int, rng *rand.Rand) (Function, error) {
	if q != 1 {
		return nil, fmt.Errorf("%w: MES with a batch of %d", ErrBatch, q)
	}
	if err := p.checkPlain("MES"); err != nil {
		return nil, err
	}
	if p.Baseline != nil {
		return nil, fmt.Errorf("%w: MES searches the minimum over the whole space, not a part of it: use auto", ErrProblem)
	}
	a, err := settings.Resolve("mes", a)
	if err != nil {
		return nil, err
	}
	posterior, _, err := p.Condition()
	if err != nil {
		return nil, err
	}
	minima := make([]float64, a.Samples)
	raw := stack(p.Observed, p.Pending, space.Sobol(mesRaw, posterior.Dim(), random.Split(rng, "raw", 0)))
	for i, path := range posterior.Paths(a.Samples, rng) {
		if minima[i], err = minimum(ctx, path, raw); err != nil {
			return nil, err
		}
	}
	return &marginal{posterior, func(mean, s float64) (value, dmean, dsd float64) {
		for _, y := range minima {
			gamma := (mean - y) / s
			v, d := specfn.EntropyReduction(gamma)
			value += v
			dmean += d
			dsd -= d * gamma
		}
		k := 1 / float64(len(minima))
		return value * k, dmean * k / s, dsd * k / s
	}}, nil
}

// minimum returns the least value of path found by descents from the best rows of raw.
func minimum(ctx context.Context, path surrogate.Path, raw *mat.Dense) (float64, error) {
	n, d := raw.Dims()
	value := make([]float64, n)
	for lo := 0; lo < n; lo += chunk {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		hi := min(lo+chunk, n)
		path.Eval(value[lo:hi], nil, rows(raw, lo, hi))
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return compare(value[i], value[j]) })
	starts := mat.NewDense(mesStarts, d, nil)
	for i := range mesStarts {
		starts.SetRow(i, raw.RawRowView(order[i]))
	}
	lo, hi := unitCube(d)
	found, err := optimize.MinimizeBatch(ctx, path.Eval, starts, lo, hi, optimize.Settings{MaxIter: 100, FuncTol: 1e-7, GradTol: 1e-4})
	if err != nil {
		return 0, err
	}
	best := math.Inf(1)
	for _, r := range found {
		best = min(best, r.F)
	}
	if math.IsInf(best, 1) {
		return 0, fmt.Errorf("%w: a function drawn from the posterior has no finite value", ErrProblem)
	}
	return best, nil
}
