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

// each runs f(0) … f(n-1) at the same time.
func each(n int, f func(i int)) {
	var wg sync.WaitGroup
	for i := 1; i < n; i++ {
		wg.Go(func() { f(i) })
	}
	f(0)
	wg.Wait()
}

// cut returns how much of size a fraction is, in whole units unless it is all.
func cut(size, unit int, fraction float64) int {
	if fraction == 1 {
		return size
	}
	return min(size, int(fraction*float64(size)/float64(unit)+0.5)*unit)
}
