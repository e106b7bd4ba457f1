package space

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// ErrPoint is wrapped by every error about the values of a point.
var ErrPoint = errors.New("invalid point")

// Point has a value for every parameter of its space. It is immutable. The zero Point has
// no space and no values.
type Point struct {
	space *Space
	codes []float64
}

// PointOf returns the point with the given values by parameter name. Numbers may have any
// Go type, and fixed parameters may be omitted. The error wraps ErrPoint and names every
// fault.
func (s *Space) PointOf(values map[string]any) (Point, error) {
	p := Point{space: s, codes: make([]float64, len(s.params))}
	var faults Faults
	for i := range s.params {
		q := &s.params[i]
		v, ok := values[q.Name]
		if !ok {
			if q.Kind != KindFixed {
				faults = append(faults, fmt.Errorf("parameter %q: missing", q.Name))
			}
			continue
		}
		code, err := q.code(v)
		if err != nil {
			faults = append(faults, fmt.Errorf("parameter %q: %w", q.Name, err))
		}
		p.codes[i] = code
	}
	unknown := make([]string, 0, len(values))
	for name := range values {
		if _, ok := s.index[name]; !ok {
			unknown = append(unknown, name)
		}
	}
	slices.Sort(unknown)
	for _, name := range unknown {
		_, err := s.lookup(name)
		faults = append(faults, err)
	}
	if len(faults) > 0 {
		return Point{}, fmt.Errorf("%w: %w", ErrPoint, faults)
	}
	return p, nil
}

// code returns the code of a user's value.
func (p *Parameter) code(v any) (float64, error) {
	switch p.Kind {
	case KindFloat, KindInt:
		if v == nil {
			return 0, errors.New("missing")
		}
		x, err := number(v)
		switch {
		case err != nil:
			return 0, fmt.Errorf("%v is not a finite number", quote(v))
		case p.Kind == KindInt && x != math.Trunc(x):
			return 0, fmt.Errorf("%v is not an integer", x)
		case x < p.Min || x > p.Max:
			return 0, fmt.Errorf("%v is outside [%v, %v]", x, p.Min, p.Max)
		}
		if p.Step > 0 {
			return p.onGrid(x)
		}
		return x, nil
	}
	values := p.choices()
	x, err := scalar(v)
	if err != nil {
		return 0, fmt.Errorf("value %w", err)
	}
	if i := slices.Index(values, x); i >= 0 {
		return float64(i), nil
	}
	return 0, fmt.Errorf("%s is not one of %s", quote(x), quoteAll(values))
}

// onGrid returns the value of a parameter with steps that equals x up to rounding.
func (p *Parameter) onGrid(x float64) (float64, error) {
	k := p.index(x)
	at := p.level(k)
	if math.Abs(x-at) > 1e-9*p.Step {
		near := p.level(max(0, min(k, float64(p.levels()-1))))
		return 0, fmt.Errorf("%v is not %v plus a multiple of step %v; the nearest value is %v", x, p.Min, p.Step, near)
	}
	return at, nil
}

// Check returns an error if v is not a value of the parameter, which must be one of a
// Space's Parameters.
func (p Parameter) Check(v any) error {
	_, err := p.code(v)
	return err
}

// value returns the value of a code: float64 for a float, int for an int, else the entry
// of Values, or Value.
func (p *Parameter) value(code float64) any {
	switch p.Kind {
	case KindFloat:
		return code
	case KindInt:
		return int(code)
	case KindFixed:
		return p.Value
	case KindBool:
		return code == 1
	default:
		return p.Values[int(code)]
	}
}

// Space returns the space of p.
func (p Point) Space() *Space { return p.space }

// Value returns the value of a parameter: float64 for a float, int for an int, else the
// string, bool or float64 listed in the space. Value and the other accessors panic if
// there is no such parameter.
func (p Point) Value(name string) any {
	if p.space == nil {
		panic("space: zero Point")
	}
	i, err := p.space.lookup(name)
	if err != nil {
		panic("space: " + err.Error())
	}
	return p.space.params[i].value(p.codes[i])
}

// Float returns the value of a numeric parameter. It panics if the value is not a number.
func (p Point) Float(name string) float64 {
	switch v := p.Value(name).(type) {
	case float64:
		return v
	case int:
		return float64(v)
	default:
		panic(fmt.Sprintf("space: parameter %q is %s, not a number", name, quote(v)))
	}
}

// Int returns the value of an integer parameter. It panics if the value is not an integer.
func (p Point) Int(name string) int {
	x := p.Float(name)
	if x != math.Trunc(x) || math.Abs(x) > maxInt {
		panic(fmt.Sprintf("space: parameter %q is %v, not an integer", name, x))
	}
	return int(x)
}

// Bool returns the value of a boolean parameter. It panics if the value is not a boolean.
func (p Point) Bool(name string) bool {
	v, ok := p.Value(name).(bool)
	if !ok {
		panic(fmt.Sprintf("space: parameter %q is %s, not a boolean", name, quote(p.Value(name))))
	}
	return v
}

// Text returns the value of any parameter as text. Numbers have the shortest form that
// parses to the same number.
func (p Point) Text(name string) string { return text(p.Value(name)) }

// Map returns the values by name.
func (p Point) Map() map[string]any {
	m := make(map[string]any, len(p.codes))
	for i, code := range p.codes {
		m[p.space.params[i].Name] = p.space.params[i].value(code)
	}
	return m
}

// MarshalJSON writes an object of the values in parameter order.
func (p Point) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, code := range p.codes {
		if i > 0 {
			b.WriteByte(',')
		}
		q := &p.space.params[i]
		for j, v := range []any{q.Name, q.value(code)} {
			if j > 0 {
				b.WriteByte(':')
			}
			j, err := json.Marshal(v)
			if err != nil {
				return nil, fmt.Errorf("parameter %q: %w", q.Name, err)
			}
			b.Write(j)
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// String returns the values as "lr=0.01 layers=3 opt=adam".
func (p Point) String() string {
	var b strings.Builder
	for i, code := range p.codes {
		if i > 0 {
			b.WriteByte(' ')
		}
		q := &p.space.params[i]
		b.WriteString(q.Name + "=" + text(q.value(code)))
	}
	return b.String()
}

// Key returns a string that is equal for two points of one space exactly if all their
// values are equal. It is binary, for use as the key of a map.
func (p Point) Key() string {
	b := make([]byte, 0, 8*len(p.codes))
	for _, code := range p.codes {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(code))
	}
	return string(b)
}

// text formats numbers as JSON does: without exponent between 1e-6 and 1e21.
func text(v any) string {
	x, ok := v.(float64)
	if !ok {
		return fmt.Sprint(v)
	}
	format := byte('g')
	if a := math.Abs(x); a == 0 || a >= 1e-6 && a < 1e21 {
		format = 'f'
	}
	return strconv.FormatFloat(x, format, -1, 64)
}

// quote returns v as text, in quotation marks if it is a string.
func quote(v any) string {
	if s, ok := v.(string); ok {
		return strconv.Quote(s)
	}
	return text(v)
}

// quoteAll returns the values, quoted, separated by commas.
func quoteAll(values []any) string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = quote(v)
	}
	return strings.Join(out, ", ")
}
