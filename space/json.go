package space

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/functionspace/bo/internal/strictjson"
)

// Parse reads a space from JSON:
//
//	{"parameters": [{"name": …, "type": …, "min": …, "max": …, "log": …, "step": …, "values": […], "value": …}, …]}
//
// An unknown or repeated key, a value of the wrong type, or text after the object is an
// error. The error wraps ErrInvalid and names every fault. Parse reads no conditions and
// constraints: packages study/studyfile and study do.
func Parse(text []byte) (*Space, error) { return ParseWith(text, nil) }

// ParseWith is Parse for texts with conditions, as "when" in a parameter, and with a list of
// texts under "constraints". It compiles them as Spec does.
func ParseWith(text []byte, compile func(text string, params []Parameter) (Condition, error)) (*Space, error) {
	d, known, faults, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	d.Compile = compile
	if len(faults) == 0 {
		return d.build(known)
	}
	_, more := d.validate(known)
	return nil, fmt.Errorf("%w: %w", ErrInvalid, append(faults, more...))
}

// parse returns the parameters and constraints, the faults in the text of each parameter, and
// the faults of the enclosing object. An error means that there are no parameters to validate.
func parse(text []byte) (d Spec, known [][]error, faults Faults, err error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return d, nil, nil, errors.New("the text is empty")
	}
	if err := syntax(text); err != nil {
		return d, nil, nil, err
	}
	top, errs := object(text, []string{"parameters", "constraints"}, nil)
	for _, err := range errs {
		if f, ok := err.(*Fault); ok {
			f.Index = -1
		}
		faults = append(faults, err)
	}
	list, ok := top["parameters"]
	switch {
	case !ok && len(faults) > 0:
		return d, nil, nil, faults
	case !ok:
		return d, nil, nil, errors.New(`key "parameters" is missing`)
	}
	var items []json.RawMessage
	if json.Unmarshal(list, &items) != nil || items == nil {
		wrong := &Fault{Index: -1, Key: "parameters", Err: fmt.Errorf("parameters must be a list such as [{name: …, type: …}], not %s", strictjson.Excerpt(list))}
		return d, nil, nil, append(faults, wrong)
	}
	d.Parameters, known = make([]Parameter, len(items)), make([][]error, len(items))
	for i, item := range items {
		d.Parameters[i], known[i] = parseParameter(item)
	}
	if raw, ok := top["constraints"]; ok {
		var texts []string
		if json.Unmarshal(raw, &texts) != nil || texts == nil {
			wrong := fmt.Errorf(`constraints must be a list of texts such as ["layers * width <= 4096"], not %s`, strictjson.Excerpt(raw))
			faults = append(faults, &Fault{Index: -1, Key: "constraints", Item: -1, Err: wrong})
		}
		for _, text := range texts {
			d.Constraints = append(d.Constraints, Condition{Text: text})
		}
	}
	return d, known, faults, nil
}

var parameterKeys = []string{"name", "type", "min", "max", "log", "step", "values", "value", "when", "given"}

// otherKeys gives the remedy for keys of other tools.
var otherKeys = map[string]string{
	"low": "use min", "lower": "use min", "high": "use max", "upper": "use max",
	"scale": "use log: true for a logarithmic scale", "distribution": "use type and log", "prior": "use log: true for a logarithmic scale",
	"choices": "use values", "options": "use values", "categories": "use values",
	"bounds": "use min and max", "range": "use min and max", "log_scale": "use log", "value_type": "use type", "parameter_type": "use type", "kind": "use type",
	"is_ordered": "use type: ordinal", "default": "use the key defaults of the study",
	"if": "use when", "condition": "use when", "conditions": "use when", "active_if": "use when", "depends_on": "use when", "q": "use step", "quantization": "use step",
}

// parseParameter returns the parameter and the faults of its text.
func parseParameter(text []byte) (p Parameter, faults []error) {
	keys, faults := object(text, parameterKeys, otherKeys)
	read := func(key, want string, into any) {
		raw, ok := keys[key]
		if !ok {
			return
		}
		dec := json.NewDecoder(bytes.NewReader(raw))
		dec.UseNumber()
		if string(raw) == "null" || dec.Decode(into) != nil {
			faults = append(faults, faultOf(key, "%s %s", key, strictjson.Mismatch(want, raw)))
		}
	}
	read("name", "a string", &p.Name)
	read("type", "a string", &p.Kind)
	if _, given := keys["type"]; !given && keys != nil {
		faults = append(faults, p.checkKind())
	}
	read("min", "a number", &p.Min)
	read("max", "a number", &p.Max)
	read("log", "true or false", &p.Log)
	read("step", "a number", &p.Step)
	if raw, given := keys["step"]; given && p.Step == 0 && len(faults) == 0 {
		faults = append(faults, faultOf("step", "step is %s, want a positive number", strictjson.Excerpt(raw)))
	}
	read("values", "a list", &p.Values)
	read("value", "a number, string or boolean", &p.Value)
	read("when", "a text such as \"optimizer == 'sgd'\"", &p.When.Text)
	if _, given := keys["when"]; given && p.When.Text == "" && len(faults) == 0 {
		faults = append(faults, faultOf("when", "when is empty: state a condition, or leave the key out"))
	}
	read("given", "true or false", &p.Given)
	for _, key := range []string{"min", "max", "step"} {
		_, given := keys[key]
		ranged := p.Kind == KindFloat || p.Kind == KindInt
		if ranged && !given && key != "step" {
			faults = append(faults, fmt.Errorf("%s is missing", key))
		}
		if given && slices.Contains([]Kind{KindBool, KindOrdinal, KindCategorical, KindFixed}, p.Kind) {
			faults = append(faults, faultOf(key, "%s does not belong to type %s", key, p.Kind))
		}
	}
	return p, faults
}

// object splits a JSON object without syntax errors into its members, with the faults of
// its keys.
func object(text []byte, valid []string, others map[string]string) (map[string]json.RawMessage, []error) {
	members, wrong, ok := strictjson.Object(text, valid, others)
	if !ok {
		return nil, []error{fmt.Errorf("want an object {…}, not %s", strictjson.Excerpt(text))}
	}
	var faults []error
	for _, f := range wrong {
		faults = append(faults, &Fault{Key: f.Key, Err: f.Err})
	}
	return members, faults
}

// syntax returns an error with the line of the first syntax error in a JSON text.
func syntax(text []byte) error {
	err := json.Unmarshal(text, new(json.RawMessage))
	if s, ok := errors.AsType[*json.SyntaxError](err); ok {
		line := 1 + bytes.Count(text[:min(int(s.Offset), len(text))], []byte("\n"))
		return fmt.Errorf("line %d: %w", line, err)
	}
	return err
}

// MarshalJSON writes the text that Parse reads.
func (s *Space) MarshalJSON() ([]byte, error) {
	var constraints []string
	for _, c := range s.constraints {
		constraints = append(constraints, c.Text)
	}
	return json.Marshal(struct {
		Parameters  []Parameter `json:"parameters"`
		Constraints []string    `json:"constraints,omitempty"`
	}{s.params, constraints})
}

// UnmarshalJSON is Parse. The error wraps ErrInvalid too if s is another space: a space is immutable, because its points
// refer to it.
func (s *Space) UnmarshalJSON(text []byte) error {
	t, err := Parse(text)
	switch {
	case err != nil:
		return err
	case s.params == nil:
		*s = *t
	case !s.equals(t):
		return fmt.Errorf("%w: the variable holds another space, and its points refer to it: unmarshal into a new Space", ErrInvalid)
	}
	return nil
}

// MarshalJSON writes the keys that belong to the kind of p.
func (p Parameter) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	put := func(key string, v any) error {
		var text bytes.Buffer
		enc := json.NewEncoder(&text)
		enc.SetEscapeHTML(false) // conditions contain < and >
		err := enc.Encode(v)
		if err == nil {
			b.WriteString(`,` + strconv.Quote(key) + `:`)
			b.Write(bytes.TrimSpace(text.Bytes()))
		}
		return err
	}
	err := errors.Join(put("name", p.Name), put("type", p.Kind))
	switch p.Kind {
	case KindFloat, KindInt:
		err = errors.Join(err, put("min", p.Min), put("max", p.Max))
		if p.Log {
			err = errors.Join(err, put("log", true))
		}
		if p.Step != 0 {
			err = errors.Join(err, put("step", p.Step))
		}
	case KindOrdinal, KindCategorical:
		err = errors.Join(err, put("values", p.Values))
	case KindFixed:
		err = errors.Join(err, put("value", p.Value))
	}
	if p.When.Text != "" {
		err = errors.Join(err, put("when", p.When.Text))
	}
	if p.Given {
		err = errors.Join(err, put("given", true))
	}
	if err != nil {
		return nil, err
	}
	out := append(b.Bytes(), '}')
	out[0] = '{'
	return out, nil
}

// UnmarshalJSON reads one entry of the list of parameters.
func (p *Parameter) UnmarshalJSON(text []byte) error {
	q, faults := parseParameter(text)
	if len(faults) > 0 {
		return fmt.Errorf("%w: %w", ErrInvalid, Faults(faults))
	}
	*p = q
	return nil
}
