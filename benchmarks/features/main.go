// Command features measures features of the loop against the loop without them, and prints a table
// of medians over seeds:
//
//	go run ./benchmarks/features beliefs
//	go run ./benchmarks/features -seeds 101:110 categories
//	go run ./benchmarks/features -seeds 101:110 failures
//	go run ./benchmarks/features -seeds 101:110 regret
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
	"slices"
	"strings"
	"sync"

	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
)

func main() {
	seeds := flag.String("seeds", "1:10", "first and last seed")
	problems := flag.String("problems", "branin,six-hump-camel,goldstein-price,hartmann3,levy4,hartmann6", "objectives of the suite regret")
	flag.Parse()
	var first, last uint64
	if n, err := fmt.Sscanf(*seeds, "%d:%d", &first, &last); n != 2 || err != nil || last < first || flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: features [-seeds FIRST:LAST] beliefs|categories|failures|regret")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, flag.Arg(0), strings.Split(*problems, ","), first, last); err != nil {
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

// outcome is the result of one seed.
type outcome struct {
	regret []float64 // after each evaluation; +Inf without a value
	failed int
}

func run(ctx context.Context, w io.Writer, suite string, problems []string, first, last uint64) error {
	suites := map[string]func() []variant{"beliefs": beliefs, "categories": categories, "failures": failures}
	if suite == "regret" {
		return regrets(ctx, w, problems, first, last)
	}
	variants, ok := suites[suite]
	if !ok {
		return fmt.Errorf("unknown suite %q", suite)
	}
	for _, v := range variants() {
		all, err := v.measure(ctx, first, last)
		if err != nil {
			return err
		}
		fmt.Fprintln(w, v.row(all))
	}
	return nil
}

// measure runs all seeds, two at a time.
func (v *variant) measure(ctx context.Context, first, last uint64) ([]outcome, error) {
	all, errs := make([]outcome, last-first+1), make([]error, last-first+1)
	slots := make(chan struct{}, 2)
	var group sync.WaitGroup
	for i := range all {
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			all[i], errs[i] = v.one(ctx, first+uint64(i))
		})
	}
	group.Wait()
	return all, errors.Join(errs...)
}

func (v *variant) one(ctx context.Context, seed uint64) (outcome, error) {
	o, objective, minimum := v.options, v.objective, v.minimum
	o.Seed = seed
	if v.draw != nil {
		objective, minimum = v.draw(seed)
	}
	s, err := loop.New(v.space, o)
	if err != nil {
		return outcome{}, err
	}
	if v.prepare != nil {
		if err := v.prepare(s); err != nil {
			return outcome{}, err
		}
	}
	r, err := s.Run(ctx, objective, o.Budget, 1)
	if err != nil {
		return outcome{}, err
	}
	out, best := outcome{}, math.Inf(1)
	for _, t := range r.Trials {
		if t.Source == loop.Added {
			continue
		}
		if t.State == loop.Failed {
			out.failed++
		} else {
			best = min(best, t.Value-minimum)
		}
		out.regret = append(out.regret, best)
	}
	return out, nil
}

// row returns the medians after a third, two thirds and all evaluations, the worst regret at the
// end, and the median number of failed trials.
func (v *variant) row(all []outcome) string {
	n := len(all[0].regret)
	text := fmt.Sprintf("%-16s %-34s", v.problem, v.name)
	for _, k := range []int{n / 3, 2 * n / 3, n} {
		var at []float64
		for _, o := range all {
			at = append(at, o.regret[k-1])
		}
		text += fmt.Sprintf("  %3d: %-9.3g", k, median(at))
	}
	worst, failed := 0.0, []int{}
	for _, o := range all {
		worst, failed = max(worst, o.regret[n-1]), append(failed, o.failed)
	}
	return text + fmt.Sprintf("  worst %-9.3g failed %v", worst, median(failed))
}

// median returns the middle value, or the mean of the two middle values.
func median[T int | float64](v []T) float64 {
	v = slices.Sorted(slices.Values(v))
	return (float64(v[(len(v)-1)/2]) + float64(v[len(v)/2])) / 2
}
