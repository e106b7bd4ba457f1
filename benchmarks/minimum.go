package benchmarks

import (
	"cmp"
	"context"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/optimize"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/space"
)

const (
	searchPoints   = 1 << 14 // points of a Sobol sequence
	searchDescents = 64      // descents from the best points, by bounded L-BFGS
	searchKept     = 8       // best ends of a round
	searchAround   = 512     // points around each kept end in the next round
)

// searchMinimum searches [0,1]^d for the lowest value of a function f. f writes values and,
// unless grad is nil, gradients at the rows of x. Descents start from the
// best points of a Sobol sequence. Further rounds start around the best ends, each
// within a quarter of the previous distance, for functions with many narrow minima.
func searchMinimum(f func(value []float64, grad, x *mat.Dense), d int) (value float64, x []float64) {
	rng := random.New(0, "least value", d)
	points := space.Sobol(searchPoints, d, rng)
	for spread := 0.1; ; spread /= 4 {
		ends := descents(f, points)
		if spread < 1e-3 {
			return ends[0].F, ends[0].X
		}
		points = mat.NewDense(searchKept*(1+searchAround), d, nil)
		for i := range searchKept * (1 + searchAround) {
			end, row := ends[i%searchKept].X, points.RawRowView(i)
			copy(row, end)
			for j := range row {
				if i >= searchKept {
					row[j] = min(max(row[j]+spread*rng.NormFloat64(), 0), 1)
				}
			}
		}
	}
}

// descents returns the results of descents from the best points, sorted by value.
func descents(f func(value []float64, grad, x *mat.Dense), points *mat.Dense) []optimize.Result {
	const atOnce = 256
	n, d := points.Dims()
	values, order := make([]float64, n), make([]int, n)
	for lo := 0; lo < n; lo += atOnce {
		hi := min(lo+atOnce, n)
		f(values[lo:hi], nil, points.Slice(lo, hi, 0, d).(*mat.Dense))
	}
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(values[i], values[j]) })
	starts := mat.NewDense(searchDescents, d, nil)
	for i := range searchDescents {
		starts.SetRow(i, points.RawRowView(order[i]))
	}
	// The context is never cancelled.
	ends, _ := optimize.MinimizeBatch(context.Background(), f, starts, repeat(0, d), repeat(1, d), optimize.Settings{GradTol: 1e-9, FuncTol: -1})
	slices.SortStableFunc(ends, func(a, b optimize.Result) int { return cmp.Compare(a.F, b.F) })
	return ends
}
