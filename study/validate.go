package study

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/functionspace/bo/acquisition"
	"github.com/functionspace/bo/catalog"
	"github.com/functionspace/bo/internal/didyoumean"
	"github.com/functionspace/bo/internal/settings"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
)

// Fault is a fault of one value of a definition.
type Fault struct {
	Path []any // keys and indices that lead to the value, such as "objectives", 0, "goal"
	Err  error
}

// Error names the value and the fault.
func (f *Fault) Error() string { return f.Err.Error() }

// Unwrap returns Err.
func (f *Fault) Unwrap() error { return f.Err }

func faultAt(err error, path ...any) error { return &Fault{path, err} }

func invalid(faults []error) error { return fmt.Errorf("%w: %w", ErrInvalid, space.Faults(faults)) }

// Validate reports every fault of a definition made in Go, in one error that wraps
// ErrInvalid. Version may be 0.
func (d *Definition) Validate() error {
	c := *d
	c.Version = cmp.Or(c.Version, Version)
	if faults := c.faults(nil); len(faults) > 0 {
		return invalid(faults)
	}
	return nil
}

// faults returns all faults of d except in the fields with wrong keys, in the order of the
// fields.
func (d *Definition) faults(wrong map[string]bool) (faults []error) {
	fault := func(key, format string, args ...any) {
		if !wrong[key] {
			faults = append(faults, faultAt(fmt.Errorf(format, args...), key))
		}
	}
	if d.Version > Version {
		fault("version", "version is %d: this program reads up to %d", d.Version, Version)
	} else if d.Version != Version {
		fault("version", "version is %d, want %d", d.Version, Version)
	}
	if err := CheckName(d.Name); d.Name != "" && err != nil {
		fault("name", "%w", err)
	}
	s, parameterFaults := d.parameterFaults(wrong["parameters"])
	faults = append(faults, parameterFaults...)
	if s != nil && !wrong["defaults"] {
		faults = append(faults, d.defaultFaults(s)...)
	}
	if !wrong["objectives"] {
		faults = append(faults, d.objectiveFaults()...)
	}
	if !wrong["require"] {
		faults = append(faults, d.requireFaults()...)
	}
	if d.Builtin != "" && d.Command != "" {
		fault("command", "builtin and command are both given: a study has at most one of them")
	}
	if d.Failures != "" && d.Failures != ExpectedFailures {
		fault("failures", "failures is %q, want %q, or leave the key out", d.Failures, ExpectedFailures)
	}
	faults = append(faults, d.optionFaults()...)
	faults = append(faults, d.endFaults()...)
	if err := settings.Check(d.Stop); err != nil {
		fault("stop", "stop: %w", err)
	} else if d.Stop.Active() && d.Several() {
		fault("stop", "stop: rule %s compares values of one objective, and the study has %d: leave stop out", d.Stop.Rule, len(d.Objectives))
	}
	m, methodFaults := d.method()
	faults = append(faults, methodFaults...)
	if s != nil {
		var a acquisition.Acquisition
		if len(methodFaults) == 0 {
			a = m.Acquisition
		}
		faults = append(faults, d.beliefFaults(s, a, wrong)...)
		if d.Batch > 0 && s.CheckGiven(nil) != nil {
			fault("batch", "batch: the trials of a batch take no given values, and a parameter is given: leave batch out")
		}
		faults = append(faults, d.earlierFaults(s)...)
	}
	if len(methodFaults) == 0 && !wrong["objectives"] {
		if err := acquisition.CheckObjectives(m.Acquisition, max(1, len(d.Objectives))); err != nil {
			fault("acquisition", "acquisition: %s %w", d.Acquisition.Name, err)
		}
	}
	if len(methodFaults) == 0 && len(d.Require) > 0 {
		if err := acquisition.CheckConstraints(m.Acquisition); err != nil {
			fault("acquisition", "acquisition: %s %w", d.Acquisition.Name, err)
		}
	}
	if s != nil && len(methodFaults) == 0 {
		m.Surrogate = surrogate.NameInputs(m.Surrogate, loop.Inputs(s))
		if err := m.Check(s.Dim()); err != nil {
			owner, _, _ := strings.Cut(err.Error(), " ") // surrogate, acquisition or maximizer
			faults = append(faults, faultAt(err, strings.TrimSuffix(owner, ":")))
		}
	}
	return slices.DeleteFunc(faults, func(err error) bool {
		f, _ := errors.AsType[*Fault](err)
		key, _ := f.Path[0].(string)
		return wrong[key]
	})
}

// parameterFaults returns the space, or nil and its faults.
func (d *Definition) parameterFaults(wrong bool) (s *space.Space, faults []error) {
	if wrong {
		return nil, nil
	}
	s, err := d.Space()
	if err != nil {
		list, ok := errors.AsType[space.Faults](err)
		if !ok {
			list = []error{err}
		}
		for _, err := range list {
			faults = append(faults, faultAt(err, parameterPath(err)...))
		}
	}
	for i, p := range d.Parameters {
		if p.Name == Reserved || strings.HasPrefix(p.Name, Reserved+".") {
			faults = append(faults, faultAt(fmt.Errorf("parameter %q: the name is reserved for the study and trial in the input of programs", p.Name), "parameters", i, "name"))
		}
	}
	return s, faults
}

// defaultFaults returns the faults of defaults that are not values of their parameters.
func (d *Definition) defaultFaults(s *space.Space) (faults []error) {
	var names []string
	by := map[string]space.Parameter{}
	for _, p := range s.Parameters() {
		names, by[p.Name] = append(names, p.Name), p
	}
	for _, name := range slices.Sorted(maps.Keys(d.Defaults)) {
		p, ok := by[name]
		if !ok {
			faults = append(faults, faultAt(fmt.Errorf("defaults: %q is not a parameter%s", name, didyoumean.Hint(name, names)), "defaults", name))
		} else if err := p.Check(d.Defaults[name]); err != nil {
			faults = append(faults, faultAt(fmt.Errorf("defaults: parameter %q: %w", name, err), "defaults", name))
		}
	}
	return faults
}

func (d *Definition) objectiveFaults() (faults []error) {
	if n := len(d.Objectives); n > loop.MaxObjectives {
		faults = append(faults, faultAt(fmt.Errorf("objectives has %d entries, at most %d", n, loop.MaxObjectives), "objectives", loop.MaxObjectives))
	}
	for i, o := range d.Objectives {
		if slices.ContainsFunc(d.Objectives[:i], func(p Objective) bool { return p.Name == o.Name && o.Name != "" }) {
			faults = append(faults, faultAt(fmt.Errorf("objectives: %q is listed twice", o.Name), "objectives", i, "name"))
		}
		if o.Reference != nil && !d.Several() {
			faults = append(faults, faultAt(errors.New("objectives: reference belongs to several objectives"), "objectives", i, "reference"))
		} else if o.Reference != nil && !(math.Abs(*o.Reference) <= loop.MaxValue) {
			faults = append(faults, faultAt(fmt.Errorf("objectives: reference of %q is %v, want a finite number", o.Name, *o.Reference), "objectives", i, "reference"))
		}
		if fault := d.noiseFault(&o); fault != nil {
			faults = append(faults, faultAt(fmt.Errorf("objectives: noise_sd of %q %w", o.Name, fault), "objectives", i, "noise_sd"))
		}
		if fault := d.errorFault(&o); fault != nil {
			faults = append(faults, faultAt(fmt.Errorf("objectives: standard_error of %q %w", o.Name, fault), "objectives", i, "standard_error"))
		}
		if o.Name == "" {
			faults = append(faults, faultAt(errors.New("objectives: name is missing"), "objectives", i))
		} else if strings.ContainsFunc(o.Name, unicode.IsControl) {
			faults = append(faults, faultAt(fmt.Errorf("objectives: the name %q must not hold control characters", o.Name), "objectives", i, "name"))
		}
		if o.Goal != "" && o.Goal != Minimize && o.Goal != Maximize {
			faults = append(faults, faultAt(fmt.Errorf("objectives: goal of %q is %q, want %s or %s", o.Name, o.Goal, Minimize, Maximize), "objectives", i, "goal"))
		}
	}
	return faults
}

// noiseFault returns the fault of the noise of an objective.
func (d *Definition) noiseFault(o *Objective) error {
	_, given := d.Surrogate.Settings["noise"]
	switch {
	case o.NoiseSD == nil:
		return nil
	case !(*o.NoiseSD > 0 && *o.NoiseSD <= loop.MaxValue):
		return fmt.Errorf("is %v, want a positive number; for an exact objective use noise_free: true", *o.NoiseSD)
	case o.NoiseFree:
		return fmt.Errorf("is %v, and it is declared exact: use one of noise_sd and noise_free", *o.NoiseSD)
	case given:
		return errors.New("and noise of surrogate state the same: use one of them")
	}
	return nil
}

// errorFault returns the fault of the standard error of an objective.
func (d *Definition) errorFault(o *Objective) error {
	_, given := d.Surrogate.Settings["noise"]
	switch {
	case o.StandardError == "":
		return nil
	case slices.ContainsFunc(d.Objectives, func(p Objective) bool { return p.Name == o.StandardError }):
		return fmt.Errorf("is %q, an objective: name another number that trials report", o.StandardError)
	case o.NoiseFree:
		return fmt.Errorf("is %q, and it is declared exact: use one of standard_error and noise_free", o.StandardError)
	case given:
		return errors.New("and noise of surrogate state the same: use one of them")
	case !d.takesNoise():
		return fmt.Errorf("is %q, and surrogate %s takes one noise for all values: use gp, or noise_sd", o.StandardError, d.SurrogateName())
	}
	return nil
}

// takesNoise reports whether the surrogate model takes the noise of each value. A name that does not exist is another fault.
func (d *Definition) takesNoise() bool {
	m, err := catalog.NewMethod(d.SurrogateName())
	if err != nil {
		return true
	}
	_, ok := m.Surrogate.(surrogate.NoiseTaker)
	return ok
}

// optionFaults returns the faults of values that package loop does not accept.
func (d *Definition) optionFaults() (faults []error) {
	for _, o := range []struct {
		key   string
		value any
		unset bool
	}{
		{"budget", d.Budget, d.Budget == 0}, {"initial", d.Initial, d.Initial == 0}, {"batch", d.Batch, d.Batch == 0},
		{"workers", d.Workers, d.Workers == 0}, {"design", d.Design, d.Design == ""}, {"warp", d.Warp, d.Warp == ""},
		{"local", d.Local, d.Local == ""},
	} {
		if o.unset {
			continue
		}
		if err := optionFault(o.key, fmt.Sprint(o.value)); err != nil {
			faults = append(faults, faultAt(err, o.key))
		}
	}
	if d.Budget > 0 && d.Initial > d.Budget {
		faults = append(faults, faultAt(fmt.Errorf("initial %d is more than budget %d", d.Initial, d.Budget), "initial"))
	}
	if d.Budget > 0 && d.Batch > d.Budget {
		faults = append(faults, faultAt(fmt.Errorf("batch %d is more than budget %d", d.Batch, d.Budget), "batch"))
	}
	return faults
}

// firstName returns the name of the default surrogate or acquisition function: the first in the
// catalog.
func firstName(key string) string {
	if key == "acquisition" {
		return catalog.Acquisitions()[0].Name
	}
	return catalog.Surrogates()[0].Name
}

// SurrogateName returns the name of the surrogate model, the default if none is stated.
func (d *Definition) SurrogateName() string { return cmp.Or(d.Surrogate.Name, firstName("surrogate")) }

// AcquisitionName returns the name of the acquisition function, the default if none is stated.
func (d *Definition) AcquisitionName() string {
	return cmp.Or(d.Acquisition.Name, firstName("acquisition"))
}

// method returns the method, or every fault of its names and settings. Settings of an unknown
// surrogate or acquisition function are not checked.
func (d *Definition) method() (*catalog.Method, []error) {
	var faults []error
	m, err := catalog.NewMethod(d.SurrogateName())
	surrogate, acquisition := d.Surrogate.Settings, d.Acquisition.Settings
	if err != nil {
		faults, surrogate = append(faults, faultAt(err, "surrogate", "name")), nil
		m, _ = catalog.NewMethod(firstName("surrogate"))
	}
	if err := m.Choose(d.AcquisitionName()); err != nil {
		faults, acquisition = append(faults, faultAt(err, "acquisition", "name")), nil
		_ = m.Choose(firstName("acquisition"))
	}
	for _, group := range []struct {
		owner, prefix string
		settings      map[string]any
	}{{"surrogate", "", surrogate}, {"acquisition", "acquisition.", acquisition}, {"maximizer", "maximizer.", d.Maximizer}} {
		for _, key := range slices.Sorted(maps.Keys(group.settings)) {
			text, err := settingText(group.settings[key])
			if err != nil {
				err = fmt.Errorf("%s: %s: %w", group.owner, key, err)
			} else {
				err = m.Set(group.prefix + key + "=" + text)
			}
			if err != nil {
				faults = append(faults, faultAt(err, group.owner, key))
			}
		}
	}
	return m, faults
}
