package main

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/functionspace/bo/benchmarks"
	"github.com/functionspace/bo/benchmarks/runner"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
)

// limits are the regrets at which the rule ends a run, in standard deviations of the objective
// over its space.
var limits = []float64{0.3, 0.1, 0.03, 0.01}

const (
	regretBudget = 56
	regretEvery  = 4 // trials between two estimates, as in package store
)

// regrets returns the runs without and with noise on each objective.
func regrets() []runner.Run {
	var runs []runner.Run
	for _, name := range []string{"branin", "six-hump-camel", "goldstein-price", "hartmann3", "levy4", "hartmann6"} {
		for _, noise := range []float64{0, 0.05} {
			runs = append(runs, runner.Run{
				Experiment: name, Method: runner.Method{Name: fmt.Sprint("noise ", noise)},
				Measure: func(ctx context.Context, _ runner.Method, seed uint64, rec *runner.Record) error {
					return regretRun(ctx, must(name), noise, seed, rec)
				},
			})
		}
	}
	return runs
}

// regretRun makes one run. For each limit l at which the rule ends it, the record has the number of trials as
// "trials l" and the true regret as "regret l". Noise is a standard deviation, and regrets are numbers, in standard
// deviations of the objective over its space.
func regretRun(ctx context.Context, o benchmarks.Objective, noise float64, seed uint64, rec *runner.Record) error {
	sd := spread(o)
	s, err := loop.New(o.Space, loop.Options{Seed: seed, NoiseFree: noise == 0})
	if err != nil {
		return err
	}
	rec.Dim = o.Space.Dim()
	rng := random.New(seed, "noise", 0)
	small, ends := make([]int, len(limits)), 0
	for n := 1; n <= regretBudget && ends < len(limits); n++ {
		trials, err := s.Ask(ctx, 1)
		if err != nil {
			return err
		}
		if err := s.Tell(trials[0].ID, o.At(trials[0].Point)+noise*sd*rng.NormFloat64()); err != nil {
			return err
		}
		if n < s.Options().Initial || n%regretEvery != 0 {
			continue
		}
		r, err := s.EstimateRegret(ctx, 0.95)
		if errors.Is(err, loop.ErrEqualValues) {
			continue
		}
		if err != nil {
			return err
		}
		for k, limit := range limits {
			if small[k]++; r.Bound/sd > limit {
				small[k] = 0
			}
			name := fmt.Sprint("trials ", limit)
			if _, ended := rec.Measures[name]; small[k] == 2 && !ended {
				rec.Measures[name] = float64(n)
				rec.Measures[fmt.Sprint("regret ", limit)] = (o.At(s.Trials()[r.Trial-1].Point) - o.Minimum) / sd
				ends++
			}
		}
	}
	return nil
}

// spread returns the standard deviation of an objective over its space.
func spread(o benchmarks.Objective) float64 {
	const n = 4096
	u := space.Sobol(n, o.Space.Dim(), random.New(0, "spread", 0))
	var sum, square float64
	for i := range n {
		v := o.At(o.Space.Decode(u.RawRowView(i)))
		sum, square = sum+v/n, square+v*v/n
	}
	return math.Sqrt(square - sum*sum)
}
