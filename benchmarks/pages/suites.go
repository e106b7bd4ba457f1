package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/functionspace/bo/benchmarks/pages/figures"
	"github.com/functionspace/bo/benchmarks/pages/internal/published"
	"github.com/functionspace/bo/benchmarks/pages/suites"
	"github.com/functionspace/bo/benchmarks/report"
	"github.com/functionspace/bo/benchmarks/runner"
)

type suitesCmd struct {
	Dirs     []string `arg:"" optional:"" name:"dir" help:"Results of bo bench run, which replace the summaries of their suites."`
	Out      string   `placeholder:"DIR" default:"docs/benchmarks" help:"Directory of summaries, tables and plots; the page is DIR.md (default ${default})."`
	Baseline string   `placeholder:"METHOD" help:"Method to compare the others with (default gp, or sobol without results of gp)."`
	Plots    bool     `negatable:"" default:"true" help:"Draw the plots; on by default."`
}

func (suitesCmd) Help() string {
	return `The command reduces the results in each DIR to a summary OUT/SUITE.json of less than 200 kB. From all summaries in OUT it makes the page, the tables and the plots, with the hand-written text in OUT/SUITE.md. A slash in the name of a suite becomes a hyphen.

Examples:

    go run ./benchmarks/pages suites bench/spine bench/peers/core
    go run ./benchmarks/pages suites`
}

func (c *suitesCmd) Run(e *env) error {
	for _, dir := range c.Dirs {
		r, err := c.summarise(dir)
		if err != nil {
			return err
		}
		path, err := suites.Save(r, c.Out)
		if err != nil {
			return err
		}
		fmt.Fprintln(e.stderr, path)
	}
	if err := c.plot(); err != nil {
		return err
	}
	documents, err := suites.Documents(c.Out)
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

func (c *suitesCmd) plot() error {
	if !c.Plots {
		return nil
	}
	reports, err := suites.Saved(c.Out)
	if err != nil {
		return err
	}
	for _, r := range reports {
		if _, err := suites.SuitePlots(r, c.Out, suites.FileName(r.Suite)+"-"); err != nil {
			return err
		}
	}
	return nil
}

func (c *suitesCmd) summarise(dir string) (*report.Report, error) {
	records, err := runner.Read(dir)
	if err != nil {
		return nil, err
	}
	if hasExperiments(records) {
		return nil, fmt.Errorf("%s: %s is a suite of experiments: use pages results", dir, records[0].Suite)
	}
	if hasDatasets(records) {
		return nil, fmt.Errorf("%s: %s is a suite of datasets: use pages results", dir, records[0].Suite)
	}
	baseline := c.Baseline
	if baseline == "" && slices.ContainsFunc(records, func(r runner.Record) bool { return r.Method == "gp" }) {
		baseline = "gp"
	}
	return report.New(records, baseline)
}

// hasDatasets reports whether records are of a suite of datasets.
func hasDatasets(records []runner.Record) bool {
	suite, err := runner.Lookup(records[0].Suite)
	return err == nil && len(suite.Datasets) > 0
}

// hasExperiments reports whether records are of a suite of experiments.
func hasExperiments(records []runner.Record) bool {
	suite, err := runner.Lookup(records[0].Suite)
	return err == nil && len(suite.Experiments) > 0
}

type resultsCmd struct {
	Dir      string `arg:"" help:"Results of bo bench run: all .jsonl files of the directory."`
	Baseline string `placeholder:"METHOD" help:"Method to compare the others with (default sobol)."`
	Plots    bool   `negatable:"" default:"true" help:"Write plots to DIR/plots; on by default."`
	Part     string `placeholder:"PART" default:"all" enum:"all,summary,datasets,tables" help:"Part of the report of a suite of datasets: all, the summary of the papers' numbers, the tables of the datasets, or all tables but the summary (default ${default})."`
	Each     bool   `name:"each-split" help:"Where held-out rows choose settings, choose for each split alone, and not for each dataset."`
}

func (resultsCmd) Help() string {
	return `For a suite of datasets or experiments the tables also have the results of papers.

Example:

    go run ./benchmarks/pages results docs/benchmarks/ocean`
}

func (c *resultsCmd) Run(e *env) error {
	records, err := runner.Read(c.Dir)
	if err != nil {
		return err
	}
	if hasExperiments(records) {
		r, err := report.NewMeasured(records, published.Literature().Measured)
		if err != nil {
			return err
		}
		return r.WriteMarkdown(e.stdout)
	}
	if hasDatasets(records) {
		if c.Each {
			records = report.EachSplit(records)
		}
		r, err := report.NewRegression(records, published.Literature())
		if err != nil {
			return err
		}
		if err := c.plot(e, func(dir string) ([]string, error) { return figures.Predictions(records, dir) }); err != nil {
			return err
		}
		switch c.Part {
		case "summary":
			return r.WriteSummary(e.stdout)
		case "datasets":
			return r.WriteDatasets(e.stdout)
		case "tables":
			return r.WriteTables(e.stdout)
		}
		return r.WriteMarkdown(e.stdout)
	}
	r, err := report.New(records, c.Baseline)
	if err != nil {
		return err
	}
	if err := c.plot(e, func(dir string) ([]string, error) { return suites.Plots(r, dir) }); err != nil {
		return err
	}
	return r.WriteMarkdown(e.stdout)
}

// plot writes plots to DIR/plots.
func (c *resultsCmd) plot(e *env, write func(dir string) ([]string, error)) error {
	if !c.Plots {
		return nil
	}
	dir := filepath.Join(c.Dir, "plots")
	paths, err := write(dir)
	if len(paths) > 0 {
		fmt.Fprintf(e.stderr, "%d plots in %s\n", len(paths), dir)
	}
	return err
}
