package main

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"syscall"

	"github.com/functionspace/bo/benchmarks"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/space/spacefile"
)

// A target is an objective and its search space.
type target struct {
	name      string // name of the objective, or the command line
	space     *space.Space
	evaluate  loop.Objective
	minimum   *float64 // if known
	noiseFree bool
}

func (c *runCmd) target() (*target, error) {
	switch {
	case c.Objective == "" && c.Command == "":
		return nil, usagef("say what to optimise: --objective NAME, or --command 'PROGRAM …' with --space FILE")
	case c.Objective != "" && c.Command != "":
		return nil, usagef("--objective and --command exclude each other")
	case c.Objective != "":
		return c.builtin()
	}
	return c.program()
}

func (c *runCmd) builtin() (*target, error) {
	switch {
	case c.Space != "":
		return nil, usagef("--space belongs to --command: the objective %s has its own", c.Objective)
	case c.Shell:
		return nil, usagef("--shell belongs to --command")
	case c.Timeout != 0:
		return nil, usagef("--timeout belongs to --command")
	}
	o, err := benchmarks.Lookup(c.Objective)
	if err != nil {
		return nil, usageError{err}
	}
	t := &target{name: o.Name, space: o.Space, noiseFree: o.NoiseFree}
	t.evaluate = func(_ context.Context, at space.Point) (float64, error) { return o.At(at), nil }
	if !c.Maximize && !math.IsNaN(o.Minimum) {
		t.minimum = &o.Minimum
	}
	return t, nil
}

func (c *runCmd) program() (*target, error) {
	if c.Space == "" {
		return nil, usagef("--command needs --space FILE, which states the parameters")
	}
	s, err := spacefile.Read(c.Space)
	if err != nil {
		if !errors.As(err, new(syscall.Errno)) { // the file can be read, but states no space
			err = usageError{err}
		}
		return nil, err
	}
	p, err := newProgram(c.Command, parameterNames(s), c.Shell, c.Timeout)
	if err != nil {
		return nil, err
	}
	evaluate := func(ctx context.Context, at space.Point) (float64, error) {
		input, err := json.Marshal(at)
		if err != nil {
			return 0, err
		}
		return p.evaluate(ctx, at.Text, append(input, '\n'))
	}
	return &target{name: c.Command, space: s, evaluate: evaluate}, nil
}

func parameterNames(s *space.Space) []string {
	var names []string
	for _, p := range s.Parameters() {
		names = append(names, p.Name)
	}
	return names
}
