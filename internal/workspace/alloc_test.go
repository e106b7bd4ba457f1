//go:build !race

// The race detector empties pools at random.

package workspace

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/internal/alloctest"
)

func TestAllocations(t *testing.T) {
	require.Zero(t, alloctest.PerRun(100, func() {
		m := Borrow()
		defer m.Return()
		inner := Borrow()
		defer inner.Return()
		m.Sym(10)
		m.Rows(m.Dense(20, 5), 3, 7)
		inner.Floats(1000)
	}))
}
