package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/study"
)

type evaluateCmd struct {
	storeFlags
	Study       string        `arg:"" complete:"studies" help:"Name of the study."`
	Workers     int           `default:"1" min:"1" max:"1000" placeholder:"N" help:"Trials that are issued at a time. Default: ${default}."`
	Target      *float64      `placeholder:"VALUE" help:"End when a trial is at least as good."`
	Time        time.Duration `placeholder:"TIME" help:"End after TIME. Evaluations under way are finished."`
	MaxFailures int           `default:"0" min:"1" placeholder:"N" help:"End when more than N trials have failed."`
}

func (evaluateCmd) Help() string {
	return `Runs a stored study for a program that evaluates the trials itself and keeps this command open by pipes, as StoredStudy.run of the Python package does. Each line of both pipes is a JSON object.

Standard output has {"trial": 3, "params": {…}} for a trial to evaluate, {"result": {…}} for its stored result, and at the end {"ended": "…", "kind": "…"}. The kind is budget, target, time, cost, regret, failures, exhausted or edited.

Standard input takes {"trial": 3, "numbers": {"loss": 0.4}, "seconds": 12}, or "failure": "the reason" instead of the numbers. If it ends, the trials under way are released and the command ends.`
}

func (c *evaluateCmd) Run(e *env) error {
	return c.withStudy(e.ctx, c.Study, func(u *store.Study) error {
		d, _, err := u.Definition(e.ctx)
		if err != nil {
			return err
		}
		return servePipe(e, func(ctx context.Context, in io.Reader) error {
			x := &evaluations{out: e.stdout, definition: d, under: map[int]chan evaluated{}}
			ctx, cancel := context.WithCancelCause(ctx)
			defer cancel(nil)
			go func() {
				if err := x.read(in); err != nil {
					cancel(err)
				}
			}()
			err := u.Run(ctx, x.evaluate, store.RunOptions{
				Workers: c.Workers, Target: c.Target, Time: c.Time, MaxFailures: c.MaxFailures, OnEnd: x.ended,
			})
			if kind := endKind(err); kind != "" {
				return x.print(map[string]any{"ended": endText(err, d), "kind": kind})
			}
			if errors.Is(err, errInputEnded) {
				return nil
			}
			return err
		})
	})
}

// endKind returns the kind of the end of a run, "" for an error.
func endKind(err error) string {
	switch {
	case err == nil:
		return "budget"
	case errors.Is(err, store.ErrTarget):
		return "target"
	case errors.Is(err, store.ErrTime):
		return "time"
	case errors.Is(err, store.ErrCost):
		return "cost"
	case errors.Is(err, store.ErrRegret):
		return "regret"
	case errors.Is(err, store.ErrFailures):
		return "failures"
	case errors.Is(err, store.ErrExhausted):
		return "exhausted"
	case errors.Is(err, store.ErrEdited):
		return "edited"
	}
	return ""
}

// endText describes the end of a run.
func endText(err error, d *study.Definition) string {
	switch {
	case err == nil:
		return "the budget is used up"
	case errors.Is(err, store.ErrExhausted):
		return oneLine(loop.ErrExhausted.Error())
	}
	return oneLine(strings.TrimPrefix(err.Error(), "study "+d.Name+": "))
}

// evaluations are the trials that the program at the other end of the pipes evaluates.
type evaluations struct {
	definition *study.Definition
	mu         sync.Mutex
	out        io.Writer
	under      map[int]chan evaluated // by the number of the trial
}

// evaluated is a line of the input.
type evaluated struct {
	Trial   int                `json:"trial"`
	Numbers map[string]float64 `json:"numbers"`
	Failure string             `json:"failure"`
	Seconds float64            `json:"seconds"`
}

// evaluate writes a trial and waits for its result.
func (x *evaluations) evaluate(ctx context.Context, t store.Trial, _ space.Point) (store.Report, error) {
	answer := make(chan evaluated, 1)
	x.mu.Lock()
	x.under[t.Number] = answer
	x.mu.Unlock()
	defer func() {
		x.mu.Lock()
		defer x.mu.Unlock()
		if x.under[t.Number] == answer { // a later attempt has a channel of its own
			delete(x.under, t.Number)
		}
	}()
	if err := x.print(map[string]any{"trial": t.Number, "params": t.Params, "source": t.Source, "warnings": t.Warnings}); err != nil {
		return store.Report{}, err
	}
	select {
	case <-ctx.Done():
		return store.Report{}, ctx.Err()
	case a := <-answer:
		r := store.Report{Numbers: a.Numbers, Seconds: a.Seconds}
		if a.Failure != "" {
			return r, errors.New(a.Failure)
		}
		return r, nil
	}
}

// read reads results until the input ends. A result of a trial that is not under way is left out.
func (x *evaluations) read(in io.Reader) error {
	dec := json.NewDecoder(in)
	dec.DisallowUnknownFields()
	for line := 1; ; line++ {
		var a evaluated
		if err := dec.Decode(&a); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		} else if err != nil {
			return usageError{fmt.Errorf(`result %d of the input: %w, want {"trial": 3, "numbers": {…}}`, line, err)}
		}
		if a.Failure == "" && a.Numbers == nil {
			return usagef(`result %d of the input has neither "numbers" nor "failure"`, line)
		}
		x.mu.Lock()
		answer := x.under[a.Trial]
		delete(x.under, a.Trial)
		x.mu.Unlock()
		if answer != nil {
			answer <- a
		}
	}
}

// ended writes a stored result.
func (x *evaluations) ended(t store.Trial) {
	_ = x.print(map[string]any{"result": newTrialJSON(&t, &store.View{Definition: x.definition})}) // the next trial reports the error
}

func (x *evaluations) print(line any) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	return printJSON(x.out, line)
}
