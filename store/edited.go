package store

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/study"
)

// Edited compares two definitions of a study for an Evaluate that was written for the first. The error wraps
// ErrEdited if one of these differs: the names or goals of the objectives, the names of the requirements, the
// command, its shell or the built-in objective. So it does if the parameters differ in more than order, bounds,
// scales and steps.
func Edited(was, is *study.Definition) error {
	var differ []string
	for _, part := range []struct {
		name    string
		was, is any
	}{
		{"parameters", unbounded(was), unbounded(is)},
		{"objectives", goals(was), goals(is)},
		{"require", required(was), required(is)},
		{"command", was.Command, is.Command},
		{"shell", was.Shell, is.Shell},
		{"builtin", was.Builtin, is.Builtin},
	} {
		before, err := json.Marshal(part.was)
		if err != nil {
			return err
		}
		after, err := json.Marshal(part.is)
		if err != nil {
			return err
		}
		if !bytes.Equal(before, after) {
			differ = append(differ, part.name)
		}
	}
	if len(differ) == 0 {
		return nil
	}
	return fmt.Errorf("%w: %s: start again with the new definition", ErrEdited, strings.Join(differ, ", "))
}

// unbounded returns the parameters of a definition, ordered by name, without bounds, scales and steps.
func unbounded(d *study.Definition) []space.Parameter {
	params := slices.SortedFunc(slices.Values(d.Parameters), func(a, b space.Parameter) int { return strings.Compare(a.Name, b.Name) })
	for i := range params {
		params[i].Min, params[i].Max, params[i].Log, params[i].Step = 0, 0, false, 0
	}
	return params
}

// goals returns the objectives of a definition with no more than names and goals.
func goals(d *study.Definition) []study.Objective {
	all := d.Goals()
	for i, o := range all {
		all[i] = study.Objective{Name: o.Name, Goal: o.Goal}
	}
	return all
}

// required returns the names of the numbers with requirements, ordered and each once.
func required(d *study.Definition) []string {
	var names []string
	for _, r := range d.Requirements() {
		names = append(names, r.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
