package space

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCountOfFloats(t *testing.T) {
	count := func(params ...Parameter) (*Space, int) {
		s, err := New(params...)
		require.NoError(t, err)
		return s, s.Count()
	}
	for _, p := range []Parameter{Float("x", -1e307, 1e307), Float("x", 0, math.MaxFloat64), Float("x", -5, 10)} {
		s, n := count(p)
		assert.Greater(t, n, 1<<60, "%v", p)
		_, more := count(p, Float("y", 0, 1), Int("z", 1, 9))
		assert.Equal(t, math.MaxInt, more)
		for _, i := range []int{0, 1, n - 1} {
			s.At(i)
		}
	}
	for _, x := range []float64{-1e307, -1, -5e-324, 0, 5e-324, 1, 1e307} {
		assert.Equal(t, x, unorder(order(x)))
		assert.Equal(t, order(x)+1, order(math.Nextafter(x, math.Inf(1))))
	}
}

func TestAtVisitsEveryPoint(t *testing.T) {
	s, err := New(StepFloat("x", 0, 0.5, 0.1), StepInt("k", 2, 8, 2), Bool("b"), Ordinal("o", 1, 2, 3), Fixed("f", "a"))
	require.NoError(t, err)
	seen := map[string]bool{}
	for i := range s.Count() {
		p := s.At(i)
		q, err := s.PointOf(p.Map())
		require.NoError(t, err)
		require.Equal(t, p.Key(), q.Key())
		seen[p.Key()] = true
	}
	assert.Len(t, seen, 6*4*2*3)
}
