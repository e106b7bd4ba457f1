package main

import (
	"fmt"
	"strings"

	"github.com/functionspace/bo/benchmarks/pages/figures"
	"github.com/functionspace/bo/catalog"
	"github.com/functionspace/bo/internal/didyoumean"
)

type posteriorsCmd struct {
	Surrogates []string `placeholder:"LIST" help:"Surrogates to measure, separated by commas (default all). Results of other surrogates in the directory stay."`
	Seeds      int      `default:"5" placeholder:"N" help:"Number of datasets (default ${default})."`
	Out        string   `default:"docs/surrogates" placeholder:"DIR" help:"Directory of the pictures, distances.jsonl and README.md (default ${default})."`
	Redraw     bool     `help:"Write README.md from the stored distances.jsonl, without measuring."`
}

func (posteriorsCmd) Help() string {
	return `The data are 40 noisy observations of a sine on two sides of a gap. The command fits each surrogate with RBF, Matérn-1/2 and periodic priors with given hyperparameters, or once if the surrogate has no kernel.

Example:

    go run ./benchmarks/pages posteriors --surrogates gfsvi,fsp-laplace`
}

func (c *posteriorsCmd) Run(e *env) error {
	if c.Seeds < 1 {
		return fmt.Errorf("--seeds is %d, want 1 or more", c.Seeds)
	}
	if c.Redraw {
		return figures.WriteReadme(c.Out)
	}
	names := c.Surrogates
	if names == nil {
		for _, s := range catalog.Surrogates() {
			names = append(names, s.Name)
		}
	}
	failed := 0
	err := figures.Run(e.ctx, c.Out, names, c.Seeds, func(r figures.Record) {
		outcome := fmt.Sprintf("distance %.3f in %.3g s", r.Distance, r.Seconds)
		if r.Error != "" {
			failed++
			outcome = "failed: " + strings.ReplaceAll(r.Error, "\n", "; ")
		}
		fmt.Fprintf(e.stderr, "%s %s seed %d  %s\n", r.Surrogate, r.Prior, r.Seed, outcome)
	})
	if err == nil && failed > 0 {
		return fmt.Errorf("%d fits failed", failed)
	}
	return err
}

type settingsCmd struct {
	Surrogates []string `placeholder:"LIST" help:"Surrogates to measure, separated by commas (default all with settings to compare). Results of other surrogates in the directory stay."`
	Seeds      int      `default:"3" placeholder:"N" help:"Number of datasets (default ${default})."`
	Out        string   `default:"docs/surrogates" placeholder:"DIR" help:"Directory of settings.jsonl (default ${default})."`
	Redraw     bool     `help:"Print the tables from the stored settings.jsonl, without measuring."`
}

func (settingsCmd) Help() string {
	return `The command posteriors has the same data and priors. A surrogate without a kernel is fitted once and compared with each of the three processes.

Example:

    go run ./benchmarks/pages settings --surrogates gfsvi`
}

func (c *settingsCmd) Run(e *env) error {
	if c.Seeds < 1 {
		return fmt.Errorf("--seeds is %d, want 1 or more", c.Seeds)
	}
	names := c.Surrogates
	if names == nil {
		names = figures.SettingsSurrogates()
	}
	if !c.Redraw {
		err := figures.RunSettings(e.ctx, c.Out, names, c.Seeds, func(r figures.SettingsRecord) {
			fmt.Fprintf(e.stderr, "%s %s %s seed %d  distance %.3f in %.3g s %s\n", r.Surrogate, r.Settings, r.Prior, r.Seed, r.Distance, r.Seconds, r.Error)
		})
		if err != nil {
			return err
		}
	}
	for _, name := range names {
		table, err := figures.SettingsTable(c.Out, name)
		if err != nil {
			return err
		}
		if len(names) > 1 {
			table = "### " + name + "\n\n" + table + "\n"
		}
		fmt.Fprint(e.stdout, table)
	}
	return nil
}

type studyCmd struct {
	Name   string `arg:"" help:"Name of a study, see below."`
	Seeds  int    `default:"5" placeholder:"N" help:"Number of datasets, or of draws of points (default ${default})."`
	Out    string `default:"docs/benchmarks/studies" placeholder:"DIR" help:"Directory of NAME.jsonl, NAME.png and NAME.svg (default ${default})."`
	Redraw bool   `help:"Make table and picture from the stored NAME.jsonl, without measuring."`
	Plots  bool   `negatable:"" default:"true" help:"With --redraw, make the picture; on by default."`
}

func (studyCmd) Help() string {
	var b strings.Builder
	b.WriteString("The studies:\n\n")
	for _, s := range figures.Studies() {
		fmt.Fprintf(&b, "    %-18s  %s\n", s.Name, s.Summary)
	}
	b.WriteString("\nA picture of posteriors shows seed 1.\n\nExamples:\n\n    go run ./benchmarks/pages study eigenvalues --seeds 10\n    go run ./benchmarks/pages study lengthscales --out docs/benchmarks/toys\n")
	return b.String()
}

func (c *studyCmd) Run(e *env) error {
	if c.Seeds < 1 {
		return fmt.Errorf("--seeds is %d, want 1 or more", c.Seeds)
	}
	var names []string
	for _, s := range figures.Studies() {
		if s.Name != c.Name {
			names = append(names, s.Name)
			continue
		}
		if c.Redraw {
			return s.Show(c.Out, e.stdout, c.Plots)
		}
		return s.Run(e.ctx, c.Out, c.Seeds, e.stdout, func(line string) { fmt.Fprintln(e.stderr, line) })
	}
	return fmt.Errorf("unknown study %q%s", c.Name, didyoumean.Hint(c.Name, names))
}
