package vecmath

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/functionspace/bo/internal/cpu"
)

// Nanoseconds per element, medians, for each function on 4096 elements: package math and
// every instruction set.
func BenchmarkFunctions(b *testing.B) {
	const n = 4096
	rng := rand.New(rand.NewPCG(1, 1))
	x, positive, dst, slope := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range x {
		x[i], positive[i] = 2*rng.NormFloat64(), 20*rng.Float64()
	}
	scalar := func(f func(float64) float64) func(dst, x []float64) {
		return func(dst, x []float64) {
			for i, v := range x {
				dst[i] = f(v)
			}
		}
	}
	withSlope := func(f func(dst, slope, x []float64)) func(dst, x []float64) {
		return func(dst, x []float64) { f(dst, slope, x) }
	}
	for _, c := range []struct {
		name    string
		x       []float64
		f, math func(dst, x []float64)
	}{
		{"Exp", x, Exp, scalar(math.Exp)},
		{"Log1p", positive, Log1p, scalar(math.Log1p)},
		{"Tanh", x, valueOf(Tanh), scalar(math.Tanh)},
		{"TanhSlope", x, withSlope(Tanh), nil},
		{"SinSlope", x, withSlope(Sin), func(dst, x []float64) {
			for i, v := range x {
				dst[i], slope[i] = math.Sincos(v)
			}
		}},
		{"Erf", x, valueOf(Erf), scalar(math.Erf)},
		{"ErfSlope", x, withSlope(Erf), nil},
		{"GELUSlope", x, withSlope(GELU), nil},
		{"NormPDF", x, NormPDF, nil},
		{"RBF", positive, valueOf(RBF), nil},
		{"Matern52", positive, valueOf(Matern52), scalar(func(s float64) float64 {
			a := math.Sqrt(5 * s)
			return (1 + a + 5*s/3) * math.Exp(-a)
		})},
		{"Matern52Slope", positive, withSlope(Matern52), nil},
	} {
		// The candidates alternate, microseconds each, so that other load on the machine
		// affects all of them; medians exclude it.
		names, fs := []string{}, []func(){}
		if c.math != nil {
			names, fs = append(names, "math"), append(fs, func() { c.math(dst, c.x) })
		}
		for l := range cpu.Supported + 1 {
			names, fs = append(names, l.String()), append(fs, func() { level = l; c.f(dst, c.x) })
		}
		b.Run(c.name, func(b *testing.B) {
			defer func(l cpu.Level) { level = l }(level)
			times := make([][]float64, len(fs))
			for b.Loop() {
				for i, f := range fs {
					start := time.Now()
					f()
					times[i] = append(times[i], float64(time.Since(start).Nanoseconds())/n)
				}
			}
			for i, t := range times {
				slices.Sort(t)
				b.ReportMetric(t[len(t)/2], names[i]+"-ns/elem")
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}
