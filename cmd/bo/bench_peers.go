package main

import (
	"bufio"
	"encoding/json"
	"fmt"

	"github.com/functionspace/bo/benchmarks/runner"
)

type benchPlanCmd struct {
	Suite    string   `arg:"" help:"Name of a suite (bo bench list)."`
	Problems []string `placeholder:"LIST" help:"Problems of the suite, separated by commas. Default: all."`
	Seeds    *int     `min:"1" placeholder:"N" help:"Seeds 1 to N. Default: the number of the suite."`
}

func (benchPlanCmd) Help() string {
	return `bo bench report compares other programs with bo's methods on the same problems. Each line is a JSON object for a problem and a seed, with the box (lo, hi), the budget and the initial points of every method. If some parameters are not floats on a linear scale, space describes them, and the coordinate of an ordinal or categorical is the index of its value. null is the coordinate of an inactive parameter. A problem of several objectives, all minimised, has its reference point in reference, and in bounds the largest feasible values of further numbers. The program gets values from bo bench evaluate. For each run it writes a line to a file *.jsonl in the directory of the results: the object without lo, hi, points, space, reference and bounds, and with

    method      name of the method
    values      the observed value of each evaluation, in order
    latent      the noise-free values, if bo bench evaluate returned them
    regret      lowest noise-free value so far minus the minimum, if known
    suggest_s   seconds that the choice of each point took
    elapsed_s, version, date

benchmarks/peers contains this program for several Python packages.

Examples:

    bo bench plan peers/core --problems branin --seeds 1
    echo '[3, 2]' | bo bench evaluate peers/core branin --seed 1`
}

func (c *benchPlanCmd) Run(e *env) error {
	sel := runner.Selection{Problems: c.Problems}
	if c.Seeds != nil {
		sel.Seeds = *c.Seeds
	}
	plan, err := tasks(c.Suite, sel)
	if err != nil {
		return err
	}
	_, commit := runner.Version()
	enc := json.NewEncoder(e.stdout)
	for _, run := range plan {
		task := run.Task()
		task.Commit, task.Machine = commit, runner.ThisMachine(1)
		if err := enc.Encode(task); err != nil {
			return err
		}
	}
	return nil
}

// tasks returns the runs of a selection of problems and seeds, each once.
func tasks(name string, sel runner.Selection) ([]runner.Run, error) {
	sel.Methods = []string{runner.Sobol}
	suite, err := runner.Lookup(name)
	if err != nil {
		return nil, usageError{err}
	}
	switch {
	case len(suite.Datasets) > 0:
		return nil, usagef("suite %s has datasets, want a suite with objectives", name)
	case len(suite.Experiments) > 0:
		return nil, usagef("suite %s has experiments, want a suite with objectives", name)
	}
	plan, err := suite.Plan(sel)
	if err != nil {
		return nil, usageError{err}
	}
	return plan, nil
}

type benchEvaluateCmd struct {
	Suite   string `arg:"" help:"Name of a suite (bo bench list)."`
	Problem string `arg:"" help:"Name of a problem of the suite."`
	Seed    int    `default:"1" min:"1" placeholder:"N" help:"Seed of the run. Default: ${default}."`
}

func (benchEvaluateCmd) Help() string {
	return `Each input line is a JSON array with a point in the units of the box of bo bench plan, with null for an inactive parameter. The command immediately prints a line for it: an array of the observed value and, for an objective with noise that has one, the noise-free value. With several objectives these values are negative hypervolumes of all points so far, and the objectives and the bounded numbers at the point follow. null stands for a value that is not finite. The noise depends on the seed, the point and the number of evaluations at the point.`
}

func (c *benchEvaluateCmd) Run(e *env) error {
	plan, err := tasks(c.Suite, runner.Selection{Problems: []string{c.Problem}, Seeds: 1})
	if err != nil {
		return err
	}
	run := plan[0]
	run.Seed = uint64(c.Seed)
	evaluate := run.Evaluator()
	return heed(e.ctx, func() error {
		lines := bufio.NewScanner(e.stdin)
		lines.Buffer(nil, 1<<20)
		enc := json.NewEncoder(e.stdout)
		for n := 1; lines.Scan(); n++ {
			var x runner.Numbers
			if err := json.Unmarshal(lines.Bytes(), &x); err != nil {
				return fmt.Errorf("line %d: %w", n, err)
			}
			values, err := evaluate(x)
			if err != nil {
				return fmt.Errorf("line %d: %w", n, err)
			}
			if err := enc.Encode(values); err != nil {
				return err
			}
		}
		return lines.Err()
	})
}
