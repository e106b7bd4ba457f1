package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	benchreport "github.com/functionspace/bo/benchmarks/report"
	"github.com/functionspace/bo/benchmarks/runner"
)

type benchCmd struct {
	List   benchListCmd   `cmd:"" help:"List the suites."`
	Run    benchRunCmd    `cmd:"" help:"Measure methods on a suite; an interrupted command continues when repeated."`
	Report benchReportCmd `cmd:"" help:"Print tables of the results in a directory."`

	Plan     benchPlanCmd     `cmd:"" help:"Print the runs of a suite as JSON Lines, for another program."`
	Evaluate benchEvaluateCmd `cmd:"" help:"Evaluate an objective of a suite at points from standard input, for another program."`
}

type benchListCmd struct{}

func (benchListCmd) Run(e *env) error {
	for i, s := range runner.Suites() {
		if i > 0 {
			fmt.Fprintln(e.stdout)
		}
		var problems []string
		seeds := fmt.Sprint(s.Seeds)
		for _, p := range s.Problems {
			problems = append(problems, fmt.Sprintf("%s at %d", p.Name(), p.Budget))
		}
		for _, d := range s.Datasets {
			problems = append(problems, d.Name)
			if d.Draw == nil {
				seeds = "splits in the folder of each dataset"
			}
		}
		for _, x := range s.Experiments {
			problems = append(problems, x.Name)
		}
		err := columns(e.stdout, func(row func(cells ...string)) {
			row(s.Name, s.Summary)
			row("  methods", strings.Join(s.Methods, ", "))
			row("  seeds", seeds)
			row("  problems", strings.Join(problems, ", "))
			for _, a := range s.Aliases {
				row("  "+a.Name, a.String())
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

type benchRunCmd struct {
	Suite    string   `arg:"" help:"Name of a suite (bo bench list)."`
	Methods  []string `sep:"none" placeholder:"LIST" help:"Methods instead of the suite's, separated by commas: surrogates, sobol, random or aliases of the suite. NAME:key=value;key=value adds settings; noise-free=false hides that an objective is noise-free. Repeatable."`
	Problems []string `placeholder:"LIST" help:"Problems of the suite, separated by commas. Default: all."`
	Seeds    *int     `min:"1" placeholder:"N" help:"Seeds 1 to N, or the first N splits of each dataset. Default: the number of the suite."`
	Data     string   `placeholder:"DIR" help:"Directory with the folders of data that the suite reads."`
	Out      string   `placeholder:"DIR" help:"Directory of the results. Default: bench/SUITE."`
	Workers  *int     `min:"1" placeholder:"N" help:"Number of parallel runs. Default: one per core. Use 1 to compare times."`
	Retry    bool     `help:"Repeat failed runs."`
	Quiet    bool     `help:"Print no progress."`
}

func (benchRunCmd) Help() string {
	return `All methods start a problem and seed with the same points. Each finished run appends a line to DIR/runs.jsonl. The same command continues after an interruption and skips finished runs.

Examples:

    bo bench run spine --methods gp,sobol
    bo bench run spine --methods 'gp:kernel=rbf,gp:acquisition=mes' --problems branin,levy4 --seeds 20 --out rbf
    bo bench run uci --data data --problems yacht,boston --seeds 5
    bo bench report bench/spine`
}

func (c *benchRunCmd) Run(e *env) error {
	suite, plan, err := c.plan()
	if err != nil {
		return err
	}
	dir, workers := cmp.Or(c.Out, filepath.Join("bench", filepath.FromSlash(suite.Name))), runtime.NumCPU()
	if c.Workers != nil {
		workers = *c.Workers
	}
	store, err := runner.OpenStore(dir)
	if err != nil {
		return err
	}
	defer store.Close()
	left, err := store.Remaining(plan, c.Retry)
	if err != nil {
		return usageError{err}
	}
	version, commit := runner.Version()
	c.logf(e, "%s: %d of %d runs to do, %d in parallel", filepath.Join(dir, "runs.jsonl"), len(left), len(plan), workers)
	if text := mixture(store.Commits(), commit); text != "" && len(left) > 0 {
		c.logf(e, "bo: warning: %s", text)
	}
	machine := runner.ThisMachine(workers)
	started, done, failed := time.Now(), 0, 0
	err = runner.Execute(e.ctx, left, workers, func(r runner.Record) error {
		r.Version, r.Commit, r.Machine = version, commit, machine
		if err := store.Append(r); err != nil {
			return err
		}
		done++
		if r.Error != "" {
			failed++
		}
		remaining := time.Since(started).Seconds() / float64(done) * float64(len(left)-done)
		c.logf(e, "%*d/%d  %s", len(fmt.Sprint(len(plan))), len(plan)-len(left)+done, len(plan), outcome(r, remaining))
		return nil
	})
	switch {
	case errors.Is(err, context.Canceled) && e.ctx.Err() != nil:
		fmt.Fprintf(e.stderr, "bo: interrupted after %d of %d runs; the same command continues\n", len(plan)-len(left)+done, len(plan))
		return errInterrupted
	case err != nil:
		return err
	case failed > 0:
		return fmt.Errorf("%d of %d runs failed: bo bench report %s shows the errors, --retry repeats the runs", failed, len(left), dir)
	}
	return nil
}

// plan returns the suite and the selected runs.
func (c *benchRunCmd) plan() (suite runner.Suite, plan []runner.Run, err error) {
	if suite, err = runner.Lookup(c.Suite); err != nil {
		return suite, nil, usageError{err}
	}
	sel := runner.Selection{Problems: c.Problems, Data: c.Data}
	if c.Seeds != nil {
		sel.Seeds = *c.Seeds
	}
	for _, list := range c.Methods {
		sel.Methods = append(sel.Methods, runner.SplitMethods(list)...)
	}
	if len(suite.Folders()) > 0 && c.Data == "" {
		return suite, nil, usagef("suite %s: missing --data DIR with the folders %s", suite.Name, strings.Join(suite.Folders(), ", "))
	}
	if plan, err = suite.Plan(sel); err != nil && !errors.Is(err, runner.ErrData) {
		err = usageError{err}
	}
	return suite, plan, err
}

// mixture returns the warning about results of other commits, "" without them.
func mixture(stored []string, commit string) string {
	var old []string
	for _, s := range stored {
		if s != commit {
			old = append(old, cmp.Or(s, "unknown"))
		}
	}
	if old == nil {
		return ""
	}
	return fmt.Sprintf("the results mix commits %s and %s: use another --out to separate them", strings.Join(old, ", "), cmp.Or(commit, "unknown"))
}

func (c *benchRunCmd) logf(e *env, format string, args ...any) {
	if !c.Quiet {
		fmt.Fprintf(e.stderr, format+"\n", args...)
	}
}

func outcome(r runner.Record, remaining float64) string {
	head := fmt.Sprintf("%s %s seed %d", r.Problem, r.Method, r.Seed)
	if r.Error != "" {
		return head + "  failed: " + oneLine(r.Error)
	}
	if s := r.Score; s != nil {
		return fmt.Sprintf("%s  log density %.3f, rmse %.3g  in %s", head, s.LogDensity, s.RMSE, duration(r.Elapsed)) + left(remaining)
	}
	if r.Measures != nil {
		var numbers []string
		for _, name := range slices.Sorted(maps.Keys(r.Measures)) {
			numbers = append(numbers, fmt.Sprintf("%s %.4g", name, r.Measures[name]))
		}
		return fmt.Sprintf("%s  %s  in %s", head, strings.Join(numbers, ", "), duration(r.Elapsed)) + left(remaining)
	}
	result := "best value " + short(r.Best()[len(r.Values)-1])
	if r.Regret != nil {
		result = fmt.Sprintf("regret %.2g", r.Regret[len(r.Regret)-1])
	}
	return fmt.Sprintf("%s  %s  in %s", head, result, duration(r.Elapsed)) + left(remaining)
}

func left(seconds float64) string {
	if seconds <= 0 {
		return ""
	}
	return fmt.Sprintf(", about %s left", duration(seconds))
}

type benchReportCmd struct {
	Dir      string `arg:"" help:"Results of bo bench run: all .jsonl files of the directory."`
	Baseline string `placeholder:"METHOD" help:"Method to compare the others with. Default: sobol."`
	Methods  string `placeholder:"LIST" help:"Methods to compare, separated by commas. Default: all."`
	Brief    bool   `help:"Leave out the tables of single problems."`
	JSON     bool   `name:"json" xor:"format" help:"Print one JSON object."`
	Markdown bool   `xor:"format" help:"Print Markdown."`
}

func (c *benchReportCmd) Run(e *env) error {
	records, err := runner.Read(c.Dir)
	if err != nil {
		return err
	}
	if c.Methods != "" {
		names := runner.SplitMethods(c.Methods)
		for _, name := range names {
			if !slices.ContainsFunc(records, func(r runner.Record) bool { return r.Method == name }) {
				return usagef("--methods: no results of the method %q", name)
			}
		}
		records = slices.DeleteFunc(records, func(r runner.Record) bool { return !slices.Contains(names, r.Method) })
	}
	if suite, err := runner.Lookup(records[0].Suite); err == nil && len(suite.Datasets)+len(suite.Experiments) > 0 {
		return c.unpaired(e, suite, records)
	}
	r, err := benchreport.New(records, c.Baseline)
	if errors.Is(err, runner.ErrUnknown) {
		return usageError{err}
	} else if err != nil {
		return err
	}
	r.Brief = c.Brief
	return c.write(e, r)
}

// unpaired writes the report of a suite of datasets or experiments.
func (c *benchReportCmd) unpaired(e *env, suite runner.Suite, records []runner.Record) error {
	of := "datasets"
	if len(suite.Experiments) > 0 {
		of = "experiments"
	}
	if c.Baseline != "" {
		with := "without a baseline"
		if suite.Baseline != "" {
			with = "with " + suite.Baseline
		}
		return usagef("--baseline: the suite %s has %s, which are compared %s", suite.Name, of, with)
	}
	var r written
	var err error
	if len(suite.Experiments) > 0 {
		r, err = benchreport.NewMeasured(records, nil)
	} else {
		r, err = benchreport.NewRegression(records, benchreport.Literature{})
	}
	if err != nil {
		return err
	}
	return c.write(e, r)
}

// written is a report that can be printed as text, Markdown or JSON.
type written interface {
	WriteText(w io.Writer) error
	WriteMarkdown(w io.Writer) error
}

func (c *benchReportCmd) write(e *env, r written) error {
	switch {
	case c.JSON:
		enc := json.NewEncoder(e.stdout)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		return enc.Encode(r)
	case c.Markdown:
		return r.WriteMarkdown(e.stdout)
	}
	return r.WriteText(e.stdout)
}
