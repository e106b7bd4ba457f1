package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/functionspace/bo/internal/figures"
	"github.com/functionspace/bo/internal/flatjson"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/study"
)

// trialJSON is a trial in the output of the verbs.
type trialJSON struct {
	Trial   int                `json:"trial"`
	Params  json.RawMessage    `json:"params"`
	Value   *float64           `json:"value"` // value of the objective; null unless complete
	State   store.State        `json:"state"`
	Numbers map[string]float64 `json:"numbers,omitempty"`
	// Feasible reports whether a complete trial meets the requirements; nil without
	// requirements.
	Feasible *bool `json:"feasible,omitempty"`
	// Front reports whether the trial is on the Pareto front; false for one objective.
	Front   bool          `json:"front,omitempty"`
	Failure store.Failure `json:"failure,omitempty"`
	Message string        `json:"message,omitempty"`
	Source  loop.Source   `json:"source"`
	Attempt int           `json:"attempt,omitempty"`
	Worker  string        `json:"worker,omitempty"`
	Seconds float64       `json:"seconds,omitempty"`
	// Unfit is the reason for which the trial does not fit the definition. Only lists of all trials have it.
	Unfit string `json:"unfit,omitempty"`
	// Steps has the values of the objective that the last attempt reported, in the order of arrival, null for NaN. Only
	// bo trials prints them.
	Steps []study.Step `json:"steps,omitempty"`
}

func newTrialJSON(t *store.Trial, v *store.View) trialJSON {
	row := trialJSON{
		Trial: t.Number, Params: t.Params, State: t.State, Numbers: t.Measured(), Failure: t.Failure, Message: t.Message,
		Source: t.Source, Attempt: t.Attempt, Seconds: t.Seconds,
	}
	if t.Running(v.Now) {
		row.Worker = t.Owner.Name
	}
	if value, ok := t.Numbers[v.Definition.Objective().Name]; ok && t.State == store.Complete {
		row.Value = &value
		if v.Definition.Several() {
			row.Value = nil // no single number is the value
		}
		if len(v.Definition.Require) > 0 {
			feasible := v.Feasible(t)
			row.Feasible = &feasible
		}
	}
	return row
}

// trialText describes a trial on one line.
func trialText(t *store.Trial, v *store.View, digits numberDigits) string {
	number := strconv.Itoa(t.Number)
	head := strings.Repeat(" ", max(0, 4-len(number))) + number + "  " + paramsText(t.Params) + "  "
	switch value, ok := t.Numbers[v.Definition.Objective().Name]; {
	case t.State == store.Complete && ok:
		return head + numbersText(t, v.Definition, value, digits) + noteText(t)
	case t.State == store.Complete:
		return head + "complete without " + v.Definition.Objective().Name
	case t.State != store.Pending:
		text := head + string(t.State)
		if t.Message != "" {
			text += ": " + oneLine(t.Message)
		}
		if t.Failure == store.Lost {
			text += "  (left out of fits)"
		}
		return text
	case t.Running(v.Now):
		return head + "running on " + printable(t.Owner.Name)
	}
	return head + "waiting"
}

// numbersText writes the value of the objective, or the declared numbers by name if there are
// several, and whether the trial is infeasible.
func numbersText(t *store.Trial, d *study.Definition, value float64, digits numberDigits) string {
	declared := d.Declared()
	if len(declared) == 1 && len(d.Require) == 0 {
		return digits.text(declared[0], value) + errorText(t, d, declared[0])
	}
	var parts []string
	for _, name := range declared {
		if x, ok := t.Numbers[name]; ok {
			parts = append(parts, name+" "+digits.text(name, x)+errorText(t, d, name))
		} else {
			parts = append(parts, "no "+name)
		}
	}
	if d.Missing(t.Numbers) == nil && !d.Feasible(t.Numbers) {
		parts = append(parts, "(infeasible)")
	}
	return strings.Join(parts, "  ")
}

// errorText returns " ± " and the standard error of a number of t, "" if t has none.
func errorText(t *store.Trial, d *study.Definition, name string) string {
	for _, o := range d.Goals() {
		if sd, ok := t.Numbers[o.StandardError]; ok && o.Name == name && o.StandardError != "" {
			return " ± " + short(sd)
		}
	}
	return ""
}

// resultText is numbersText of a trial of a run. A single objective without requirements has the name "value".
func resultText(t *store.Trial, d *study.Definition) string {
	value := t.Numbers[d.Objective().Name]
	if len(d.Declared()) == 1 && len(d.Require) == 0 {
		return "value " + short(value) + errorText(t, d, d.Objective().Name)
	}
	return numbersText(t, d, value, nil)
}

// numberDigits is the number of significant digits of numbers that trials report, by name; six if it is missing.
type numberDigits map[string]int

// digitsOf returns the digits that tell the values of a study apart.
func digitsOf(v *store.View) numberDigits {
	out := numberDigits{}
	for _, name := range v.Definition.Declared() {
		low, high := math.Inf(1), math.Inf(-1)
		for i := range v.Trials {
			if x, ok := v.Trials[i].Numbers[name]; ok && v.Trials[i].State == store.Complete {
				low, high = min(low, x), max(high, x)
			}
		}
		out[name] = figures.Resolve(shortDigits, low, high)
	}
	return out
}

func (d numberDigits) text(name string, x float64) string {
	return figures.Format(x, cmp.Or(d[name], shortDigits))
}

// paramsText writes parameters as name=value in the order of the study, numbers with six digits.
func paramsText(params json.RawMessage) string {
	var text []byte
	read := flatjson.Each(string(params), func(name string, v flatjson.Value) {
		if len(text) > 0 {
			text = append(text, ' ')
		}
		text = append(append(text, name...), '=')
		if v.Kind == flatjson.Number {
			text = appendShort(text, v.Number)
		} else {
			text = fmt.Append(text, v.Any())
		}
	})
	if read {
		return printable(string(text))
	}
	return eachParam(params, func(n json.Number) string {
		x, _ := n.Float64()
		return short(x)
	})
}

// fullParams writes parameters with all digits.
func fullParams(params json.RawMessage) string { return eachParam(params, json.Number.String) }

// eachParam writes parameters as name=value, and numbers by the function number.
func eachParam(params json.RawMessage, number func(json.Number) string) string {
	dec := json.NewDecoder(bytes.NewReader(params))
	dec.UseNumber()
	var parts []string
	name, value := "", false
	for {
		t, err := dec.Token()
		if err != nil {
			return printable(strings.Join(parts, " "))
		}
		switch n, isNumber := t.(json.Number); {
		case t == json.Delim('{'), t == json.Delim('}'):
			continue
		case !value:
			name = fmt.Sprint(t)
		case isNumber:
			parts = append(parts, name+"="+number(n))
		default:
			parts = append(parts, fmt.Sprintf("%s=%v", name, t))
		}
		value = !value
	}
}

// resultLine describes a complete trial of bo best, with all digits.
func resultLine(t *store.Trial, d *study.Definition) string {
	line := fmt.Sprintf("trial %d  %s", t.Number, fullParams(t.Params))
	for _, name := range d.Declared() {
		line += "  " + name + " " + number(t.Numbers[name]) + errorText(t, d, name)
	}
	return line
}

// noteText is the end of a line about a complete trial: its note, if it has one.
func noteText(t *store.Trial) string {
	if t.Message == "" {
		return ""
	}
	return "  note: " + joinedLines(t.Message)
}
