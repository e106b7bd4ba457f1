package exchange

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/functionspace/bo/internal/pythonjson"
	"github.com/functionspace/bo/space"
)

// MaxGrid is the largest number of values for which a stepped range that no step of a
// space.Parameter represents exactly becomes an ordinal.
const MaxGrid = 1000

// distribution is a parameter of an Optuna trial. In its JSON form the class is the name and
// the fields are the attributes.
type distribution struct {
	kind      space.Kind // float, int or categorical
	low, high float64
	log       bool
	step      float64 // 0 is none; an int without gaps has 0, too
	choices   []json.RawMessage
	values    []any // choices, in the form of space.Parameter.Values
	renamed   []string
	labels    map[string]string // of lists and objects, by their text
}

// parseDistribution reads Optuna's JSON form, with the classes of versions before 3.
func parseDistribution(text string) (*distribution, error) {
	var form struct {
		Name       string `json:"name"`
		Attributes struct {
			Low, High, Step, Q *float64
			Log                bool
			Choices            []json.RawMessage
		} `json:"attributes"`
	}
	if err := json.Unmarshal(pythonJSON([]byte(text)), &form); err != nil {
		return nil, fmt.Errorf("distribution %s: %w", excerpt(text), err)
	}
	a := &form.Attributes
	d := &distribution{log: a.Log}
	switch form.Name {
	case "CategoricalDistribution":
		d.kind = space.KindCategorical
		return d, d.choose(a.Choices)
	case "FloatDistribution", "UniformDistribution", "DiscreteUniformDistribution", "LogUniformDistribution":
		d.kind = space.KindFloat
	case "IntDistribution", "IntUniformDistribution", "IntLogUniformDistribution":
		d.kind = space.KindInt
	default:
		return nil, fmt.Errorf("distribution %q is not one of Optuna's", form.Name)
	}
	if a.Low == nil || a.High == nil || !(*a.Low <= *a.High) {
		return nil, fmt.Errorf("distribution %s has no range", excerpt(text))
	}
	d.low, d.high, d.log = *a.Low, *a.High, d.log || strings.Contains(form.Name, "Log")
	if a.Q != nil {
		a.Step = a.Q
	}
	if a.Step != nil && !d.log && !(d.kind == space.KindInt && *a.Step == 1) {
		if d.step = *a.Step; !(d.step > 0) {
			return nil, fmt.Errorf("distribution %s: step is %v, want a positive number", excerpt(text), d.step)
		}
	}
	return d, nil
}

// choose sets the choices of a categorical. None, lists and objects become text.
func (d *distribution) choose(choices []json.RawMessage) error {
	if len(choices) == 0 {
		return errors.New("a categorical distribution has no choices")
	}
	d.choices = choices
	for _, raw := range choices {
		v, renamed, err := scalar(raw)
		if err != nil {
			return err
		}
		if renamed {
			v = d.label(v.(string))
			d.renamed = append(d.renamed, v.(string))
		}
		d.values = append(d.values, v)
	}
	return nil
}

// label returns the label of a choice in the Python package, given its text: at most 80 characters, and a number if
// another choice begins with the same characters.
func (d *distribution) label(text string) string {
	if known, ok := d.labels[text]; ok {
		return known
	}
	short := text
	if runes := []rune(text); len(runes) > 80 {
		short = string(runes[:77]) + "..."
	}
	label := short
	for n := 2; slices.Contains(d.renamed, label); n++ {
		label = fmt.Sprintf("%s %d", short, n)
	}
	if d.labels == nil {
		d.labels = map[string]string{}
	}
	d.labels[text] = label
	return label
}

// scalar returns a value in the form of space.Parameter.Values, and whether a text stands for it: the value as
// Python writes it.
func scalar(raw json.RawMessage) (v any, renamed bool, err error) {
	if err := json.Unmarshal(raw, &v); err != nil {
		return nil, false, err
	}
	switch v.(type) {
	case string, bool, float64:
		return v, false, nil
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	text, err := pythonText(dec)
	return strings.Join(strings.Fields(text), " "), true, err
}

// pythonText returns the next value of JSON as Python writes it.
func pythonText(dec *json.Decoder) (string, error) {
	token, err := dec.Token()
	if err != nil {
		return "", err
	}
	switch v := token.(type) {
	case nil:
		return "None", nil
	case bool:
		return map[bool]string{false: "False", true: "True"}[v], nil
	case string:
		return pythonQuote(v), nil
	case json.Number:
		return v.String(), nil
	}
	object := token == json.Delim('{')
	var parts []string
	for dec.More() {
		key := ""
		if object {
			if key, err = pythonText(dec); err != nil {
				return "", err
			}
			key += ": "
		}
		value, err := pythonText(dec)
		if err != nil {
			return "", err
		}
		parts = append(parts, key+value)
	}
	list := strings.Join(parts, ", ")
	if _, err := dec.Token(); err != nil {
		return "", err
	}
	if object {
		return "{" + list + "}", nil
	}
	return "[" + list + "]", nil
}

// pythonQuote returns a text in the quotation marks of Python.
func pythonQuote(s string) string {
	mark := '\''
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		mark = '"'
	}
	var b strings.Builder
	b.WriteRune(mark)
	for _, r := range s {
		switch {
		case r == mark || r == '\\':
			b.WriteRune('\\')
			b.WriteRune(r)
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	b.WriteRune(mark)
	return b.String()
}

// value returns the parameter value for the internal number that Optuna stores.
func (d *distribution) value(internal float64) (any, error) {
	switch {
	case math.IsNaN(internal) || math.IsInf(internal, 0):
		return nil, fmt.Errorf("its value is %v, want a finite number", internal)
	case d.kind == space.KindCategorical:
		if i := int(internal); internal == math.Trunc(internal) && internal >= 0 && i < len(d.values) {
			return d.values[i], nil
		}
		return nil, fmt.Errorf("it has no choice of number %v", internal)
	case d.kind == space.KindInt && internal != math.Trunc(internal):
		return nil, fmt.Errorf("%v is not an integer", internal)
	}
	return d.snap(internal), nil
}

// count returns the number of values of a stepped range.
func (d *distribution) count() float64 { return math.Floor((d.high-d.low)/d.step+1e-8) + 1 }

// stepped returns the parameter of a stepped range with more than one value; false if its
// steps are not exact.
func (d *distribution) stepped(name string) (space.Parameter, bool) {
	p := space.Parameter{Name: name, Kind: d.kind, Min: d.low, Max: d.at(d.count() - 1), Step: d.step}
	_, err := space.New(p)
	return p, err == nil
}

// grid reports whether the values of a stepped range can be written exactly.
func (d *distribution) grid() bool {
	_, ok := d.stepped("x")
	return d.step > 0 && d.count() > 1 && (ok || d.count() <= MaxGrid)
}

// at returns value k of a stepped range, written with as many decimals as its start and step.
func (d *distribution) at(k float64) float64 {
	v, _ := strconv.ParseFloat(strconv.FormatFloat(d.low+k*d.step, 'f', max(decimals(d.low), decimals(d.step)), 64), 64)
	return v
}

func decimals(v float64) int {
	_, after, _ := strings.Cut(strconv.FormatFloat(v, 'f', -1, 64), ".")
	return len(after)
}

// snap returns the value of the grid that equals v up to rounding.
func (d *distribution) snap(v float64) float64 {
	if !d.grid() {
		return v
	}
	k := math.Round((v - d.low) / d.step)
	if k < 0 || k >= d.count() || math.Abs((v-d.low)/d.step-k) > 1e-6 {
		return v
	}
	return d.at(k)
}

// join widens d to hold the values of e, another distribution of the same parameter. It
// reports whether that is possible and whether d changed.
func (d *distribution) join(e *distribution) (ok, changed bool) {
	if d.kind != e.kind || d.log != e.log || d.step != e.step {
		return false, false
	}
	if d.kind == space.KindCategorical {
		for i, v := range e.values {
			if !slices.Contains(d.values, v) {
				d.values, d.choices, changed = append(d.values, v), append(d.choices, e.choices[i]), true
			}
		}
		return true, changed
	}
	if d.step > 0 && math.Abs(math.Remainder(e.low-d.low, d.step)) > 1e-6*d.step {
		return false, false
	}
	changed = d.low != e.low || d.high != e.high
	d.low, d.high = min(d.low, e.low), max(d.high, e.high)
	return true, changed
}

func (d *distribution) clone() *distribution {
	c := *d
	c.values, c.choices = slices.Clone(d.values), slices.Clone(d.choices)
	return &c
}

// parameter returns the parameter of a search space.
func (d *distribution) parameter(name string, in *Import) space.Parameter {
	for _, v := range d.renamed {
		in.note("parameter %q: the choice %s is read as text", name, v)
	}
	p := space.Parameter{Name: name, Kind: d.kind}
	switch {
	case d.kind == space.KindCategorical && len(d.values) == 1:
		return space.Fixed(name, d.values[0])
	case d.kind == space.KindCategorical:
		p.Values = d.values
	case d.low == d.high || d.step > 0 && d.count() <= 1:
		return space.Fixed(name, d.low)
	case d.grid():
		if exact, ok := d.stepped(name); ok {
			return exact
		}
		p.Kind = space.KindOrdinal
		for k := 0.0; k < d.count(); k++ {
			p.Values = append(p.Values, d.at(k))
		}
	default:
		p.Min, p.Max, p.Log = d.low, d.high, d.log
		if d.step > 0 {
			in.note("parameter %q: its %v steps of %v are more than %d, suggestions may lie between them", name, d.count(), d.step, MaxGrid)
		}
	}
	return p
}

// distributionOf returns the distribution of a parameter. A fixed number is a range of one value, of ints if it
// is whole.
func distributionOf(p space.Parameter) *distribution {
	d := &distribution{kind: p.Kind, low: p.Min, high: p.Max, log: p.Log, step: p.Step}
	switch p.Kind {
	case space.KindBool:
		d.kind, d.values = space.KindCategorical, []any{false, true}
	case space.KindFixed:
		x, ok := p.Value.(float64)
		switch {
		case !ok:
			d.kind, d.values = space.KindCategorical, []any{p.Value}
		case x == math.Trunc(x) && math.Abs(x) <= 1<<53:
			d.kind, d.low, d.high = space.KindInt, x, x
		default:
			d.kind, d.low, d.high = space.KindFloat, x, x
		}
	case space.KindOrdinal, space.KindCategorical:
		d.kind, d.values = space.KindCategorical, slices.Clone(p.Values)
	}
	return d
}

// internal returns Optuna's number for a value, after widening d to hold it; false if a
// distribution of this kind cannot hold it.
func (d *distribution) internal(v any) (float64, bool) {
	if d.kind == space.KindCategorical {
		i := slices.Index(d.values, v)
		if i < 0 {
			i, d.values = len(d.values), append(d.values, v)
		}
		return float64(i), true
	}
	x, ok := v.(float64)
	if !ok || d.kind == space.KindInt && x != math.Trunc(x) || d.log && x <= 0 {
		return 0, false
	}
	if d.step > 0 && math.Abs(math.Remainder(x-d.low, d.step)) > 1e-8*d.step { // the tolerance of Optuna
		d.step = 0 // a value from before the steps
	}
	d.low, d.high = min(d.low, x), max(d.high, x)
	return x, true
}

// MarshalJSON writes Optuna's form.
func (d *distribution) MarshalJSON() ([]byte, error) {
	class, attributes := "", map[string]any{"low": d.low, "high": d.high, "log": d.log}
	switch d.kind {
	case space.KindFloat:
		class, attributes["step"] = "FloatDistribution", nil
		if d.step > 0 {
			attributes["step"] = d.step
		}
	case space.KindInt:
		class, attributes["step"] = "IntDistribution", 1
		attributes["low"], attributes["high"] = int64(d.low), int64(d.high)
		if d.step > 0 {
			attributes["step"] = int64(d.step)
		}
	default:
		class, attributes = "CategoricalDistribution", map[string]any{"choices": d.values}
	}
	return json.Marshal(map[string]any{"name": class, "attributes": attributes})
}

// pythonJSON quotes the numbers of Python that JSON does not have.
func pythonJSON(text []byte) []byte { return pythonjson.Replace(text, strconv.Quote) }

// number is a number of Python's JSON, which may be infinite or NaN.
type number float64

func (n *number) UnmarshalJSON(text []byte) error {
	s := strings.Trim(string(text), `"`)
	v, err := strconv.ParseFloat(s, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) || len(s) < len(text) && !math.IsNaN(v) && !math.IsInf(v, 0) {
		return fmt.Errorf("%s is not a number", excerpt(string(text)))
	}
	*n = number(v)
	return nil
}

// excerpt returns the beginning of a text, for a message.
func excerpt(text string) string {
	if r := []rune(text); len(r) > 80 {
		return string(r[:79]) + "…"
	}
	return text
}
