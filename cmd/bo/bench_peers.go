package main

import (
	"bufio"
	"encoding/json"
	"fmt"

	"github.com/functionspace/bo/benchmarks/runner"
)

type benchPlanCmd struct {
	Suite    string   `arg:"" help:"One of the names that bo bench list shows."`
	Problems []string `placeholder:"LIST" help:"Only these problems of the suite."`
	Seeds    *int     `placeholder:"N" help:"The seeds 1 to N; default the suite's number."`
}

func (benchPlanCmd) Help() string {
	return `Other programs can be measured on the problems of a suite, and bo bench report shows them beside bo's methods. Each line is a JSON object: a problem and a seed, with the box (lo, hi), the budget and the initial points, with which every method begins. The values come from bo bench evaluate. The program writes a line for each run to a file *.jsonl in the directory of the results: the object without lo, hi and points, and with

    method      a name
    values      the observed value of each evaluation, in order
    latent      the values without noise, if bo bench evaluate gave them
    regret      least value without noise so far, less the minimum, if there is one
    suggest_s   seconds of choosing each point
    elapsed_s, version, date

benchmarks/peers does this for several Python packages.

Examples:

    bo bench plan peers/core --problems branin --seeds 1
    echo '[3, 2]' | bo bench evaluate peers/core branin --seed 1`
}

func (c *benchPlanCmd) Run(e *env) error {
	plan, err := tasks(c.Suite, c.Problems, c.Seeds)
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

// tasks are the runs of a suite of problems, each once.
func tasks(name string, problems []string, seeds *int) ([]runner.Run, error) {
	sel := runner.Selection{Problems: problems, Methods: []string{runner.Sobol}}
	if seeds != nil {
		if *seeds < 1 {
			return nil, usagef("--seeds is %d, want 1 or more", *seeds)
		}
		sel.Seeds = *seeds
	}
	suite, err := runner.Lookup(name)
	if err != nil {
		return nil, usageError{err}
	}
	if len(suite.Datasets) > 0 {
		return nil, usagef("the suite %s has tables, not functions to evaluate", name)
	}
	plan, err := suite.Plan(sel)
	if err != nil {
		return nil, usageError{err}
	}
	return plan, nil
}

type benchEvaluateCmd struct {
	Suite   string `arg:"" help:"One of the names that bo bench list shows."`
	Problem string `arg:"" help:"A problem of the suite."`
	Seed    int    `default:"1" placeholder:"N" help:"Seed of the run; default 1."`
}

func (benchEvaluateCmd) Help() string {
	return `Reads points from standard input, each a line with a JSON array in the units of the box that bo bench plan shows, and answers each at once with a line: an array of the observed value and, if noise was added, the value without it; null for what is not finite. Noise depends on the seed, the point and how often it came before.`
}

func (c *benchEvaluateCmd) Run(e *env) error {
	if c.Seed < 1 {
		return usagef("--seed is %d, want 1 or more", c.Seed)
	}
	plan, err := tasks(c.Suite, []string{c.Problem}, &c.Seed)
	if err != nil {
		return err
	}
	evaluate := plan[c.Seed-1].Evaluator()
	return heed(e.ctx, func() error {
		lines := bufio.NewScanner(e.stdin)
		lines.Buffer(nil, 1<<20)
		enc := json.NewEncoder(e.stdout)
		for n := 1; lines.Scan(); n++ {
			var x []float64
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
