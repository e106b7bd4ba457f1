package loop

import (
	"fmt"
	"maps"
	"math"
	"slices"
)

// MaxObjectives is the largest number of objectives.
const MaxObjectives = 20

// Goal is one of several objectives: a number that every complete trial reports.
type Goal struct {
	Name string `json:"name"`
	// Maximize searches for large values instead of small ones.
	Maximize bool `json:"maximize,omitempty"`
	// NoiseFree declares that equal points have equal values.
	NoiseFree bool `json:"noise_free,omitempty"`
	// NoiseSD is the standard deviation of the noise, as Options.NoiseSD has it.
	NoiseSD float64 `json:"noise_sd,omitempty"`
	// StandardError names the number of a trial that is the standard error of its value, as Options.StandardError does.
	StandardError string `json:"standard_error,omitempty"`
	// Reference is the coordinate of the reference point, a value that is just
	// acceptable: only better values add to the hypervolume. Nil is inferred: the worst
	// value of the Pareto front, and a tenth of the range of the feasible trials beyond.
	Reference *float64 `json:"reference,omitempty"`
}

// sign returns the factor that turns values of the objective into values to be minimised.
func (o *Goal) sign() float64 {
	if o.Maximize {
		return -1
	}
	return 1
}

// Requirement is an outcome constraint: a condition on a number that every complete trial
// reports, known only after the evaluation.
type Requirement struct {
	Name    string  `json:"name"`
	AtLeast bool    `json:"at_least,omitempty"` // the number is at least Bound; otherwise at most
	Bound   float64 `json:"bound"`
}

// String writes the requirement as in a study file, such as "latency <= 20".
func (r Requirement) String() string {
	if r.AtLeast {
		return fmt.Sprintf("%s >= %v", r.Name, r.Bound)
	}
	return fmt.Sprintf("%s <= %v", r.Name, r.Bound)
}

// sign returns the factor that turns the requirement into an upper bound.
func (r Requirement) sign() float64 {
	if r.AtLeast {
		return -1
	}
	return 1
}

// Met reports whether a number meets the requirement.
func (r Requirement) Met(v float64) bool { return r.sign()*v <= r.sign()*r.Bound }

// Outcome is the result of an evaluation.
type Outcome struct {
	// Value is the objective. It is not used with Options.Objectives.
	Value float64
	// Numbers are further results by name. They hold every number that Options.Objectives
	// and Options.Require name. Another number that is NaN, infinite or beyond MaxValue is left out
	// of the trial.
	Numbers map[string]float64
}

// Several reports whether there are several objectives.
func (o *Options) Several() bool { return len(o.Objectives) > 0 }

// checkOutcomes returns an error that wraps ErrOptions for invalid Objectives or Require, and for a
// stopping rule with several objectives.
func (o *Options) checkOutcomes() error {
	seen := map[string]bool{}
	if n := len(o.Objectives); n == 1 || n > MaxObjectives {
		return fmt.Errorf("%w: %d entries of Objectives, want none or 2 to %d", ErrOptions, n, MaxObjectives)
	} else if n > 1 && o.Stop.Active() {
		return fmt.Errorf("%w: stop: rule %s compares values of one objective, and there are %d", ErrOptions, o.Stop.Rule, n)
	}
	for i, g := range o.Objectives {
		switch {
		case g.Name == "":
			return fmt.Errorf("%w: objective %d has no name", ErrOptions, i+1)
		case seen[g.Name]:
			return fmt.Errorf("%w: objective %q is listed twice", ErrOptions, g.Name)
		case g.Reference != nil && checkValue(*g.Reference) != nil:
			return fmt.Errorf("%w: the reference of objective %q is %v, want a finite number", ErrOptions, g.Name, *g.Reference)
		}
		seen[g.Name] = true
	}
	for i, r := range o.Require {
		switch {
		case r.Name == "":
			return fmt.Errorf("%w: requirement %d has no name", ErrOptions, i+1)
		case checkValue(r.Bound) != nil:
			return fmt.Errorf("%w: the bound of %q is %v, want a finite number", ErrOptions, r.Name, r.Bound)
		}
	}
	return nil
}

// CheckOutcome returns nil if out has all numbers that a complete trial needs, all of them are usable, and no
// standard error is negative. Otherwise the error wraps ErrNotFinite. Other numbers are not checked.
func (o *Options) CheckOutcome(out Outcome) error {
	if !o.Several() {
		if err := checkValue(out.Value); err != nil {
			return err
		}
	}
	if err := o.checkNames(out); err != nil {
		return err
	}
	var needed []string
	for _, g := range o.Objectives {
		needed = append(needed, g.Name)
	}
	for _, r := range o.Require {
		needed = append(needed, r.Name)
	}
	slices.Sort(needed)
	for _, name := range needed {
		if err := checkValue(out.Numbers[name]); err != nil {
			return fmt.Errorf("%w (%s)", err, name)
		}
	}
	for _, name := range o.standardErrors() {
		if sd := out.Numbers[name]; sd < 0 {
			return fmt.Errorf("%w: the standard error %s is %v, want a number of at least 0", ErrNotFinite, name, sd)
		}
	}
	return nil
}

// checkNames returns an error that wraps ErrNotFinite if out lacks a number of an objective or a requirement.
func (o *Options) checkNames(out Outcome) error {
	for _, g := range o.Objectives {
		if _, ok := out.Numbers[g.Name]; !ok {
			return fmt.Errorf("%w: there is no number named %q, which is an objective", ErrNotFinite, g.Name)
		}
	}
	for _, r := range o.Require {
		if _, ok := out.Numbers[r.Name]; !ok {
			return fmt.Errorf("%w: there is no number named %q, which the requirement %s needs", ErrNotFinite, r.Name, r)
		}
	}
	return nil
}

// usable returns a copy of the numbers that are usable, nil if there are none.
func usable(numbers map[string]float64) map[string]float64 {
	out := maps.Clone(numbers)
	maps.DeleteFunc(out, func(_ string, v float64) bool { return checkValue(v) != nil })
	if len(out) == 0 {
		return nil
	}
	return out
}

// Feasible reports whether a trial is complete, meets all requirements and is not Outside.
func (o *Options) Feasible(t *Trial) bool {
	return t.State == Complete && !t.Outside && !slices.ContainsFunc(o.Require, func(r Requirement) bool { return !r.Met(t.Numbers[r.Name]) })
}

// Best returns the index of the best trial, -1 if no trial is complete or there are
// several objectives. It is the first feasible trial with the best observed value. If no
// trial is feasible, it is the trial with the smallest sum of violations of the requirements. A violation is
// the distance to the bound in units of the range of the number over all complete trials. A number that is
// equal in all of them does not order the trials and is left out.
func (o *Options) Best(trials []Trial) int {
	if o.Several() {
		return -1
	}
	found := -1
	sign := o.sign()
	for i := range trials {
		if t := &trials[i]; o.Feasible(t) && (found < 0 || sign*t.Value < sign*trials[found].Value) {
			found = i
		}
	}
	if found >= 0 || len(o.Require) == 0 {
		return found
	}
	least := math.Inf(1)
	for i, v := range o.violations(trials) {
		if trials[i].State == Complete && !trials[i].Outside && (found < 0 || v < least) {
			found, least = i, v
		}
	}
	return found
}

// violations returns the violation of the requirements by each complete trial, as Best
// defines it.
func (o *Options) violations(trials []Trial) []float64 {
	sums := make([]float64, len(trials))
	for _, r := range o.Require {
		low, high := math.Inf(1), math.Inf(-1)
		for i := range trials {
			if t := &trials[i]; t.State == Complete {
				low, high = min(low, t.Numbers[r.Name]/2), max(high, t.Numbers[r.Name]/2)
			}
		}
		if !(low < high) {
			continue
		}
		for i := range trials {
			if t := &trials[i]; t.State == Complete && !r.Met(t.Numbers[r.Name]) {
				excess := math.Abs(t.Numbers[r.Name]/2 - r.Bound/2)
				sums[i] += excess / (high - low)
			}
		}
	}
	return sums
}
