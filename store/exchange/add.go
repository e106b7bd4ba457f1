package exchange

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/functionspace/bo/internal/faults"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/store"
)

// Add records the finished trials of an Import in an existing study, as trials evaluated
// elsewhere, with their steps. Parameters that the study does not have are left out;
// stopped trials count as failed. With key, a repeated call adds nothing. If trials are not points
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
	from, to := in.Snapshot.Definition.Objective().Name, v.Definition.Objective().Name
	var evaluated []store.Evaluated
	wrong := faults.List{What: "trials"}
	position := map[int]int{} // index in evaluated by trial number
	for i := range in.Snapshot.Trials {
		t := &in.Snapshot.Trials[i]
		if t.State == store.Pending {
			continue
		}
		e := store.Evaluated{Params: map[string]any{}, Numbers: map[string]float64{}, Failure: t.Failure, Message: t.Message}
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
		for name, value := range t.Numbers {
			e.Numbers[renamed(name, from, to)] = value
		}
		if t.State == store.Stopped {
			e.Failure, e.Message = store.FailedByProgram, "stopped early"
		}
		if err := v.Definition.Missing(e.Numbers); err != nil && e.Failure == "" {
			wrong.Add(fmt.Errorf("trial %d: %w", t.Number, err))
			continue
		}
		evaluated = append(evaluated, e)
		position[t.Number] = len(evaluated) - 1
	}
	if list := wrong.Errors(); list != nil {
		return nil, space.Faults(list)
	}
	before := len(v.Trials)
	added, err := u.Add(ctx, key, evaluated...)
	if err != nil || len(added) == 0 || added[0].Number <= before {
		return added, err
	}
	var steps []store.Step
	for _, step := range in.Snapshot.Steps {
		if i, ok := position[step.Trial]; ok {
			step.Trial, step.Name = added[i].Number, renamed(step.Name, from, to)
			steps = append(steps, step)
		}
	}
	return added, u.AddSteps(ctx, steps...)
}

// renamed returns a number's name in a study whose objective has the name to.
func renamed(name, from, to string) string {
	if name == from {
		return to
	}
	return name
}
