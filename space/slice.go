package space

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Slice returns the part of s whose points have the given values, at least one. Given parameters are active at its points. Its
// points are points of s with the encoding of s, and a surrogate model of s predicts in the slice:
//
//   - Decode and Project set the columns of given parameters, which Free and Discrete leave out;
//   - the conditions of given parameters, and the conditions of the parameters on which these depend, are constraints of the
//     slice.
//
// The error wraps ErrPoint. It names invalid values, or the constraints that no point with these values satisfies, as
// far as a bounded search finds. A slice of a slice is an error too.
func (s *Space) Slice(values map[string]any) (*Space, error) {
	if s.whole != s {
		return nil, fmt.Errorf("%w: the space is a slice", ErrPoint)
	}
	codes, err := s.given(values)
	if err != nil {
		return nil, err
	}
	out := *s
	out.whole, out.params = s, slices.Clone(s.params)
	out.constraints, out.on = slices.Clip(s.constraints), slices.Clip(s.on)
	var conditional []int // parameters whose conditions become constraints
	var require func(i int)
	require = func(i int) {
		if slices.Contains(conditional, i) || s.activation.order == nil || s.params[i].When.isZero() {
			return
		}
		for _, j := range s.activation.parents[i] {
			require(j)
		}
		conditional = append(conditional, i)
		out.constraints, out.on = append(out.constraints, s.params[i].When), append(out.on, s.activation.parents[i])
	}
	for i := range codes {
		if !inactive(codes[i]) {
			out.params[i].pin = &codes[i]
			require(i)
		}
	}
	if faults := out.conflicts(Point{space: s, codes: codes}, conditional); len(faults) > 0 {
		return nil, fmt.Errorf("%w: %w", ErrPoint, faults)
	}
	if out.Restricted() {
		out.region = &region{}
	}
	if len(out.constraints) > 0 && len(out.seeds()) == 0 {
		var at []string
		for _, name := range slices.Sorted(maps.Keys(values)) {
			i := s.index[name]
			at = append(at, name+"="+text(s.params[i].value(codes[i])))
		}
		return nil, fmt.Errorf("%w: no point with %s is found: %w", ErrPoint, strings.Join(at, " "), out.noSeeds())
	}
	return &out, nil
}

// conflicts returns the faults of constraints that name only parameters with a code in p, the given values. The last
// constraints are the conditions of the given parameters.
func (s *Space) conflicts(p Point, conditions []int) (faults Faults) {
	own := len(s.constraints) - len(conditions)
	for k := range s.constraints {
		if slices.ContainsFunc(s.on[k], func(i int) bool { return inactive(p.codes[i]) }) || s.holds(p, k) {
			continue
		}
		if k >= own {
			faults = append(faults, fmt.Errorf("parameter %q: it is inactive, because %q does not hold", s.params[conditions[k-own]].Name, s.constraints[k].Text))
			continue
		}
		faults = append(faults, s.violated(p, k))
	}
	return faults
}

// Whole returns the space of which s is a Slice, and s if it is none.
func (s *Space) Whole() *Space { return s.whole }

// Given returns the values that the Slice s is given, by parameter; nil if s is none.
func (s *Space) Given() map[string]any {
	var values map[string]any
	for i := range s.params {
		if p := &s.params[i]; p.pin != nil {
			if values == nil {
				values = map[string]any{}
			}
			values[p.Name] = p.value(*p.pin)
		}
	}
	return values
}

// CheckGiven returns an error, which wraps ErrPoint, if values leave out a parameter that is Given. It does not validate values.
func (s *Space) CheckGiven(values map[string]any) error {
	var faults Faults
	for i := range s.params {
		p := &s.params[i]
		if _, stated := values[p.Name]; p.Given && !stated {
			faults = append(faults, notGiven(p.Name))
		}
	}
	if faults == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrPoint, faults)
}

// Contains reports whether a point of s.Whole has the values of the Slice s. It is true if s is none.
func (s *Space) Contains(p Point) bool {
	for i := range s.params {
		if pin := s.params[i].pin; pin != nil && p.codes[i] != *pin {
			return false
		}
	}
	return true
}

// Alike reports whether two points of s.Whole have equal values of the parameters that are active at both. It
// ignores parameters that the Slice s is given or that others names.
func (s *Space) Alike(p, q Point, others []string) bool {
	for i := range s.params {
		a, b := p.codes[i], q.codes[i]
		if s.params[i].pin == nil && !slices.Contains(others, s.params[i].Name) && a != b && !inactive(a) && !inactive(b) {
			return false
		}
	}
	return true
}

// Bounds returns the box of the unit cube that contains the encoded points of s: less than the cube in the columns of a value
// that a Slice is given.
func (s *Space) Bounds() (lo, hi []float64) {
	lo, hi = make([]float64, s.dim), slices.Repeat([]float64{1}, s.dim)
	for i := range s.params {
		if p := &s.params[i]; p.pin != nil {
			p.encode(s.columns(lo, i), *p.pin)
			copy(s.columns(hi, i), s.columns(lo, i))
		}
	}
	return lo, hi
}
