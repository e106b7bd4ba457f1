// Package alloctest counts heap allocations in tests of functions that borrow
// memory from pools.
package alloctest

import (
	"runtime/debug"
	"testing"
)

// PerRun returns the average number of heap allocations of a call of f, like
// testing.AllocsPerRun. Ten calls fill the pools first, and garbage collection,
// which would empty the pools, is off meanwhile.
func PerRun(runs int, f func()) float64 {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	for range 10 {
		f()
	}
	return testing.AllocsPerRun(runs, f)
}
