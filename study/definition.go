package study

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/functionspace/bo/internal/didyoumean"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
)

// Version is the newest version of the JSON form.
const Version = 1

// ErrInvalid is wrapped by every error about a definition.
var ErrInvalid = errors.New("invalid study")

// Definition is everything that a study's suggestions and evaluations depend on.
// The zero value of a field stands for its default.
type Definition struct {
	Version    int               `json:"version"`
	Name       string            `json:"name,omitempty"`
	Parameters []space.Parameter `json:"parameters"`
	// Defaults are the values that trials from before a parameter was added count as
	// having.
	Defaults map[string]any `json:"defaults,omitempty"`
	// Objectives has one entry. Empty stands for one objective named "value" to be minimised.
	Objectives []Objective `json:"objectives,omitempty"`

	// Builtin names a built-in objective; Command is the program to run for each trial.
	// At most one of them is set. A study without either is driven by ask and tell.
	Builtin  string   `json:"builtin,omitempty"`
	Command  string   `json:"command,omitempty"`
	Shell    bool     `json:"shell,omitempty"`    // Command runs in a shell
	Timeout  Duration `json:"timeout,omitzero"`   // of one trial; 0 is none
	Failures string   `json:"failures,omitempty"` // "expected": failing first trials do not end a run

	Budget  int                `json:"budget,omitempty"`  // trials of the study; 0 is loop.DefaultBudget
	Initial int                `json:"initial,omitempty"` // trials of the initial design
	Batch   int                `json:"batch,omitempty"`   // trials of a synchronous round; 0 is asynchronous
	Workers int                `json:"workers,omitempty"` // evaluations of one process at a time; 0 is 1
	Seed    uint64             `json:"seed,omitempty"`
	Design  loop.InitialDesign `json:"design,omitempty"`
	Warp    loop.Warp          `json:"warp,omitempty"`

	Surrogate   Component      `json:"surrogate,omitzero"`
	Acquisition Component      `json:"acquisition,omitzero"`
	Maximizer   map[string]any `json:"maximizer,omitempty"`
}

// Objective is a number that a trial reports and the direction in which it improves.
type Objective struct {
	Name      string `json:"name"`
	Goal      string `json:"goal,omitempty"` // Minimize, the default, or Maximize
	NoiseFree bool   `json:"noise_free,omitempty"`
}

// The goals of an objective.
const (
	Minimize = "minimize"
	Maximize = "maximize"
)

// ExpectedFailures is the value of Definition.Failures for objectives that may fail
// from the start.
const ExpectedFailures = "expected"

// Component is a surrogate or an acquisition function by name with its settings. Its
// JSON form is one object, {"name": "gp", "kernel": "matern52"}, or the bare name.
type Component struct {
	Name     string
	Settings map[string]any // numbers, strings, booleans and lists of numbers
}

// IsZero reports whether neither a name nor a setting is given.
func (c Component) IsZero() bool { return c.Name == "" && len(c.Settings) == 0 }

// MarshalJSON writes one object with the name first.
func (c Component) MarshalJSON() ([]byte, error) {
	all := map[string]any{}
	for key, v := range c.Settings {
		all[key] = v
	}
	if c.Name != "" {
		all["name"] = c.Name
	}
	return json.Marshal(all)
}

// UnmarshalJSON reads an object or a bare name.
func (c *Component) UnmarshalJSON(text []byte) error {
	*c = Component{}
	if err := json.Unmarshal(text, &c.Name); err == nil {
		return nil
	}
	var all map[string]any
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	if err := dec.Decode(&all); err != nil || all == nil {
		return errors.New(`want a name or an object such as {"name": "gp", "kernel": "matern52"}`)
	}
	if v, ok := all["name"]; ok {
		if c.Name, ok = v.(string); !ok {
			return fmt.Errorf("name is %v, want a string", v)
		}
		delete(all, "name")
	}
	if len(all) > 0 {
		c.Settings = all
	}
	return nil
}

// Duration is a time.Duration whose JSON form is text such as "90s" or "2h".
type Duration time.Duration

// MarshalText writes the duration as Go does.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText reads a duration that is not negative.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	if err != nil || v < 0 {
		return fmt.Errorf("%q is not a time such as 90s or 2h", text)
	}
	*d = Duration(v)
	return nil
}

// Parse reads the JSON form; without a version it is version 1. It is strict: unknown and
// repeated keys are errors, and one error that wraps ErrInvalid names every fault.
func Parse(text []byte) (*Definition, error) {
	d := &Definition{Version: Version}
	faults := decode(text, d)
	if len(faults) == 0 {
		faults = d.faults()
	}
	if len(faults) > 0 {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, space.Faults(faults))
	}
	return d, nil
}

// Validate reports every fault of a definition made in Go, in one error that wraps
// ErrInvalid.
func (d *Definition) Validate() error {
	if faults := d.faults(); len(faults) > 0 {
		return fmt.Errorf("%w: %w", ErrInvalid, space.Faults(faults))
	}
	return nil
}

// Space returns the search space of a valid definition.
func (d *Definition) Space() (*space.Space, error) { return space.New(d.Parameters...) }

// Objective returns the first objective with its defaults.
func (d *Definition) Objective() Objective {
	o := Objective{}
	if len(d.Objectives) > 0 {
		o = d.Objectives[0]
	}
	if o.Name == "" {
		o.Name = "value"
	}
	if o.Goal == "" {
		o.Goal = Minimize
	}
	return o
}

// faults returns all that is wrong with d, in the order of its fields.
func (d *Definition) faults() (faults []error) {
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if d.Version != Version {
		if d.Version > Version {
			fault("version is %d: this program reads up to %d", d.Version, Version)
		} else {
			fault("version is %d, want %d", d.Version, Version)
		}
	}
	if err := CheckName(d.Name); d.Name != "" && err != nil {
		faults = append(faults, err)
	}
	s, err := d.Space()
	if err != nil {
		faults = append(faults, err)
	}
	for name, v := range d.Defaults {
		if err := defaultFits(s, name, v); err != nil {
			faults = append(faults, err)
		}
	}
	if len(d.Objectives) > 1 {
		fault("objectives has %d entries: only one objective is possible so far", len(d.Objectives))
	}
	for _, o := range d.Objectives {
		if o.Name == "" {
			fault("objectives: name is missing")
		}
		if o.Goal != "" && o.Goal != Minimize && o.Goal != Maximize {
			fault("objectives: goal of %q is %q, want minimize or maximize", o.Name, o.Goal)
		}
	}
	if d.Builtin != "" && d.Command != "" {
		fault("builtin and command are both given")
	}
	if d.Failures != "" && d.Failures != ExpectedFailures {
		fault("failures is %q, want %q or nothing", d.Failures, ExpectedFailures)
	}
	faults = append(faults, d.sizeFaults()...)
	if err == nil {
		if _, err := d.Method(); err != nil {
			faults = append(faults, err)
		}
	}
	return faults
}

// defaultFits reports a default that is not a value of its parameter.
func defaultFits(s *space.Space, name string, v any) error {
	if s == nil {
		return nil
	}
	for _, p := range s.Parameters() {
		if p.Name == name {
			if err := p.Check(v); err != nil {
				return fmt.Errorf("defaults: parameter %q: %w", name, err)
			}
			return nil
		}
	}
	return fmt.Errorf("defaults: %q is not a parameter", name)
}

// MaxCount bounds the budget and the other counts of a definition.
const MaxCount = 1_000_000

func (d *Definition) sizeFaults() (faults []error) {
	for _, f := range []struct {
		key   string
		value int
		most  int
	}{{"budget", d.Budget, MaxCount}, {"initial", d.Initial, 100_000}, {"batch", d.Batch, 10_000}, {"workers", d.Workers, 10_000}} {
		if f.value < 0 || f.value > f.most {
			faults = append(faults, fmt.Errorf("%s is %d, want 1 to %d", f.key, f.value, f.most))
		}
	}
	if d.Budget > 0 && d.Initial > d.Budget {
		faults = append(faults, fmt.Errorf("initial %d is more than budget %d", d.Initial, d.Budget))
	}
	if d.Budget > 0 && d.Batch > d.Budget {
		faults = append(faults, fmt.Errorf("batch %d is more than budget %d", d.Batch, d.Budget))
	}
	return faults
}

// CheckName reports a name that a study cannot have. Names go into files, environment
// variables and addresses: letters, digits, dot, dash and underscore, at most 100.
func CheckName(name string) error {
	ok := name != "" && len(name) <= 100 && !strings.HasPrefix(name, "-") && !strings.HasPrefix(name, ".")
	for _, r := range name {
		ok = ok && (r == '-' || r == '_' || r == '.' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z')
	}
	if !ok {
		return fmt.Errorf("name %q: want 1 to 100 letters, digits, dots, dashes and underscores, not beginning with a dot or dash", name)
	}
	return nil
}

// decode reads text into d and returns the faults of its form.
func decode(text []byte, d *Definition) (faults []error) {
	if err := json.Unmarshal(text, new(json.RawMessage)); err != nil {
		return []error{err}
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return []error{errors.New("want an object {…}")}
	}
	fields, keys := d.fields()
	seen := map[string]bool{}
	for dec.More() {
		t, err := dec.Token()
		var raw json.RawMessage
		if err = errors.Join(err, dec.Decode(&raw)); err != nil {
			return []error{err}
		}
		key := t.(string)
		to, ok := fields[key]
		switch {
		case !ok:
			faults = append(faults, fmt.Errorf("unknown key %q%s", key, didyoumean.Hint(key, keys)))
		case seen[key]:
			faults = append(faults, fmt.Errorf("key %q occurs twice", key))
		default:
			if key == "parameters" {
				s, err := space.Parse(fmt.Appendf(nil, `{"parameters":%s}`, raw))
				if err != nil {
					faults = append(faults, err)
				} else {
					d.Parameters = s.Parameters()
				}
			} else if err := json.Unmarshal(raw, to); err != nil {
				faults = append(faults, fmt.Errorf("%s: %w", key, plain(err)))
			}
		}
		seen[key] = true
	}
	return faults
}

// fields returns where each key of the JSON form is read into, and the keys in order.
func (d *Definition) fields() (map[string]any, []string) {
	fields := map[string]any{
		"version": &d.Version, "name": &d.Name, "parameters": &d.Parameters, "defaults": &d.Defaults, "objectives": &d.Objectives,
		"builtin": &d.Builtin, "command": &d.Command, "shell": &d.Shell, "timeout": &d.Timeout, "failures": &d.Failures,
		"budget": &d.Budget, "initial": &d.Initial, "batch": &d.Batch, "workers": &d.Workers, "seed": &d.Seed,
		"design": &d.Design, "warp": &d.Warp, "surrogate": &d.Surrogate, "acquisition": &d.Acquisition, "maximizer": &d.Maximizer,
	}
	keys := make([]string, 0, len(fields))
	for key := range fields {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return fields, keys
}

// plain states the type that a value must have in words of the file, not of Go.
func plain(err error) error {
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		want := map[string]string{"int": "a whole number", "uint64": "a whole number from 0", "string": "text", "bool": "true or false"}[e.Type.String()]
		if want == "" {
			want = "another type"
		}
		return fmt.Errorf("%s found, want %s", e.Value, want)
	}
	return err
}
