// Command stopping measures stopping rules, and treatments of stopped trials in fits, on stored
// learning curves of gradient boosting and of an MLP. It prints a line of JSON per
// run, and a table at the end. ADR 22 has the results.
//
//	go run ./benchmarks/stopping --seeds 10
//
// With --records the curves are of other data, on which nothing was chosen. The lines are then records of the
// suite "stopping", for go run ./benchmarks/pages suites. benchmarks/peers/stopping.py makes records of Optuna
// on the same curves.
//
// File curves.py makes the curves.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/functionspace/bo/loop"
)

// A full trial has fullSteps steps. A run has the budget of fullTrials full trials.
const (
	fullSteps  = 27
	fullTrials = 20
)

// run is one run of a loop.
type run struct {
	Problem   string       `json:"problem"`
	Rule      string       `json:"rule"`
	Treatment treatment    `json:"treatment"`
	Seed      uint64       `json:"seed"`
	Trials    int          `json:"trials"`
	Stopped   int          `json:"stopped"`
	Best      float64      `json:"best"`
	Line      [][2]float64 `json:"line"` // steps used and best value, at each improvement

	seconds float64
	date    string
}

func main() {
	seeds := flag.Uint64("seeds", 10, "number of `seeds`")
	from := flag.Uint64("first", 0, "first `seed`")
	records := flag.Bool("records", false, "print records of a suite instead of lines and a table")
	tasks := flag.Bool("plan", false, "print the heads of the records and the initial designs, for other programs, and make no runs")
	workers := flag.Int("workers", 1, "number of runs at a time")
	only := flag.String("only", "", "make only the `runs` of a problem, a rule and a treatment, such as \"mlp/median/left out\", separated by commas")
	flag.Parse()
	var err error
	if *tasks {
		err = plan(context.Background(), *from, *seeds, os.Stdout)
	} else {
		err = measure(context.Background(), *from, *seeds, *workers, *only, *records)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "stopping:", err)
		os.Exit(1)
	}
}

// Names of the files of curves. The rules and the treatment were chosen on the first ones.
var (
	chosenOn = []string{"boosting", "boosting-cancer", "boosting-concrete", "boosting-protein", "mlp", "mlp-cancer", "mlp-concrete", "mlp-kin8nm"}
	problems = []string{"boosting-energy", "boosting-power", "boosting-wine_red", "mlp-energy", "mlp-power", "mlp-protein"}
)

// rules are the measured rules by name.
var rules = []struct {
	name string
	loop.Stop
}{
	{"none", loop.Stop{}},
	{"median", loop.Stop{Rule: loop.Median, MaxSteps: fullSteps}},
	{"asha3", loop.Stop{Rule: loop.ASHA, MaxSteps: fullSteps, Eta: 3}},
	{"asha4", loop.Stop{Rule: loop.ASHA, MaxSteps: fullSteps, Eta: 4}},
}

// measure makes all runs and prints them.
func measure(ctx context.Context, from, seeds uint64, workers int, only string, records bool) error {
	limit := make(chan struct{}, workers)
	var all sync.WaitGroup
	var mu sync.Mutex
	var done []run
	var faults []error
	names := chosenOn
	if records {
		names = problems
	}
	for _, name := range names {
		p, err := load(name)
		if err != nil {
			return err
		}
		for _, rule := range rules {
			for _, t := range treatments {
				if !rule.Active() && t != inLoop || only != "" && !slices.Contains(strings.Split(only, ","), name+"/"+rule.name+"/"+string(t)) {
					continue
				}
				for seed := from; seed < from+seeds; seed++ {
					limit <- struct{}{}
					all.Go(func() {
						r, err := p.run(ctx, rule.Stop, t, seed)
						<-limit
						mu.Lock()
						defer mu.Unlock()
						if err == nil {
							r.Problem, r.Rule = name, rule.name
							done = append(done, r)
							var line any = r
							if records {
								line = p.record(r)
							}
							err = json.NewEncoder(os.Stdout).Encode(line)
						}
						if err != nil {
							faults = append(faults, fmt.Errorf("%s %s seed %d: %w", name, rule.name, seed, err))
						}
					})
				}
			}
		}
	}
	all.Wait()
	if !records {
		print(done)
	}
	return errors.Join(faults...)
}

// run makes one run with a rule, a treatment of stopped trials and a seed.
func (p *problem) run(ctx context.Context, rule loop.Stop, t treatment, seed uint64) (run, error) {
	sp, err := p.space()
	if err != nil {
		return run{}, err
	}
	start := time.Now()
	r := run{Treatment: t, Seed: seed, Best: math.Inf(1)}
	var h loop.History
	for used := 0; used < fullTrials*fullSteps; {
		given := h
		if given.Trials, err = t.apply(ctx, h.Trials, seed); err != nil {
			return r, err
		}
		out, err := loop.Propose(ctx, sp, loop.Options{Seed: seed}, given, 1)
		if err != nil {
			return r, err
		}
		h.Warm = out.Warm
		trial := loop.Trial{ID: len(h.Trials) + 1, Point: out.Points[0].Point, State: loop.Pending}
		h.Trials = append(h.Trials, trial)
		last := &h.Trials[trial.ID-1]
		for step, v := range p.curve(sp.Encode(last.Point)) {
			used++
			last.Steps, last.Value = append(last.Steps, loop.Step{Step: float64(step + 1), Value: v}), v
			if d, _ := rule.Decide(h.Trials, last.ID, float64(step+1), false); d.Stop {
				last.State = loop.Stopped
				r.Stopped++
				break
			}
		}
		if r.Trials++; last.State == loop.Stopped {
			continue
		}
		if last.State = loop.Complete; last.Value < r.Best {
			r.Best = last.Value
			r.Line = append(r.Line, [2]float64{float64(used), r.Best})
		}
	}
	r.seconds, r.date = time.Since(start).Seconds(), time.Now().UTC().Format(time.RFC3339)
	return r, nil
}

// print prints a table row for each problem, rule and treatment. The target is the median of
// the best values without a rule.
func print(runs []run) {
	groups := map[string][]run{}
	var order []string
	for _, r := range runs {
		key := strings.Join([]string{r.Problem, r.Rule, string(r.Treatment)}, " | ")
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], r)
	}
	slices.Sort(order)
	fmt.Println("| problem | rule | stopped trials | reached | steps | best | trials |\n|---|---|---|---|---|---|---|")
	for _, key := range order {
		g := groups[key]
		var bests, targets []float64
		for _, r := range groups[g[0].Problem+" | none | "+string(inLoop)] {
			targets = append(targets, r.Best)
		}
		var steps, trials []float64
		reached := 0
		for _, r := range g {
			bests, trials = append(bests, r.Best), append(trials, float64(r.Trials))
			at := math.Inf(1)
			for _, l := range r.Line {
				if l[1] <= median(targets) {
					at = l[0]
					reached++
					break
				}
			}
			steps = append(steps, at)
		}
		fmt.Printf("| %s | %d of %d | %.0f | %.4f | %.0f |\n", key, reached, len(g), median(steps), median(bests), median(trials))
	}
}

// median returns the median of values, +Inf without values.
func median(values []float64) float64 {
	if len(values) == 0 {
		return math.Inf(1)
	}
	v := slices.Sorted(slices.Values(values))
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}
