package study

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/functionspace/bo/acquisition"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/space/expression"
)

// mean returns the mean function of a definition. It names no parameter with a condition,
// because it must have a value at every point.
func (d *Definition) mean() (loop.Mean, error) {
	if d.PriorMean == "" {
		return loop.Mean{}, nil
	}
	at, on, err := expression.Number(d.PriorMean, d.Parameters)
	if err != nil {
		return loop.Mean{}, fmt.Errorf("prior_mean: %w", err)
	}
	for _, p := range d.Parameters {
		if p.When.Text != "" && slices.Contains(on, p.Name) {
			return loop.Mean{}, fmt.Errorf("prior_mean: %q: %s has a condition: a mean function needs parameters that are always active", d.PriorMean, p.Name)
		}
	}
	return loop.Mean{Text: d.PriorMean, At: at}, nil
}

// beliefFaults returns the faults of the prior mean, optimum and first, with the acquisition function of the
// study or nil.
func (d *Definition) beliefFaults(s *space.Space, a acquisition.Acquisition, wrong map[string]bool) (faults []error) {
	if m, err := d.mean(); err != nil && !wrong["prior_mean"] {
		faults = append(faults, faultAt(err, "prior_mean"))
	} else if err == nil && d.PriorMean != "" {
		if err := m.Check(s); err != nil {
			faults = append(faults, faultAt(fmt.Errorf("prior_mean%s", strings.TrimPrefix(err.Error(), "prior mean")), "prior_mean"))
		} else if d.Several() {
			faults = append(faults, faultAt(fmt.Errorf("prior_mean: it belongs to one objective, and there are %d", len(d.Objectives)), "prior_mean"))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(d.Optimum)) {
		if err := d.Optimum[name].Check(s, name); err != nil {
			faults = append(faults, faultAt(err, "optimum", name))
		}
	}
	if _, ok := a.(acquisition.Logarithmic); a != nil && !ok && len(d.Optimum) > 0 {
		faults = append(faults, faultAt(fmt.Errorf("optimum: acquisition function %s takes no belief about the optimum: use auto, logei, lognei, qlogei or pi", d.Acquisition.Name), "optimum"))
	}
	if n := len(d.First); n > loop.MaxFirst {
		faults = append(faults, faultAt(fmt.Errorf("first has %d points, at most %d", n, loop.MaxFirst), "first", loop.MaxFirst))
	} else if d.Budget > 0 && n > d.Budget {
		faults = append(faults, faultAt(fmt.Errorf("first has %d points, more than budget %d", n, d.Budget), "first", d.Budget))
	}
	o := loop.Options{First: d.First[:min(len(d.First), loop.MaxFirst)], Design: d.Design, Seed: d.Seed}
	i := -1
	for _, err := range o.FirstPoints(s) {
		if i++; err != nil {
			err = fmt.Errorf("first: point %d: %s", i+1, strings.TrimPrefix(err.Error(), space.ErrPoint.Error()+": "))
			faults = append(faults, faultAt(err, append([]any{"first", i}, faultyKey(s, d.First[i])...)...))
		}
	}
	return faults
}

// faultyKey returns the first name in values that is no parameter, or whose value is not one of
// the parameter's; none if there is no such name.
func faultyKey(s *space.Space, values map[string]any) []any {
	by := map[string]space.Parameter{}
	for _, p := range s.Parameters() {
		by[p.Name] = p
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if p, ok := by[name]; !ok || p.Check(values[name]) != nil {
			return []any{name}
		}
	}
	return nil
}
