package space

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/functionspace/bo/internal/didyoumean"
)

// Condition is a condition on the values of a point: the condition under which a parameter
// is active (Parameter.When), or a constraint of a space (Space.Constrain).
//
// Package expression compiles a Text such as "optimizer == 'sgd'" to a Condition. In Go a
// Condition may have any functions:
//
//	space.Condition{
//		Text:  "layers * width <= 4096",
//		On:    []string{"layers", "width"},
//		Holds: func(p space.Point) bool { return p.Int("layers")*p.Int("width") <= 4096 },
//	}
type Condition struct {
	// Text states the condition in messages and in the JSON form. Two conditions with
	// equal Text and On count as equal.
	Text string
	// On are the names of all parameters that the functions read.
	On []string
	// Holds reports whether the condition holds at a point at which all parameters of On
	// are active. Its result depends on their values alone. It may be called by several
	// goroutines.
	Holds func(p Point) bool
	// Excess returns how far a point is from the condition: 0 if it holds, else a positive
	// number that falls towards it. It guides the search for the first points of a small
	// feasible region. It may be nil.
	Excess func(p Point) float64

	equal *equality // of Equal; else nil
}

// equality is the condition that the parameter of a name has one of some values.
type equality struct {
	name   string
	values []any
}

// Equal returns the condition that a bool, ordinal, categorical or int has one of the given
// values, which are strings, booleans or numbers. New rejects a value that the parameter does not have,
// unless the parameter is fixed.
func Equal(name string, values ...any) Condition {
	text := make([]string, len(values))
	accepted := make([]any, 0, len(values))
	for i, v := range values {
		if x, err := scalar(v); err == nil {
			v = x
		}
		text[i] = literal(v)
		accepted = append(accepted, v)
	}
	c := Condition{Text: fmt.Sprintf("%s in [%s]", reference(name), strings.Join(text, ", ")), On: []string{name}}
	if len(values) == 1 {
		c.Text = fmt.Sprintf("%s == %s", reference(name), text[0])
	}
	c.Holds = func(p Point) bool {
		v, _ := scalar(p.Value(name))
		return slices.Contains(accepted, v)
	}
	c.equal = &equality{name, slices.Clone(values)}
	return c
}

// check returns a fault unless there are values and the parameter, which is valid, has all of them. A
// fixed parameter stands for a parameter with other values, so its values are not checked.
func (e *equality) check(p *Parameter) error {
	if len(e.values) == 0 {
		return fmt.Errorf("Equal(%q) has no values, want at least one", e.name)
	}
	if p.Kind == KindFixed {
		return nil
	}
	for _, v := range e.values {
		_, err := p.code(v)
		if err == nil {
			continue
		}
		var valid []string
		for _, c := range p.choices() {
			valid = append(valid, text(c))
		}
		if s, ok := v.(string); ok {
			if near, ok := didyoumean.Near(s, valid); ok {
				return fmt.Errorf("value of %q: %w: did you mean %s?", p.Name, err, near)
			}
		}
		return fmt.Errorf("value of %q: %w", p.Name, err)
	}
	return nil
}

// If returns p with a condition under which it is active. Point.Active reports whether it is; Float, Int
// and Bool of a Point panic if it is not.
func (p Parameter) If(c Condition) Parameter {
	p.When = c
	return p
}

// literal writes a value as package expression reads it.
func literal(v any) string {
	if s, ok := v.(string); ok {
		return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
	}
	return text(v)
}

// reference writes the name of a parameter as package expression reads it.
func reference(name string) string {
	for i, r := range name {
		letter := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return "param[" + literal(name) + "]"
		}
	}
	return name
}

// isZero reports whether c is no condition.
func (c *Condition) isZero() bool {
	return c.Text == "" && c.Holds == nil && len(c.On) == 0 && c.Excess == nil
}

// clone returns a copy of c with its own list of names.
func (c Condition) clone() Condition {
	c.On = slices.Clone(c.On)
	return c
}

// checkValues returns a fault if c is of Equal with a value that its parameter does not have. A parameter
// that faulty marks is not checked.
func (c *Condition) checkValues(index map[string]int, params []Parameter, faulty []bool) error {
	if c.equal == nil {
		return nil
	}
	i, ok := index[c.equal.name]
	if !ok || faulty[i] {
		return nil
	}
	return c.equal.check(&params[i])
}

// plain returns the parts of c that can be compared.
func (c Condition) plain() Condition { return Condition{Text: c.Text, On: c.On} }

// resolve returns the indices of c.On, or a fault.
func (c *Condition) resolve(index map[string]int, params []Parameter) ([]int, error) {
	switch {
	case c.Text == "":
		return nil, errors.New("the condition has no text")
	case c.Holds == nil:
		return nil, fmt.Errorf("%q is text without a function: package expression compiles it", c.Text)
	case len(c.On) == 0:
		return nil, fmt.Errorf("%q names no parameter", c.Text)
	}
	on := make([]int, len(c.On))
	for k, name := range c.On {
		i, err := lookup(name, index, params)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", c.Text, err)
		}
		on[k] = i
	}
	return on, nil
}

// activation is the order in which the activity of parameters is determined.
type activation struct {
	order   []int   // parameters, each after the parameters of its condition
	parents [][]int // parameters of each condition
}

// newActivation returns the zero activation if no parameter has a condition. faults[i] are
// the faults of parameter i.
func newActivation(params []Parameter, index map[string]int) (a activation, faults map[int]error) {
	if !slices.ContainsFunc(params, func(p Parameter) bool { return !p.When.isZero() }) {
		return a, nil
	}
	faults = map[int]error{}
	a.parents = make([][]int, len(params))
	for i := range params {
		if c := &params[i].When; !c.isZero() {
			on, err := c.resolve(index, params)
			if err != nil {
				faults[i] = faultOf("when", "when: %w", err)
			}
			a.parents[i] = on
		}
	}
	const entered, done = 1, 2
	state := make([]int, len(params))
	var visit func(i int, path []string)
	visit = func(i int, path []string) {
		path = append(path, params[i].Name)
		if state[i] == entered {
			faults[i] = faultOf("when", "when: the parameter depends on itself: %s", strings.Join(path[slices.Index(path, params[i].Name):], " → "))
		}
		if state[i] != 0 {
			return
		}
		state[i] = entered
		for _, j := range a.parents[i] {
			visit(j, path)
		}
		state[i] = done
		a.order = append(a.order, i)
	}
	for i := range params {
		visit(i, nil)
	}
	return a, faults
}

// active reports whether parameter i is active at a point that has the codes of its parents.
func (s *Space) active(p Point, i int) bool {
	if s.activation.order == nil || s.params[i].When.isZero() {
		return true
	}
	for _, j := range s.activation.parents[i] {
		if inactive(p.codes[j]) {
			return false
		}
	}
	return s.params[i].When.Holds(p)
}

// deactivate replaces the codes of inactive parameters.
func (s *Space) deactivate(p Point) {
	for _, i := range s.activation.order {
		if !s.active(p, i) {
			p.codes[i] = absent
		}
	}
}

// holds reports whether constraint k holds. A constraint on an inactive parameter holds.
func (s *Space) holds(p Point, k int) bool {
	for _, i := range s.on[k] {
		if inactive(p.codes[i]) {
			return true
		}
	}
	return s.constraints[k].Holds(p)
}

// feasible reports whether all constraints hold.
func (s *Space) feasible(p Point) bool {
	for k := range s.constraints {
		if !s.holds(p, k) {
			return false
		}
	}
	return true
}

// violations returns the faults of a point that violates constraints.
func (s *Space) violations(p Point) (faults Faults) {
	for k := range s.constraints {
		if s.holds(p, k) {
			continue
		}
		faults = append(faults, s.violated(p, k))
	}
	return faults
}

// violated returns the fault of a point that violates constraint k.
func (s *Space) violated(p Point, k int) error {
	var at []string
	for _, i := range s.on[k] {
		q := &s.params[i]
		at = append(at, q.Name+"="+text(q.value(p.codes[i])))
	}
	return fmt.Errorf("constraint %q does not hold at %s", s.constraints[k].Text, strings.Join(at, " "))
}

// Constrain returns s with additional constraints: conditions that hold at every point of
// the space. A constraint holds if one of its parameters is inactive. The error wraps
// ErrInvalid; it also reports constraints that no point satisfies, as far as a bounded
// search finds.
func (s *Space) Constrain(constraints ...Condition) (*Space, error) {
	return Spec{Parameters: s.Parameters(), Constraints: slices.Concat(s.constraints, constraints)}.Space()
}

// Constraints returns a copy of the constraints.
func (s *Space) Constraints() []Condition { return cloned(s.constraints) }

// cloned returns copies of the conditions.
func cloned(conditions []Condition) []Condition {
	out := slices.Clone(conditions)
	for i := range out {
		out[i] = out[i].clone()
	}
	return out
}

// Restricted reports whether s has conditions or constraints.
func (s *Space) Restricted() bool { return s.activation.order != nil || len(s.constraints) > 0 }

// Feasible reports whether the point at u satisfies the constraints.
func (s *Space) Feasible(u []float64) bool {
	return len(s.constraints) == 0 || s.feasible(s.Decode(u))
}
