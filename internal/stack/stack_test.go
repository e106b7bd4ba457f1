package stack

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func caught(f func()) (text string) {
	defer func() {
		if recover() != nil {
			text = OfPanic()
		}
	}()
	f()
	return ""
}

//go:noinline
func element(list []int, i int) int { return list[i] }

//go:noinline
func deep(n int) int {
	if n == 0 {
		panic("end")
	}
	return 1 + deep(n-1)
}

// The first call is the function that panicked, also below functions of the runtime.
func TestOfPanic(t *testing.T) {
	for _, f := range []func(){func() { element(nil, 3) }, func() { deep(0) }} {
		lines := strings.Split(caught(f), "\n")
		require.Regexp(t, `internal/stack\.(element|deep)$`, lines[0])
		require.Regexp(t, `^\t.*stack_test\.go:\d+$`, lines[1])
		require.Contains(t, lines[2], "TestOfPanic")
	}
	require.Len(t, strings.Split(caught(func() { deep(1000) }), "\n"), 2*depth+1)
}
