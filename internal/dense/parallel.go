package dense

import (
	"sync"

	"github.com/functionspace/bo/internal/parallel"
)

// share is the work, in flops, below which another goroutine costs more than it saves.
// Tests lower it.
var share = 2e6

// workers returns the number of goroutines for the given flops, divided into parts of at
// least one unit. No result depends on it.
func workers(flops float64, units int) int {
	if flops < 2*share {
		return 1
	}
	return max(1, min(parallel.Workers(), int(flops/share), units))
}

// each runs f(0) … f(n-1) concurrently, all in new goroutines. An idle processor steals
// the youngest goroutine of a busy processor only after a pause, but of a waiting
// processor at once.
func each(n int, f func(i int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { f(i) })
	}
	wg.Wait()
}

// Matrices are divided among goroutines at multiples of cutRows and cutCols, which are multiples
// of the sides of all tiles.
const cutRows, cutCols = 8, 48

// cut returns a fraction of size, rounded to whole units unless it is all of size.
func cut(size, unit int, fraction float64) int {
	if fraction == 1 {
		return size
	}
	return min(size, int(fraction*float64(size)/float64(unit)+0.5)*unit)
}
