package random

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSameArgumentsSameStream(t *testing.T) {
	a, b := New(7, "label", 3), New(7, "label", 3)
	for range 100 {
		require.Equal(t, a.Uint64(), b.Uint64())
	}
}

// The numbers of a stream determine the replay of stored studies: a change alters every
// suggestion of every seed.
func TestStreamIsPinned(t *testing.T) {
	require.Equal(t, uint64(0x97a0f877595535bd), New(0, "", 0).Uint64())
}

func TestStreamsDiffer(t *testing.T) {
	seen := map[uint64]string{}
	for seed := range uint64(5) {
		for _, label := range []string{"", "a", "b", "ab"} {
			for index := -2; index < 10; index++ {
				name := fmt.Sprint(seed, label, index)
				v := New(seed, label, index).Uint64()
				require.NotContains(t, seen, v, "%s and %s", name, seen[v])
				seen[v] = name
			}
		}
	}
}

func TestSplit(t *testing.T) {
	// The parent advances by one number for any child.
	a, b := New(1, "parent", 0), New(1, "parent", 0)
	first, second := Split(a, "x", 0), Split(b, "y", 5)
	require.Equal(t, a.Uint64(), b.Uint64())
	require.NotEqual(t, first.Uint64(), second.Uint64())
	// Draws from the child do not change the parent.
	child := Split(a, "x", 1)
	b.Uint64()
	child.Uint64()
	require.Equal(t, a.Uint64(), b.Uint64())
}

// Streams of neighbouring indices are uncorrelated.
func TestNeighboursAreIndependent(t *testing.T) {
	const n = 4000
	var product, mean float64
	for i := range n {
		u, v := New(1, "neighbour", i).NormFloat64(), New(1, "neighbour", i+1).NormFloat64()
		product += u * v / n
		mean += u / n
	}
	assert.Less(t, math.Abs(product), 4/math.Sqrt(n))
	assert.Less(t, math.Abs(mean), 4/math.Sqrt(n))
}

func ExampleNew() {
	// Two workers with the same seed use different streams, in any order.
	a, b := New(1, "worker", 0), New(1, "worker", 1)
	fmt.Println(a.Float64() != b.Float64(), New(1, "worker", 0).Float64() == New(1, "worker", 0).Float64())
	// Output: true true
}
