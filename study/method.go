package study

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
)

// Method returns the options of package loop for a definition, or an error for a
// name or a setting that does not exist. The definition's space must be valid.
func (d *Definition) Method() (loop.Options, error) {
	m, faults := d.method()
	if len(faults) > 0 {
		return loop.Options{}, space.Faults(faults)
	}
	o := d.Objective()
	goals, require := d.Outcomes()
	mean, err := d.mean()
	if err != nil {
		return loop.Options{}, err
	}
	return loop.Options{
		Optimum: d.Optimum, PriorMean: mean, First: d.First,
		Objectives: goals, Require: require,
		Surrogate: m.Surrogate, Acquisition: m.Acquisition, Maximizer: m.Maximizer,
		Initial: d.Initial, Design: d.Design, Batch: d.Batch, Seed: d.Seed, Warp: d.Warp, Local: d.Local,
		Maximize: o.Goal == Maximize, NoiseFree: o.NoiseFree, NoiseSD: o.noiseSD(), StandardError: o.StandardError, Budget: d.Budget, Workers: d.Workers,
	}, nil
}

// Outcomes returns the several objectives, nil for one, and the requirements of a valid definition
// as package loop has them.
func (d *Definition) Outcomes() ([]loop.Goal, []loop.Requirement) {
	var goals []loop.Goal
	if d.Several() {
		for _, g := range d.Goals() {
			goals = append(goals, loop.Goal{Name: g.Name, Maximize: g.Goal == Maximize, NoiseFree: g.NoiseFree, NoiseSD: g.noiseSD(), StandardError: g.StandardError, Reference: g.Reference})
		}
	}
	return goals, d.Requirements()
}

// noiseSD returns the standard deviation of the noise as package loop has it.
func (o *Objective) noiseSD() float64 {
	if o.NoiseSD == nil {
		return 0
	}
	return *o.NoiseSD
}

// settingText writes the value of a setting in the syntax of --set.
func settingText(v any) (string, error) {
	switch v := v.(type) {
	case []any:
		parts := make([]string, len(v))
		for i := range v {
			part, err := settingText(v[i])
			if err != nil {
				return "", err
			}
			parts[i] = part
		}
		return strings.Join(parts, ","), nil
	case string, bool, json.Number, float64, int, uint64:
		return fmt.Sprint(v), nil
	}
	return "", fmt.Errorf("want text, a number, true, false or a list of numbers")
}
