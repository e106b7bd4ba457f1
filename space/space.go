package space

import (
	"fmt"
	"reflect"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/didyoumean"
)

// Space is a validated list of parameters with an encoding to [0,1]^Dim. It is immutable
// and safe for concurrent use.
type Space struct {
	params []Parameter
	start  []int // first column of each parameter
	dim    int
	index  map[string]int
}

// New returns the space of the given parameters. The error wraps ErrInvalid and names
// every fault.
func New(params ...Parameter) (*Space, error) {
	return build(params, make([][]error, len(params)))
}

// build is New with the faults found earlier in each parameter.
func build(params []Parameter, known [][]error) (*Space, error) {
	params, faults := validate(params, known)
	if len(faults) > 0 {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, faults)
	}
	s := &Space{params: params, start: make([]int, len(params)), index: make(map[string]int, len(params))}
	for i := range params {
		s.start[i] = s.dim
		s.dim += params[i].columns()
		s.index[params[i].Name] = i
	}
	return s, nil
}

// Parameters returns a copy of the parameters in order.
func (s *Space) Parameters() []Parameter {
	out := make([]Parameter, len(s.params))
	for i, p := range s.params {
		p.Values, p.grid = append([]any(nil), p.Values...), grid{}
		out[i] = p
	}
	return out
}

// Dim returns the number of encoded columns.
func (s *Space) Dim() int { return s.dim }

// Free reports for each encoded column whether it is continuous.
func (s *Space) Free() []bool {
	free := make([]bool, s.dim)
	for i := range s.params {
		if s.params[i].continuous() {
			free[s.start[i]] = true
		}
	}
	return free
}

// Discrete reports whether any encoded column is not continuous.
func (s *Space) Discrete() bool {
	for i := range s.params {
		if s.params[i].discrete() {
			return true
		}
	}
	return false
}

// columns returns the columns of u that belong to parameter i.
func (s *Space) columns(u []float64, i int) []float64 {
	return u[s.start[i] : s.start[i]+s.params[i].columns()]
}

// Encode returns the encoding of p in [0,1]^Dim. Decode(Encode(p)) equals p, exactly in
// discrete parameters and up to rounding in floats. Encode panics if p is a point of a
// space with other parameters.
func (s *Space) Encode(p Point) []float64 {
	if p.space != s && (p.space == nil || !reflect.DeepEqual(p.space.params, s.params)) {
		panic("space: point of another space")
	}
	u := make([]float64, s.dim)
	for i := range s.params {
		s.params[i].encode(s.columns(u, i), p.codes[i])
	}
	return u
}

// Decode returns the point at u. Any coordinates are valid: numbers outside [0,1] count as
// the nearer bound, and NaN as 0.
func (s *Space) Decode(u []float64) Point {
	s.check(u)
	p := Point{space: s, codes: make([]float64, len(s.params))}
	for i := range s.params {
		p.codes[i] = s.params[i].decode(s.columns(u, i))
	}
	return p
}

// Project replaces u by the nearest encoding of a point: discrete columns by the encoding
// of their decoded value, continuous columns by the nearest number of [0,1]. It is
// idempotent, and equals Encode(Decode(u)) without rounding of continuous columns.
func (s *Space) Project(u []float64) {
	s.check(u)
	for i := range s.params {
		p, cols := &s.params[i], s.columns(u, i)
		switch {
		case p.continuous():
			cols[0] = clamp(cols[0])
		case p.discrete():
			p.encode(cols, p.decode(cols))
		}
	}
}

// Neighbors returns encoded points that differ from the projected u in one discrete
// parameter, a row each: for a categorical every other value; for an int or ordinal the
// values 1, 2, 4, … steps up and down. It returns nil if no parameter is discrete.
func (s *Space) Neighbors(u []float64) *mat.Dense {
	s.check(u)
	at := append([]float64(nil), u...)
	s.Project(at)
	var rows []float64
	add := func(i int, code float64) {
		n := len(rows)
		rows = append(rows, at...)
		s.params[i].encode(s.columns(rows[n:], i), code)
	}
	for i := range s.params {
		p := &s.params[i]
		if !p.discrete() {
			continue
		}
		k, last := p.index(p.decode(s.columns(at, i))), float64(p.levels()-1)
		if p.Kind == KindCategorical || p.Kind == KindBool {
			for j := 0.0; j <= last; j++ {
				if j != k {
					add(i, p.level(j))
				}
			}
			continue
		}
		for step := 1.0; step <= last; step *= 2 {
			if k-step >= 0 {
				add(i, p.level(k-step))
			}
			if k+step <= last {
				add(i, p.level(k+step))
			}
		}
	}
	if len(rows) == 0 {
		return nil
	}
	return mat.NewDense(len(rows)/s.dim, s.dim, rows)
}

// check panics if u has the wrong length.
func (s *Space) check(u []float64) {
	if len(u) != s.dim {
		panic(fmt.Sprintf("space: point with %d coordinates, want %d", len(u), s.dim))
	}
}

// lookup returns the index of a parameter by name.
func (s *Space) lookup(name string) (int, error) {
	if i, ok := s.index[name]; ok {
		return i, nil
	}
	names := make([]string, len(s.params))
	for i := range s.params {
		names[i] = s.params[i].Name
	}
	return 0, fmt.Errorf("unknown parameter %q%s", name, didyoumean.Hint(name, names))
}
