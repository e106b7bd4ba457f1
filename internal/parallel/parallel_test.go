package parallel

import (
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each calls the function once for every number, with any number of goroutines.
func TestEach(t *testing.T) {
	defer Limit(0)
	for _, workers := range []int{1, 2, 5} {
		Limit(workers)
		for _, n := range []int{0, 1, 2, 100} {
			calls := make([]atomic.Int64, n)
			Each(n, func(i int) { calls[i].Add(1) })
			for i := range calls {
				require.EqualValues(t, 1, calls[i].Load())
			}
		}
	}
}
