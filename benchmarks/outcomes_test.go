package benchmarks_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/functionspace/bo/benchmarks"
)

// The hypervolume of a fine grid approaches the stated largest hypervolume from below.
func TestLargestHypervolumes(t *testing.T) {
	for _, c := range []struct {
		o      benchmarks.Objective
		points func(add func(x ...float64))
		least  float64
	}{
		{benchmarks.BraninCurrin(), square(400), 0.985},
		{benchmarks.ConstrainedBraninCurrin(), square(400), 0.995},
		{benchmarks.ZDT1(2), func(add func(x ...float64)) {
			for i := range 1001 {
				add(float64(i)/1000, 0)
			}
		}, 0.9999},
		{benchmarks.DTLZ2(3, 2), func(add func(x ...float64)) {
			for i := range 1001 {
				add(float64(i)/1000, 0.5, 0.5)
			}
		}, 0.995},
		{benchmarks.DTLZ2(3, 3), func(add func(x ...float64)) {
			for i := range 31 {
				for j := range 31 {
					add(float64(i)/30, float64(j)/30, 0.5)
				}
			}
		}, 0.9},
		{benchmarks.C2DTLZ2(2), square(300), 0.985},
	} {
		var y [][]float64
		c.points(func(x ...float64) { y = append(y, c.o.Outcomes.Func(x)) })
		v, most := c.o.Outcomes.Volume(y), c.o.Outcomes.Hypervolume
		assert.LessOrEqual(t, v, most*(1+1e-9), c.o.Name)
		assert.GreaterOrEqual(t, v, c.least*most, c.o.Name)
		assert.Equal(t, -most, c.o.Minimum)
		assert.GreaterOrEqual(t, c.o.Func(make([]float64, c.o.Dim())), c.o.Minimum)
	}
}

// square returns the points of a grid on the unit square.
func square(n int) func(add func(x ...float64)) {
	return func(add func(x ...float64)) {
		for i := range n + 1 {
			for j := range n + 1 {
				add(float64(i)/float64(n), float64(j)/float64(n))
			}
		}
	}
}

// The noise of an outcome depends on the seed, the point and the number of evaluations there.
func TestNoisyOutcomes(t *testing.T) {
	o := benchmarks.NoisyOutcomes(benchmarks.BraninCurrin(), []float64{1, 0.1}, 3).Outcomes
	again := benchmarks.NoisyOutcomes(benchmarks.BraninCurrin(), []float64{1, 0.1}, 3).Outcomes
	x := []float64{0.3, 0.7}
	first, second := o.Func(x), o.Func(x)
	assert.Equal(t, first, again.Func(x))
	assert.NotEqual(t, first, second)
	for j, v := range o.Latent(x) {
		assert.Less(t, math.Abs(first[j]-v), 6.0)
	}
	assert.False(t, o.NoiseFree)
}
