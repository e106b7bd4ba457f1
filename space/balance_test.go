package space

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// mixture returns a space of components with a sum of 1, up to rounding.
func mixture(t *testing.T, components ...Parameter) *Space {
	s, err := New(components...)
	require.NoError(t, err)
	names := make([]string, len(components))
	for i, c := range components {
		names[i] = c.Name
	}
	excess := func(p Point) float64 {
		sum := -1.0
		for _, name := range names {
			sum += p.Float(name)
		}
		return max(0, math.Abs(sum)-1e-9)
	}
	s, err = s.Constrain(Condition{Text: "sum == 1", On: names, Holds: func(p Point) bool { return excess(p) <= 0 }, Excess: excess})
	require.NoError(t, err)
	return s
}

func hundredths(name string, low, high float64) Parameter {
	p := Float(name, low, high)
	p.Step = 0.01
	return p
}

// Other components of a mixture keep their ratios.
func TestCompleteKeepsRatios(t *testing.T) {
	s := mixture(t, hundredths("a", 0, 1), hundredths("b", 0, 1), hundredths("c", 0, 0.4), hundredths("d", 0, 1))
	point := func(a, b, c, d float64) map[string]any { return map[string]any{"a": a, "b": b, "c": c, "d": d} }
	for _, c := range []struct {
		from        map[string]any
		given, want map[string]any
	}{
		{point(0.4, 0.3, 0.2, 0.1), map[string]any{"a": 0.1}, point(0.1, 0.45, 0.3, 0.15)},
		{point(0.4, 0.3, 0.2, 0.1), map[string]any{"a": 1.0}, point(1, 0, 0, 0)},
		{point(0.4, 0.3, 0.2, 0.1), map[string]any{"a": 0.1, "b": 0.6}, point(0.1, 0.6, 0.2, 0.1)},
		{point(0.4, 0.3, 0.2, 0.1), map[string]any{"a": 0.5, "b": 0.26}, point(0.5, 0.26, 0.16, 0.08)},
		{point(0.6, 0.1, 0.2, 0.1), map[string]any{"a": 0.0}, point(0, 0.3, 0.4, 0.3)}, // c meets its bound
		{point(1, 0, 0, 0), map[string]any{"a": 0.52}, point(0.52, 0.2, 0.08, 0.2)},    // in proportion to the ranges
	} {
		from, err := s.PointOf(c.from)
		require.NoError(t, err)
		p, err := s.Complete(c.given, s.Encode(from), rand.New(rand.NewPCG(1, 2)))
		require.NoError(t, err)
		for name, want := range c.want {
			assert.InDelta(t, want, p.Float(name), 1e-9, "%s of %v", name, c)
		}
	}
}

// Along one component a mixture changes by few steps, and the same values give the same point.
func TestCompleteIsSmoothAlongAComponent(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{2, 3, 5, 8} {
		var components []Parameter
		for i := range n {
			components = append(components, hundredths(fmt.Sprintf("x%d", i), 0, 1))
		}
		s := mixture(t, components...)
		for range 5 {
			from, err := s.Complete(nil, s.Encode(s.random(rng)), rng)
			require.NoError(t, err)
			var last Point
			for k := range 101 {
				given := map[string]any{"x1": float64(k) / 100}
				p, err := s.Complete(given, s.Encode(from), rng)
				require.NoError(t, err)
				again, err := s.Complete(given, s.Encode(from), rng)
				require.NoError(t, err)
				require.Equal(t, p.Key(), again.Key())
				require.True(t, s.Feasible(s.Encode(p)))
				for _, c := range components {
					if k > 0 {
						require.LessOrEqual(t, math.Abs(p.Float(c.Name)-last.Float(c.Name)), 0.01*float64(n)+1e-9, "%s at %v", c.Name, given)
					}
				}
				last = p
			}
		}
	}
}

// Components of whole numbers.
func TestCompleteKeepsRatiosOfWholeNumbers(t *testing.T) {
	s, err := New(Int("a", 0, 100), Int("b", 0, 100), Int("c", 0, 100))
	require.NoError(t, err)
	excess := func(p Point) float64 { return math.Abs(float64(p.Int("a") + p.Int("b") + p.Int("c") - 100)) }
	s, err = s.Constrain(Condition{Text: "a + b + c == 100", On: []string{"a", "b", "c"}, Holds: func(p Point) bool { return excess(p) == 0 }, Excess: excess})
	require.NoError(t, err)
	from, err := s.PointOf(map[string]any{"a": 40, "b": 45, "c": 15})
	require.NoError(t, err)
	for a := range 101 {
		p, err := s.Complete(map[string]any{"a": a}, s.Encode(from), rand.New(rand.NewPCG(1, 2)))
		require.NoError(t, err)
		assert.Equal(t, 100, a+p.Int("b")+p.Int("c"))
		assert.InDelta(t, 0.75*float64(100-a), p.Int("b"), 2.01, "a = %d", a)
	}
}

// An inequality is met at its bound.
func TestCompleteMeetsABound(t *testing.T) {
	s, err := New(Float("a", 0, 1), Int("b", 0, 100), Float("c", 1, 3))
	require.NoError(t, err)
	excess := func(p Point) float64 { return max(0, p.Float("a")+p.Float("b")/100+p.Float("c")-2.5) }
	s, err = s.Constrain(Condition{Text: "a + b/100 + c <= 2.5", On: []string{"a", "b", "c"}, Holds: func(p Point) bool { return excess(p) <= 0 }, Excess: excess})
	require.NoError(t, err)
	from, err := s.PointOf(map[string]any{"a": 0.5, "b": 20, "c": 1.6})
	require.NoError(t, err)
	p, err := s.Complete(map[string]any{"a": 0.9}, s.Encode(from), rand.New(rand.NewPCG(1, 2)))
	require.NoError(t, err)
	assert.Equal(t, 0.9, p.Float("a"))
	assert.InDelta(t, 15, p.Float("b"), 1)
	assert.InDelta(t, 1.45, p.Float("c"), 0.02)
}

// Most points reach several constraints at once, and keep the given value.
func TestBalanceOfSeveralConstraints(t *testing.T) {
	type excess = func(p Point) float64
	sum := func(names ...string) excess {
		return func(p Point) float64 {
			x := -1.0
			for _, name := range names {
				x += p.Float(name)
			}
			return max(0, math.Abs(x)-1e-9)
		}
	}
	at := func(names string) (out []Parameter) {
		for _, name := range names {
			out = append(out, hundredths(string(name), 0, 1))
		}
		return out
	}
	for name, c := range map[string]struct {
		params []Parameter
		on     []string
		excess []excess
	}{
		"difference": {at("ab"), []string{"ab"}, []excess{func(p Point) float64 { return max(0, 0.1-p.Float("a")+p.Float("b")-1e-9) }}},
		"order": {at("abc"), []string{"ab", "bc"}, []excess{
			func(p Point) float64 { return max(0, p.Float("a")-p.Float("b")) }, func(p Point) float64 { return max(0, p.Float("b")-p.Float("c")) },
		}},
		"two mixtures with one component": {at("abcde"), []string{"abc", "cde"}, []excess{sum("a", "b", "c"), sum("c", "d", "e")}},
		"a mixture with a limit": {at("abc"), []string{"abc", "ab"}, []excess{
			sum("a", "b", "c"), func(p Point) float64 { return max(0, p.Float("a")+p.Float("b")-0.5-1e-9) },
		}},
		"a mixture with a ratio": {at("abc"), []string{"abc", "ab"}, []excess{
			sum("a", "b", "c"), func(p Point) float64 { return max(0, p.Float("a")-2*p.Float("b")-1e-9) },
		}},
		"product": {[]Parameter{Float("a", 1, 100), Int("b", 1, 64)}, []string{"ab"}, []excess{func(p Point) float64 { return max(0, p.Float("a")*p.Float("b")-200) }}},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := New(c.params...)
			require.NoError(t, err)
			var constraints []Condition
			for i, f := range c.excess {
				var on []string
				for _, name := range c.on[i] {
					on = append(on, string(name))
				}
				constraints = append(constraints, Condition{Text: fmt.Sprint(i), On: on, Holds: func(p Point) bool { return f(p) <= 0 }, Excess: f})
			}
			s, err = s.Constrain(constraints...)
			require.NoError(t, err)
			rng := rand.New(rand.NewPCG(1, 2))
			const n = 500
			good := 0
			for range n {
				u := s.Encode(s.random(rng))
				p, ok, err := s.Balance(nil, u)
				require.NoError(t, err)
				require.Equal(t, s.Feasible(s.Encode(p)), ok)
				if !ok {
					continue
				}
				good++
				given := map[string]any{"a": p.Value("a")} // so there is a feasible point with this value
				p, _, err = s.Balance(given, s.Encode(s.random(rng)))
				require.NoError(t, err)
				require.Equal(t, given["a"], p.Value("a"))
			}
			require.Greater(t, good, n*4/5)
		})
	}
}
