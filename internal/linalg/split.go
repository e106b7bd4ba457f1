package linalg

import (
	"sync"

	"github.com/functionspace/bo/internal/parallel"
)

// share is the number of operations per goroutine below which another goroutine costs
// more than it saves.
const share = 1 << 17

// split calls f with ranges that cover 0 … n. It uses goroutines if n times each
// operations are enough.
func split(n, each int, f func(from, to int)) {
	w := max(1, min(parallel.Workers(), n*each/share, n))
	if w == 1 {
		f(0, n)
		return
	}
	var wg sync.WaitGroup
	for i := range w {
		wg.Go(func() { f(i*n/w, (i+1)*n/w) })
	}
	wg.Wait()
}
