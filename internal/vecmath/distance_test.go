package vecmath

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/functionspace/bo/internal/cpu"
)

func randoms(rng *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	return x
}

func TestPack(t *testing.T) {
	var p Packed
	p.Pack([]float64{1, 2, -1, 3, 4, -1, 5, 6}, 3, 2, 3)
	require.Equal(t, Packed{3, 2, []float64{1, 3, 5, 2, 4, 6}}, p)
	p.Pack([]float64{7}, 1, 1, 1)
	require.Equal(t, Packed{1, 1, []float64{7}}, p)
	p.Pack(nil, 0, 4, 4)
	require.Zero(t, p.Len)
}

// Distances and moments equal plain sums up to rounding, and agree between instruction
// sets to the last bit, for every offset and length.
func TestDistances(t *testing.T) {
	before := map[[3]int][]float64{}
	levels(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(11, 12))
		for _, d := range []int{1, 2, 3, 7, 20} {
			const most = 75
			raw, x, inv, w := randoms(rng, most*(d+1)), randoms(rng, d), randoms(rng, d), randoms(rng, most)
			var p Packed
			p.Pack(raw, most, d, d+1)
			for from := range 9 {
				for n := range most - from + 1 {
					buf := make([]float64, n+16)
					s := buf[8 : 8+n]
					p.SquaredDistances(s, x, inv, from)
					first, second := make([]float64, d), make([]float64, d)
					first[0], second[0] = 1, 2
					p.FirstMoments(first, w[:n], x, from)
					p.SecondMoments(second, w[:n], x, from)
					wantFirst, wantSecond := make([]float64, d), make([]float64, d)
					wantFirst[0], wantSecond[0] = 1, 2
					for j := range n {
						var sum float64
						for c := range d {
							diff := x[c] - raw[(from+j)*(d+1)+c]
							sum += diff * inv[c] * diff * inv[c]
							wantFirst[c] += w[j] * diff
							wantSecond[c] += w[j] * diff * diff
						}
						if math.Abs(sum-s[j]) > 1e-14*sum {
							t.Fatalf("distance %v, want %v", s[j], sum)
						}
					}
					for c := range d {
						if math.Abs(first[c]-wantFirst[c]) > 1e-12 || math.Abs(second[c]-wantSecond[c]) > 1e-12 {
							t.Fatalf("moments %v, %v, want %v, %v", first[c], second[c], wantFirst[c], wantSecond[c])
						}
					}
					if floats.Sum(buf[:8]) != 0 || floats.Sum(buf[n+8:]) != 0 {
						t.Fatal("wrote beside the distances")
					}
					key, got := [3]int{d, from, n}, slices.Concat(s, first, second)
					if earlier, ok := before[key]; ok && !slices.Equal(earlier, got) {
						t.Fatalf("%v: %v and %v", key, earlier, got)
					}
					before[key] = got
				}
			}
		}
	})
}

func TestDistancesFar(t *testing.T) {
	levels(t, func(t *testing.T) {
		var p Packed
		p.Pack([]float64{1e200, -1e308, 0, math.NaN(), 1, 0x1p400, 3, 4, 5}, 9, 1, 1)
		s := make([]float64, 9)
		p.SquaredDistances(s, []float64{0}, []float64{2}, 0)
		require.Equal(t, []float64{1e300, 1e300, 0}, s[:3])
		require.True(t, math.IsNaN(s[3]))
		require.Equal(t, []float64{4, 0x1p802, 36, 64, 100}, s[4:])
		// A point with weight 0 has no effect at any distance.
		m := []float64{0}
		p.SecondMoments(m, []float64{0, 0, 1}, []float64{3}, 0)
		require.Equal(t, []float64{9}, m)
	})
}

func TestDistanceShapes(t *testing.T) {
	var p Packed
	p.Pack(make([]float64, 20), 10, 2, 2)
	two := make([]float64, 2)
	require.Panics(t, func() { p.SquaredDistances(make([]float64, 11), two, two, 0) })
	require.Panics(t, func() { p.SquaredDistances(make([]float64, 1), two, two, -1) })
	require.Panics(t, func() { p.SquaredDistances(make([]float64, 10), two, two, 1) })
	require.Panics(t, func() { p.SquaredDistances(make([]float64, 1), two[:1], two, 0) })
	require.Panics(t, func() { p.FirstMoments(two, make([]float64, 11), two, 0) })
	require.Panics(t, func() { p.FirstMoments(two[:1], make([]float64, 1), two, 0) })
	require.Panics(t, func() { p.SecondMoments(two, make([]float64, 1), make([]float64, 3), 0) })
	require.NotPanics(t, func() { p.SquaredDistances(nil, two, two, 10) })
}

func BenchmarkDistances(b *testing.B) {
	const n, d = 1000, 6
	rng := rand.New(rand.NewPCG(1, 1))
	var p Packed
	p.Pack(randoms(rng, n*d), n, d, d)
	x, inv, w, s := randoms(rng, d), randoms(rng, d), randoms(rng, n), make([]float64, n)
	before := level
	defer func() { level = before }()
	for l := range cpu.Supported + 1 {
		level = l
		for name, f := range map[string]func(){
			"squared": func() { p.SquaredDistances(s, x, inv, 0) },
			"first":   func() { p.FirstMoments(inv[:d:d], w, x, 0) },
			"second":  func() { p.SecondMoments(inv[:d:d], w, x, 0) },
		} {
			b.Run(name+"/"+l.String(), func(b *testing.B) {
				for b.Loop() {
					f()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/point")
			})
		}
	}
}
