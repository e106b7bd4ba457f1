package space

import (
	_ "embed"
	"encoding/binary"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"sync"

	"gonum.org/v1/gonum/mat"
)

// MaxSobol is the number of dimensions with published direction numbers here.
const MaxSobol = 1111

const (
	sobolColumns = 32 // direction numbers a dimension: sequences of up to 2^32 points
	sobolDigits  = 53 // binary digits of a scrambled coordinate
)

// Direction numbers of S. Joe and F. Y. Kuo, "Constructing Sobol sequences with better
// two-dimensional projections", SIAM J. Sci. Comput. 30 (2008) 2635–2654, file
// new-joe-kuo-6. Licence in sobol.LICENSE, layout in testdata/space/direction_numbers.py.
//
//go:embed sobol.bin
var joeKuo []byte

// joeKuoStart holds the offset in joeKuo of each dimension from the second on.
var joeKuoStart = sync.OnceValue(func() []int {
	start := make([]int, 0, MaxSobol-1)
	for at := 0; at < len(joeKuo); {
		start = append(start, at)
		at += 2 * bits.Len16(binary.LittleEndian.Uint16(joeKuo[at:]))
	}
	return start
})

// directionNumbers returns v_1 … v_32 of dimension d (from 0), binary fractions
// scaled by 2^64 (Joe and Kuo 2008, eq. 2).
func directionNumbers(d int) (v [sobolColumns]uint64) {
	if d == 0 {
		for k := range v {
			v[k] = 1 << (63 - k)
		}
		return v
	}
	entry := joeKuo[joeKuoStart()[d-1]:]
	poly := uint64(binary.LittleEndian.Uint16(entry))
	degree := bits.Len64(poly) - 1
	for k := range v {
		if k < degree {
			v[k] = uint64(binary.LittleEndian.Uint16(entry[2+2*k:])) << (63 - k)
			continue
		}
		v[k] = v[k-degree] ^ v[k-degree]>>degree
		for j := 1; j < degree; j++ {
			if poly>>(degree-j)&1 == 1 {
				v[k] ^= v[k-j]
			}
		}
	}
	return v
}

// SobolSequence yields the points of a Sobol' sequence one after another, in
// Gray-code order. Any 2^m of them from the start form a digital net.
type SobolSequence struct {
	next    uint64
	columns [][sobolColumns]uint64 // by dimension
	state   []uint64
	rng     *rand.Rand // for dimensions beyond MaxSobol
	dim     int
}

// NewSobolSequence returns a sequence in [0,1)^dim of up to 2^32 points. With an
// rng it is scrambled by a random lower-triangular matrix over GF(2) and a
// digital shift in every dimension (Matoušek 1998), to 53 digits: each point is
// uniform, nets stay nets, and the variance of an integral is that of Owen's scrambling.
// With a nil rng it is the plain sequence, which begins at 0. Dimensions
// beyond MaxSobol are independent uniform numbers and need an rng, which the
// sequence then keeps. Set-up costs about 3 µs a dimension.
func NewSobolSequence(dim int, rng *rand.Rand) *SobolSequence {
	if dim > MaxSobol && rng == nil {
		panic(fmt.Sprintf("space: plain Sobol' sequence in %d dimensions, at most %d", dim, MaxSobol))
	}
	n := min(dim, MaxSobol)
	s := &SobolSequence{columns: make([][sobolColumns]uint64, n), state: make([]uint64, n), rng: rng, dim: dim}
	for d := range n {
		s.columns[d] = directionNumbers(d)
		if rng != nil {
			scramble(&s.columns[d], rng)
			s.state[d] = rng.Uint64()
		}
	}
	return s
}

// scramble multiplies the digits of v by a random lower-triangular matrix with
// unit diagonal.
func scramble(v *[sobolColumns]uint64, rng *rand.Rand) {
	var out [sobolColumns]uint64
	for i := range sobolDigits {
		diagonal := uint64(1) << (63 - i)
		row := rng.Uint64()&^(diagonal<<1-1) | diagonal
		for k := range v {
			out[k] |= uint64(bits.OnesCount64(row&v[k])&1) << (63 - i)
		}
	}
	*v = out
}

// Next writes the next point to dst. It panics after 2^32 points.
func (s *SobolSequence) Next(dst []float64) {
	if len(dst) != s.dim {
		panic(fmt.Sprintf("space: destination of length %d, want %d", len(dst), s.dim))
	}
	if s.next > 0 {
		k := bits.TrailingZeros64(s.next)
		if k >= sobolColumns {
			panic("space: Sobol' sequence is exhausted")
		}
		for d := range s.state {
			s.state[d] ^= s.columns[d][k]
		}
	}
	s.next++
	for d, x := range s.state {
		dst[d] = float64(x>>(64-sobolDigits)) / (1 << sobolDigits)
	}
	for d := len(s.state); d < s.dim; d++ {
		dst[d] = s.rng.Float64()
	}
}

// Points returns the next n points, a row each.
func (s *SobolSequence) Points(n int) *mat.Dense {
	x := mat.NewDense(n, s.dim, nil)
	for i := range n {
		s.Next(x.RawRowView(i))
	}
	return x
}
