package space

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/functionspace/bo/internal/didyoumean"
)

// ErrInvalid is wrapped by every error about a space.
var ErrInvalid = errors.New("invalid search space")

// Limits within which the encoding of integers is exact in float64.
const (
	maxInt    = 1 << 53 // largest bound of an int
	maxLevels = 1 << 50 // most values of an int
	maxLogInt = 1 << 40 // largest bound of an int on a logarithmic scale
)

// Faults lists the faults of one input, in the order of the input. An error that wraps
// ErrInvalid or ErrPoint may wrap a Faults; errors.AsType returns it.
type Faults []error

// Error joins the faults on one line.
func (f Faults) Error() string {
	text := make([]string, len(f))
	for i, err := range f {
		text[i] = err.Error()
	}
	return strings.Join(text, "; ")
}

// Unwrap returns the faults, for errors.Is and errors.As.
func (f Faults) Unwrap() []error { return f }

// Fault is a fault of one parameter or constraint. The Faults of a space contain a *Fault for
// each of these, and other errors for faults of the whole space.
type Fault struct {
	Index int    // index of the parameter, from 0; -1 for the enclosing object
	Key   string // key in the text of the parameter; "" if the fault concerns several keys
	Item  int    // index of the constraint, if Index is -1 and Key is "constraints"
	Err   error

	at string
}

// Error names the parameter and the fault.
func (f *Fault) Error() string { return f.at + f.Err.Error() }

// Unwrap returns Err.
func (f *Fault) Unwrap() error { return f.Err }

// faultOf returns a fault of one key. Function validate adds the parameter.
func faultOf(key, format string, args ...any) error {
	return &Fault{Key: key, Err: fmt.Errorf(format, args...)}
}

// validate returns a normalised copy of the parameters and every fault. It compiles the
// conditions. known[i] are the faults found earlier in parameter i; for such a parameter
// validate checks only the name, the type and the condition.
func (d Spec) validate(known [][]error) ([]Parameter, Faults) {
	var faults Faults
	params := d.Parameters
	out, seen, free := slices.Clone(params), map[string]bool{}, len(params) == 0
	for i := range out {
		out[i].When = out[i].When.clone()
	}
	later, faulty := d.conditions(out), make([]bool, len(out))
	for i := range out {
		p := &out[i]
		at := fmt.Sprintf("parameter %q", p.Name)
		if p.Name == "" {
			at = fmt.Sprintf("parameter %d of %d", i+1, len(out))
		}
		errs := slices.Clone(known[i])
		errs = append(errs, p.checkName()...)
		if p.Name != "" && seen[p.Name] {
			errs = append(errs, errors.New("another parameter has the same name"))
		}
		seen[p.Name] = true
		if len(known[i]) == 0 {
			errs = append(errs, p.normalise()...)
		} else if err := p.checkKind(); err != nil && p.Kind != "" {
			errs = append(errs, err)
		}
		if later[i] != nil {
			errs = append(errs, later[i])
		}
		free = free || p.Kind != KindFixed
		for _, err := range errs {
			fault, ok := err.(*Fault)
			if !ok {
				fault = &Fault{Err: err}
			}
			fault.Index, fault.at = i, at+": "
			faults = append(faults, fault)
		}
		faulty[i] = len(errs) > 0
	}
	index := indexOf(out)
	for i := range out {
		if err := out[i].When.checkValues(index, out, faulty); err != nil && later[i] == nil {
			fault := faultOf("when", "when: %w", err).(*Fault)
			fault.Index, fault.at = i, fmt.Sprintf("parameter %q: ", out[i].Name)
			faults = append(faults, fault)
		}
	}
	switch {
	case len(params) == 0:
		faults = append(faults, errors.New("there are no parameters"))
	case !free:
		faults = append(faults, errors.New("every parameter is fixed, so there is nothing to search"))
	}
	return out, append(faults, d.constraintFaults(out, faulty)...)
}

// conditions compiles the conditions of parameters in place and returns their faults by
// parameter.
func (d Spec) conditions(params []Parameter) map[int]error {
	faults := map[int]error{}
	for i := range params {
		c := &params[i].When
		if c.Text == "" || c.Holds != nil || d.Compile == nil {
			continue
		}
		compiled, err := d.Compile(c.Text, params)
		if err != nil {
			faults[i] = faultOf("when", "when: %w", err)
			*c = Condition{}
			continue
		}
		*c = compiled
	}
	_, more := newActivation(params, indexOf(params))
	maps.Copy(faults, more)
	return faults
}

// constraintFaults compiles the constraints in place and returns their faults. The parameters that
// faulty marks have faults.
func (d Spec) constraintFaults(params []Parameter, faulty []bool) (faults Faults) {
	index := indexOf(params)
	for k := range d.Constraints {
		c := &d.Constraints[k]
		var err error
		if c.Holds == nil && c.Text != "" && d.Compile != nil {
			var compiled Condition
			if compiled, err = d.Compile(c.Text, params); err == nil {
				*c = compiled
			}
		}
		if err == nil {
			_, err = c.resolve(index, params)
		}
		if err == nil {
			err = c.checkValues(index, params, faulty)
		}
		if err != nil {
			faults = append(faults, &Fault{Index: -1, Key: "constraints", Item: k, Err: err, at: fmt.Sprintf("constraint %d of %d: ", k+1, len(d.Constraints))})
		}
	}
	return faults
}

// checkName returns the faults of the name.
func (p *Parameter) checkName() (errs []error) {
	switch n := p.Name; {
	case n == "":
		errs = append(errs, errors.New("name is missing"))
	case !utf8.ValidString(n):
		errs = append(errs, errors.New("name is not valid UTF-8"))
	case strings.TrimSpace(n) != n || strings.ContainsAny(n, "{}") || strings.ContainsFunc(n, unicode.IsControl):
		errs = append(errs, errors.New("name must not begin or end with a space, nor hold braces or control characters"))
	}
	return errs
}

// kinds lists the kinds in the order of the documentation.
var kinds = []string{string(KindFloat), string(KindInt), string(KindBool), string(KindOrdinal), string(KindCategorical), string(KindFixed)}

// otherKinds gives the type that corresponds to a type of other tools.
var otherKinds = map[string]string{
	"uniform": "float", "double": "float", "real": "float", "range": "float", "quniform": "float with step",
	"loguniform": "float with log: true", "choice": "categorical", "boolean": "bool",
	"log_uniform": "float with log: true", "log_uniform_values": "float with log: true",
	"reverse_log_uniform": "float", "q_uniform": "float with step", "qloguniform": "float with log: true", "q_log_uniform": "float with log: true",
	"q_log_uniform_values": "float with log: true", "normal": "float", "randn": "float",
	"randint": "int", "lograndint": "int with log: true", "qrandint": "int with step", "int_uniform": "int", "integer": "int",
	"quniformint": "int with step", "constant": "fixed", "str": "categorical", "string": "categorical", "enum": "categorical",
}

// checkKind returns the fault of the kind, or nil.
func (p *Parameter) checkKind() error {
	switch {
	case slices.Contains(kinds, string(p.Kind)):
		return nil
	case p.Kind == "":
		return faultOf("", "type is missing: one of %s", strings.Join(kinds, ", "))
	}
	if other, ok := otherKinds[string(p.Kind)]; ok {
		return faultOf("type", "unknown type %q: use %s", p.Kind, other)
	}
	return faultOf("type", "unknown type %q%s", p.Kind, didyoumean.Hint(string(p.Kind), kinds))
}

// normalise returns the faults of all fields but the name, and converts numbers to
// float64.
func (p *Parameter) normalise() (errs []error) {
	fault := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	switch p.Kind {
	case KindFloat, KindInt:
		errs = append(errs, p.checkRange()...)
	case KindOrdinal, KindCategorical:
		errs = append(errs, p.normaliseValues()...)
	case KindBool:
	case KindFixed:
		v, err := scalar(p.Value)
		if err != nil {
			fault("value %w", err)
		}
		p.Value = v
	default:
		return []error{p.checkKind()}
	}
	if ranged := p.Kind == KindFloat || p.Kind == KindInt; !ranged {
		if p.Min != 0 || p.Max != 0 {
			fault("min and max do not belong to type %s", p.Kind)
		}
		if p.Log {
			fault("log does not belong to type %s", p.Kind)
		}
		if p.Step != 0 {
			fault("step does not belong to type %s", p.Kind)
		}
	}
	if p.Kind != KindOrdinal && p.Kind != KindCategorical && p.Values != nil {
		fault("values do not belong to type %s", p.Kind)
	}
	if p.Kind != KindFixed && p.Value != nil {
		fault("value does not belong to type %s", p.Kind)
	}
	switch {
	case p.Given && p.Kind == KindFixed:
		errs = append(errs, faultOf("given", "given does not belong to type %s", p.Kind))
	case p.Given && !p.When.isZero():
		errs = append(errs, faultOf("given", "given and when are both stated: a given parameter is always active"))
	}
	return errs
}

// checkRange returns the faults of Min, Max, Log and Step.
func (p *Parameter) checkRange() (errs []error) {
	fault := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	for _, b := range []struct {
		name  string
		value float64
	}{{"min", p.Min}, {"max", p.Max}} {
		switch v := b.value; {
		case math.IsNaN(v) || math.IsInf(v, 0):
			errs = append(errs, faultOf(b.name, "%s is %v, which is not finite", b.name, v))
		case p.Kind == KindInt && v != math.Trunc(v):
			errs = append(errs, faultOf(b.name, "%s is %v, which is not an integer", b.name, v))
		case p.Kind == KindInt && math.Abs(v) > maxInt:
			errs = append(errs, faultOf(b.name, "%s is %v: an int must lie within ±2^53; use a float", b.name, v))
		}
	}
	if len(errs) > 0 {
		return errs
	}
	switch width := p.Max - p.Min; {
	case width == 0:
		fault(`min and max are both %v: use type "fixed" for a constant`, p.Min)
	case width < 0:
		fault("min %v is above max %v", p.Min, p.Max)
	case math.IsInf(width, 0):
		fault("max - min overflows")
	case p.Kind == KindInt && width >= maxLevels:
		fault("more than 2^50 values; use a float")
	}
	switch {
	case p.Log && p.Min <= 0:
		fault("min is %v: a logarithmic scale needs min > 0", p.Min)
	case p.Log && p.Min < 0x1p-1022:
		fault("min is %v: a logarithmic scale begins at 2^-1022, about 2.2e-308", p.Min)
	case p.Log && p.Kind == KindInt && p.Max > maxLogInt:
		fault("max is %v: an int on a logarithmic scale ends at 2^40; use a float", p.Max)
	}
	if p.Step != 0 && len(errs) == 0 {
		if err := p.checkStep(); err != nil {
			errs = append(errs, faultOf("step", "%w", err))
		}
	}
	return errs
}

// checkStep returns the fault of Step, for a valid range, and computes the grid.
func (p *Parameter) checkStep() error {
	switch {
	case math.IsNaN(p.Step) || math.IsInf(p.Step, 0) || p.Step < 0:
		return fmt.Errorf("step is %v, want a positive number", p.Step)
	case p.Log:
		return errors.New("step does not belong to a logarithmic scale: leave out step or log, or list the values in an ordinal")
	case p.Kind == KindInt && p.Step != math.Trunc(p.Step):
		return fmt.Errorf("step is %v, which is not an integer", p.Step)
	case p.Step > p.Max-p.Min:
		return fmt.Errorf("step %v is larger than max - min", p.Step)
	case (p.Max-p.Min)/p.Step >= maxLevels:
		return errors.New("more than 2^50 values; leave out the step")
	}
	g := gridOf(p)
	if g.levels == 0 {
		return errors.New("min, max and step have too many digits for exact steps: use rounder numbers")
	}
	if last := g.at(float64(g.levels - 1)); last != p.Max {
		return fmt.Errorf("max %v is not min plus a multiple of step %v: use max %v or %v", p.Max, p.Step, last, g.at(float64(g.levels)))
	}
	p.grid = g
	return nil
}

// normaliseValues returns the faults of Values, and converts numbers to float64.
func (p *Parameter) normaliseValues() (errs []error) {
	fault := func(format string, args ...any) { errs = append(errs, faultOf("values", format, args...)) }
	switch len(p.Values) {
	case 0:
		fault("values are missing")
		return errs
	case 1:
		fault(`only one value: use type "fixed" for a constant`)
	}
	values, numbers, seen := make([]any, len(p.Values)), []float64(nil), make(map[any]bool, len(p.Values))
	for i, v := range p.Values {
		if v == nil {
			fault("value %d of %d is null, want a number, string or boolean", i+1, len(p.Values))
			continue
		}
		v, err := scalar(v)
		if err != nil {
			fault("value %d of %d %w", i+1, len(p.Values), err)
			continue
		}
		if seen[v] {
			fault("value %s occurs twice", quote(v))
		}
		values[i], seen[v] = v, true
		if x, ok := v.(float64); ok {
			numbers = append(numbers, x)
		}
	}
	if p.Kind == KindOrdinal && len(errs) == 0 && len(numbers) == len(values) {
		up, down := slices.IsSorted(numbers), slices.IsSortedFunc(numbers, func(a, b float64) int { return cmp.Compare(b, a) })
		if !up && !down {
			fault("numbers of an ordinal must increase or decrease throughout")
		}
	}
	p.Values = values
	return errs
}

// scalar converts v, also of a named type, to a string, a bool or a finite float64.
func scalar(v any) (any, error) {
	switch v := v.(type) {
	case nil:
		return nil, errors.New("is missing")
	case string:
		if !utf8.ValidString(v) {
			return nil, errors.New("is not valid UTF-8")
		}
		return v, nil
	case bool:
		return v, nil
	case json.Number:
	default:
		switch r := reflect.ValueOf(v); r.Kind() {
		case reflect.String:
			return scalar(r.String())
		case reflect.Bool:
			return r.Bool(), nil
		}
	}
	x, err := number(v)
	if err != nil {
		return nil, err
	}
	return x, nil
}

// number converts a finite number of any Go type to float64.
func number(v any) (float64, error) {
	if n, ok := v.(json.Number); ok {
		x, err := strconv.ParseFloat(string(n), 64)
		switch {
		case err != nil:
			return 0, fmt.Errorf("is %s, which is not a finite number", n)
		case math.Abs(x) >= maxInt && !strings.ContainsAny(string(n), ".eE"):
			return 0, fmt.Errorf("is %s, beyond ±2^53", n)
		}
		v = x
	}
	switch r := reflect.ValueOf(v); {
	case r.CanInt():
		if n := r.Int(); n < -maxInt || n > maxInt {
			return 0, fmt.Errorf("is %d, beyond ±2^53", n)
		}
		return float64(r.Int()), nil
	case r.CanUint():
		if r.Uint() > maxInt {
			return 0, fmt.Errorf("is %d, beyond ±2^53", r.Uint())
		}
		return float64(r.Uint()), nil
	case r.CanFloat():
		x := r.Float()
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return 0, fmt.Errorf("is %v, which is not finite", x)
		}
		return x + 0, nil
	case r.Kind() == reflect.Slice:
		return 0, errors.New("is a list, want a number, string or boolean")
	case r.Kind() == reflect.Map:
		return 0, errors.New("is an object, want a number, string or boolean")
	default:
		return 0, fmt.Errorf("has type %T, want a number, string or boolean", v)
	}
}
