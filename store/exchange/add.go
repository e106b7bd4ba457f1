package exchange

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/functionspace/bo/internal/faults"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/study"
)

// Add records the finished trials of an Import in an existing study, as trials evaluated
// elsewhere, with the steps of their last attempts. Parameters that the study does not have are left out.
// Stopped trials without a step of the objective are lost. With key, a repeated call adds nothing. If trials are not points
// of the study's space or lack a declared number, nothing is added. The error then wraps a
// space.Faults that names the first ten of these trials and the number of the others.
func Add(ctx context.Context, u *store.Study, key string, in *Import) ([]store.Trial, error) {
	v, err := u.Brief(ctx)
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, p := range v.Definition.Parameters {
		known[p.Name] = true
	}
	name, objective := renaming(in.Snapshot.Definition, v.Definition), v.Definition.Objective().Name
	var evaluated []store.Evaluated
	wrong := faults.List{What: "trials"}
	steps := map[[2]int][]store.Step{} // by trial number and attempt
	for _, step := range in.Snapshot.Steps {
		step.Name = name(step.Name)
		attempt := [2]int{step.Trial, step.Attempt}
		steps[attempt] = append(steps[attempt], step)
	}
	for i := range in.Snapshot.Trials {
		t := &in.Snapshot.Trials[i]
		if t.State == store.Pending {
			continue
		}
		e := store.Evaluated{Params: map[string]any{}, Numbers: map[string]float64{}, Failure: t.Failure, Message: t.Message, Steps: steps[[2]int{t.Number, t.Attempt}]}
		var values map[string]any
		if err := json.Unmarshal(t.Params, &values); err != nil {
			wrong.Add(fmt.Errorf("trial %d: params: %w", t.Number, err))
			continue
		}
		for name, value := range values {
			if known[name] {
				e.Params[name] = value
			}
		}
		p, err := v.Space.PointWith(e.Params, v.Definition.Defaults)
		if err != nil {
			wrong.Add(fmt.Errorf("trial %d: %w", t.Number, err))
			continue
		}
		addDefaults(e.Params, p, v.Definition)
		for number, value := range t.Numbers {
			e.Numbers[name(number)] = value
		}
		if t.State == store.Stopped {
			e.Message = "stopped early"
			if e.Stopped = slices.ContainsFunc(e.Steps, func(s store.Step) bool { return s.Name == objective }); !e.Stopped {
				e.Failure = store.Lost
			}
		}
		if err := v.Definition.Missing(e.Numbers); err != nil && e.Failure == "" && !e.Stopped {
			wrong.Add(fmt.Errorf("trial %d: %w", t.Number, err))
			continue
		}
		evaluated = append(evaluated, e)
	}
	if list := wrong.Errors(); list != nil {
		return nil, space.Faults(list)
	}
	return u.Add(ctx, key, evaluated...)
}

// renaming returns the function from the names of numbers of one study to the names of another. The
// objectives take the names of the other study in order, unless the studies share the name of an objective.
func renaming(from, to *study.Definition) func(name string) string {
	names := map[string]string{}
	old, goals := from.Goals(), to.Goals()
	for i := range min(len(old), len(goals)) {
		names[old[i].Name] = goals[i].Name
	}
	if slices.ContainsFunc(goals, func(o study.Objective) bool { return names[o.Name] != "" }) {
		clear(names)
	}
	return func(name string) string { return cmp.Or(names[name], name) }
}
