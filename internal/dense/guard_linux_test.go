package dense

import (
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// Every routine runs on slices with no readable memory after their end, or before their
// beginning. An access outside a slice ends the test program.
func TestGuardPages(t *testing.T) {
	const size, guard = 1 << 20, 1 << 14
	var slabs [8][]float64
	for i := range slabs {
		m, err := syscall.Mmap(-1, 0, size+2*guard, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
		require.NoError(t, err)
		require.NoError(t, syscall.Mprotect(m[:guard], syscall.PROT_NONE))
		require.NoError(t, syscall.Mprotect(m[guard+size:], syscall.PROT_NONE))
		defer func() { _ = syscall.Munmap(m) }()
		slabs[i] = unsafe.Slice((*float64)(unsafe.Pointer(&m[guard])), size/8)
	}
	defer func(old func(int) []float64) { allocate = old }(allocate)
	for _, atEnd := range []bool{true, false} {
		next := 0
		allocate = func(n int) []float64 {
			slab := slabs[next%len(slabs)]
			next++
			if atEnd {
				return slab[len(slab)-n:]
			}
			return slab[:n:n]
		}
		forLevels(t, func(t *testing.T) {
			for n := 1; n < 20; n++ {
				results(n)
			}
			results(70)
		})
	}
}
