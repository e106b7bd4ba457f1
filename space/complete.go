package space

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// Complete returns a point with the given values. It is the point of Balance. If that point is not feasible, or a given
// parameter is inactive, a bounded random search changes the parameters that are not given. The error wraps ErrPoint.
// Complete panics unless u has Dim coordinates.
func (s *Space) Complete(values map[string]any, u []float64, rng *rand.Rand) (Point, error) {
	s.check(u)
	whole, err := s.PointOf(values)
	if err == nil {
		return whole, nil
	}
	given, err := s.given(values)
	if err != nil {
		return Point{}, err
	}
	p := s.near(given, u)
	if q := (Point{space: s.whole, codes: slices.Clone(p.codes)}); s.balance(q, given) {
		return q, nil
	}
	for restart := range repairs / 8 {
		if restart > 0 {
			p = s.random(rng)
			s.give(p, given, rng)
		}
		if s.repairGiven(p, given, rng) {
			return p, nil
		}
	}
	faults := s.violations(p)
	for i := range s.params {
		if !inactive(given[i]) && inactive(p.codes[i]) {
			faults = append(faults, fmt.Errorf("parameter %q: it is inactive, because %s", s.params[i].Name, s.reason(p, i)))
		}
	}
	return Point{}, fmt.Errorf("%w: no feasible point with these values is found: %w", ErrPoint, faults)
}

// given returns the codes of values by parameter, absent for others.
func (s *Space) given(values map[string]any) ([]float64, error) {
	given := make([]float64, len(s.params))
	for i := range given {
		given[i] = absent
	}
	var faults Faults
	names := make([]string, 0, len(values))
	for name := range values {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		i, err := s.lookup(name)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		if given[i], err = s.params[i].code(values[name]); err != nil {
			faults = append(faults, fmt.Errorf("parameter %q: %w", name, err))
		}
	}
	if len(faults) > 0 {
		return nil, fmt.Errorf("%w: %w", ErrPoint, faults)
	}
	return given, nil
}

// near returns the point that u encodes, with given codes.
func (s *Space) near(given, u []float64) Point {
	p := Point{space: s.whole, codes: make([]float64, len(s.params))}
	for i := range s.params {
		p.codes[i] = s.params[i].decode(s.columns(u, i))
	}
	s.give(p, given, nil) // all parameters have codes, so none is drawn
	return p
}

// give sets the given codes, and uniform values of parameters that become active by them.
func (s *Space) give(p Point, given []float64, rng *rand.Rand) {
	u := make([]float64, s.dim)
	set := func(i int) {
		switch {
		case !s.active(p, i):
			p.codes[i] = absent
		case !inactive(given[i]):
			p.codes[i] = given[i]
		case inactive(p.codes[i]):
			cols := s.columns(u, i)
			for j := range cols {
				cols[j] = rng.Float64()
			}
			p.codes[i] = s.params[i].decode(cols)
		}
	}
	if s.activation.order == nil {
		for i := range s.params {
			set(i)
		}
	}
	for _, i := range s.activation.order {
		set(i)
	}
}

// repairGiven is repair with given codes that do not change. A given parameter that is inactive
// is a violation.
func (s *Space) repairGiven(p Point, given []float64, rng *rand.Rand) bool {
	violation := func(p Point) float64 {
		v := s.violation(p)
		for i := range given {
			if !inactive(given[i]) && inactive(p.codes[i]) {
				v++
			}
		}
		return v
	}
	at := violation(p)
	for range descent {
		if at == 0 {
			return true
		}
		q := s.move(p, rng)
		s.give(q, given, rng)
		if v := violation(q); v <= at {
			copy(p.codes, q.codes)
			at = v
		}
	}
	return at == 0
}
