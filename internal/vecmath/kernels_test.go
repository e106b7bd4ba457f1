package vecmath

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// one is a kernel with one output; every output of every kernel becomes one.
type one struct {
	name string
	eval func(dst, x []float64)
}

func outputs() []one {
	all := []one{{"Exp", Exp}, {"Log1p", Log1p}, {"NormPDF", NormPDF}}
	for name, f := range map[string]func(dst, slope, x []float64){
		"Tanh": Tanh, "Erf": Erf, "GELU": GELU, "Sin": Sin,
		"RBF": RBF, "Matern12": Matern12, "Matern32": Matern32, "Matern52": Matern52,
	} {
		all = append(all, one{name, valueOf(f)}, one{"slope of " + name, slopeOf(f)})
	}
	return all
}

// specials are special values and inputs near limits of the functions.
var specials = func() []float64 {
	x := []float64{0, math.Inf(1), math.NaN(), math.MaxFloat64, math.SmallestNonzeroFloat64,
		0x1p-1022, 0x1p-1022 - 0x1p-1074, 0x1p-1074 * 3, 0x1p-54, 0x1p-53, 0x1p-28, 1, 1.5, 2, math.E,
		709.7827128933841, 708.3964185322641, 745.1332191019411, 745.1332191019412, 745.2, 710, 1000, 1e10, 1e300,
		math.Float64frombits(0x7ff0000000000002), math.Float64frombits(0x7ff8000000000003), math.Float64frombits(0x7ff800000000ffff)}
	for _, v := range x {
		x = append(x, -v)
	}
	return x
}()

// same reports whether a and b have equal bits or are both NaN.
func same(a, b float64) bool {
	return math.Float64bits(a) == math.Float64bits(b) || math.IsNaN(a) && math.IsNaN(b)
}

func TestSpecialValues(t *testing.T) {
	reference := map[string]func(float64) float64{
		"Exp": math.Exp, "Log1p": math.Log1p, "Tanh": math.Tanh, "Erf": math.Erf, "Sin": math.Sin, "slope of Sin": math.Cos,
		"NormPDF": func(x float64) float64 { return math.Exp(-x*x/2) / math.Sqrt(2*math.Pi) },
	}
	levels(t, func(t *testing.T) {
		for _, f := range outputs() {
			want, ok := reference[f.name]
			if !ok {
				continue
			}
			got := make([]float64, len(specials))
			f.eval(got, specials)
			for i, x := range specials {
				w := want(x)
				if w == 0 || math.IsInf(w, 0) || math.IsNaN(w) || math.IsNaN(got[i]) {
					assert.True(t, same(w, got[i]), "%s(%v) = %v, want %v", f.name, x, got[i], w)
				} else {
					assert.LessOrEqual(t, ulps(got[i], bigOf(w)), 4.0, "%s(%v) = %v, want %v", f.name, x, got[i], w)
				}
			}
		}
	})
}

// Kernels agree to the last bit for all instruction sets.
func TestLevelsAgree(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	x := append([]float64(nil), specials...)
	for range 20000 {
		x = append(x, 40*(rng.Float64()-0.5), math.Float64frombits(rng.Uint64()), 1600*(rng.Float64()-0.5))
	}
	results := map[string][]float64{}
	levels(t, func(t *testing.T) {
		for _, f := range outputs() {
			x := append([]float64(nil), x...)
			if strings.Contains(f.name, "RBF") { // its argument is not negative
				for i := range x {
					x[i] = math.Abs(x[i])
				}
			}
			got := make([]float64, len(x))
			f.eval(got, x)
			before, ok := results[f.name]
			if !ok {
				results[f.name] = got
				continue
			}
			for i := range got {
				if !same(before[i], got[i]) {
					t.Fatalf("%s(%x): %x and %x", f.name, x[i], before[i], got[i])
				}
			}
		}
	})
}

// For every length and alignment, also in place, each element has the same result as
// alone, and nothing else is written.
func TestLengthsAndAlignments(t *testing.T) {
	const most, guard = 70, 1234.5
	rng := rand.New(rand.NewPCG(5, 6))
	x := make([]float64, most)
	for i := range x {
		x[i] = 3 * rng.NormFloat64()
	}
	levels(t, func(t *testing.T) {
		for _, f := range outputs() {
			want := make([]float64, most)
			for i := range x {
				f.eval(want[i:i+1], x[i:i+1])
			}
			for n := range most + 1 {
				for shift := range 9 {
					buf := make([]float64, n+32)
					for i := range buf {
						buf[i] = guard
					}
					dst := buf[shift+8 : shift+8+n]
					src := make([]float64, n+9)[shift : shift+n]
					copy(src, x)
					if shift%2 == 0 {
						copy(dst, x) // the output overwrites the input
						src = dst
					}
					f.eval(dst, src)
					for i, v := range buf {
						k := i - shift - 8
						if k < 0 || k >= n {
							if v != guard {
								t.Fatalf("%s wrote beside %d elements", f.name, n)
							}
						} else if !same(want[k], v) {
							t.Fatalf("%s, element %d of %d", f.name, k, n)
						}
					}
				}
			}
		}
	})
	long := make([]float64, 3*chunk+5)
	for i := range long {
		long[i] = x[i%most]
	}
	got := make([]float64, len(long))
	Exp(got, long)
	for i := range got {
		require.Equal(t, got[i%most], got[i])
	}
}

// The slope, like the value, may overwrite the input.
func TestSlopeInPlace(t *testing.T) {
	x := []float64{0, 0.5, 1e10, 2, 3, 4, 5, 6, 7, 8, 1 << 21}
	levels(t, func(t *testing.T) {
		for name, f := range map[string]func(dst, slope, x []float64){"Tanh": Tanh, "Sin": Sin, "Matern52": Matern52, "Matern12": Matern12} {
			n := len(x)
			v, d := make([]float64, n), make([]float64, n)
			f(v, d, x)
			w, s := make([]float64, n), append([]float64(nil), x...)
			f(w, s, s)
			require.Equal(t, v, w, name)
			require.Equal(t, d, s, name)
			f(v, nil, x)
			require.Equal(t, v, w, name)
		}
	})
}

// Kernels of a squared distance: the error grows with the distance a, like the rounding
// error of a.
func TestProfiles(t *testing.T) {
	bigA := func(s *big.Float, c float64) *big.Float { return zero().Sqrt(times(s, bigOf(c))) }
	decay := func(a *big.Float) *big.Float { return bigExp(zero().Neg(a)) }
	scaled := func(v *big.Float, c float64) *big.Float { return over(times(v, bigOf(c*6)), bigOf(6)) }
	for _, k := range []struct {
		name         string
		f            func(dst, slope, s []float64)
		c            float64
		value, slope func(s, a *big.Float) *big.Float
	}{
		{"RBF", RBF, 0, func(s, _ *big.Float) *big.Float { return decay(half(s)) },
			func(s, _ *big.Float) *big.Float { return scaled(decay(half(s)), -0.5) }},
		{"Matern12", Matern12, 1, func(s, a *big.Float) *big.Float { return decay(a) },
			func(s, a *big.Float) *big.Float { return over(scaled(decay(a), -0.5), a) }},
		{"Matern32", Matern32, 3, func(s, a *big.Float) *big.Float { return times(plus(bigOf(1), a), decay(a)) },
			func(s, a *big.Float) *big.Float { return scaled(decay(a), -1.5) }},
		{"Matern52", Matern52, 5, func(s, a *big.Float) *big.Float {
			return times(plus(plus(bigOf(1), a), over(times(a, a), bigOf(3))), decay(a))
		}, func(s, a *big.Float) *big.Float {
			return over(times(times(plus(bigOf(1), a), decay(a)), bigOf(-5)), bigOf(6))
		}},
	} {
		rng := rand.New(rand.NewPCG(7, 8))
		s := []float64{}
		for range *samples {
			s = append(s, math.Exp(14*rng.Float64()-8), 1e5*rng.Float64()/5, 1000*rng.Float64())
		}
		v, d := make([]float64, len(s)), make([]float64, len(s))
		k.f(v, d, s)
		var worst float64
		for i, s := range s {
			a := bigA(bigOf(s), k.c)
			size, _ := a.Float64()
			for j, want := range []*big.Float{k.value(bigOf(s), a), k.slope(bigOf(s), a)} {
				got := []float64{v[i], d[i]}[j]
				if size > 708 || k.c == 0 && s > 1416 {
					require.LessOrEqual(t, math.Abs(got), 1e-302, "%s(%v)", k.name, s)
					continue
				}
				e := ulps(got, want)
				worst = max(worst, e/(3+1.5*size))
				require.LessOrEqual(t, e, 3+1.5*size, "%s(%v), output %d", k.name, s, j)
			}
		}
		t.Logf("%s: %.2f of 3 + 1.5a ulp", k.name, worst)
		k.f(v[:3], d[:3], []float64{0, math.Inf(1), 1e300})
		require.Equal(t, []float64{1, 0, 0}, v[:3], k.name)
		require.Zero(t, d[1]+d[2], k.name)
	}
}

func TestLengthsPanic(t *testing.T) {
	require.PanicsWithValue(t, "vecmath: dst has length 2, want 3", func() { Exp(make([]float64, 2), make([]float64, 3)) })
	require.PanicsWithValue(t, "vecmath: slope has length 2, want 3", func() { Tanh(make([]float64, 3), make([]float64, 2), make([]float64, 3)) })
}

func FuzzFunctions(f *testing.F) {
	for _, x := range specials {
		f.Add(x)
	}
	f.Fuzz(func(t *testing.T, x float64) {
		for _, f := range functions {
			if x > f.lo && x < f.hi && math.Abs(x) > 1e-300 {
				got := make([]float64, 1)
				f.eval(got, []float64{x})
				require.LessOrEqual(t, ulps(got[0], f.ref(bigOf(x))), f.ulps, "%s(%x)", f.name, x)
			}
		}
	})
}

func ExampleTanh() {
	x := []float64{-1, 0, 0.5}
	value, slope := make([]float64, 3), make([]float64, 3)
	Tanh(value, slope, x)
	fmt.Printf("%.4f %.4f\n", value, slope)
	// Output: [-0.7616 0.0000 0.4621] [0.4200 1.0000 0.7864]
}
