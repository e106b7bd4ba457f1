package space

import (
	"math"
	"slices"
)

// Balance returns a point with the given values, and whether it is feasible with all of them active. The other active
// parameters have the values of the point of the unit cube u. If a constraint with an Excess does not hold, its numbers
// that are not given change: their distances from their least values keep their ratios, as far as the ranges allow. In a
// mixture this is the direction of Cox (1971). In other constraints some numbers may have to increase and others to decrease:
// the distances from these ends then keep their ratios. The error wraps ErrPoint. Balance panics unless u has Dim coordinates.
func (s *Space) Balance(values map[string]any, u []float64) (p Point, ok bool, err error) {
	s.check(u)
	given, err := s.given(values)
	if err != nil {
		return Point{}, false, err
	}
	p = s.near(given, u)
	return p, s.balance(p, given), nil
}

// balance changes the numbers of p that are not given until its constraints with an Excess hold, and reports whether p is
// then feasible with all given parameters active. It meets one constraint after another, in a bounded number of
// rounds. In the later rounds it goes beyond the bound of an inequality: meeting another constraint would violate it again.
// The codes of p change in place.
func (s *Space) balance(p Point, given []float64) bool {
	kept := func(i int) bool { return !inactive(given[i]) || s.params[i].pin != nil }
	for i := range p.codes {
		if kept(i) && inactive(p.codes[i]) {
			return false
		}
	}
	const rounds = 20
	for round := range rounds {
		if s.Feasible(s.Encode(p)) {
			return true
		}
		for k := range s.constraints {
			if s.holds(p, k) {
				continue
			}
			if s.constraints[k].Excess == nil || !s.scale(p, k, math.Exp2(float64(max(0, round-rounds/2))), kept) {
				return false
			}
			if !s.holds(p, k) {
				s.round(p, k, kept)
			}
		}
	}
	return s.Feasible(s.Encode(p))
}

// round moves p to the nearest point found that meets constraint k by other steps of one number.
func (s *Space) round(p Point, k int, kept func(i int) bool) {
	var best Point
	nearest := math.Inf(1)
	visit := func(q Point) {
		var d2 float64
		for _, i := range s.on[k] {
			if width := s.params[i].Max - s.params[i].Min; width > 0 {
				d2 += math.Pow((q.codes[i]-p.codes[i])/width, 2)
			}
		}
		if d2 < nearest && s.holds(q, k) {
			best, nearest = q, d2
		}
	}
	s.restore(s.Encode(p), kept, func(u []float64) { visit(s.Decode(u)) })
	most := float64(1 + len(s.on[k])/2) // the roundings of all numbers
	for _, i := range s.on[k] {
		q := &s.params[i]
		if !q.discrete() || !q.numeric() || kept(i) {
			continue
		}
		at := q.index(p.codes[i])
		for to := max(at-most, 0); to <= min(at+most, float64(q.levels()-1)); to++ {
			codes := slices.Clone(p.codes)
			codes[i] = q.level(to)
			visit(Point{space: s, codes: codes})
		}
	}
	if best.space != nil {
		copy(p.codes, best.codes)
	}
}

// scale multiplies the distances of the numbers of constraint k from their ends by one factor, for which the excess is 0 but
// for the rounding to steps. It reports whether there are such numbers. The end of a number is its least value. If the excess
// increases with one number and decreases with another, as for a difference, it is the end at which the excess is less.
// If all distances are 0, they become shares of the ranges. The change of the factor is multiplied by beyond if the excess is
// not positive there.
func (s *Space) scale(p Point, k int, beyond float64, kept func(i int) bool) bool {
	var at []int
	for _, i := range s.on[k] {
		if s.params[i].numeric() && !kept(i) {
			at = append(at, i)
		}
	}
	if len(at) == 0 {
		return false
	}
	end, distance, factor := make([]float64, len(at)), make([]float64, len(at)), 0.0
	upper := s.falling(p, k, at)
	for j, i := range at {
		q := &s.params[i]
		if end[j] = q.Min; upper != nil && upper[j] {
			end[j] = q.Max
		}
		if distance[j] = p.codes[i] - end[j]; distance[j] != 0 {
			factor = 1
		}
	}
	if factor == 0 {
		for j, i := range at {
			distance[j] = s.params[i].Max - s.params[i].Min
		}
	}
	excess := func(factor float64) float64 {
		for j, i := range at {
			q := &s.params[i]
			p.codes[i] = min(max(end[j]+factor*distance[j], q.Min), q.Max)
		}
		return s.constraints[k].Excess(p)
	}
	// Newton's method, which is exact for a linear function until a number meets its bound. The condition may round
	// whole numbers, so difference quotients begin with a large change of the factor.
	start, is := factor, excess(factor)
	for round, change := 0, 1.0/8; round < 50 && change > 1e-4 && is > 0; round++ {
		slope := (excess(factor+change) - is) / change
		if slope == 0 { // all numbers are at their bounds
			slope = (is - excess(factor-change)) / change
		}
		next := factor - is/slope
		if !(next >= 0) { // also NaN
			next = 0
		}
		if v := excess(next); v < is {
			factor, is = next, v
		} else {
			change /= 4
		}
	}
	if further := max(0, start+beyond*(factor-start)); beyond > 1 && excess(further) <= 0 {
		factor = further
	}
	excess(factor)
	for _, d := range []float64{-1e-12, 1e-12, -1e-9, 1e-9} { // rounding errors at a bound
		if s.holds(s.Decode(s.Encode(p)), k) {
			break
		}
		excess(factor * (1 + d))
	}
	for _, i := range at {
		if q := &s.params[i]; q.discrete() {
			q.snap(&p.codes[i])
		}
	}
	return true
}

// falling reports for each of the numbers at whether the excess of constraint k decreases with it. It returns nil if the
// excess decreases with all that change it, or with none.
func (s *Space) falling(p Point, k int, at []int) []bool {
	out, up, down := make([]bool, len(at)), false, false
	f := s.constraints[k].Excess
	is := f(p)
	q := Point{space: s, codes: slices.Clone(p.codes)}
	for j, i := range at {
		n := &s.params[i]
		step := 1e-6 * (n.Max - n.Min)
		if n.Kind == KindInt {
			step = 1
		}
		if p.codes[i]+step > n.Max {
			step = -step
		}
		q.codes[i] = p.codes[i] + step
		change := (f(q) - is) / step
		q.codes[i] = p.codes[i]
		out[j] = change < 0
		up, down = up || change > 0, down || change < 0
	}
	if !up || !down {
		return nil
	}
	return out
}

// numeric reports whether the codes of p are its values.
func (p *Parameter) numeric() bool { return p.Kind == KindFloat || p.Kind == KindInt }

// snap rounds a code between the bounds to the nearest level.
func (p *Parameter) snap(code *float64) {
	k := *code - p.Min
	if p.Step > 0 {
		k /= p.Step
	}
	*code = p.level(min(math.Round(k), float64(p.levels()-1)))
}
