package study

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/space/expression"
)

// Version is the newest version of the JSON form.
const Version = 1

// ErrInvalid is wrapped by every error about a definition.
var ErrInvalid = errors.New("invalid study")

// Definition holds all settings on which the suggestions and evaluations of a study
// depend. The zero value of a field stands for its default.
type Definition struct {
	Version    int               `json:"version"` // 0 stands for Version in Go
	Name       string            `json:"name,omitempty"`
	Parameters []space.Parameter `json:"parameters"`
	// Constraints are conditions on the parameters, as package expression reads them, that
	// hold at every point of the space.
	Constraints []string `json:"constraints,omitempty"`
	// Defaults are the values of added parameters in trials older than the
	// parameter.
	Defaults map[string]any `json:"defaults,omitempty"`
	// Objectives are the numbers to optimise. Empty stands for one objective named "value" to be
	// minimised.
	Objectives []Objective `json:"objectives,omitempty"`
	// Require are outcome constraints such as "latency <= 20", as ParseRequirement reads them:
	// conditions on reported numbers, learned from the trials.
	Require []string `json:"require,omitempty"`

	// Builtin names a built-in objective; Command is the program to run for each trial.
	// At most one of them is set. A study without either is driven by ask and tell.
	Builtin  string   `json:"builtin,omitempty"`
	Command  string   `json:"command,omitempty"`
	Shell    bool     `json:"shell,omitempty"`    // Command runs in a shell
	Timeout  Duration `json:"timeout,omitzero"`   // time limit of one trial; 0 is none
	Failures string   `json:"failures,omitempty"` // "expected": failures of the first trials do not end a run

	Budget  int                `json:"budget,omitempty"`  // trials of the study; 0 is loop.DefaultBudget
	Initial int                `json:"initial,omitempty"` // trials of the initial design
	Batch   int                `json:"batch,omitempty"`   // trials of a synchronous round; 0 is asynchronous
	Workers int                `json:"workers,omitempty"` // evaluations of one process at a time; 0 is 1
	Seed    uint64             `json:"seed,omitempty"`
	Design  loop.InitialDesign `json:"design,omitempty"`
	Warp    loop.Warp          `json:"warp,omitempty"`
	Local   loop.Local         `json:"local,omitempty"`

	// Optimum holds beliefs about the optimum by parameter, and PriorMean the prior mean function of the
	// objective, as package expression reads a number.
	Optimum   map[string]loop.Belief `json:"optimum,omitempty"`
	PriorMean string                 `json:"prior_mean,omitempty"`
	// First holds points to try first, by parameter. Parameters that are left out are
	// completed by the initial design.
	First []map[string]any `json:"first,omitempty"`
	// Earlier holds evaluations made before the study. Stored definitions have none: they are
	// trials of the study.
	Earlier Earlier `json:"earlier,omitzero"`

	// End ends a run before the budget is used up. Suggestions do not depend on it.
	End End `json:"end,omitzero"`

	// Stop is the rule that stops poor trials early; the zero value stops none.
	Stop loop.Stop `json:"stop,omitzero"`

	Surrogate   Component      `json:"surrogate,omitzero"`
	Acquisition Component      `json:"acquisition,omitzero"`
	Maximizer   map[string]any `json:"maximizer,omitempty"`
}

// Objective is a number that a trial reports and the direction in which it improves.
type Objective struct {
	Name      string `json:"name"`
	Goal      string `json:"goal,omitempty"` // Minimize, the default, or Maximize
	NoiseFree bool   `json:"noise_free,omitempty"`
	// NoiseSD is the standard deviation of the noise of a value, in its unit. Nil is unknown.
	NoiseSD *float64 `json:"noise_sd,omitempty"`
	// StandardError names the number of a trial that is the standard error of its value, as loop.Options.StandardError
	// defines it. "" is none.
	StandardError string `json:"standard_error,omitempty"`
	// Reference is the coordinate of the reference point of several objectives. Nil is
	// inferred, as loop.Goal defines it.
	Reference *float64 `json:"reference,omitempty"`
}

// The goals of an objective.
const (
	Minimize = "minimize"
	Maximize = "maximize"
)

// Reserved is the key of the study, trial and attempt in the input of a program; no
// parameter has this name.
const Reserved = "bo"

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

// Value returns the duration.
func (d Duration) Value() time.Duration { return time.Duration(d) }

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

// Space returns the search space of a valid definition.
func (d *Definition) Space() (*space.Space, error) {
	return expression.Space(d.Parameters, d.Constraints...)
}

// CheckRun returns an error if a parameter is Given: a run states no values, and cannot choose this one.
func (d *Definition) CheckRun() error {
	for _, p := range d.Parameters {
		if p.Given {
			return fmt.Errorf("parameter %q: its value is given, and a run states none: use bo ask --given %s=VALUE and bo tell", p.Name, p.Name)
		}
	}
	return nil
}

// SpaceOf returns the parameters and constraints of a space as a definition has them.
func SpaceOf(s *space.Space) (params []space.Parameter, constraints []string) {
	params = s.Parameters()
	for i := range params { // a definition is data: Space compiles the conditions
		params[i].When = space.Condition{Text: params[i].When.Text}
	}
	for _, c := range s.Constraints() {
		constraints = append(constraints, c.Text)
	}
	return params, constraints
}

// Several reports whether there are several objectives.
func (d *Definition) Several() bool { return len(d.Objectives) > 1 }

// Goals returns the objectives with their defaults.
func (d *Definition) Goals() []Objective {
	goals := []Objective{d.Objective()}
	for i := 1; i < len(d.Objectives); i++ {
		goals = append(goals, (&Definition{Objectives: d.Objectives[i:]}).Objective())
	}
	return goals
}

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

// MaxCount is the largest budget, the upper bound of loop.Options.Budget.
const MaxCount = 100_000

// CheckName returns an error for an invalid name of a study. A name has 1 to 100
// letters, digits, dots, dashes and underscores, because it occurs in files,
// environment variables and addresses.
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
