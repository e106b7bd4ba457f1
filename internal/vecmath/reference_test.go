package vecmath

import (
	"math"
	"math/big"
)

// The references use 300 bits, of which about 200 remain after cancellation.
const precision = 300

func bigOf(x float64) *big.Float       { return new(big.Float).SetPrec(precision).SetFloat64(x) }
func zero() *big.Float                 { return new(big.Float).SetPrec(precision) }
func plus(a, b *big.Float) *big.Float  { return zero().Add(a, b) }
func minus(a, b *big.Float) *big.Float { return zero().Sub(a, b) }
func times(a, b *big.Float) *big.Float { return zero().Mul(a, b) }
func over(a, b *big.Float) *big.Float  { return zero().Quo(a, b) }
func half(a *big.Float) *big.Float     { return zero().SetMantExp(a, -1) }

// bigExpm1 is the Taylor series at x/2ᵏ, then k times e²-1 = (e-1)(e+1).
func bigExpm1(x *big.Float) *big.Float {
	if x.Sign() == 0 {
		return zero()
	}
	k := max(0, x.MantExp(nil)+16)
	r := zero().SetMantExp(x, -k)
	sum, term := zero(), bigOf(1)
	for i := 1; ; i++ {
		term = over(times(term, r), bigOf(float64(i)))
		sum = plus(sum, term)
		if term.MantExp(nil) < sum.MantExp(nil)-precision {
			break
		}
	}
	for range k {
		sum = times(sum, plus(sum, bigOf(2)))
	}
	return sum
}

func bigExp(x *big.Float) *big.Float {
	if x.Sign() < 0 {
		return over(bigOf(1), bigExp(zero().Neg(x)))
	}
	return plus(bigExpm1(x), bigOf(1))
}

// bigLog1p solves e^y - 1 = x by Halley's method.
func bigLog1p(x *big.Float) *big.Float {
	if x.Sign() == 0 {
		return zero()
	}
	f, _ := x.Float64()
	y := bigOf(math.Log1p(f))
	if f == 0 || math.IsInf(f, 0) {
		panic("reference: log1p out of range")
	}
	for range 5 {
		e := bigExpm1(y)
		y = plus(y, over(times(bigOf(2), minus(x, e)), plus(plus(x, e), bigOf(2))))
	}
	return y
}

func bigTanh(x *big.Float) *big.Float {
	e := bigExpm1(zero().SetMantExp(x, 1))
	return over(e, plus(e, bigOf(2)))
}

// bigPi is Machin's 16 atan(1/5) - 4 atan(1/239).
var bigPi = func() *big.Float {
	atan := func(inverse float64) *big.Float {
		sum, power := zero(), over(bigOf(1), bigOf(inverse))
		for i := 0; i < 400; i++ {
			term := over(power, bigOf(float64(2*i+1)))
			if i%2 == 1 {
				term.Neg(term)
			}
			sum = plus(sum, term)
			power = over(power, bigOf(inverse*inverse))
		}
		return sum
	}
	return minus(times(bigOf(16), atan(5)), times(bigOf(4), atan(239)))
}()

// bigSin is the Taylor series of x minus a multiple of π.
func bigSin(x *big.Float) *big.Float {
	n := math.Round(float64Of(over(x, bigPi)))
	r := minus(x, times(bigOf(n), bigPi))
	sum, term, square := zero().Set(r), zero().Set(r), times(r, r)
	for i := 2; term.Sign() != 0 && term.MantExp(nil) > sum.MantExp(nil)-precision; i += 2 {
		term = over(times(term, square), bigOf(-float64(i)*float64(i+1)))
		sum = plus(sum, term)
	}
	if math.Mod(n, 2) != 0 {
		sum.Neg(sum)
	}
	return sum
}

func bigCos(x *big.Float) *big.Float { return bigSin(plus(x, half(bigPi))) }

func float64Of(x *big.Float) float64 {
	v, _ := x.Float64()
	return v
}

func bigDensity(x *big.Float) *big.Float {
	e := bigExp(half(times(x, x)))
	return over(bigOf(1), times(e, zero().Sqrt(times(bigOf(2), bigPi))))
}

// bigBody is Φ(x) - ½ = φ(x)(x + x³/3 + x⁵/(3·5) + …).
func bigBody(x *big.Float) *big.Float {
	sum, term, square := zero().Set(x), zero().Set(x), times(x, x)
	for i := 3; ; i += 2 {
		term = over(times(term, square), bigOf(float64(i)))
		sum = plus(sum, term)
		if term.Sign() == 0 || term.MantExp(nil) < sum.MantExp(nil)-precision {
			return times(sum, bigDensity(x))
		}
	}
}

// bigTail is 1 - Φ(a) for a ≥ 0, beyond 6 by Laplace's continued fraction.
func bigTail(a *big.Float) *big.Float {
	if a.Cmp(bigOf(6)) < 0 {
		return minus(bigOf(0.5), bigBody(a))
	}
	f := zero().Set(a)
	for k := 900; k > 0; k-- {
		f = plus(a, over(bigOf(float64(k)), f))
	}
	return over(bigDensity(a), f)
}

func bigCDF(x *big.Float) *big.Float {
	if x.Sign() > 0 {
		return minus(bigOf(1), bigTail(x))
	}
	return bigTail(zero().Neg(x))
}

func bigErf(x *big.Float) *big.Float {
	z := times(x, zero().Sqrt(bigOf(2)))
	if z.Cmp(bigOf(6)) > 0 || z.Cmp(bigOf(-6)) < 0 {
		tail := bigTail(zero().Abs(z))
		v := minus(bigOf(1), plus(tail, tail))
		if z.Sign() < 0 {
			v.Neg(v)
		}
		return v
	}
	v := bigBody(z)
	return plus(v, v)
}

func bigErfSlope(x *big.Float) *big.Float {
	z := times(x, zero().Sqrt(bigOf(2)))
	v := bigDensity(z)
	return times(v, zero().Sqrt(bigOf(8)))
}

func bigGELU(x *big.Float) *big.Float { return times(x, bigCDF(x)) }

func bigGELUSlope(x *big.Float) *big.Float {
	return plus(bigCDF(x), times(x, bigDensity(x)))
}

// ulps is |got-want| in units of the spacing of float64 at want.
func ulps(got float64, want *big.Float) float64 {
	w, _ := want.Float64()
	switch {
	case math.IsInf(w, 0):
		if got == w {
			return 0
		}
		return math.Inf(1)
	case math.IsNaN(got) || math.IsInf(got, 0):
		return math.Inf(1)
	}
	spacing := math.Nextafter(math.Abs(w), math.Inf(1)) - math.Abs(w)
	if math.Abs(w) == math.MaxFloat64 {
		spacing = math.Abs(w) - math.Nextafter(math.Abs(w), 0)
	}
	d, _ := over(minus(bigOf(got), want), bigOf(spacing)).Float64()
	return math.Abs(d)
}
