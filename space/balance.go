package space

import (
	"math"
	"slices"
)

// Balance returns a point with the given values, and whether it is feasible with all of them active. The other active
// parameters have the values of the point of the unit cube u. If a constraint with an Excess does not hold, its numbers
// that are not given change: their distances from their least values keep their ratios, as far as the ranges allow. In a
// mixture this is the direction of Cox (1971). The error wraps ErrPoint. Balance panics unless u has Dim coordinates.
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
// then feasible with all given parameters active. If the distances of all numbers of a constraint from their least values
// are 0, they get equal shares of their ranges. The codes of p change in place.
func (s *Space) balance(p Point, given []float64) bool {
	kept := func(i int) bool { return !inactive(given[i]) }
	for i := range p.codes {
		if kept(i) && inactive(p.codes[i]) {
			return false
		}
	}
	for k := range s.constraints {
		if s.holds(p, k) {
			continue
		}
		if s.constraints[k].Excess == nil || !s.scale(p, k, kept) {
			return false
		}
		if s.holds(p, k) {
			continue
		}
		var best Point // the nearest point that rounds otherwise
		nearest := math.Inf(1)
		visit := func(q Point) {
			var d2 float64
			for _, i := range s.on[k] {
				if width := s.params[i].Max - s.params[i].Min; width > 0 {
					d2 += math.Pow((q.codes[i]-p.codes[i])/width, 2)
				}
			}
			if d2 < nearest && s.feasible(q) {
				best, nearest = q, d2
			}
		}
		s.restore(s.Encode(p), kept, func(u []float64) { visit(s.Decode(u)) })
		for _, i := range s.on[k] {
			if q := &s.params[i]; q.discrete() && q.numeric() && !kept(i) {
				for _, step := range []float64{-1, 1} {
					if to := q.index(p.codes[i]) + step; 0 <= to && to < float64(q.levels()) {
						codes := slices.Clone(p.codes)
						codes[i] = q.level(to)
						visit(Point{space: s, codes: codes})
					}
				}
			}
		}
		if best.space == nil {
			return false
		}
		copy(p.codes, best.codes)
	}
	return s.feasible(p)
}

// scale multiplies the distances of the numbers of constraint k from their least values by one factor, for which the
// excess is 0 but for the rounding to steps. It reports whether there are such numbers.
func (s *Space) scale(p Point, k int, kept func(i int) bool) bool {
	var at []int
	var distance []float64
	factor := 0.0
	for _, i := range s.on[k] {
		if q := &s.params[i]; q.numeric() && !kept(i) {
			at, distance = append(at, i), append(distance, p.codes[i]-q.Min)
			factor = max(factor, min(1, p.codes[i]-q.Min))
		}
	}
	if len(at) == 0 {
		return false
	}
	if factor > 0 {
		factor = 1
	} else {
		for j, i := range at {
			distance[j] = s.params[i].Max - s.params[i].Min
		}
	}
	excess := func(factor float64) float64 {
		for j, i := range at {
			q := &s.params[i]
			p.codes[i] = min(max(q.Min+factor*distance[j], q.Min), q.Max)
		}
		return s.constraints[k].Excess(p)
	}
	// Newton's method, which is exact for a linear function until a number meets its bound. The condition may round
	// whole numbers, so difference quotients begin with a large change of the factor.
	is := excess(factor)
	for round, change := 0, 1.0/8; round < 50 && change > 1e-4 && is > 0; round++ {
		slope := (excess(factor+change) - is) / change
		if slope == 0 { // all numbers are at their upper bounds
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
	excess(factor)
	for _, d := range []float64{-1e-12, 1e-12, -1e-9, 1e-9} { // rounding errors at a bound
		if s.holds(p, k) {
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
