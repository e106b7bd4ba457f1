package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"

	"github.com/functionspace/bo/benchmarks/runner"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
)

// suite is the name of the records.
const suite = "stopping"

// head returns the part of a record that all methods share. Its unit of evaluations is the cost of
// a full trial, fullSteps steps.
func (p *problem) head(name string, seed uint64) runner.Record {
	lowest := math.Inf(1)
	for _, c := range p.curves {
		lowest = min(lowest, c[fullSteps-1])
	}
	_, commit := runner.Version()
	return runner.Record{
		Suite: suite, Problem: name, Seed: seed, Dim: p.dim(), Budget: fullTrials, Initial: 1, Batch: 1,
		Minimum: &lowest, Commit: commit, Machine: runner.ThisMachine(1),
	}
}

// record returns the record of a run. Value i is the best complete value after the steps of i+1 full trials.
// The minimum is the lowest last value of the stored curves.
func (p *problem) record(r run) runner.Record {
	rec := p.head(r.Problem, r.Seed)
	rec.Method, rec.Elapsed, rec.Date = "gp", r.seconds, r.date
	if r.Rule != "none" {
		rec.Method += ":" + r.Rule
	}
	rec.Version, _ = runner.Version()
	for i := range fullTrials {
		best := math.Inf(1)
		for _, l := range r.Line {
			if l[0] <= float64((i+1)*fullSteps) {
				best = l[1]
			}
		}
		rec.Values = append(rec.Values, best)
		rec.Regret = append(rec.Regret, best-*rec.Minimum)
		rec.Suggest = append(rec.Suggest, 0)
	}
	return rec
}

// task is the head of a record with the points of the initial design, for another program.
type task struct {
	runner.Record
	Points [][]float64 `json:"points"`
	Steps  int         `json:"steps"`
}

// plan writes the tasks of the seeds from first as lines of JSON.
func plan(ctx context.Context, first, seeds uint64, w io.Writer) error {
	enc := json.NewEncoder(w)
	for seed := first; seed < first+seeds; seed++ {
		for _, name := range problems {
			p, err := load(name)
			if err != nil {
				return err
			}
			sp, err := p.space()
			if err != nil {
				return err
			}
			study, err := loop.New(sp, loop.Options{Seed: seed})
			if err != nil {
				return err
			}
			t := task{Record: p.head(name, seed), Steps: fullSteps}
			trials, err := study.Ask(ctx, study.Options().Initial)
			if err != nil {
				return err
			}
			for _, trial := range trials {
				t.Points = append(t.Points, sp.Encode(trial.Point))
			}
			if err := enc.Encode(t); err != nil {
				return err
			}
		}
	}
	return nil
}

// space returns the unit cube of the points.
func (p *problem) space() (*space.Space, error) {
	params := make([]space.Parameter, p.dim())
	for i := range params {
		params[i] = space.Float(fmt.Sprint("u", i), 0, 1)
	}
	return space.New(params...)
}
