package linalg

import "math"

// leaf is the largest part of a tridiagonal problem that is solved without division.
const leaf = 20

// ql solves a part of at most leaf rows by the QL algorithm with implicit shifts
// (Martin and Wilkinson 1968). Each sweep of rotations reduces the first off-diagonal
// entry that has not vanished. With Wilkinson's shift an entry vanishes after two or
// three sweeps; the constant sweeps is a bound for any rounding.
func (p *divide) ql(lo, hi int) {
	const sweeps = 100
	var e [leaf]float64
	d, n := p.d[lo:hi], hi-lo
	copy(e[:n-1], p.e[lo:])
	for i := lo; i < hi; i++ {
		p.z.Data[i*p.z.Stride+i] = 1
	}
	for first := range d {
		for range sweeps {
			last := first // last row before a vanishing entry
			for last < n-1 && math.Abs(e[last]) > 0x1p-53*(math.Abs(d[last])+math.Abs(d[last+1])) {
				last++
			}
			if last == first {
				break
			}
			p.sweep(lo, hi, first, last, e[:])
		}
	}
}

// sweep performs one sweep of ql on the rows from first to last.
func (p *divide) sweep(lo, hi, first, last int, e []float64) {
	d := p.d[lo:hi]
	half := (d[first+1] - d[first]) / (2 * e[first])
	g := d[last] - d[first] + e[first]/(half+math.Copysign(math.Hypot(half, 1), half))
	s, c, shift := 1.0, 1.0, 0.0
	for i := last - 1; i >= first; i-- {
		f, b := s*e[i], c*e[i]
		r := math.Sqrt(f*f + g*g)
		if r < 1e-140 {
			r = math.Hypot(f, g)
		}
		e[i+1] = r
		if r == 0 {
			d[i+1] -= shift
			e[last] = 0
			return
		}
		s, c = f/r, g/r
		g = d[i+1] - shift
		r = (d[i]-g)*s + 2*c*b
		shift = s * r
		d[i+1] = g + shift
		g = c*r - b
		p.rotate(lo+i, lo+i+1, lo, hi, c, s)
	}
	d[first] -= shift
	e[first], e[last] = g, 0
}
