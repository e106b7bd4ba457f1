package main

import (
	"fmt"
	"os"
	"slices"

	benchreport "github.com/functionspace/bo/benchmarks/report"
	"github.com/functionspace/bo/benchmarks/runner"
)

type benchPageCmd struct {
	Dirs     []string `arg:"" optional:"" name:"dir" help:"Directories that bo bench run wrote to: their suites take the place of what the page had of them."`
	Out      string   `placeholder:"DIR" default:"docs/benchmarks" help:"Directory of the summaries, tables and plots; the page is DIR.md. Default ${default}."`
	Baseline string   `placeholder:"METHOD" help:"Method that the others are compared with; default gp, or sobol if there is none."`
	Plots    bool     `negatable:"" default:"true" help:"Draw the plots; on by default."`
}

func (benchPageCmd) Help() string {
	return `The results in each directory are reduced to a summary, OUT/SUITE.json, of less than 200 kB. The page, the tables and the plots are made from all summaries in OUT, with the words in OUT/SUITE.md; a slash in the name of a suite becomes a hyphen.

Examples:

    bo bench page bench/spine bench/peers/core
    bo bench page`
}

func (c *benchPageCmd) Run(e *env) error {
	for _, dir := range c.Dirs {
		r, err := c.summarise(dir)
		if err != nil {
			return err
		}
		path, err := r.Save(c.Out)
		if err != nil {
			return err
		}
		fmt.Fprintln(e.stderr, path)
	}
	if err := c.plot(); err != nil {
		return err
	}
	documents, err := benchreport.Documents(c.Out)
	if err != nil {
		return err
	}
	for _, d := range documents {
		if err := os.WriteFile(d.Path, []byte(d.Text), 0o644); err != nil {
			return err
		}
		fmt.Fprintln(e.stderr, d.Path)
	}
	return nil
}

func (c *benchPageCmd) plot() error {
	if !c.Plots {
		return nil
	}
	reports, err := benchreport.Saved(c.Out)
	if err != nil {
		return err
	}
	for _, r := range reports {
		if _, err := r.SuitePlots(c.Out, benchreport.FileName(r.Suite)+"-"); err != nil {
			return err
		}
	}
	return nil
}

func (c *benchPageCmd) summarise(dir string) (*benchreport.Report, error) {
	records, err := runner.Read(dir)
	if err != nil {
		return nil, err
	}
	if suite, err := runner.Lookup(records[0].Suite); err == nil && len(suite.Datasets) > 0 {
		return nil, usagef("%s: the suite %s is of tables of data, see bo bench report", dir, suite.Name)
	}
	baseline := c.Baseline
	if baseline == "" && slices.ContainsFunc(records, func(r runner.Record) bool { return r.Method == "gp" }) {
		baseline = "gp"
	}
	r, err := benchreport.New(records, baseline)
	return r, reportError(err)
}
