package pareto

import (
	"encoding/json"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// points returns n points of the unit cube. If grid is positive, coordinates are multiples of
// 1/grid, so that many are equal.
func points(n, m, grid int, rng *rand.Rand) [][]float64 {
	y := make([][]float64, n)
	for i := range y {
		y[i] = make([]float64, m)
		for j := range y[i] {
			y[i][j] = rng.Float64()
			if grid > 0 {
				y[i][j] = float64(rng.IntN(grid+1)) / float64(grid)
			}
		}
	}
	return y
}

func ones(m int) []float64 { return slices.Repeat([]float64{1}, m) }

// forAll calls check with random points of 2 to 5 objectives.
func forAll(t *testing.T, check func(t *testing.T, y [][]float64, reference []float64, rng *rand.Rand)) {
	for m := 2; m <= 5; m++ {
		for seed := range uint64(60) {
			rng := rand.New(rand.NewPCG(seed, uint64(m)))
			y := points(rng.IntN(18), m, int(seed%4)*2, rng)
			reference := slices.Repeat([]float64{0.5 + rng.Float64()}, m)
			if seed%4 > 0 && rng.IntN(2) == 0 {
				reference = ones(m)
			}
			t.Run(fmt.Sprintf("m=%d/seed=%d", m, seed), func(t *testing.T) { check(t, y, reference, rng) })
		}
	}
}

// The front has exactly the rows that no row dominates, by the definition.
func TestFrontIsTheDefinition(t *testing.T) {
	forAll(t, func(t *testing.T, y [][]float64, _ []float64, rng *rand.Rand) {
		if len(y) > 3 {
			y[1] = slices.Clone(y[0])
			y[2][0] = math.NaN()
		}
		var want []int
		for i := range y {
			if slices.ContainsFunc(y[i], math.IsNaN) {
				continue
			}
			if !slices.ContainsFunc(y, func(v []float64) bool { return dominates(v, y[i]) }) {
				want = append(want, i)
			}
		}
		assert.Equal(t, want, Front(y))
	})
}

func TestHypervolumeClosedForms(t *testing.T) {
	// n points on the line y1 + y2 = 1 at equal distances: a staircase.
	const n = 50
	var line [][]float64
	for i := range n {
		u := float64(i) / (n - 1)
		line = append(line, []float64{u, 1 - u})
	}
	assert.InDelta(t, 1-float64(n)/(2*(n-1)), Hypervolume(line, ones(2)), 1e-13)
	// The m permutations of (0, ½, …, ½) leave, of the cube, the m-fold overlaps.
	for m := 2; m <= 6; m++ {
		var y [][]float64
		for i := range m {
			v := slices.Repeat([]float64{0.5}, m)
			v[i] = 0
			y = append(y, v)
		}
		// [½,1]^m is shared, and each point adds the half below it.
		half := math.Pow(0.5, float64(m))
		assert.InDelta(t, half*float64(m+1), Hypervolume(y, ones(m)), 1e-14, "m = %d", m)
	}
	assert.Zero(t, Hypervolume(nil, ones(3)))
	assert.Zero(t, Hypervolume([][]float64{{0, 1}}, ones(2)))
	assert.Equal(t, 0.75, Hypervolume([][]float64{{0.25}, {0.5}}, ones(1)))
}

// The hypervolume and the boxes of the dominated region agree with inclusion and exclusion. The sum runs over
// the boxes between each set of rows and the reference point.
func TestHypervolumeByInclusionAndExclusion(t *testing.T) {
	forAll(t, func(t *testing.T, y [][]float64, reference []float64, _ *rand.Rand) {
		y = y[:min(len(y), 10)]
		var want float64
		for set := 1; set < 1<<len(y); set++ {
			term := -1.0
			for j, r := range reference {
				worst := math.Inf(-1)
				for i := range y {
					if set>>i&1 == 1 {
						worst = max(worst, y[i][j])
					}
				}
				term *= max(0, r-worst)
			}
			if bits.OnesCount(uint(set))%2 == 1 {
				term = -term
			}
			want += term
		}
		assert.InDelta(t, want, Hypervolume(y, reference), 1e-12)
		_, inner := partition(below(y, reference), reference)
		var sum float64
		for _, b := range inner {
			sum += overlap(b, b)
		}
		assert.InDelta(t, want, sum, 1e-12)
	})
}

// Equal rows, dominated rows and the order of rows leave the hypervolume unchanged, up to
// rounding. A further row never lowers it.
func TestHypervolumeInvariances(t *testing.T) {
	forAll(t, func(t *testing.T, y [][]float64, reference []float64, rng *rand.Rand) {
		v := Hypervolume(y, reference)
		more := slices.Clone(y)
		for _, w := range y {
			u := slices.Clone(w)
			u[rng.IntN(len(u))] += rng.Float64()
			more = append(more, slices.Clone(w), u)
		}
		rng.Shuffle(len(more), func(i, j int) { more[i], more[j] = more[j], more[i] })
		assert.InDelta(t, v, Hypervolume(more, reference), 1e-12)
		assert.GreaterOrEqual(t, Hypervolume(append(more, points(1, len(reference), 0, rng)...), reference), v-1e-12)
	})
}

// Improvements by one row after another sum to the hypervolumes, and rows that are no better add exactly 0.
func TestImprovement(t *testing.T) {
	forAll(t, func(t *testing.T, y [][]float64, reference []float64, _ *rand.Rand) {
		var sum float64
		for i, v := range y {
			step := Improvement(v, y[:i], reference)
			require.GreaterOrEqual(t, step, 0.0)
			sum += step
			require.InEpsilon(t, 1+Hypervolume(y[:i+1], reference), 1+sum, 1e-12)
			require.Zero(t, Improvement(v, y[:i+1], reference))
		}
	})
}

// The share of uniform points that are dominated agrees with the hypervolume.
func TestHypervolumeMonteCarlo(t *testing.T) {
	const draws = 20000
	for m := 2; m <= 5; m++ {
		rng := rand.New(rand.NewPCG(1, uint64(m)))
		y := points(12, m, 0, rng)
		hits := 0.0
		for range draws {
			z := points(1, m, 0, rng)[0]
			if slices.ContainsFunc(y, func(v []float64) bool { return dominates(v, z) }) {
				hits++
			}
		}
		p := Hypervolume(y, ones(m))
		assert.InDelta(t, p, hits/draws, 5*math.Sqrt(p*(1-p)/draws), "m = %d", m)
	}
}

// overlap returns the volume that two boxes share.
func overlap(a, b Box) float64 {
	v := 1.0
	for j := range a.Lower {
		side := min(a.Upper[j], b.Upper[j]) - max(a.Lower[j], b.Lower[j])
		if side <= 0 {
			return 0
		}
		v *= side
	}
	return v
}

// The boxes of the dominated region are disjoint and their volumes sum to the hypervolume. The
// boxes of the other region are disjoint and have the volume of the rest of a large
// box. Each point belongs to a box of the one or the other.
func TestPartitions(t *testing.T) {
	const far = -0.25
	forAll(t, func(t *testing.T, y [][]float64, reference []float64, rng *rand.Rand) {
		m := len(reference)
		whole := Box{slices.Repeat([]float64{far}, m), reference}
		_, inner := partition(below(y, reference), reference)
		outer := Boxes(y, reference)
		volume := Hypervolume(y, reference)
		assert.InDelta(t, volume, total(t, inner, whole), 1e-12)
		assert.InDelta(t, overlap(whole, whole)-volume, total(t, outer, whole), 1e-12)
		for range 50 {
			z := points(1, m, 0, rng)[0]
			if !inside(z, reference) {
				continue
			}
			within := func(b Box) bool {
				for j, v := range z {
					if v < b.Lower[j] || v > b.Upper[j] {
						return false
					}
				}
				return true
			}
			is := slices.ContainsFunc(y, func(v []float64) bool { return dominates(v, z) })
			assert.Equal(t, is, slices.ContainsFunc(inner, within))
			assert.Equal(t, !is, slices.ContainsFunc(outer, within))
		}
	})
}

// total returns the volume of disjoint boxes within whole.
func total(t *testing.T, boxes []Box, whole Box) (sum float64) {
	for i, a := range boxes {
		for j := range a.Lower {
			require.Less(t, a.Lower[j], a.Upper[j])
		}
		sum += overlap(a, whole)
		for _, b := range boxes[:i] {
			require.Zero(t, overlap(a, b))
		}
	}
	return sum
}

// The sum over boxes is the increase of the hypervolume by a new point.
func TestBoxesGiveTheImprovement(t *testing.T) {
	forAll(t, func(t *testing.T, y [][]float64, reference []float64, rng *rand.Rand) {
		boxes := Boxes(y, reference)
		for range 10 {
			z := points(1, len(reference), 0, rng)[0]
			var sum float64
			for _, b := range boxes {
				v := 1.0
				for j, u := range b.Upper {
					v *= max(0, u-max(b.Lower[j], z[j]))
				}
				sum += v
			}
			assert.InDelta(t, Hypervolume(append(slices.Clone(y), z), reference)-Hypervolume(y, reference), sum, 1e-12)
		}
	})
}

// BoTorch and pymoo compute the same fronts and hypervolumes.
func TestAgainstPeers(t *testing.T) {
	raw, err := os.ReadFile("../../testdata/pareto/hypervolume.json")
	require.NoError(t, err)
	var file struct {
		Cases []struct {
			Y              [][]float64
			Reference      []float64
			Front          []int
			Botorch, Pymoo float64
		}
	}
	require.NoError(t, json.Unmarshal(raw, &file))
	require.NotEmpty(t, file.Cases)
	for i, c := range file.Cases {
		v := Hypervolume(c.Y, c.Reference)
		assert.InDelta(t, c.Botorch, v, 1e-12, "case %d", i)
		assert.InDelta(t, c.Pymoo, v, 1e-12, "case %d", i)
		assert.Equal(t, c.Front, Front(c.Y), "case %d", i)
	}
}

func TestReference(t *testing.T) {
	assert.Nil(t, Reference(nil))
	assert.InDeltaSlice(t, []float64{2.3, 1.3}, Reference([][]float64{{0, 1}, {2, 0}, {3, 3}}), 1e-15)
	assert.InDeltaSlice(t, []float64{0.3, 1.4}, Reference([][]float64{{0, 1}, {3, 5}}), 1e-15) // one point: the range of all rows
	assert.InDeltaSlice(t, []float64{0.1, 1.1}, Reference([][]float64{{0, 1}, {math.NaN(), 9}}), 1e-15)
	for _, v := range []float64{1e15, -1e17, 1e200} { // equal values: the point is inside
		r := Reference([][]float64{{0, v}, {1, v}})
		assert.Positive(t, Hypervolume([][]float64{{0, v}}, r), "%v", v)
	}
}

func BenchmarkBoxes(b *testing.B) {
	for m := 2; m <= 4; m++ {
		rng := rand.New(rand.NewPCG(1, 1))
		y := points(200, m, 0, rng)
		for i := range y {
			y[i] = sphere(y[i])
		}
		for _, n := range []int{20, 60} {
			b.Run(fmt.Sprintf("objectives=%d/front=%d", m, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					b.ReportMetric(float64(len(Boxes(y[:n], ones(m)))), "boxes")
				}
			})
		}
	}
}

// sphere moves v to the sphere of radius 1 around (1,…,1), whose points do not dominate each other.
func sphere(v []float64) []float64 {
	var r float64
	for _, x := range v {
		r += x * x
	}
	u := make([]float64, len(v))
	for j, x := range v {
		u[j] = 1 - x/math.Sqrt(r)
	}
	return u
}

func BenchmarkHypervolume(b *testing.B) {
	for m := 2; m <= 5; m++ {
		rng := rand.New(rand.NewPCG(1, 1))
		y := points(60, m, 0, rng)
		for i := range y {
			y[i] = sphere(y[i])
		}
		b.Run(fmt.Sprintf("objectives=%d", m), func(b *testing.B) {
			for b.Loop() {
				Hypervolume(y, ones(m))
			}
		})
	}
}
