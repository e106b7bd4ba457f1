// Command features measures features of the loop against the loop without them. It appends a record of every
// run to docs/features/SUITE, and continues there after an interruption:
//
//	go run ./benchmarks/features -seeds 101:110 failures
//	go run ./benchmarks/features -seeds 1:10 beliefs
//	go run ./benchmarks/features -seeds 101:110 categories
//	go run ./benchmarks/features -seeds 101:110 regret
//	go run ./benchmarks/pages refresh docs/features.md
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"path/filepath"

	"github.com/functionspace/bo/benchmarks/runner"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
)

// workers is the number of runs at the same time.
const workers = 2

func main() {
	seeds := flag.String("seeds", "1:10", "first and last `seed`")
	out := flag.String("out", filepath.Join("docs", "features"), "`directory` of the records, with a folder for each suite")
	flag.Parse()
	var first, last uint64
	if n, err := fmt.Sscanf(*seeds, "%d:%d", &first, &last); n != 2 || err != nil || last < first || flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: features [-seeds FIRST:LAST] [-out DIR] beliefs|categories|failures|regret")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stderr, *out, flag.Arg(0), first, last); err != nil {
		fmt.Fprintln(os.Stderr, "features:", err)
		os.Exit(1)
	}
}

// variant is an objective with the options of one row of a table.
type variant struct {
	problem, name string
	space         *space.Space
	objective     loop.Objective
	minimum       float64
	options       loop.Options
	prepare       func(*loop.Study) error // adds earlier trials; nil adds none
	// draw returns the objective and the minimum of a seed; nil if they are equal for all seeds.
	draw func(seed uint64) (loop.Objective, float64)
}

// plan returns the runs of a suite without seeds.
func plan(suite string) ([]runner.Run, error) {
	suites := map[string]func() []variant{"beliefs": beliefs, "categories": categories, "failures": failures}
	if suite == "regret" {
		return regrets(), nil
	}
	variants, ok := suites[suite]
	if !ok {
		return nil, fmt.Errorf("unknown suite %q: want beliefs, categories, failures or regret", suite)
	}
	var runs []runner.Run
	for _, v := range variants() {
		runs = append(runs, runner.Run{Experiment: v.problem, Method: runner.Method{Name: v.name}, Measure: v.measure})
	}
	return runs, nil
}

// run performs the runs of a suite that have no record, seed by seed, and appends their records. The first failed
// run ends it.
func run(ctx context.Context, w io.Writer, out, suite string, first, last uint64) (err error) {
	each, err := plan(suite)
	if err != nil {
		return err
	}
	var all []runner.Run
	for seed := first; seed <= last; seed++ {
		for _, r := range each {
			r.Suite, r.Seed = "features/"+suite, seed
			all = append(all, r)
		}
	}
	store, err := runner.OpenStore(filepath.Join(out, suite))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	left, err := store.Remaining(all, false)
	if err != nil {
		return err
	}
	version, commit := runner.Version()
	return runner.Execute(ctx, left, workers, func(r runner.Record) error {
		if r.Error != "" {
			return fmt.Errorf("%s, %s, seed %d: %s", r.Problem, r.Method, r.Seed, r.Error)
		}
		r.Version, r.Commit, r.Machine = version, commit, runner.ThisMachine(workers)
		fmt.Fprintf(w, "%s, %s, seed %d: %.1f s\n", r.Problem, r.Method, r.Seed, r.Elapsed)
		return store.Append(r)
	})
}

// measure is the runner.Measurement of a variant. The record has no measures, but values and regrets. Earlier
// trials are not part of them.
func (v variant) measure(ctx context.Context, _ runner.Method, seed uint64, rec *runner.Record) error {
	o, objective, minimum := v.options, v.objective, v.minimum
	o.Seed = seed
	if v.draw != nil {
		objective, minimum = v.draw(seed)
	}
	s, err := loop.New(v.space, o)
	if err != nil {
		return err
	}
	if v.prepare != nil {
		if err := v.prepare(s); err != nil {
			return err
		}
	}
	r, err := s.Run(ctx, objective, o.Budget, 1)
	if err != nil {
		return err
	}
	rec.Dim, rec.Budget, rec.Initial, rec.Batch = v.space.Dim(), o.Budget, s.Options().Initial, 1
	rec.NoiseFree, rec.Minimum, rec.Measures = o.NoiseFree, &minimum, nil
	for _, t := range r.Trials {
		if t.Source == loop.Added {
			continue
		}
		value := math.NaN()
		if t.State != loop.Failed {
			value = t.Value
		}
		rec.Values, rec.Suggest = append(rec.Values, value), append(rec.Suggest, t.SuggestSeconds)
	}
	for _, best := range rec.Best() {
		rec.Regret = append(rec.Regret, best-minimum)
	}
	return nil
}
