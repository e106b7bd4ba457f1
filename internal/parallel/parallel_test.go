package parallel

import (
	"fmt"
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

// Try returns the error of the smallest argument.
func TestTry(t *testing.T) {
	require.NoError(t, Try(3, func(int) error { return nil }))
	err := Try(100, func(i int) error {
		if i < 40 {
			return nil
		}
		return fmt.Errorf("fault %d", i)
	})
	require.EqualError(t, err, "fault 40")
}
