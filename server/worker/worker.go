// Package worker evaluates trials of a study that a server issues.
//
//	client := &worker.HTTP{URL: "http://localhost:7040"}
//	done, err := worker.Run(ctx, client, evaluate, worker.Options{Study: "bread"})
package worker

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"connectrpc.com/connect"

	bov1 "github.com/functionspace/bo/api/bo/v1"
	"github.com/functionspace/bo/internal/faults"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/study"
)

// Options are the settings of Run.
type Options struct {
	// Study is the name of the study.
	Study string
	// Name names the worker for people. "" is the name of the host and the process number.
	Name string
	// Workers is the number of evaluations at a time. 0 is 1.
	Workers int
	// Time is the time after which no trial starts. 0 is none.
	Time time.Duration
	// OnEnd, if not nil, is called from several goroutines when a result is stored.
	OnEnd func(store.Trial, store.Report)
	// OnStop, if not nil, is called from several goroutines when the evaluation of a trial that the rule of the
	// study stopped has ended. The message of the trial is the reason.
	OnStop func(store.Trial)
	// OnRetry, if not nil, is called from several goroutines when a request fails and is repeated
	// after a pause.
	OnRetry func(err error, pause time.Duration)
}

// Done describes the evaluations of a Run.
type Done struct {
	Evaluated int    // results that were stored
	Failed    int    // failures among them
	Reason    string // reason for the end
}

// Run asks the server for trials, evaluates them and tells their results, until the study ends. A
// request that fails because the server cannot be reached is repeated, with pauses of up to ten
// seconds; evaluations go on meanwhile. A request whose token is refused is repeated for five
// minutes if the server has issued a trial before. The keys of requests ensure that a repeated request
// issues no second trial. If ctx ends, Run returns the trials under way to the study, and the error of ctx. If
// the study is edited so that a trial is no point of the space at the start, the error may wrap
// store.ErrEdited, as store.Edited reports it. Evaluations in progress have then ended. The error wraps a
// store.NotStored for each result that the server does not take, also after the end of ctx.
func Run(ctx context.Context, client Client, evaluate store.Evaluate, o Options) (Done, error) {
	if o.Name == "" {
		host, _ := os.Hostname()
		o.Name = fmt.Sprintf("%s/%d", host, os.Getpid())
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	w := &worker{client: client, evaluate: evaluate, opts: o, cancel: cancel, started: time.Now()}
	if err := w.define(ctx); err != nil {
		return Done{}, err
	}
	var all sync.WaitGroup
	errs := make([]error, max(1, o.Workers))
	for i := range errs {
		all.Go(func() {
			errs[i] = w.work(ctx)
			if errs[i] != nil && !errors.Is(errs[i], store.ErrEdited) {
				cancel(errs[i])
			}
		})
	}
	all.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	err := cmp.Or(context.Cause(ctx), cmp.Or(errs...))
	for _, other := range errs {
		if lost, ok := errors.AsType[*store.NotStored](other); ok && !errors.Is(err, lost) {
			err = errors.Join(err, lost)
		}
	}
	return w.done, err
}

// worker is the state of a Run.
type worker struct {
	client   Client
	evaluate store.Evaluate
	opts     Options
	cancel   context.CancelCauseFunc
	started  time.Time
	admitted atomic.Bool // the server has issued a trial, so the token was valid

	mu         sync.Mutex
	definition *study.Definition
	space      *space.Space
	done       Done
	firsts     store.Firsts
}

// work evaluates one trial after the other until the study ends.
func (w *worker) work(ctx context.Context) error {
	asking := ctx
	if w.opts.Time > 0 {
		var cancel context.CancelFunc
		asking, cancel = context.WithDeadline(ctx, w.started.Add(w.opts.Time))
		defer cancel()
	}
	for asking.Err() == nil {
		a, err := w.ask(asking)
		if err == nil {
			if err := w.attempt(ctx, a); err != nil {
				return err
			}
			continue
		}
		if connect.CodeOf(err) == connect.CodeOutOfRange {
			reason, over := strings.TrimPrefix(message(err), "study "+w.opts.Study+": "), false
			if over, err = w.over(asking); over {
				w.end(reason)
				return nil
			}
		}
		if err != nil && asking.Err() == nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	w.end(fmt.Sprintf("%v: %v", store.ErrTime, w.opts.Time))
	return nil
}

func (w *worker) end(reason string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.done.Reason = cmp.Or(w.done.Reason, reason)
}

// over reports whether no trial is pending. It waits a moment if one is: its worker may be lost.
func (w *worker) over(ctx context.Context) (bool, error) {
	r, err := w.get(ctx)
	if err != nil || r.Running+r.Waiting == 0 {
		return err == nil, err
	}
	return false, pause(ctx, time.Second)
}

// attempt evaluates a trial and tells its result.
func (w *worker) attempt(ctx context.Context, a *bov1.Assignment) error {
	p, err := w.point(ctx, a)
	if err != nil {
		w.release(ctx, a)
		return err
	}
	own, cancel := context.WithCancel(ctx)
	defer cancel()
	var beating sync.WaitGroup
	beating.Go(func() { w.heartbeats(own, cancel, a) })
	t := store.Trial{Number: int(a.Trial), State: store.Pending, Attempt: int(a.Attempt), Token: a.Token, Source: loop.Source(a.Source), Warnings: a.Warnings}
	if t.Params, err = json.Marshal(p); err != nil {
		return err
	}
	begun := time.Now()
	var stopped atomic.Pointer[string] // the reason
	report := func(ctx context.Context, rule string, steps ...loop.Step) error {
		reason, err := w.report(ctx, a, rule, steps)
		if errors.Is(err, loop.ErrStopped) {
			stopped.Store(&reason)
		}
		return err
	}
	reporting := loop.WithReporter(own, func(steps ...loop.Step) error { return report(own, "", steps...) })
	result, err := w.evaluate.Guarded(reporting, t, p, w.reported())
	if result.Seconds == 0 {
		result.Seconds = time.Since(begun).Seconds()
	}
	lost := own.Err() != nil
	if errors.Is(err, loop.ErrStopped) && stopped.Load() == nil && !lost { // by a rule of the evaluation; a refused stop is a failure
		if report(ctx, cmp.Or(strings.TrimPrefix(err.Error(), loop.ErrStopped.Error()+": "), "a rule of the caller")) == nil {
			lost = w.lost(ctx, callTime, a)
		}
	}
	cancel()
	beating.Wait()
	if reason := stopped.Load(); reason != nil {
		if t.State, t.Message = store.Stopped, *reason; w.opts.OnStop != nil {
			w.opts.OnStop(t)
		}
		return nil // its result does not count
	}
	switch {
	case err != nil && ctx.Err() != nil:
		w.release(ctx, a)
		return context.Cause(ctx)
	case err != nil && lost:
		return nil // the trial was issued again, or has a result
	case err != nil:
		result.Message = err.Error()
		if errors.Is(err, loop.ErrStopped) {
			result.Message += faults.NotStopped
		}
		result.Failure = cmp.Or(result.Failure, store.FailedByProgram)
	}
	_, unreported := errors.AsType[study.Unreported](err)
	return w.tell(ctx, a, t, result, unreported)
}

// reported returns the names of the numbers that a complete trial needs.
func (w *worker) reported() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.definition.Reported()
}

// note counts a result; unreported and latest are as for store.Firsts. It returns an error if the first trials failed alike.
func (w *worker) note(r store.Report, unreported bool, latest int) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.done.Evaluated++
	if r.Failure != "" {
		w.done.Failed++
	}
	w.firsts.Expected = w.definition.Failures == study.ExpectedFailures
	return w.firsts.Add(r.Failure != "", unreported, r.Message, latest)
}
