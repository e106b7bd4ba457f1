package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/functionspace/bo/benchmarks/figures"
	"github.com/functionspace/bo/catalog"
	"github.com/functionspace/bo/internal/didyoumean"
)

type benchFiguresCmd struct {
	Surrogates []string `placeholder:"LIST" help:"Only these surrogates, with commas between them; default all. Results of others in the directory stay."`
	Seeds      int      `default:"5" placeholder:"N" help:"Draw the data N times; default ${default}."`
	Out        string   `default:"bench/figures" placeholder:"DIR" help:"Directory of the pictures, distances.jsonl and README.md; default ${default}."`
	Study      string   `placeholder:"NAME" help:"Make a study instead: context-points or eigenvalues, whose table is printed."`
	Quiet      bool     `help:"No progress."`
}

func (c *benchFiguresCmd) Help() string {
	return `The data are 40 noisy observations of a sine on two sides of a gap. Each surrogate is fitted to them with RBF, Matérn-1/2 and periodic priors whose hyper-parameters are given, or once if it takes no kernel.

The study context-points fits fsp-laplace to the same data with 3 to 400 context points, placed and used in four ways; eigenvalues has the spectra of Gram matrices at points of [-2,2]^d, d = 1 and 100, averaged over draws, as many as --seeds.

Examples:

    bo bench figures --surrogates gfsvi,fsp-laplace --out figures
    bo bench figures --study eigenvalues --seeds 10`
}

func (c *benchFiguresCmd) Run(e *env) error {
	if c.Seeds < 1 {
		return usagef("--seeds is %d, want 1 or more", c.Seeds)
	}
	if c.Study != "" {
		return c.study(e)
	}
	names := c.Surrogates
	if names == nil {
		for _, s := range catalog.Surrogates() {
			names = append(names, s.Name)
		}
	}
	failed := 0
	err := figures.Run(e.ctx, c.Out, names, c.Seeds, func(r figures.Record) {
		outcome := fmt.Sprintf("distance %.3f  in %s", r.Distance, duration(r.Seconds))
		if r.Error != "" {
			failed++
			outcome = "failed: " + oneLine(r.Error)
		}
		if !c.Quiet {
			fmt.Fprintf(e.stderr, "%s %s seed %d  %s\n", r.Surrogate, r.Prior, r.Seed, outcome)
		}
	})
	switch {
	case errors.Is(err, context.Canceled) && e.ctx.Err() != nil:
		fmt.Fprintf(e.stderr, "bo: interrupted; the surrogates that were done are in %s\n", c.Out)
		return errInterrupted
	case errors.Is(err, catalog.ErrUnknown):
		return usageError{err}
	case err != nil:
		return err
	case failed > 0:
		return fmt.Errorf("%d fits failed", failed)
	}
	return nil
}

func (c *benchFiguresCmd) study(e *env) error {
	if c.Surrogates != nil {
		return usagef("--surrogates: a study has its own")
	}
	var names []string
	for _, s := range figures.Studies() {
		if s.Name != c.Study {
			names = append(names, s.Name)
			continue
		}
		err := s.Run(e.ctx, c.Out, c.Seeds, e.stdout, func(line string) {
			if !c.Quiet {
				fmt.Fprintln(e.stderr, line)
			}
		})
		if errors.Is(err, context.Canceled) && e.ctx.Err() != nil {
			fmt.Fprintln(e.stderr, "bo: interrupted; a study that is not done leaves nothing")
			return errInterrupted
		}
		return err
	}
	return usagef("unknown study %q: did you mean %s?", c.Study, didyoumean.Name(c.Study, names))
}
