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

// maxSobol is the number of dimensions with direction numbers in sobol.bin.
const maxSobol = 1111

const (
	sobolColumns = 32 // direction numbers per dimension, for up to 2^32 points
	sobolDigits  = 53 // binary digits of a scrambled coordinate
)

// Direction numbers of S. Joe and F. Y. Kuo, "Constructing Sobol sequences with better
// two-dimensional projections", SIAM J. Sci. Comput. 30 (2008) 2635–2654, file
// new-joe-kuo-6. Licence in sobol.LICENSE, layout in testdata/space/direction_numbers.py.
//
//go:embed sobol.bin
var joeKuo []byte

// joeKuoStart returns the offset in joeKuo of each dimension from the second on.
var joeKuoStart = sync.OnceValue(func() []int {
	start := make([]int, 0, maxSobol-1)
	for at := 0; at < len(joeKuo); {
		start = append(start, at)
		at += 2 * bits.Len16(binary.LittleEndian.Uint16(joeKuo[at:]))
	}
	return start
})

// directionNumbers writes v_1, v_2, … of dimension d, counted from 0: binary fractions
// scaled by 2^64 (Joe and Kuo 2008, eq. 2).
func directionNumbers(v []uint64, d int) {
	if d == 0 {
		for k := range v {
			v[k] = 1 << (63 - k)
		}
		return
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
}

// sobolSequence computes the points of a Sobol sequence in Gray-code order. The first
// 2^m points form a digital net.
type sobolSequence struct {
	next    uint64
	columns [][sobolColumns]uint64 // direction numbers of each dimension
	used    int                    // the number of columns that the points need
	state   []uint64
	rng     *rand.Rand // source of the dimensions beyond maxSobol
	dim     int
}

// newSobolSequence returns the sequence of n points that Sobol describes. The sequence keeps rng if dim
// exceeds maxSobol. The cost is about 0.3 µs per dimension, and 0.1 µs for each power of two up to n.
func newSobolSequence(n, dim int, rng *rand.Rand) *sobolSequence {
	if dim > maxSobol && rng == nil {
		panic(fmt.Sprintf("space: plain Sobol sequence in %d dimensions, at most %d", dim, maxSobol))
	}
	known := min(dim, maxSobol)
	s := &sobolSequence{
		columns: make([][sobolColumns]uint64, known), used: min(bits.Len64(uint64(n-1)), sobolColumns),
		state: make([]uint64, known), rng: rng, dim: dim,
	}
	for d := range known {
		v := s.columns[d][:s.used]
		directionNumbers(v, d)
		if rng != nil {
			scramble(v, rng)
			s.state[d] = rng.Uint64()
		}
	}
	return s
}

// scramble multiplies the digits of v by a random lower-triangular matrix with
// unit diagonal.
func scramble(v []uint64, rng *rand.Rand) {
	var out [sobolColumns]uint64
	for i := range sobolDigits {
		diagonal := uint64(1) << (63 - i)
		row := rng.Uint64()&^(diagonal<<1-1) | diagonal
		for k := range v {
			out[k] |= uint64(bits.OnesCount64(row&v[k])&1) << (63 - i)
		}
	}
	copy(v, out[:])
}

// point writes the next point to dst. It panics after 2^used points.
func (s *sobolSequence) point(dst []float64) {
	if len(dst) != s.dim {
		panic(fmt.Sprintf("space: destination of length %d, want %d", len(dst), s.dim))
	}
	if s.next > 0 {
		k := bits.TrailingZeros64(s.next)
		if k >= s.used {
			panic("space: Sobol sequence is exhausted")
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

// points returns the next n points, a row each.
func (s *sobolSequence) points(n int) *mat.Dense {
	x := mat.NewDense(n, s.dim, nil)
	for i := range n {
		s.point(x.RawRowView(i))
	}
	return x
}
