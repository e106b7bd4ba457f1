package benchmarks

import (
	"fmt"
	"math"
)

// Michalewicz is -Σ sin x_i · sin²⁰(i x_i²/π) on [0,π]^d (Michalewicz 1992, m = 10):
// flat except for ridges that cross at d! local minima. The function is a sum over
// coordinates, so its minimum is found one coordinate at a time.
func Michalewicz(d int) Objective {
	at, minimum := make([]float64, d), 0.0
	for i := range at {
		at[i] = michalewiczMinimizer(i + 1)
		minimum += michalewiczTerm(i+1, at[i])
	}
	return Objective{
		Name:       fmt.Sprintf("michalewicz%d", d),
		Summary:    "steep ridges in a flat plain",
		Minimum:    minimum,
		Minimizers: [][]float64{at},
		NoiseFree:  true,
		Func: func(x []float64) (f float64) {
			for i, v := range x {
				f += michalewiczTerm(i+1, v)
			}
			return f
		},
	}.inCube(d, 0, math.Pi)
}

func michalewiczTerm(i int, x float64) float64 {
	s := math.Sin(float64(i) * x * x / math.Pi)
	s *= s
	s4 := s * s * s * s
	return -math.Sin(x) * s4 * s4 * s * s
}

// michalewiczMinimizer is the global minimiser of one term. The term has a single minimum in each arch
// kπ < i x²/π < (k+1)π. The power is 1 in the middle of the arch.
func michalewiczMinimizer(i int) float64 {
	best, least := 0.0, 0.0
	for k := range i {
		lo := math.Pi * math.Sqrt(float64(k)/float64(i))
		hi := math.Pi * math.Sqrt(float64(k+1)/float64(i))
		for range 60 {
			x := (lo + hi) / 2
			phase := float64(i) * x * x / math.Pi
			slope := math.Cos(x)*math.Sin(phase) + 40/math.Pi*float64(i)*x*math.Sin(x)*math.Cos(phase)
			if (slope > 0) == (k%2 == 0) {
				lo = x
			} else {
				hi = x
			}
		}
		x := (lo + hi) / 2
		if f := michalewiczTerm(i, x); f < least {
			best, least = x, f
		}
	}
	return best
}
