package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"github.com/functionspace/bo/benchmarks"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/study"
)

// target is an objective with its known minimum.
type target struct {
	name     string // name of the objective, or the command line
	evaluate store.Evaluate
	minimum  *float64 // if known
}

// objective returns the objective of a valid definition.
func (s *session) objective(d *study.Definition) (*target, error) {
	if d.Builtin != "" {
		return builtin(d)
	}
	p, err := newProgram(d.Command, placeholdersOf(d), d.Shell, d.Timeout.Value())
	if err != nil {
		return nil, err
	}
	reported := *d
	reported.End.Cost = cmp.Or(s.Cost, d.End.Cost)
	p.declared = reported.Reported()
	if s.Study != "" || s.File != "" {
		p.dir = s.trialsFolder(d.Name)
	}
	p.warn, p.halt = s.warn, func(err error) { s.stop(err) }
	evaluate := func(ctx context.Context, t store.Trial, at space.Point) (store.Report, error) {
		return p.evaluate(ctx, newCall(d.Name, t, at))
	}
	return &target{name: d.Command, evaluate: evaluate}, nil
}

func builtin(d *study.Definition) (*target, error) {
	o, err := benchmarks.Lookup(d.Builtin)
	if err != nil {
		return nil, err
	}
	t := &target{name: o.Name}
	if o.Outcomes != nil {
		names := o.Outcomes.Names()
		t.evaluate = func(_ context.Context, _ store.Trial, at space.Point) (store.Report, error) {
			numbers := map[string]float64{}
			for j, v := range o.Outcomes.Func(o.Coordinates(at)) {
				numbers[names[j]] = v
			}
			return store.Report{Numbers: numbers}, nil
		}
		return t, nil
	}
	name := d.Objective().Name
	t.evaluate = func(_ context.Context, _ store.Trial, at space.Point) (store.Report, error) {
		return store.Report{Numbers: map[string]float64{name: o.At(at)}}, nil
	}
	if d.Objective().Goal == study.Minimize && !math.IsNaN(o.Minimum) {
		t.minimum = &o.Minimum
	}
	return t, nil
}

// trialsFolder returns the folder for the output of a stored study's programs. It lies beside
// the file of the store, or in the working folder if the store is a server.
func (f storeFlags) trialsFolder(name string) string {
	dir := "."
	if f.Store != "" && !isPostgres(f.Store) {
		dir = filepath.Dir(f.Store)
	}
	return filepath.Join(dir, "bo-trials", name)
}

// call is one evaluation by a program.
type call struct {
	study   string
	trial   store.Trial
	at      space.Point
	numbers map[string]string // values of the placeholders that are not parameters
}

// The placeholders that are not parameters.
const (
	placeholderStudy   = "bo.study"
	placeholderTrial   = "bo.trial"
	placeholderAttempt = "bo.attempt"
)

func newCall(name string, t store.Trial, at space.Point) *call {
	return &call{name, t, at, map[string]string{
		placeholderStudy: name, placeholderTrial: fmt.Sprint(t.Number), placeholderAttempt: fmt.Sprint(t.Attempt),
	}}
}

// value returns the text of a placeholder.
func (c *call) value(name string) string {
	if text, ok := c.numbers[name]; ok {
		return text
	}
	return c.at.Text(name)
}

// active reports whether a placeholder has a value.
func (c *call) active(name string) bool {
	_, own := c.numbers[name]
	return own || c.at.Active(name)
}

// input returns the object for standard input: the active parameters, and the trial under "bo".
func (c *call) input() ([]byte, error) {
	params, err := json.Marshal(c.at)
	if err != nil {
		return nil, err
	}
	own, err := json.Marshal(map[string]any{"study": c.study, "trial": c.trial.Number, "attempt": c.trial.Attempt})
	if err != nil {
		return nil, err
	}
	params = bytes.TrimSuffix(params, []byte("}"))
	if len(params) > 1 {
		params = append(params, ',')
	}
	return fmt.Appendf(params, "\"bo\":%s}\n", own), nil
}

// environment returns the environment of the program: the environment of this process without
// the address of the store, and the trial.
func (c *call) environment(dir string) []string {
	var env []string
	for _, pair := range os.Environ() {
		if !hidden(pair) {
			env = append(env, pair)
		}
	}
	env = append(env, "BO_STUDY="+c.study, "BO_TRIAL="+c.numbers[placeholderTrial], "BO_ATTEMPT="+c.numbers[placeholderAttempt])
	if dir != "" {
		env = append(env, "BO_DIR="+dir)
	}
	return env
}
