package space

import (
	"fmt"
	"math"
	"math/bits"
)

// Size returns the number of points, at most math.MaxInt, and true if every float has
// steps. Otherwise it returns 0 and false.
func (s *Space) Size() (n int, finite bool) {
	for i := range s.params {
		if p := &s.params[i]; p.continuous() && p.pin == nil {
			return 0, false
		}
	}
	return s.Count(), true
}

// Count returns the number of points, at most math.MaxInt. Unlike Size it counts the
// float64 numbers of a continuous float: bounds that are a few units in the last place
// apart leave few points. In a restricted space Count is exact if Listed, else an upper
// bound.
func (s *Space) Count() int {
	if s.Listed() && s.region != nil {
		return len(s.region.points)
	}
	return s.combinations()
}

// combinations returns the product of the numbers of values, at most math.MaxInt.
func (s *Space) combinations() int {
	total := uint64(1)
	for i := range s.params {
		high, low := bits.Mul64(total, s.params[i].count())
		if total = low; high > 0 || low > math.MaxInt {
			return math.MaxInt
		}
	}
	return int(total)
}

// Listed reports whether Count is exact and At has every point: if s is not restricted, or
// if an enumeration within bounds finds all points.
func (s *Space) Listed() bool { return s.region == nil || s.list() }

// At returns the point of an index from 0 to Count-1 of a space that is Listed. Distinct
// indices give distinct points. Unless s is restricted, the parameters are the digits of the
// index, the last parameter varying fastest.
func (s *Space) At(index int) Point {
	if !s.Listed() {
		panic("space: the points are not listed")
	}
	if index < 0 || index >= s.Count() {
		panic(fmt.Sprintf("space: point %d of %d", index, s.Count()))
	}
	if s.region != nil {
		return Point{space: s.whole, codes: s.region.points[index]}
	}
	p := Point{space: s.whole, codes: make([]float64, len(s.params))}
	rest := uint64(index)
	for i := len(s.params) - 1; i >= 0; i-- {
		n := s.params[i].count()
		p.codes[i] = s.params[i].nth(rest % n)
		rest /= n
	}
	return p
}

// count returns the number of values of p. It is correct modulo 2^64 if a float has all
// numbers.
func (p *Parameter) count() uint64 {
	if p.pin != nil {
		return 1
	}
	if p.continuous() {
		return uint64(order(p.Max)-order(p.Min)) + 1
	}
	return uint64(p.levels())
}

// nth returns the code of the k-th value of p in ascending order.
func (p *Parameter) nth(k uint64) float64 {
	if p.pin != nil {
		return *p.pin
	}
	if p.continuous() {
		return unorder(order(p.Min) + int64(k))
	}
	return p.level(float64(k))
}

// order numbers the finite float64 in ascending order: 0 is 0, and the number after x has
// order(x)+1.
func order(x float64) int64 {
	n := int64(math.Float64bits(math.Abs(x)))
	if x < 0 {
		return -n
	}
	return n
}

// unorder is the inverse of order.
func unorder(n int64) float64 {
	if n < 0 {
		return -math.Float64frombits(uint64(-n))
	}
	return math.Float64frombits(uint64(n))
}
