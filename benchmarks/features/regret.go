package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"sync"

	"github.com/functionspace/bo/benchmarks"
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

// stopped is the end of a run by the rule: the number of trials, 0 if it does not end, and the true
// regret.
type stopped struct {
	trials int
	regret float64
}

// regrets prints how often the rule ends a run, how often the true regret is then within the limit,
// and the median number of trials.
func regrets(ctx context.Context, w io.Writer, problems []string, first, last uint64) error {
	fmt.Fprintf(w, "%-14s %-6s", "problem", "noise")
	for _, l := range limits {
		fmt.Fprintf(w, "  %-14s", fmt.Sprintf("at most %v", l))
	}
	fmt.Fprintln(w)
	for _, name := range problems {
		for _, noise := range []float64{0, 0.05} {
			runs, errs := make([][]stopped, last-first+1), make([]error, last-first+1)
			slots := make(chan struct{}, 2)
			var group sync.WaitGroup
			for i := range runs {
				slots <- struct{}{}
				group.Go(func() {
					defer func() { <-slots }()
					runs[i], errs[i] = regretRun(ctx, must(name), noise, first+uint64(i))
				})
			}
			group.Wait()
			if err := errors.Join(errs...); err != nil {
				return err
			}
			fmt.Fprintf(w, "%-14s %-6v", name, noise)
			for k := range limits {
				within, trials := 0, []int{}
				for _, r := range runs {
					if r[k].trials > 0 {
						trials = append(trials, r[k].trials)
						if r[k].regret <= limits[k] {
							within++
						}
					}
				}
				text := fmt.Sprintf("%d/%d", within, len(trials))
				if len(trials) > 0 {
					text += fmt.Sprintf(" %v", median(trials))
				}
				fmt.Fprintf(w, "  %-14s", text)
			}
			fmt.Fprintln(w)
		}
	}
	return nil
}

// regretRun returns the end of one run for each limit. Noise is a standard deviation, and regrets
// are numbers, in standard deviations of the objective over its space.
func regretRun(ctx context.Context, o benchmarks.Objective, noise float64, seed uint64) ([]stopped, error) {
	sd := spread(o)
	s, err := loop.New(o.Space, loop.Options{Seed: seed, NoiseFree: noise == 0})
	if err != nil {
		return nil, err
	}
	rng := random.New(seed, "noise", 0)
	out, small := make([]stopped, len(limits)), make([]int, len(limits))
	for n := 1; n <= regretBudget && slices.Contains(out, stopped{}); n++ {
		trials, err := s.Ask(ctx, 1)
		if err != nil {
			return nil, err
		}
		if err := s.Tell(trials[0].ID, o.At(trials[0].Point)+noise*sd*rng.NormFloat64()); err != nil {
			return nil, err
		}
		if n < s.Options().Initial || n%regretEvery != 0 {
			continue
		}
		r, err := s.EstimateRegret(ctx, 0.95)
		if errors.Is(err, loop.ErrEqualValues) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for k, limit := range limits {
			if small[k]++; r.Bound/sd > limit {
				small[k] = 0
			}
			if small[k] == 2 && out[k].trials == 0 {
				out[k] = stopped{n, (o.At(s.Trials()[r.Trial-1].Point) - o.Minimum) / sd}
			}
		}
	}
	return out, nil
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
