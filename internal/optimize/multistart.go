package optimize

import (
	"context"
	"sync"

	"github.com/functionspace/bo/internal/parallel"
)

// Multistart minimises from each of the starts on all processors, and returns the best result;
// of equal results, the first. objective returns a function for the calls of one start. The
// only possible error comes from the context.
func Multistart(ctx context.Context, objective func() func(x, grad []float64) float64, starts [][]float64, lo, hi []float64, s Settings) (Result, error) {
	results, work := make([]Result, len(starts)), make(chan int, len(starts))
	for i := range starts {
		work <- i
	}
	close(work)
	var group sync.WaitGroup
	for range min(len(starts), parallel.Workers()) {
		group.Go(func() {
			for i := range work {
				results[i], _ = Minimize(ctx, objective(), starts[i], lo, hi, s) // a cancelled context is checked below
			}
		})
	}
	group.Wait()
	best := results[0]
	for _, r := range results {
		if r.F < best.F {
			best = r
		}
	}
	return best, ctx.Err()
}
