// Package vecmath evaluates elementary functions and stationary kernels on slices,
// 5 to 20 times as fast as a loop over package math.
//
// Each function is written once, in gen/functions.go, as straight-line code. The
// generator prints the code as AVX2 assembly, as AVX-512 assembly and, for other
// machines, as Go. The three versions perform the same operations on each element
// and agree to the last bit. The result for an element depends neither on its index
// nor on the other elements. Package internal/cpu selects the version at run time.
// Without FMA instructions the Go version emulates them, correctly and slowly.
//
// The arguments dst and slope must have the length of the input and may be the
// input; slices must not overlap in other ways. NaN, infinities, signed zeros,
// overflow and gradual underflow follow package math. The exception is Exp between 709.43 and 709.78: it is
// correct there, and math.Exp overflows on amd64.
//
// Largest errors found, in units in the last place (ulp):
//
//	Exp      1.0    Log1p    0.8    NormPDF  0.8
//	Sin      1.6    cosine   1.6    Tanh     2.0
//	Erf      1.3    its slope 1.1   GELU     2.4 (for normal Φ(x))
//
// The error of a kernel at the distance a is at most 3 + 1.5a ulp.
//
// Method:
//
//   - e^x = 2ⁿe^r with |r| ≤ ½ log 2 and a polynomial of degree 11 in r. Tanh uses
//     2ⁿ, r and the polynomial without cancellation.
//   - sin and cos reduce x to r = x - nπ/2, with π/2 as a sum of three numbers. The
//     rounding of r contributes up to 1 ulp, the last addition ½ ulp.
//   - log(1+x) = k log 2 + 2 atanh(f/(2+f)), where 1+f is the significand in [√½,√2),
//     with a polynomial in the square of f/(2+f).
//   - The normal tail is 1-Φ(a) = e^(-a²/2) P(q)/(a+5). P is a polynomial of degree 24 in q = (a-5)/(a+5), the
//     substitution of Shepherd and Laframboise (1981, Math. Comp. 36:249). The rounding errors of a² and of the
//     division are compensated.
//
// gen/minimax.py computes the polynomials with Remez' algorithm.
//
// Registers in the assembly: DI dst, DX slope, SI input, CX remaining elements, R8
// the constants, each stored four times in a row. An iteration processes two vectors
// if registers suffice, with interleaved instructions. The last elements use the same
// instructions between masked loads and stores. The masks are K1 and K2 for AVX-512,
// and the memory at R9 - 8·CX for AVX2.
package vecmath
