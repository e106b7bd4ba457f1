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

	"github.com/functionspace/bo/internal/strictjson"
)

// ErrPoint is wrapped by every error about the values of a point.
var ErrPoint = errors.New("invalid point")

// Point has a value for every active parameter of its space. It is immutable. The zero Point has
// no space and no values.
type Point struct {
	space *Space
	codes []float64
}

// PointOf returns the point with the given values by parameter name. Numbers may have any
// Go type, fixed parameters may be omitted, and inactive parameters have no value or nil. The
// error wraps ErrPoint and names every fault, also constraints that do not hold.
func (s *Space) PointOf(values map[string]any) (Point, error) { return s.PointWith(values, nil) }

// ParsePoint returns the point of a JSON object of values by parameter name, such as
// {"rate": 0.01, "layers": 3}. It is PointOf for JSON, and the inverse of Point.MarshalJSON. The
// error wraps ErrPoint.
func (s *Space) ParsePoint(text []byte) (Point, error) {
	var values map[string]any
	if err := json.Unmarshal(text, &values); err != nil || values == nil {
		if wrong := new(json.UnmarshalTypeError); err == nil || errors.As(err, &wrong) {
			err = fmt.Errorf("want an object of values by name, not %s", strictjson.Excerpt(text))
		}
		return Point{}, fmt.Errorf("%w: %w", ErrPoint, err)
	}
	return s.PointOf(values)
}

// PointWith is PointOf with values by name for active parameters that have none.
func (s *Space) PointWith(values, defaults map[string]any) (Point, error) {
	return s.pointWith(values, defaults, true)
}

// Outside is PointWith for a point that may violate the constraints of s.
func (s *Space) Outside(values, defaults map[string]any) (Point, error) {
	return s.pointWith(values, defaults, false)
}

func (s *Space) pointWith(values, defaults map[string]any, constrained bool) (Point, error) {
	p := Point{space: s.whole, codes: make([]float64, len(s.params))}
	faults := s.readValues(p, values, defaults)
	var unknown []string
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
	if len(faults) == 0 && constrained {
		faults = s.violations(p)
	}
	if len(faults) > 0 {
		return Point{}, fmt.Errorf("%w: %w", ErrPoint, faults)
	}
	return p, nil
}

// readValues sets the codes of p and returns the faults in the order of the parameters.
func (s *Space) readValues(p Point, values, defaults map[string]any) Faults {
	found := make([]error, len(s.params))
	read := func(i int) {
		q := &s.params[i]
		v, ok := values[q.Name]
		switch {
		case s.faultyParents(found, i):
			p.codes[i], found[i] = absent, errParents
			return
		case !s.active(p, i):
			p.codes[i] = absent
			if v != nil {
				found[i] = fmt.Errorf("parameter %q: it is inactive, because %s, so it has no value: leave it out", q.Name, s.reason(p, i))
			}
			return
		case !ok && defaults[q.Name] != nil:
			v = defaults[q.Name]
		case !ok && q.Kind == KindFixed:
			return
		case !ok && q.Given:
			found[i] = notGiven(q.Name)
			return
		case !ok:
			found[i] = fmt.Errorf("parameter %q: missing", q.Name)
			return
		}
		code, err := q.code(v)
		if err == nil && q.pin != nil && code != *q.pin {
			err = fmt.Errorf("%s is not the given %s", quote(v), quote(q.value(*q.pin)))
		}
		if err != nil {
			found[i] = fmt.Errorf("parameter %q: %w", q.Name, err)
		}
		p.codes[i] = code
	}
	if s.activation.order == nil {
		for i := range s.params {
			read(i)
		}
	}
	for _, i := range s.activation.order {
		read(i)
	}
	return slices.DeleteFunc(found, func(err error) bool { return err == nil || err == errParents })
}

// notGiven returns the fault of a parameter with Given that has no value.
func notGiven(name string) error {
	return fmt.Errorf("parameter %q: its value is given, never suggested: state it (bo ask: --given %[2]s=VALUE, bo enqueue: %[2]s=VALUE)", name, name)
}

// errParents marks a parameter whose activity is unknown.
var errParents = errors.New("faulty condition")

// faultyParents reports whether a parameter of the condition of parameter i has a fault.
func (s *Space) faultyParents(found []error, i int) bool {
	if s.activation.order == nil {
		return false
	}
	return slices.ContainsFunc(s.activation.parents[i], func(j int) bool { return found[j] != nil })
}

// reason states why parameter i is inactive at p.
func (s *Space) reason(p Point, i int) string {
	for _, j := range s.activation.parents[i] {
		if inactive(p.codes[j]) {
			return s.params[j].Name + " is inactive"
		}
	}
	return strconv.Quote(s.params[i].When.Text) + " does not hold"
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
	if i := slices.Index(values, x); err == nil && i >= 0 {
		return float64(i), nil
	}
	found := quote(x)
	if err != nil {
		found = encoded(v)
	}
	return 0, fmt.Errorf("%s is not one of %s", found, quoteAll(values))
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

// value returns the value of a code: float64 for a float, int for an int, bool for a bool,
// else the entry of Values, or Value; nil for the code of an inactive parameter.
func (p *Parameter) value(code float64) any {
	if inactive(code) {
		return nil
	}
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

// Active reports whether a parameter is active. Active, Value and the other accessors panic
// if there is no such parameter.
func (p Point) Active(name string) bool { return !inactive(p.codes[p.find(name)]) }

// Value returns the value of a parameter: float64 for a float, int for an int, bool for a
// bool, else the string, bool or float64 listed in the space; nil if it is inactive.
func (p Point) Value(name string) any {
	i := p.find(name)
	return p.space.params[i].value(p.codes[i])
}

// find returns the index of a parameter.
func (p Point) find(name string) int {
	if p.space == nil {
		panic("space: zero Point")
	}
	i, err := p.space.lookup(name)
	if err != nil {
		panic("space: " + err.Error())
	}
	return i
}

// Code returns the i-th parameter as a number: the value of a float or int, the index among the values of an
// ordinal or categorical, 0 or 1 for a bool. It is NaN if the parameter is inactive.
func (p Point) Code(i int) float64 { return p.codes[i] }

// Float returns the value of a numeric parameter. It panics if the value is not a number or the
// parameter is inactive.
func (p Point) Float(name string) float64 {
	p.mustBeActive(name)
	switch v := p.Value(name).(type) {
	case float64:
		return v
	case int:
		return float64(v)
	default:
		panic(fmt.Sprintf("space: parameter %q is %s, not a number", name, quote(v)))
	}
}

// mustBeActive panics if a parameter is inactive.
func (p Point) mustBeActive(name string) {
	if !p.Active(name) {
		panic(fmt.Sprintf("space: parameter %q is inactive", name))
	}
}

// Int returns the value of an integer parameter. It panics if the value is not an integer or the
// parameter is inactive.
func (p Point) Int(name string) int {
	x := p.Float(name)
	if x != math.Trunc(x) || math.Abs(x) > maxInt {
		panic(fmt.Sprintf("space: parameter %q is %v, not an integer", name, x))
	}
	return int(x)
}

// Bool returns the value of a boolean parameter. It panics if the value is not a boolean or the
// parameter is inactive.
func (p Point) Bool(name string) bool {
	p.mustBeActive(name)
	v, ok := p.Value(name).(bool)
	if !ok {
		panic(fmt.Sprintf("space: parameter %q is %s, not a boolean", name, quote(p.Value(name))))
	}
	return v
}

// Text returns the value of any parameter as text. Numbers have the shortest form that
// parses to the same number; an inactive parameter has none.
func (p Point) Text(name string) string {
	v := p.Value(name)
	if v == nil {
		return ""
	}
	return text(v)
}

// Map returns the values of the active parameters by name.
func (p Point) Map() map[string]any {
	m := make(map[string]any, len(p.codes))
	for i, code := range p.codes {
		if !inactive(code) {
			m[p.space.params[i].Name] = p.space.params[i].value(code)
		}
	}
	return m
}

// MarshalJSON writes an object of the values of the active parameters in parameter order.
// Space.ParsePoint reads it. Package json reads it into a map or a struct of settings, but not into a
// Point, because the object does not name its space: a Point stays the zero Point.
func (p Point) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, code := range p.codes {
		if inactive(code) {
			continue
		}
		if b.Len() > 1 {
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

// String returns the values of the active parameters as "lr=0.01 layers=3 opt=adam".
func (p Point) String() string {
	var b strings.Builder
	for i, code := range p.codes {
		if inactive(code) {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		q := &p.space.params[i]
		b.WriteString(q.Name + "=" + text(q.value(code)))
	}
	return b.String()
}

// Key returns a string that is equal for two points of one space exactly if they have
// the same active parameters with equal values. It is binary, for use as the key of a map.
func (p Point) Key() string {
	var few [128]byte // on the stack
	b := few[:0]
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

// encoded returns v as JSON, or as text if JSON has no such value.
func encoded(v any) string {
	if text, err := json.Marshal(v); err == nil {
		return string(text)
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
