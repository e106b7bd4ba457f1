package space

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func many(t testing.TB, n int) *Space {
	values := make([]any, n)
	for i := range values {
		values[i] = fmt.Sprint("v", i)
	}
	s, err := New(Categorical("c", values...), Float("x", 0, 1))
	require.NoError(t, err)
	return s
}

// Words of many values are apart, every value survives the round trip, and columns near a
// word decode to its value.
func TestManyValues(t *testing.T) {
	for n, dim := range map[int]int{64: 64, 65: 28, 128: 28, 129: 32, 200: 32, 1000: 40, 9999: 56, 70_000: 64} {
		s := many(t, n)
		require.Equal(t, dim+1, s.Dim(), "%d values", n)
		if n == 64 {
			continue
		}
		words := wordsOf(n)
		for i, a := range words[:min(n, 300)] {
			for _, b := range words[:i] {
				require.GreaterOrEqual(t, bits.OnesCount64(a^b), 10)
			}
		}
		rng := rand.New(rand.NewPCG(1, 1))
		for i := range min(n, 100, 1+500_000/n) {
			p, err := s.PointOf(map[string]any{"c": fmt.Sprint("v", i), "x": 0.5})
			require.NoError(t, err)
			u := s.Encode(p)
			require.Equal(t, p, s.Decode(u))
			for k := range dim {
				u[k] += 0.4 * (2*rng.Float64() - 1)
				if k < 2 {
					u[k] = 1 - math.Round(u[k])
				}
			}
			require.Equal(t, i, int(s.Decode(u).Code(0)), "two wrong digits")
			require.Equal(t, n-1, s.Neighbors(u).RawMatrix().Rows)
		}
	}
}

// Uniform columns give every value, none of them more than a few times as often as another.
func TestManyValuesAreNearlyUniform(t *testing.T) {
	const n, draws = 200, 100_000
	s, rng, counts := many(t, n), rand.New(rand.NewPCG(2, 2)), make([]int, n)
	for range draws {
		counts[int(s.random(rng).Code(0))]++
	}
	for i, c := range counts {
		assert.InDelta(t, 1, float64(c)*n/draws, 0.6, "value %d", i)
	}
}

func BenchmarkDecodeMany(b *testing.B) {
	s := many(b, 200)
	u := make([]float64, s.Dim())
	for i := range u {
		u[i] = float64(i%7) / 7
	}
	for b.Loop() {
		s.Decode(u)
	}
}

// The first digits of a word are its index, so that a word is found without a search.
func TestWordAt(t *testing.T) {
	for _, n := range []int{65, 200, 1000} {
		words, u := wordsOf(n), make([]float64, codeColumns(n))
		for i, w := range words {
			for k := range u {
				u[k] = float64(w >> k & 1)
			}
			require.Equal(t, i, wordAt(words, u))
			require.Equal(t, i, nearestWord(words, u))
			u[i%len(u)] = 1 - u[i%len(u)]
			require.Equal(t, -1, wordAt(words, u), "one wrong digit")
			u[0] = 0.5
			require.Equal(t, -1, wordAt(words, u))
		}
	}
}
