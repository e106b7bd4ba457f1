package study

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/functionspace/bo/internal/didyoumean"
	"github.com/functionspace/bo/internal/settings"
	"github.com/functionspace/bo/internal/strictjson"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/space/expression"
)

// Check returns the faults of a definition that depend on the caller, such as the names of
// built-in objectives. Fields with faults of their own have their zero value. A check may add
// the parameters of a built-in objective.
type Check func(*Definition) []error

// Parse reads the JSON form; without a version it is version 1. It is strict: unknown and
// repeated keys are errors. One error, which wraps ErrInvalid and space.Faults, names every
// fault, faults of the checks included.
func Parse(text []byte, checks ...Check) (*Definition, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, invalid([]error{errors.New("the text is empty")})
	}
	if err := json.Unmarshal(text, new(json.RawMessage)); err != nil {
		return nil, invalid([]error{err})
	}
	r := reader{Definition: Definition{Version: Version}, wrong: map[string]bool{}}
	r.read(text)
	d := &r.Definition
	for _, check := range checks {
		r.faults = append(r.faults, check(d)...)
	}
	r.requireParameters()
	r.faults = append(r.faults, d.faults(r.wrong)...)
	if len(r.faults) > 0 {
		return nil, invalid(r.faults)
	}
	return d, nil
}

// reader reads the JSON form into its definition.
type reader struct {
	Definition
	faults []error
	wrong  map[string]bool // keys whose values could not be read
	given  bool            // the text is an object with parameters
	words  bool            // command is a list

	constraints json.RawMessage // validated together with the parameters
}

func (r *reader) fault(err error, path ...any) { r.faults = append(r.faults, &Fault{path, err}) }

// read decodes an object that has no syntax errors.
func (r *reader) read(text []byte) {
	keys, fields := r.fields()
	members, ok := r.members(text, keys, otherKeys)
	if !ok {
		r.fault(fmt.Errorf("want an object {…}, not %s", strictjson.Excerpt(text)))
		r.given, r.wrong["parameters"] = true, true
		return
	}
	_, r.given = members["parameters"]
	r.constraints = members["constraints"]
	for _, key := range keys {
		if raw, given := members[key]; given {
			before := len(r.faults)
			r.value(key, raw, fields[key])
			r.wrong[key] = len(r.faults) > before && key != "objectives" // entries are decoded one by one
		}
	}
	r.checkShell()
}

// requireParameters reports missing parameters, unless the name of a built-in objective, which
// has parameters of its own, is a fault.
func (r *reader) requireParameters() {
	if r.given || r.Parameters != nil {
		return
	}
	r.wrong["parameters"] = true
	for _, err := range r.faults {
		if f, ok := errors.AsType[*Fault](err); ok && len(f.Path) > 0 && f.Path[0] == "builtin" {
			return
		}
	}
	r.fault(errors.New("parameters are missing"))
}

// fields returns the keys of the JSON form in order, and the destination of each.
func (d *Definition) fields() (keys []string, fields map[string]any) {
	v := reflect.ValueOf(d).Elem()
	fields = map[string]any{}
	for i := range v.NumField() {
		key, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		keys = append(keys, key)
		fields[key] = v.Field(i).Addr().Interface()
	}
	return keys, fields
}

func (r *reader) value(key string, raw json.RawMessage, to any) {
	if string(raw) == "null" {
		r.fault(fmt.Errorf("%s has no value: add one, or leave the key out", key), key)
		return
	}
	if key == "command" {
		r.command(raw)
		return
	}
	switch to := to.(type) {
	case *[]space.Parameter:
		r.parameters(raw)
	case *[]string:
		err := json.Unmarshal(raw, to)
		if err != nil && key == "require" { // the parameters report the faults of constraints
			r.fault(fmt.Errorf(`require must be a list such as ["latency <= 20"], not %s`, strictjson.Excerpt(raw)), key)
			*to = nil
		}
	case *[]Objective:
		r.objectives(raw)
	case *Component:
		r.component(key, raw, to)
	case *loop.Stop:
		r.stop(raw, to)
	case *map[string]loop.Belief:
		r.optimum(raw)
	case *[]map[string]any:
		r.first(raw)
	case *End:
		r.end(raw)
	case *Earlier:
		r.earlier(raw)
	case *map[string]any:
		if _, ok := r.members(raw, nil, nil, key); !ok {
			r.fault(fmt.Errorf("%s must be a mapping {key: value, …}, not %s", key, strictjson.Excerpt(raw)), key)
			return
		}
		dec := json.NewDecoder(bytes.NewReader(raw))
		if key == "maximizer" {
			dec.UseNumber()
		}
		if err := dec.Decode(to); err != nil {
			r.fault(err, key)
		}
	default:
		err := json.Unmarshal(raw, to)
		if err != nil {
			err = fmt.Errorf("%s %s", key, strictjson.Mismatch(wanted(to), raw))
		} else {
			err = optionFault(key, fmt.Sprint(reflect.ValueOf(to).Elem()))
		}
		if err != nil {
			r.fault(err, key)
			reflect.ValueOf(to).Elem().SetZero()
		}
	}
}

// wanted names the type of a value in the terms of the file.
func wanted(to any) string {
	switch to.(type) {
	case *int:
		return "a whole number"
	case *uint64:
		return "a whole number from 0 to 2^64-1"
	case *bool:
		return "true or false"
	case *float64, **float64:
		return "a number"
	case *Duration:
		return `a time such as "90s" or "2h"`
	}
	return "text"
}

// optionFault returns the fault of a value of an option of package loop.
func optionFault(key, text string) error {
	if !slices.Contains([]string{"budget", "initial", "batch", "workers", "design", "warp", "local"}, key) {
		return nil
	}
	return settings.Set(&loop.Options{}, key, text)
}

func (r *reader) parameters(raw json.RawMessage) {
	text := fmt.Appendf(nil, `{"parameters":%s`, raw)
	if r.constraints != nil {
		text = fmt.Appendf(text, `,"constraints":%s`, r.constraints)
	}
	s, err := expression.Parse(append(text, '}'))
	if err == nil {
		r.Parameters, _ = SpaceOf(s)
		return
	}
	faults, ok := errors.AsType[space.Faults](err)
	if !ok {
		faults = []error{err}
	}
	for _, err := range faults {
		r.fault(err, parameterPath(err)...)
	}
}

// parameterPath returns the path of a fault of a space.
func parameterPath(err error) []any {
	path := []any{"parameters"}
	f, ok := errors.AsType[*space.Fault](err)
	if ok && f.Index < 0 && f.Key == "constraints" {
		if f.Item < 0 {
			return []any{"constraints"}
		}
		return []any{"constraints", f.Item}
	}
	if ok && f.Index >= 0 {
		path = append(path, f.Index)
		if f.Key != "" {
			path = append(path, f.Key)
		}
	}
	return path
}

func (r *reader) objectives(raw json.RawMessage) {
	const form = "objectives must be a list such as [{name: loss, goal: minimize}]"
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) != nil {
		r.fault(fmt.Errorf("%s, not %s", form, strictjson.Excerpt(raw)), "objectives")
		return
	}
	for i, item := range items {
		var o Objective
		members, ok := r.members(item, []string{"name", "goal", "noise_free", "noise_sd", "standard_error", "reference"}, otherObjectiveKeys, "objectives", i)
		if !ok {
			r.fault(fmt.Errorf("%s, not %s", form, strictjson.Excerpt(raw)), "objectives", i)
			o.Name = "value" // one fault is enough
		}
		for _, field := range []struct {
			key string
			to  any
		}{{"name", &o.Name}, {"goal", &o.Goal}, {"noise_free", &o.NoiseFree}, {"noise_sd", &o.NoiseSD}, {"standard_error", &o.StandardError}, {"reference", &o.Reference}} {
			raw, given := members[field.key]
			if !given || string(raw) != "null" && json.Unmarshal(raw, field.to) == nil {
				continue
			}
			r.fault(fmt.Errorf("objectives: %s %s", field.key, strictjson.Mismatch(wanted(field.to), raw)), "objectives", i, field.key)
			switch field.key { // one fault is enough
			case "name":
				o.Name = "value"
			case "noise_sd":
				o.NoiseSD = nil
			}
		}
		r.Objectives = append(r.Objectives, o)
	}
}

// stop reads the name of a stopping rule, or an object with its settings.
func (r *reader) stop(raw json.RawMessage, to *loop.Stop) {
	if json.Unmarshal(raw, new(string)) == nil {
		raw = fmt.Appendf(nil, `{"rule":%s}`, raw)
	}
	var keys []string
	for _, s := range settings.List(to) {
		keys = append(keys, s.Key)
	}
	members, ok := r.members(raw, keys, nil, "stop")
	if !ok {
		r.fault(fmt.Errorf("stop must be a rule or a mapping such as {rule: asha, min_steps: 1}, not %s", strictjson.Excerpt(raw)), "stop")
		return
	}
	if _, given := members["rule"]; !given && len(members) > 0 {
		r.fault(errors.New("stop: rule is missing: asha, median or none"), "stop")
	}
	for _, key := range keys {
		value, given := members[key]
		if !given {
			continue
		}
		text := string(value)
		if key == "rule" && json.Unmarshal(value, &text) != nil {
			text = string(value)
		}
		if err := settings.Set(to, key, text); err != nil {
			r.fault(fmt.Errorf("stop: %w", err), "stop", key)
		}
	}
}

// optimum reads the beliefs, one parameter at a time.
func (r *reader) optimum(raw json.RawMessage) {
	const form = "want a mapping such as {around: 0.001, factor: 3}, {around: 0.9, within: 0.05} or {values: {adam: 0.7}}"
	beliefs, ok := r.members(raw, nil, nil, "optimum")
	if !ok {
		r.fault(fmt.Errorf("optimum must be a mapping from parameters to beliefs, not %s", strictjson.Excerpt(raw)), "optimum")
		return
	}
	r.Optimum = map[string]loop.Belief{}
	for _, name := range slices.Sorted(maps.Keys(beliefs)) {
		var b loop.Belief
		before := len(r.faults)
		members, ok := r.members(beliefs[name], []string{"around", "factor", "within", "values"}, otherBeliefKeys, "optimum", name)
		if !ok {
			r.fault(fmt.Errorf("optimum: %s: %s, not %s", name, form, strictjson.Excerpt(beliefs[name])), "optimum", name)
		}
		for _, field := range []struct {
			key string
			to  any
		}{{"around", &b.Around}, {"factor", &b.Factor}, {"within", &b.Within}, {"values", &b.Values}} {
			value, given := members[field.key]
			if given && (string(value) == "null" || json.Unmarshal(value, field.to) != nil) {
				want := "a number"
				if field.key == "values" {
					want = "a mapping from values to probabilities"
				}
				r.fault(fmt.Errorf("optimum: %s: %s %s", name, field.key, strictjson.Mismatch(want, value)), "optimum", name, field.key)
			}
		}
		if len(r.faults) == before {
			r.Optimum[name] = b
		}
	}
}

// first reads the points to try first, one at a time.
func (r *reader) first(raw json.RawMessage) {
	const form = "first must be a list of points such as [{rate: 0.001}]"
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) != nil {
		r.fault(fmt.Errorf("%s, not %s", form, strictjson.Excerpt(raw)), "first")
		return
	}
	for i, item := range items {
		var values map[string]any
		if _, ok := r.members(item, nil, nil, "first", i); !ok || json.Unmarshal(item, &values) != nil {
			r.fault(fmt.Errorf("%s, not %s", form, strictjson.Excerpt(item)), "first", i)
		}
		r.First = append(r.First, values)
	}
}

// earlier reads the name of a table, or evaluations one at a time.
func (r *reader) earlier(raw json.RawMessage) {
	const form = "earlier must be the name of a table, or a list such as [{params: {rate: 0.1}, value: 3}]"
	if json.Unmarshal(raw, &r.Earlier.File) == nil {
		if r.Earlier.File == "" {
			r.fault(errors.New(form), "earlier")
		}
		return
	}
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) != nil {
		r.fault(fmt.Errorf("%s, not %s", form, strictjson.Excerpt(raw)), "earlier")
		return
	}
	for i, item := range items {
		var t Told
		if row(item) {
			r.fault(fmt.Errorf("%s, not %s", form, strictjson.Excerpt(item)), "earlier", i)
			return // the others have the same form
		}
		if _, ok := r.members(item, []string{"params", "state", "value", "numbers"}, nil, "earlier", i); !ok {
			r.fault(fmt.Errorf("%s, not %s", form, strictjson.Excerpt(item)), "earlier", i)
		} else if err := cmp.Or(json.Unmarshal(item, &t), checkNulls(item)); err != nil {
			r.fault(fmt.Errorf("earlier: evaluation %d: %w", i+1, plain(err)), "earlier", i)
		}
		r.Earlier.Trials = append(r.Earlier.Trials, t)
	}
}

// row reports whether text is a non-empty object without a key like params. Such an object, a row of a table
// for example, has values of parameters beside the value of the objective.
func row(text []byte) bool {
	members, _, ok := strictjson.Object(text, nil, nil)
	for name := range members {
		if _, near := didyoumean.Near(name, []string{"params"}); near {
			return false
		}
	}
	return ok && len(members) > 0
}

// end reads the conditions that end a run.
func (r *reader) end(raw json.RawMessage) {
	members, ok := r.members(raw, []string{"time", "target", "max_failures", "cost", "regret", "probability"}, nil, "end")
	if !ok {
		r.fault(fmt.Errorf("end must be a mapping such as {time: 2h, target: 0.01}, not %s", strictjson.Excerpt(raw)), "end")
		return
	}
	for _, field := range []struct {
		key string
		to  any
	}{{"time", &r.End.Time}, {"target", &r.End.Target}, {"max_failures", &r.End.MaxFailures}, {"cost", &r.End.Cost}, {"regret", &r.End.Regret}, {"probability", &r.End.Probability}} {
		value, given := members[field.key]
		if given && (string(value) == "null" || json.Unmarshal(value, field.to) != nil) {
			r.fault(fmt.Errorf("end: %s %s", field.key, strictjson.Mismatch(wanted(field.to), value)), "end", field.key)
		} else if given && field.key == "max_failures" && r.End.MaxFailures == 0 {
			r.fault(errors.New("end: max_failures is 0, want at least 1"), "end", field.key)
		}
	}
}

func (r *reader) component(key string, raw json.RawMessage, to *Component) {
	if json.Unmarshal(raw, new(string)) != nil {
		if _, ok := r.members(raw, nil, nil, key); !ok {
			r.fault(fmt.Errorf("%s must be a name or a mapping such as {name: %s, …}, not %s", key, firstName(key), strictjson.Excerpt(raw)), key)
			return
		}
	}
	if err := json.Unmarshal(raw, to); err != nil {
		r.fault(fmt.Errorf("%s: %w", key, err), key, "name")
	}
}

// members splits an object into its members. It reports repeated keys and, unless valid is nil,
// unknown keys; others gives the remedy for some of them. If the text is no object, members
// returns false.
func (r *reader) members(text []byte, valid []string, others map[string]string, path ...any) (map[string]json.RawMessage, bool) {
	members, faults, ok := strictjson.Object(text, valid, others)
	for _, f := range faults {
		err := f.Err
		if len(path) > 0 {
			err = fmt.Errorf("%v: %w", path[0], err)
		}
		r.fault(err, append(slices.Clone(path), f.Key)...)
	}
	return members, ok
}
