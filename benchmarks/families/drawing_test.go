package families

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func draw(dim int) *drawing { return &drawing{rng: rand.New(rand.NewPCG(7, 7)), dim: dim} }

func TestRotationIsOrthonormal(t *testing.T) {
	r := draw(10).rotation(4, 10)
	for i := range r {
		for j := range r {
			want := 0.0
			if i == j {
				want = 1
			}
			require.InDelta(t, want, dot(r[i], r[j]), 1e-14)
		}
	}
}

// A quarter of the minimisers lie on a bound, a quarter within 2 % of the width of one.
func TestPoint(t *testing.T) {
	const n = 4000
	d := draw(3)
	var on, near int
	for range n {
		gap := math.Inf(1)
		for _, v := range d.point() {
			require.LessOrEqual(t, math.Abs(v), side)
			gap = min(gap, side-math.Abs(v))
		}
		switch {
		case gap == 0:
			on++
		case gap <= 0.04*side:
			near++
		}
	}
	require.InDelta(t, n/4, on, 4*math.Sqrt(n*3.0/16))
	require.InDelta(t, n/4, near, 4*math.Sqrt(n*3.0/16))
}

func TestTransformsIncrease(t *testing.T) {
	d := draw(2)
	for range 20 {
		f := d.transform()
		require.Zero(t, f(0))
		require.InDelta(t, 1, f(1), 1e-15)
		last := 0.0
		for g := 1e-6; g < 1e6; g *= 1.5 {
			require.Greater(t, f(g), last)
			last = f(g)
		}
	}
}

func TestUnevenIncreases(t *testing.T) {
	last := 0.0
	for z := 1e-8; z < 100; z *= 1.01 {
		v := uneven([]float64{z, -z, 0})
		require.Greater(t, v[0], last)
		require.Equal(t, []float64{v[0], -v[0], 0}, v)
		last = v[0]
	}
}
