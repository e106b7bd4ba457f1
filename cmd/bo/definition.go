package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/functionspace/bo/catalog"
	"github.com/functionspace/bo/internal/didyoumean"
	"github.com/functionspace/bo/internal/settings"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/study"
	"github.com/functionspace/bo/study/studyfile"
)

// storedAlone reports whether a stored study alone defines the objective.
func (c *runCmd) storedAlone() bool {
	return c.Study != "" && c.File == "" && c.Objective == "" && c.Command == ""
}

// readFile is readStudy for the study file.
func (c *runCmd) readFile() (*study.Definition, []string, error) {
	if ext := filepath.Ext(c.File); c.Command != "" && ext != ".json" && ext != ".yaml" && ext != ".yml" {
		return nil, nil, usagef("unexpected argument %q: quote the whole line of --command", c.File)
	}
	return readStudy(c.File)
}

// apply applies the flags to a definition.
func (c *runCmd) apply(d *study.Definition) error {
	for _, step := range []func(*study.Definition) error{c.problem, c.goal, c.method, c.settings, c.beliefs, c.check} {
		if err := step(d); err != nil {
			return err
		}
	}
	return nil
}

// goal applies the flags of one objective.
func (c *runCmd) goal(d *study.Definition) error {
	goals := d.Goals()
	if len(goals) > 1 {
		for _, f := range []struct {
			name  string
			given bool
		}{{"--maximize", c.Maximize}, {"--noise-free", c.NoiseFree}, {"--noise-sd", c.NoiseSD != nil}, {"--target", c.Target != nil}} {
			if f.given {
				return usagef("%s belongs to one objective, and %s has %d", f.name, cmp.Or(c.File, c.Objective, c.Study), len(goals))
			}
		}
	}
	if c.Maximize {
		goals[0].Goal = study.Maximize
	}
	if d.Builtin != "" && goals[0].NoiseFree && c.NoiseSD != nil {
		return usagef("--noise-sd: %s has no noise", d.Builtin)
	}
	goals[0].NoiseFree = goals[0].NoiseFree || c.NoiseFree
	goals[0].NoiseSD = cmp.Or(c.NoiseSD, goals[0].NoiseSD)
	d.Objectives = goals
	return nil
}

// method applies the flags of the program and of the search, without --set.
func (c *runCmd) method(d *study.Definition) error {
	d.Timeout = cmp.Or(study.Duration(c.Timeout), d.Timeout)
	d.Shell = d.Shell || c.Shell
	d.Warp = cmp.Or(c.Warp, d.Warp)
	d.Local = cmp.Or(c.Local, d.Local)
	for _, f := range []struct {
		given *int
		to    *int
	}{{c.Budget, &d.Budget}, {c.Initial, &d.Initial}, {c.Batch, &d.Batch}, {c.Workers, &d.Workers}} {
		if f.given != nil {
			*f.to = *f.given
		}
	}
	if c.Stop != nil {
		if err := settings.Set(&d.Stop, "rule", *c.Stop); err != nil {
			return usagef("--stop: %w", err)
		}
	}
	if c.Seed != nil {
		d.Seed = *c.Seed
	}
	if err := chooseName("surrogate", c.Surrogate, catalog.Surrogates(), &d.Surrogate); err != nil {
		return err
	}
	return chooseName("acquisition", c.Acquisition, catalog.Acquisitions(), &d.Acquisition)
}

// chooseName applies a flag that names a surrogate or an acquisition function.
func chooseName(kind string, name *string, valid []catalog.Entry, to *study.Component) error {
	if name == nil {
		return nil
	}
	names := catalog.Names(valid)
	if !slices.Contains(names, *name) {
		return usagef("unknown %s %q%s", kind, *name, didyoumean.Hint(*name, names))
	}
	to.Name = *name
	return nil
}

// check validates the flags that end a run, and the sizes of the design and the batch.
func (c *runCmd) check(d *study.Definition) error {
	end := study.Definition{Version: study.Version, Parameters: d.Parameters, Objectives: d.Objectives, Require: d.Require}
	end.End = study.End{Cost: c.Cost, Regret: cmp.Or(c.Regret, d.End.Regret), Probability: c.Probability}
	if err := end.CheckEnd(); err != nil {
		return usagef("--%w", err)
	}
	budget := cmp.Or(d.Budget, loop.DefaultBudget)
	switch {
	case d.Initial > budget:
		return usagef("--initial %d is more than --budget %d", d.Initial, budget)
	case d.Batch > budget:
		return usagef("--batch %d is more than --budget %d", d.Batch, budget)
	}
	return nil
}

// problem applies the flags of the objective and of the search space.
func (c *runCmd) problem(d *study.Definition) error {
	switch {
	case c.Objective == "" && c.Command == "" && c.File == "" && c.Study == "":
		return usagef("nothing to optimise: give a study file, --objective NAME, or --command 'PROGRAM …' with --space FILE")
	case c.Objective != "" && c.Command != "":
		return usagef("--objective and --command exclude each other")
	case c.Objective != "" && c.File != "":
		return usagef("--objective and a study file exclude each other: the file defines the objective")
	case c.Objective != "" && c.Space != "":
		return usagef("--space belongs to --command: the objective %s has its own", c.Objective)
	case c.Command == "" && c.File == "" && c.Shell:
		return usagef("--shell belongs to --command")
	case c.Command == "" && c.File == "" && c.Timeout != 0:
		return usagef("--timeout belongs to --command")
	case c.Command != "" && c.Space == "" && c.File == "":
		return usagef("--command needs --space FILE, which defines the parameters")
	}
	if c.Objective != "" {
		d.Builtin = c.Objective
	}
	if c.Command != "" {
		d.Command, d.Builtin = c.Command, ""
	}
	if c.Space != "" {
		s, err := studyfile.ReadSpace(c.Space)
		if err != nil {
			if !errors.As(err, new(syscall.Errno)) { // the file can be read, but defines no search space
				err = usageError{err}
			}
			return err
		}
		d.Parameters, d.Constraints = study.SpaceOf(s)
	}
	if d.Builtin != "" && !c.storedAlone() {
		if err := useBuiltin(d); err != nil {
			return usageError{err}
		}
	}
	if err := d.CheckRun(); err != nil {
		return usageError{err}
	}
	if c.File != "" && d.Command == "" && d.Builtin == "" {
		return usagef("%s has no command: add one, or give --command", c.File)
	}
	return nil
}

// settings applies --set KEY=VALUE.
func (c *runCmd) settings(d *study.Definition) error {
	given := map[string]bool{}
	for _, pair := range c.Set {
		key, text, ok := strings.Cut(pair, "=")
		key, text = strings.TrimSpace(key), strings.TrimSpace(text)
		if !ok || key == "" || text == "" {
			return usagef("invalid setting %q: want key=value", pair)
		}
		if given[key] {
			return usagef("--set %s is given twice", key)
		}
		given[key] = true
		to := &d.Surrogate.Settings
		if rest, ok := strings.CutPrefix(key, "acquisition."); ok {
			to, key = &d.Acquisition.Settings, rest
		} else if rest, ok := strings.CutPrefix(key, "maximizer."); ok {
			to, key = &d.Maximizer, rest
		}
		if *to == nil {
			*to = map[string]any{}
		}
		(*to)[key] = settingValue(text)
	}
	return nil
}

// settingValue returns a setting's text as a JSON value: a number if the text is a number.
func settingValue(text string) any {
	var n json.Number
	if err := json.Unmarshal([]byte(text), &n); err == nil && fmt.Sprint(n) == text {
		return n
	}
	return text
}
