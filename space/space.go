package space

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/didyoumean"
)

// Space is a validated list of parameters and constraints with an encoding to [0,1]^Dim. It
// is immutable and safe for concurrent use.
type Space struct {
	params      []Parameter
	start       []int // first column of each parameter
	dim         int
	index       map[string]int
	activation  activation
	constraints []Condition
	on          [][]int // parameters of each constraint
	region      *region // points of a restricted space; nil if s is not restricted
	whole       *Space  // space of which s is a Slice, or s
}

// Spec is the definition of a space.
type Spec struct {
	Parameters  []Parameter
	Constraints []Condition
	// Compile compiles a condition that has a Text only, for the given parameters, which
	// may be invalid. It may be nil if there are none.
	Compile func(text string, params []Parameter) (Condition, error)
}

// New returns the space of the given parameters. The error wraps ErrInvalid and names
// every fault.
func New(params ...Parameter) (*Space, error) { return Spec{Parameters: params}.Space() }

// Space returns the space of d. The error wraps ErrInvalid and names every fault.
func (d Spec) Space() (*Space, error) { return d.build(make([][]error, len(d.Parameters))) }

// build is Space with the faults found earlier in each parameter.
func (d Spec) build(known [][]error) (*Space, error) {
	d.Constraints = cloned(d.Constraints)
	params, faults := d.validate(known)
	if len(faults) > 0 {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, faults)
	}
	s := &Space{params: params, start: make([]int, len(params)), index: indexOf(params), constraints: d.Constraints}
	for i := range params {
		if p := &params[i]; p.Kind == KindCategorical && len(p.Values) > maxOneHot {
			p.words = wordsOf(len(p.Values))
		}
		s.start[i] = s.dim
		s.dim += params[i].columns()
	}
	s.whole = s
	s.activation, _ = newActivation(params, s.index)
	for k := range s.constraints {
		on, _ := s.constraints[k].resolve(s.index, params)
		s.on = append(s.on, on)
	}
	if s.Restricted() {
		s.region = &region{}
	}
	if len(s.constraints) > 0 && len(s.seeds()) == 0 {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, Faults{s.noSeeds()})
	}
	return s, nil
}

// indexOf returns the index of each parameter by name.
func indexOf(params []Parameter) map[string]int {
	index := make(map[string]int, len(params))
	for i := range params {
		index[params[i].Name] = i
	}
	return index
}

// Parameters returns a copy of the parameters in order.
func (s *Space) Parameters() []Parameter {
	out := make([]Parameter, len(s.params))
	for i, p := range s.params {
		p.Values, p.grid, p.words, p.pin = append([]any(nil), p.Values...), grid{}, nil, nil
		p.When = p.When.clone()
		out[i] = p
	}
	return out
}

// equals reports whether s and t, or the spaces of which they are slices, have equal parameters and constraints.
func (s *Space) equals(t *Space) bool {
	if s == t {
		return true
	}
	if s == nil || t == nil {
		return false
	}
	if s, t = s.whole, t.whole; s == t {
		return true
	}
	plain := func(s *Space) (params []Parameter, constraints []Condition) {
		params = slices.Clone(s.params)
		for i := range params {
			params[i].When = params[i].When.plain()
		}
		for _, c := range s.constraints {
			constraints = append(constraints, c.plain())
		}
		return params, constraints
	}
	sp, sc := plain(s)
	tp, tc := plain(t)
	return reflect.DeepEqual(sp, tp) && reflect.DeepEqual(sc, tc)
}

// Dim returns the number of encoded columns.
func (s *Space) Dim() int { return s.dim }

// Free reports for each encoded column whether it is continuous.
func (s *Space) Free() []bool {
	free := make([]bool, s.dim)
	for i := range s.params {
		if p := &s.params[i]; p.continuous() && p.pin == nil {
			free[s.start[i]] = true
		}
	}
	return free
}

// Discrete reports whether any parameter has several values and is not continuous.
func (s *Space) Discrete() bool {
	for i := range s.params {
		if p := &s.params[i]; p.discrete() && p.pin == nil {
			return true
		}
	}
	return false
}

// Coordinate describes the columns of a parameter in the encoding.
type Coordinate struct {
	Parameter Parameter
	First     int // first column
	Columns   int // number of columns, 0 for a fixed parameter
	// Width is the change of the parameter from 0 to 1 in its column: in its unit for a float or int, and in
	// natural logarithms if it is logarithmic. It is in places in the list of values for an ordinal, and 1 for
	// a bool or categorical.
	Width float64
}

// Coordinates returns the columns of all parameters in order.
func (s *Space) Coordinates() []Coordinate {
	params := s.Parameters()
	out := make([]Coordinate, len(params))
	for i := range params {
		p := &s.params[i]
		out[i] = Coordinate{Parameter: params[i], First: s.start[i], Columns: p.columns(), Width: p.width()}
	}
	return out
}

// width returns Coordinate.Width.
func (p *Parameter) width() float64 {
	switch {
	case p.Kind == KindInt && p.Log:
		lo, hi := p.logEdges()
		return hi - lo
	case p.Log:
		return math.Log(p.Max) - math.Log(p.Min)
	case p.continuous():
		return p.Max - p.Min
	case p.Kind == KindFloat || p.Kind == KindInt:
		return float64(p.levels()) * cmp.Or(p.Step, 1)
	case p.Kind == KindOrdinal:
		return float64(p.levels())
	default:
		return 1
	}
}

// columns returns the columns of u that belong to parameter i.
func (s *Space) columns(u []float64, i int) []float64 {
	return u[s.start[i] : s.start[i]+s.params[i].columns()]
}

// Encode returns the encoding of p in [0,1]^Dim. Decode(Encode(p)) equals p, exactly in
// discrete parameters and up to rounding in floats. The columns of an inactive parameter do
// not depend on its earlier values. Encode panics if p is a point of a
// space with other parameters.
func (s *Space) Encode(p Point) []float64 {
	if !s.equals(p.space) {
		panic("space: point of another space")
	}
	u := make([]float64, s.dim)
	for i := range s.params {
		s.params[i].encode(s.columns(u, i), p.codes[i])
	}
	return u
}

// Decode returns the point at u, which need not satisfy the constraints. Any coordinates
// are valid: numbers outside [0,1] count as the nearer bound, and NaN as 0.
func (s *Space) Decode(u []float64) Point {
	s.check(u)
	p := Point{space: s.whole, codes: make([]float64, len(s.params))}
	for i := range s.params {
		p.codes[i] = s.params[i].decode(s.columns(u, i))
	}
	s.deactivate(p)
	return p
}

// Project replaces u by the nearest encoding of a point: discrete columns by the encoding
// of their decoded value, continuous columns by the nearest number of [0,1], columns of
// inactive parameters by their encoding. The point need not satisfy the constraints. Project
// is idempotent, and equals Encode(Decode(u)) without rounding of continuous columns.
func (s *Space) Project(u []float64) {
	s.check(u)
	var at Point
	if s.activation.order != nil {
		at = s.Decode(u)
	}
	for i := range s.params {
		p, cols := &s.params[i], s.columns(u, i)
		switch {
		case at.space != nil && inactive(at.codes[i]):
			p.encode(cols, absent)
		case p.pin != nil:
			p.encode(cols, *p.pin)
		case p.continuous():
			cols[0] = clamp(cols[0])
		case p.discrete():
			p.encode(cols, p.decode(cols))
		}
	}
}

// Neighbors returns encoded feasible points that differ from the projected u in one discrete
// parameter, a row each: for a bool or categorical every other value; for others the values 1, 2, 4, …
// steps up and down. Parameters that the change activates have the value in the middle of
// their range. If such a point violates a constraint with Excess, points that restore the constraint by a
// change of another number replace it. An example is a second component of a mixture. Other infeasible points
// are left out. Neighbors returns nil if there are none.
func (s *Space) Neighbors(u []float64) *mat.Dense {
	s.check(u)
	at := append([]float64(nil), u...)
	s.Project(at)
	p := s.Decode(at)
	each := func(visit func(i int, code float64)) {
		for i := range s.params {
			if q := &s.params[i]; q.discrete() && q.pin == nil && !inactive(p.codes[i]) {
				q.neighbors(p.codes[i], func(code float64) { visit(i, code) })
			}
		}
	}
	most := 0
	each(func(int, float64) { most++ })
	rows := make([]float64, 0, most*s.dim)
	var restored map[string]bool
	each(func(i int, code float64) {
		n := len(rows)
		rows = append(rows, at...)
		s.params[i].encode(s.columns(rows[n:], i), code)
		if s.region == nil {
			return
		}
		if s.Project(rows[n:]); s.Feasible(rows[n:]) {
			return
		}
		moved := slices.Clone(rows[n:])
		rows = rows[:n]
		s.restore(moved, func(j int) bool { return j == i }, func(u []float64) {
			if k := s.Decode(u).Key(); !restored[k] {
				if restored == nil {
					restored = map[string]bool{}
				}
				restored[k] = true
				rows = append(rows, u...)
			}
		})
	})
	if len(rows) == 0 {
		return nil
	}
	return mat.NewDense(len(rows)/s.dim, s.dim, rows)
}

// neighbors visits the codes of the neighbours of a code of a discrete parameter.
func (p *Parameter) neighbors(code float64, visit func(code float64)) {
	k, last := p.index(code), float64(p.levels()-1)
	if p.Kind == KindCategorical || p.Kind == KindBool {
		for j := 0.0; j <= last; j++ {
			if j != k {
				visit(p.level(j))
			}
		}
		return
	}
	for step := 1.0; step <= last; step *= 2 {
		if k-step >= 0 {
			visit(p.level(k - step))
		}
		if k+step <= last {
			visit(p.level(k + step))
		}
	}
}

// FreeAt reports for each coordinate whether it is continuous and belongs to a parameter
// that is active at u.
func (s *Space) FreeAt(u []float64) []bool {
	free, p := s.Free(), s.Decode(u)
	for i := range s.params {
		if s.params[i].continuous() && inactive(p.codes[i]) {
			free[s.start[i]] = false
		}
	}
	return free
}

// check panics if u has the wrong length.
func (s *Space) check(u []float64) {
	if len(u) != s.dim {
		panic(fmt.Sprintf("space: point with %d coordinates, want %d", len(u), s.dim))
	}
}

// lookup returns the index of a parameter by name.
func (s *Space) lookup(name string) (int, error) { return lookup(name, s.index, s.params) }

// lookup returns the index of a parameter by name.
func lookup(name string, index map[string]int, params []Parameter) (int, error) {
	if i, ok := index[name]; ok {
		return i, nil
	}
	names := make([]string, len(params))
	for i := range params {
		names[i] = params[i].Name
	}
	return 0, fmt.Errorf("unknown parameter %q%s", name, didyoumean.Hint(name, names))
}
