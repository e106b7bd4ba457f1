package optimize

import (
	"context"

	"github.com/functionspace/bo/internal/parallel"
)

// Multistart minimises from each of the starts, of which there is at least one, on all processors.
// It returns the best result; of equal results, the first. objective returns a function for the
// calls of one start. The only possible error comes from the context.
func Multistart(ctx context.Context, objective func() func(x, grad []float64) float64, starts [][]float64, lo, hi []float64, s Settings) (Result, error) {
	results := make([]Result, len(starts))
	parallel.Each(len(starts), func(i int) {
		results[i], _ = Minimize(ctx, objective(), starts[i], lo, hi, s) // a cancelled context is checked below
	})
	best := results[0]
	for _, r := range results {
		if r.F < best.F {
			best = r
		}
	}
	return best, ctx.Err()
}
