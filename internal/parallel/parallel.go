// Package parallel bounds the goroutines of a computation.
package parallel

import (
	"runtime"
	"sync"
	"sync/atomic"
)

var limit atomic.Int64

// Workers returns the largest number of goroutines of one computation: GOMAXPROCS, or a smaller number
// that Limit has set.
func Workers() int {
	n := runtime.GOMAXPROCS(0)
	if most := int(limit.Load()); most > 0 {
		n = min(n, most)
	}
	return n
}

// Limit sets the largest number of goroutines of one computation; 0 removes the limit. A service
// sets it to keep processors free for requests. Results do not depend on it.
func Limit(n int) { limit.Store(int64(n)) }

// Each calls f(0) … f(n-1) on at most Workers goroutines, and returns when all calls have. A goroutine
// takes the smallest argument that is left. A panic of f ends the program.
func Each(n int, f func(i int)) {
	workers := min(n, Workers())
	if workers < 2 {
		for i := range n {
			f(i)
		}
		return
	}
	var next atomic.Int64
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				f(i)
			}
		})
	}
	group.Wait()
}

// Try calls f as Each does, for every argument. It returns the error of the smallest argument that has one, or nil.
func Try(n int, f func(i int) error) error {
	errs := make([]error, n)
	Each(n, func(i int) { errs[i] = f(i) })
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
