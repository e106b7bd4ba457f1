// Package vecmath holds elementary functions over slices, and the kernels of a
// squared distance that need them, at 5 to 20 times the speed of a loop over
// package math.
//
// Each function is written once, in gen/functions.go, as straight-line code.
// gen prints it as AVX2 and as AVX-512 assembly and, for other machines, as Go.
// All three do the same operations on each element and so agree to the last
// bit; an element's result does not depend on where it stands or what stands
// beside it. Internal/cpu chooses at run time. Where the processor has no FMA,
// the Go version emulates it, correctly and slowly.
//
// dst and slope must have the length of the input and may be the input; slices
// that overlap in another way are not allowed. NaN, infinities, signed zeros,
// overflow and gradual underflow come out as in package math (or, where that
// errs on amd64, as they should: log of denormals, exp above 709.43). The
// largest errors found, in units in the last place (ulp):
//
//	Exp 1.0    Expm1 1.2   Log 0.8      Log1p 0.8    Sqrt 0.5   Sin, cos 1.5
//	Tanh 2.0   Erf 1.3     NormPDF 0.8  NormCDF 2.1  LogNormCDF 2.4
//	GELU 2.4 where Φ(x) is a normal number; slope of Erf 1.1
//
// and of the kernels of a distance a that of e^-a: 3 + 1.5a at most.
//
// The method. e^x = 2ⁿe^r with |r| ≤ ½ log 2 and a polynomial of degree 11 in r;
// tanh and expm1 come from 2ⁿ, r and the polynomial without cancellation; sin and
// cos from x - nπ/2, π/2 in three parts. log x =
// k log 2 + 2 atanh(f/(2+f)), 1+f the significand in [√½,√2), and a polynomial in
// the square of f/(2+f). The normal tail is 1-Φ(a) = e^(-a²/2) P(q)/(a+5), with
// P a polynomial of degree 24 in q = (a-5)/(a+5) (the substitution of Shepherd
// and Laframboise 1981, Math. Comp. 36:249) and the rounding of a² and of the
// division made good. gen/minimax.py finds the polynomials by Remez' algorithm.
//
// Registers in the assembly: DI dst, DX slope, SI input, CX elements left, R8
// the constants, each four times in a row; an iteration takes two vectors, where
// registers suffice, with their instructions interleaved. The last elements take
// the same instructions between masked loads and stores: K1 and K2, or for AVX2
// what R9 - 8·CX points to.
package vecmath
