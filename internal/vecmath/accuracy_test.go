package vecmath

import (
	"flag"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/functionspace/bo/internal/cpu"
)

var samples = flag.Int("samples", 100, "inputs per function and kind of sweep")

// function is one kernel with its reference.
type function struct {
	name  string
	eval  func(dst, x []float64)
	ref   func(x *big.Float) *big.Float
	lo    float64 // range in which the result is neither constant nor out of range
	hi    float64
	edges []float64 // inputs at which the computation changes
	ulps  float64
}

// slopeOf returns the second output of a kernel as a function.
func slopeOf(f func(dst, slope, x []float64)) func(dst, x []float64) {
	return func(dst, x []float64) { f(make([]float64, len(x)), dst, x) }
}

func valueOf(f func(dst, slope, x []float64)) func(dst, x []float64) {
	return func(dst, x []float64) { f(dst, nil, x) }
}

var functions = []function{
	{"Exp", Exp, bigExp, -746, 710, []float64{0, math.Ln2 / 2, -math.Ln2 / 2, 709.782712893384, -708.3964185322641, -745.1332191019411}, 1.1},
	{"Log1p", Log1p, bigLog1p, -1, math.MaxFloat64, []float64{0, math.Sqrt2 - 1, math.Sqrt2/2 - 1, 1, -0.5}, 1.5},
	{"Tanh", valueOf(Tanh), bigTanh, -20, 20, []float64{0, math.Ln2 / 4, -math.Ln2 / 4, 3 * math.Ln2 / 4, 19.06}, 2.5},
	{"Sin", valueOf(Sin), bigSin, -1 << 20, 1 << 20, []float64{0, math.Pi / 4, math.Pi / 2, math.Pi, -3 * math.Pi / 2, 1e6 * math.Pi / 4, 62.042915403736735}, 1.6},
	{"slope of Sin", slopeOf(Sin), bigCos, -1 << 20, 1 << 20, []float64{0, math.Pi / 4, math.Pi / 2, math.Pi, -3 * math.Pi / 2, 1e5 * math.Pi / 2, 17757.057967042118}, 1.6},
	{"Erf", valueOf(Erf), bigErf, -6, 6, []float64{0, 1, -1, 5.92}, 2.5},
	{"slope of Erf", slopeOf(Erf), bigErfSlope, -27.3, 27.3, []float64{0, 1, 26.5}, 2.5},
	{"NormPDF", NormPDF, bigDensity, -38.6, 38.6, []float64{0, 37.6}, 2.5},
	{"GELU", valueOf(GELU), bigGELU, -37.5, 40, []float64{0, -1}, 3},
}

// levels runs f with every instruction set of the machine.
func levels(t *testing.T, f func(t *testing.T)) {
	defer func(l cpu.Level) { level = l }(level)
	for l := range cpu.Supported + 1 {
		level = l
		t.Run(l.String(), f)
	}
}

// inputs returns numbers that are uniform, uniform in the exponent, and near the edges.
func (f function) inputs(n int, rng *rand.Rand) []float64 {
	var x []float64
	for range n {
		x = append(x, max(f.lo, -1e3)+rng.Float64()*(min(f.hi, 1e3)-max(f.lo, -1e3)))
		v := math.Ldexp(1+rng.Float64(), rng.IntN(120)-100)
		if rng.IntN(4) == 0 {
			v = math.Ldexp(1+rng.Float64(), rng.IntN(2097)-1074)
		}
		if rng.IntN(2) == 0 {
			v = -v
		}
		x = append(x, v)
		e := f.edges[rng.IntN(len(f.edges))]
		x = append(x, e+(rng.Float64()-0.5)*math.Ldexp(1, -rng.IntN(60)))
	}
	inside := x[:0]
	for _, v := range x {
		if v > f.lo && v < f.hi {
			inside = append(inside, v)
		}
	}
	return inside
}

func TestAccuracy(t *testing.T) {
	for _, f := range functions {
		rng := rand.New(rand.NewPCG(1, 2))
		x := f.inputs(*samples, rng)
		got := make([]float64, len(x))
		f.eval(got, x)
		var worst, at float64
		for i, v := range x {
			if e := ulps(got[i], f.ref(bigOf(v))); e > worst {
				worst, at = e, v
			}
		}
		assert.LessOrEqual(t, worst, f.ulps, "%s at %v", f.name, at)
		t.Logf("%s: %.2f ulp at %v, %d inputs", f.name, worst, at, len(x))
	}
}

// The slope of GELU has a zero at -0.75, so its error is absolute.
func TestGELUSlope(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	x, got := make([]float64, *samples), make([]float64, *samples)
	for i := range x {
		x[i] = 3 * rng.NormFloat64()
	}
	slopeOf(GELU)(got, x)
	for i, v := range x {
		want, _ := bigGELUSlope(bigOf(v)).Float64()
		assert.InDelta(t, want, got[i], 4e-16, "at %v", v)
	}
}
