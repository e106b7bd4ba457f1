package vecmath

import (
	"fmt"
	"math"

	"github.com/functionspace/bo/internal/cpu"
)

//go:generate go run ./gen

// level is the instruction set in use; tests change it.
var level = cpu.Best

// chunk is the number of elements in one call of assembly, which the scheduler cannot
// interrupt.
const chunk = 4096

func checkLen(name string, got, want int) {
	if got != want {
		panic(fmt.Sprintf("vecmath: %s has length %d, want %d", name, got, want))
	}
}

// Exp writes e^x.
func Exp(dst, x []float64) {
	checkLen("dst", len(dst), len(x))
	exp(dst, x)
}

// Log1p writes log(1+x).
func Log1p(dst, x []float64) {
	checkLen("dst", len(dst), len(x))
	log1p(dst, x)
}

// NormPDF writes the standard normal density φ(x).
func NormPDF(dst, x []float64) {
	checkLen("dst", len(dst), len(x))
	normPDF(dst, x)
}

// sloped calls value, or both if slope is not nil.
func sloped(value func(dst, x []float64), both func(dst, slope, x []float64), dst, slope, x []float64) {
	checkLen("dst", len(dst), len(x))
	if slope == nil {
		value(dst, x)
		return
	}
	checkLen("slope", len(slope), len(x))
	both(dst, slope, x)
}

// Tanh writes tanh x to dst and, unless slope is nil, 1 - tanh²x to slope.
func Tanh(dst, slope, x []float64) { sloped(tanh, tanhSlope, dst, slope, x) }

// Sin writes sin x to dst and, unless slope is nil, cos x to slope. Beyond 2²⁰ it uses
// package math.
func Sin(dst, slope, x []float64) {
	const limit = 1 << 20
	type outlier struct {
		i int
		x float64
	}
	var outliers []outlier
	for i, x := range x {
		if !(math.Abs(x) <= limit) {
			outliers = append(outliers, outlier{i, x})
		}
	}
	sloped(sin, sinSlope, dst, slope, x)
	for _, o := range outliers {
		s, c := math.Sincos(o.x)
		dst[o.i] = s
		if slope != nil {
			slope[o.i] = c
		}
	}
}

// Erf writes erf x to dst and, unless slope is nil, 2/√π e^-x² to slope.
func Erf(dst, slope, x []float64) { sloped(erf, erfSlope, dst, slope, x) }

// GELU writes xΦ(x) to dst and, unless slope is nil, Φ(x) + xφ(x) to slope.
func GELU(dst, slope, x []float64) { sloped(gelu, geluSlope, dst, slope, x) }

// RBF writes e^(-s/2) to dst and, unless slope is nil, its derivative with respect to
// s ≥ 0 to slope. This kernel and the Matérn kernels are 0 if their exponential is below
// 1e-307.
func RBF(dst, slope, s []float64) { sloped(rbf, rbfSlope, dst, slope, s) }

// Matern12 writes e^-√s and its derivative, like RBF. The slope at 0 is 0.
func Matern12(dst, slope, s []float64) { sloped(matern12, matern12Slope, dst, slope, s) }

// Matern32 writes (1+a)e^-a, a = √(3s), and its derivative, like RBF.
func Matern32(dst, slope, s []float64) { sloped(matern32, matern32Slope, dst, slope, s) }

// Matern52 writes (1+a+a²/3)e^-a, a = √(5s), and its derivative, like RBF.
func Matern52(dst, slope, s []float64) { sloped(matern52, matern52Slope, dst, slope, s) }
