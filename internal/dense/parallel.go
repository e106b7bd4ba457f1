package dense

import (
	"runtime"
	"sync"
)

// share is the work below which one more goroutine does not pay, in flops; less
// in tests.
var share = 2e6

// workers returns among how many goroutines to split work of so many flops
// into parts of at least one unit each. No result depends on it.
func workers(flops float64, units int) int {
	if flops < 2*share {
		return 1
	}
	return max(1, min(runtime.GOMAXPROCS(0), int(flops/share), units))
}

// each runs f(0) … f(n-1) at the same time. All of them are new goroutines: idle
// processors take the youngest one over from a busy processor only after a
// pause, but not from one that waits.
func each(n int, f func(i int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { f(i) })
	}
	wg.Wait()
}

// Multiples of the sides of all tiles, at which work is cut.
const cutRows, cutCols = 8, 48

// cut returns how much of size a fraction is, in whole units unless it is all.
func cut(size, unit int, fraction float64) int {
	if fraction == 1 {
		return size
	}
	return min(size, int(fraction*float64(size)/float64(unit)+0.5)*unit)
}
