package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/functionspace/bo/benchmarks/pages/performance"
)

type performanceCmd struct {
	Rounds int    `default:"5" help:"Runs of each measurement; the fastest counts (default ${default})."`
	Before string `placeholder:"COMMIT" help:"Commit to compare suggestions with, in turn."`
	Python string `default:"python3" placeholder:"PYTHON" help:"Interpreter with BoTorch (default ${default})."`
	Only   string `placeholder:"REGEXP" help:"Print the sections with these titles and leave the page as it is."`
	Out    string `default:"docs/performance.md" placeholder:"FILE" help:"The page (default ${default})."`
}

func (performanceCmd) Help() string {
	return `The command runs the benchmarks of this repository and writes the page of their times. It takes some minutes. Sections with OpenBLAS need a C compiler and the library, and the section with BoTorch a Python environment (benchmarks/peers/requirements.txt).

Examples:

    go run ./benchmarks/pages performance --python venv/bin/python
    go run ./benchmarks/pages performance --only 'Batches|BoTorch' --rounds 3 --python venv/bin/python
    go run ./benchmarks/pages performance --only Suggestions --before v0.1.0`
}

func (c *performanceCmd) Run(e *env) error {
	if c.Rounds < 1 {
		return errors.New("--rounds is below 1")
	}
	text, err := performance.Page(e.ctx, performance.Options{Rounds: c.Rounds, Before: c.Before, Python: c.Python, Only: c.Only, Log: e.stderr})
	if err != nil {
		return err
	}
	if c.Only != "" {
		_, err := fmt.Fprint(e.stdout, text)
		return err
	}
	return os.WriteFile(c.Out, []byte(text), 0o644)
}
