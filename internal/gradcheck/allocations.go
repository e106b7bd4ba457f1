package gradcheck

import (
	"runtime/debug"
	"testing"
)

// Allocations is testing.AllocsPerRun for functions that borrow from pools: without
// collections of garbage, which empty them, and after runs that fill them.
func Allocations(runs int, f func()) float64 {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	for range 10 {
		f()
	}
	return testing.AllocsPerRun(runs, f)
}
