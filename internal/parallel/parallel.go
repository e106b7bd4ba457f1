// Package parallel bounds the goroutines of a computation.
package parallel

import (
	"runtime"
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
// leaves processors of GOMAXPROCS to its requests by it. Results do not depend on it.
func Limit(n int) { limit.Store(int64(n)) }
