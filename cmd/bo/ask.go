package main

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/store"
)

type askCmd struct {
	storeFlags
	Study string        `arg:"" complete:"studies" help:"Name of the study."`
	N     int           `name:"number" short:"n" group:"how" default:"1" min:"1" max:"10000" placeholder:"N" help:"Number of trials. Default: ${default}."`
	Given []string      `group:"how" sep:"none" placeholder:"NAME=VALUE" help:"Value of a parameter that the trials have, such as the humidity of the day. May be repeated."`
	Lease time.Duration `group:"how" placeholder:"TIME" help:"Issue a trial again, as its next attempt, if it has no result after TIME, such as 24h. Default: never."`
	JSON  bool          `group:"result" name:"json" help:"Print a JSON array of objects with trial and params."`
}

func (askCmd) Help() string {
	return `Issues trials to a person or a program that reports each result with bo tell or bo fail. Trials that wait are issued first: enqueued trials, and trials whose lease has ended, under their numbers as the next attempt. A trial that is lost three times fails. A result that arrives late counts if the trial has none. In a study with batches, bo ask waits until all trials of a batch have a result before it issues the next one.

With --given the other parameters are suggested for the given values. The model is fitted to all trials. The suggestion is the point with the largest expected improvement on the values that the trials so far would have at the given values. Waiting trials with other values stay waiting. A study with batches takes no --given.

Examples:

    bo ask bread
    bo ask bread -n 4 --lease 24h --json
    bo ask bread --given humidity=61 --given flour=rye`
}

func (c *askCmd) Run(e *env) error {
	return c.withStudy(e.ctx, c.Study, func(u *store.Study) error {
		_, sp, err := u.Definition(e.ctx)
		if err != nil {
			return err
		}
		given, err := parseFlag(sp, "--given", c.Given)
		if err != nil {
			return err
		}
		var trials []store.Trial
		waiting := time.AfterFunc(waitNotice, func() { reportPendingBatch(e, u) })
		err = heed(e.ctx, func() (err error) {
			trials, err = u.AskOnce(e.ctx, store.AskRequest{N: c.N, Given: given, Owner: "bo ask", Lease: c.Lease})
			return err
		})
		waiting.Stop()
		if err != nil {
			if len(given) > 0 {
				err = asUsage(err, loop.ErrOptions)
			}
			return asRefusal(asUsage(err, space.ErrPoint), store.ErrBudget, store.ErrExhausted)
		}
		if len(trials) < c.N {
			v, err := u.Brief(e.ctx)
			if err != nil {
				return err
			}
			reason := "the study has no more, by its budget or because every other point has a trial"
			if len(given) > 0 {
				reason = "the study has no more, by its budget or because every other point with these values has a trial"
			}
			if b := v.Definition.Batch; b > 0 && len(v.Trials)-addedTrials(v) < v.Definition.Budget {
				reason = fmt.Sprintf("the next batch of %d begins when all issued trials have a result or have failed", b)
			}
			fmt.Fprintf(e.stderr, "bo: %d of %d trials: %s\n", len(trials), c.N, reason)
		}
		if ended, err := endOf(e.ctx, u, c.Study); err == nil && ended != "" { // the trials are issued in any case
			fmt.Fprintf(e.stderr, "bo: %s: further trials are not necessary\n", ended)
		}
		if c.JSON {
			type asked struct {
				Trial  int             `json:"trial"`
				Params json.RawMessage `json:"params"`
				Source loop.Source     `json:"source"`
			}
			out := make([]asked, len(trials))
			for i, t := range trials {
				out[i] = asked{t.Number, t.Params, t.Source}
			}
			return printJSON(e.stdout, out)
		}
		ws := newWarnings(func(line string) { fmt.Fprintln(e.stderr, line) })
		for _, t := range trials {
			ws.add(t.Number, t.Warnings)
			if _, err := fmt.Fprintf(e.stdout, "trial %d  %s\n", t.Number, fullParams(t.Params)); err != nil {
				return err
			}
		}
		ws.repeated()
		return nil
	})
}

// waitNotice is the time after which bo ask reports the trials for whose results it waits.
var waitNotice = 2 * time.Second

// reportPendingBatch names the running trials for whose results the next batch of the study waits.
func reportPendingBatch(e *env, u *store.Study) {
	v, err := u.Brief(e.ctx)
	if err != nil || v.Definition.Batch == 0 {
		return
	}
	var numbers []string
	for i := range v.Trials {
		if v.Trials[i].Running(v.Now) {
			numbers = append(numbers, fmt.Sprint(v.Trials[i].Number))
		}
	}
	if len(numbers) == 0 {
		return
	}
	fmt.Fprintf(e.stderr, "bo: waits for %s: the next batch of %d begins when all trials of this one have a result or have failed (bo tell, bo fail)\n",
		trialNumbers(numbers, 10), v.Definition.Batch)
}
