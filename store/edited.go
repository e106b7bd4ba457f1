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

// Edited compares two definitions of a study for an Evaluate that was written for the first. It returns an
// error that wraps ErrEdited if the objectives, the requirements, the command or the built-in objective
// differ, or the parameters in more than bounds, scales and steps.
func Edited(was, is *study.Definition) error {
	var differ []string
	for _, part := range []struct {
		name    string
		was, is any
	}{
		{"parameters", unbounded(was), unbounded(is)},
		{"objectives", was.Goals(), is.Goals()},
		{"require", was.Require, is.Require},
		{"command", was.Command, is.Command},
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

// unbounded returns the parameters of a definition without bounds, scales and steps.
func unbounded(d *study.Definition) []space.Parameter {
	params := slices.Clone(d.Parameters)
	for i := range params {
		params[i].Min, params[i].Max, params[i].Log, params[i].Step = 0, 0, false, 0
	}
	return params
}
