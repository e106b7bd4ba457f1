package study

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/functionspace/bo/internal/didyoumean"
	"github.com/functionspace/bo/loop"
)

// ParseRequirement reads an outcome constraint, "NAME <= NUMBER" or "NAME >= NUMBER". A name
// may contain blanks.
func ParseRequirement(text string) (loop.Requirement, error) {
	fault := func(format string, args ...any) (loop.Requirement, error) {
		return loop.Requirement{}, fmt.Errorf("require: %q: %s", text, fmt.Sprintf(format, args...))
	}
	const form = `want NAME <= NUMBER or NAME >= NUMBER, such as "latency <= 20"`
	at := strings.IndexAny(text, "<>=!")
	if at < 0 {
		return fault(form)
	}
	name, rest := strings.TrimSpace(text[:at]), text[at:]
	sense := rest[:len(rest)-len(strings.TrimLeft(rest, "<>=!"))]
	switch sense {
	case "<=", ">=":
	case "<", ">":
		return fault("write %s=, because a measured number meets a bound exactly with probability 0", sense)
	default:
		return fault(form)
	}
	bound, err := strconv.ParseFloat(strings.TrimSpace(rest[len(sense):]), 64)
	switch {
	case name == "" || err != nil && !math.IsInf(bound, 0):
		return fault(form)
	case strings.ContainsFunc(name, unicode.IsControl):
		return fault("the name must not hold control characters")
	case math.IsNaN(bound) || math.Abs(bound) > loop.MaxValue:
		return fault("the bound is %v, want a finite number", bound)
	}
	return loop.Requirement{Name: name, AtLeast: sense == ">=", Bound: bound}, nil
}

// Requirements returns the outcome constraints of a valid definition.
func (d *Definition) Requirements() []loop.Requirement {
	var all []loop.Requirement
	for _, text := range d.Require {
		if r, err := ParseRequirement(text); err == nil {
			all = append(all, r)
		}
	}
	return all
}

// Feasible reports whether the numbers of a complete trial meet all requirements.
func (d *Definition) Feasible(numbers map[string]float64) bool {
	return !slices.ContainsFunc(d.Requirements(), func(r loop.Requirement) bool {
		v, ok := numbers[r.Name]
		return !ok || !r.Met(v)
	})
}

// Declared returns the names of the numbers that a complete trial needs: the objectives and the
// numbers of the requirements, each once.
func (d *Definition) Declared() []string {
	var names []string
	for _, o := range d.Goals() {
		names = append(names, o.Name)
	}
	for _, r := range d.Requirements() {
		if !slices.Contains(names, r.Name) {
			names = append(names, r.Name)
		}
	}
	return names
}

// StandardErrors returns the names of the numbers that are standard errors of objectives, each once.
func (d *Definition) StandardErrors() []string {
	var names []string
	for _, o := range d.Goals() {
		if o.StandardError != "" && !slices.Contains(names, o.StandardError) {
			names = append(names, o.StandardError)
		}
	}
	return names
}

// Missing returns an Unreported that names a declared number which numbers lacks, nil if there is none.
func (d *Definition) Missing(numbers map[string]float64) error {
	return missing(d.Declared(), numbers)
}

// Unreported is Missing for Reported.
func (d *Definition) Unreported(numbers map[string]float64) error {
	return missing(d.Reported(), numbers)
}

// Unreported is the error of a result that lacks a declared number, perhaps because its name is wrong.
type Unreported string

func (e Unreported) Error() string { return string(e) }

func missing(names []string, numbers map[string]float64) error {
	for _, name := range names {
		if _, ok := numbers[name]; ok {
			continue
		}
		var given []string
		for other := range numbers {
			given = append(given, other)
		}
		slices.Sort(given)
		hint := ""
		if len(given) > 0 {
			hint = ", only " + strings.Join(given, ", ")
		}
		if near, ok := didyoumean.Near(name, given); ok {
			hint = ": rename " + near + " to " + name
		}
		return Unreported(fmt.Sprintf("no number named %q was reported%s", name, hint))
	}
	return nil
}

// Unread describes a complete result that lacks the standard error of an objective and has undeclared numbers. One of these
// may be the standard error under another name. It returns "" for other results.
func (d *Definition) Unread(numbers map[string]float64) string {
	others := maps.Clone(numbers)
	for _, name := range slices.Concat(d.Reported(), d.StandardErrors()) {
		delete(others, name)
	}
	for _, p := range d.Parameters {
		delete(others, p.Name)
	}
	if len(others) == 0 {
		return ""
	}
	for _, o := range d.Goals() {
		if _, ok := numbers[o.StandardError]; o.StandardError != "" && !ok {
			return fmt.Sprintf("no number named %q, the standard error of %s, was reported; numbers that are only recorded: %s",
				o.StandardError, o.Name, strings.Join(slices.Sorted(maps.Keys(others)), ", "))
		}
	}
	return ""
}

// requireFaults returns the faults of the outcome constraints.
func (d *Definition) requireFaults() (faults []error) {
	parameters := map[string]bool{}
	for _, p := range d.Parameters {
		parameters[p.Name] = true
	}
	for i, text := range d.Require {
		r, err := ParseRequirement(text)
		if err == nil && parameters[r.Name] {
			err = fmt.Errorf("require: %q: %s is a parameter: state the condition in constraints", text, r.Name)
		}
		if err != nil {
			faults = append(faults, faultAt(err, "require", i))
		}
	}
	return faults
}
