package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"connectrpc.com/connect"

	bov1 "github.com/functionspace/bo/api/bo/v1"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/server/worker"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/study"
)

type evaluateCmd struct {
	storeFlags
	Server string `group:"service" placeholder:"URL" help:"Address of the service that has the study, in place of a store."`
	serviceFlags
	Study       string        `arg:"" complete:"studies" help:"Name of the study."`
	Workers     int           `default:"1" min:"1" max:"1000" placeholder:"N" help:"Trials that are issued at a time. Default: ${default}."`
	Target      *float64      `placeholder:"VALUE" help:"End when a trial is at least as good."`
	Time        time.Duration `placeholder:"TIME" help:"End after TIME. Evaluations under way are finished."`
	MaxFailures int           `default:"0" min:"1" placeholder:"N" help:"End when more than N trials have failed."`
}

func (evaluateCmd) Help() string {
	return `Runs a stored study for a program that evaluates the trials itself and keeps this command open by pipes, as StoredStudy.run of the Python package does. Each line of both pipes is a JSON object.

Standard output has {"trial": 3, "params": {…}} for a trial to evaluate, {"result": {…}, "finished": 12, "budget": 50} for its stored result and the progress of the study, and at the end {"ended": "…", "kind": "…"}. The kind is budget, target, time, cost, regret, failures, exhausted or edited.

Standard input takes {"trial": 3, "numbers": {"loss": 0.4}, "seconds": 12}, or "failure": "the reason" instead of the numbers. "note" is text that is stored with the numbers. A number of null is not a number, and a trial fails without a number that the study needs. If it ends, the results before its end are stored, other trials under way are released, and the command ends.

{"trial": 3, "step": 5, "value": 0.6} reports the objective at a step; a value of null is not a number. The reply {"trial": 3, "step": 5, "stop": false} tells whether the trial is stopped or no longer under way. If the step is not stored, the reply has "error": "the reason" instead. {"trial": 3, "stop": "the reason"} stops a trial that has reported a step, by a rule of the program.

With --server the study is in a service, as for bo worker. {"warning": "…"} then reports requests that are repeated, and a regret in end of the study, which has no effect. --target and --max-failures are for a study in a store: state them in end of the study.`
}

func (c *evaluateCmd) Run(e *env) error {
	if c.Server != "" {
		return c.serve(e)
	}
	if c.serviceFlags != (serviceFlags{}) {
		return usagef("--token-file and --ca are for a study of a service: give its address with --server")
	}
	return c.withStudy(e.ctx, c.Study, func(u *store.Study) error {
		d, _, err := u.Definition(e.ctx)
		if err != nil {
			return err
		}
		err = servePipe(e, func(ctx context.Context, in io.Reader) error {
			x := newEvaluations(d, e.stdout)
			err := x.run(ctx, in, u, store.RunOptions{
				Workers: c.Workers, Target: c.Target, Time: c.Time, MaxFailures: c.MaxFailures,
			})
			if kind := endKind(err); kind != "" {
				return x.print(map[string]any{"ended": endText(err, d), "kind": kind})
			}
			return unlessInputEnded(err)
		})
		return c.unlessInterrupted(e, err)
	})
}

// serve runs a study of a service.
func (c *evaluateCmd) serve(e *env) error {
	if c.Target != nil || c.MaxFailures > 0 {
		return usagef("--target and --max-failures are for a study in a store: state them in end of the study")
	}
	client, err := c.client(e, c.Server)
	if err != nil {
		return err
	}
	d, err := worker.Definition(e.ctx, client, worker.Options{Study: c.Study})
	if err != nil {
		return explained(c.Server, err)
	}
	ctx, in, cancel := e.pipe()
	defer cancel()
	x := newEvaluations(d, e.stdout)
	if d.End.Regret > 0 {
		_ = x.print(map[string]any{"warning": "regret in end of the study does not end a run of a service"}) // the next trial reports the error
	}
	reason, err := x.work(ctx, in, client, worker.Options{Study: c.Study, Workers: c.Workers, Time: cmp.Or(c.Time, d.End.Time.Value())})
	if err == nil {
		err = servedEnd(reason)
	}
	if kind := endKind(err); kind != "" {
		return x.print(map[string]any{"ended": endText(err, d), "kind": kind})
	}
	return c.unlessInterrupted(e, explained(c.Server, unlessInputEnded(err)))
}

// unlessInputEnded returns nil for the end of the input, unless a result is lost.
func unlessInputEnded(err error) error {
	if errors.Is(err, errInputEnded) && !loses(err) {
		return nil
	}
	return err
}

// unlessInterrupted returns errInterrupted for the end of the context, unless a result is lost.
func (c *evaluateCmd) unlessInterrupted(e *env, err error) error {
	if errors.Is(err, context.Canceled) && !loses(err) {
		fmt.Fprintf(e.stderr, "bo: interrupted%s\n", continues(c.Study))
		return errInterrupted
	}
	return err
}

// servedEnd returns the error of an end that a service describes, nil for the end of the budget.
func servedEnd(reason string) error {
	ends := []error{store.ErrTarget, store.ErrTime, store.ErrCost, store.ErrFailures, store.ErrExhausted}
	i := slices.IndexFunc(ends, func(end error) bool { return strings.HasPrefix(reason, end.Error()) })
	if i < 0 {
		return nil
	}
	return fmt.Errorf("%w%s", ends[i], strings.TrimPrefix(reason, ends[i].Error()))
}

// continues is the end of the message of an interrupted run of a stored study.
func continues(name string) string { return "; the same command continues study " + name }

// loses reports whether a result of a run could not be stored.
func loses(err error) bool {
	_, lost := errors.AsType[*store.NotStored](err)
	return lost
}

// endKind returns the kind of the end of a run, "" for an error.
func endKind(err error) string {
	switch {
	case err == nil:
		return "budget"
	case loses(err):
		return ""
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
	under      map[int]underWay // by the number of the trial
	warned     time.Time        // of the last warning of a request that is repeated
	inputRead  chan struct{}    // closed when all objects of the input have been handled
}

func newEvaluations(d *study.Definition, out io.Writer) *evaluations {
	return &evaluations{definition: d, out: out, under: map[int]underWay{}, inputRead: make(chan struct{})}
}

// run runs the study until it or the input ends.
func (x *evaluations) run(ctx context.Context, in io.Reader, u *store.Study, o store.RunOptions) error {
	return x.reading(ctx, in, func(ctx context.Context) error {
		o.OnEnd = x.ended(ctx, u)
		return u.Run(ctx, x.evaluate, o)
	})
}

// work runs the study of a service until it or the input ends. It returns the reason for the end.
func (x *evaluations) work(ctx context.Context, in io.Reader, client worker.Client, o worker.Options) (reason string, err error) {
	err = x.reading(ctx, in, func(ctx context.Context) error {
		o.OnEnd = func(t store.Trial, r store.Report) { x.counted(ctx, client, result(t, r)) }
		o.OnStop = func(t store.Trial) { x.counted(ctx, client, t) }
		o.OnRetry = x.retried
		done, err := worker.Run(ctx, client, x.reported, o)
		reason = done.Reason
		return err
	})
	return reason, err
}

// reading reads the input while run runs. A fault of the input ends the context of run, and is the error then, also if
// the end of the input ends the context first.
func (x *evaluations) reading(ctx context.Context, in io.Reader, run func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	read := make(chan error, 1)
	go func() {
		err := x.read(in)
		read <- err
		if err != nil {
			cancel(err)
		}
	}()
	err := run(ctx)
	cause := context.Cause(ctx)
	_, faulty := errors.AsType[usageError](cause)
	ended := errors.Is(err, context.Canceled) || errors.Is(err, errInputEnded)
	if ended && !loses(err) && (faulty || errors.Is(cause, errInputEnded)) {
		return cmp.Or(<-read, err)
	}
	return err
}

// underWay is an attempt at a trial.
type underWay struct {
	ctx    context.Context // of the attempt, with its reporter
	answer chan evaluated  // takes one result
}

// evaluated is an object of the input: the result of a trial, or the value at a step.
type evaluated struct {
	Trial   int                 `json:"trial"`
	Numbers map[string]*float64 `json:"numbers"` // nil is not a number
	Failure string              `json:"failure"`
	Stop    string              `json:"stop"` // the reason of a rule of the program, which stops the trial
	Note    string              `json:"note"`
	Seconds float64             `json:"seconds"`
	Step    *float64            `json:"step"`
	Value   *float64            `json:"value"`
}

// check returns an error for a line that is neither a result nor a step.
func (a *evaluated) check() error {
	switch result := a.Numbers != nil || a.Failure != "" || a.Stop != ""; {
	case a.Step == nil && !result:
		return errors.New(`neither "numbers" nor "failure" nor "stop"`)
	case a.Step != nil && result:
		return errors.New(`a "step" and a result`)
	case a.Stop != "" && (a.Numbers != nil || a.Failure != ""): // the result would be lost
		return errors.New(`a "stop" and a result`)
	}
	return nil
}

// evaluate writes a trial and waits for its result.
func (x *evaluations) evaluate(ctx context.Context, t store.Trial, _ space.Point) (store.Report, error) {
	own := underWay{ctx, make(chan evaluated, 1)}
	x.mu.Lock()
	x.under[t.Number] = own
	x.mu.Unlock()
	defer func() {
		x.mu.Lock()
		defer x.mu.Unlock()
		if x.under[t.Number] == own { // a later attempt has its own
			delete(x.under, t.Number)
		}
	}()
	if err := x.print(map[string]any{"trial": t.Number, "params": t.Params, "source": t.Source, "warnings": t.Warnings}); err != nil {
		return store.Report{}, err
	}
	select {
	case a := <-own.answer:
		return a.report()
	case <-ctx.Done():
	}
	if errors.Is(context.Cause(ctx), errInputEnded) {
		<-x.inputRead
	}
	select {
	case a := <-own.answer:
		return a.report()
	default:
		return store.Report{}, ctx.Err()
	}
}

// reported is evaluate for a worker, with an error for a result that lacks a needed number.
func (x *evaluations) reported(ctx context.Context, t store.Trial, p space.Point) (store.Report, error) {
	r, err := x.evaluate(ctx, t, p)
	if err == nil && r.Failure == "" {
		err = x.definition.Unreported(r.Numbers)
	}
	return r, err
}

// report returns a result as the store takes it. The error wraps loop.ErrStopped if the program stops the trial.
func (a *evaluated) report() (store.Report, error) {
	r := store.Report{Seconds: a.Seconds, Message: a.Note}
	if a.Stop != "" {
		return r, fmt.Errorf("%w: %s", loop.ErrStopped, a.Stop)
	}
	if a.Numbers != nil {
		r.Numbers = map[string]float64{}
	}
	for name, v := range a.Numbers {
		r.Numbers[name] = orNaN(v)
	}
	if a.Failure != "" {
		r.Failure, r.Message = store.FailedByProgram, a.Failure
	}
	return r, nil
}

// read handles the objects of the input until it ends. A result of a trial that is not under way is left out.
func (x *evaluations) read(in io.Reader) error {
	defer close(x.inputRead)
	dec := json.NewDecoder(in)
	dec.DisallowUnknownFields()
	for n := 1; ; n++ {
		var a evaluated
		if err := dec.Decode(&a); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		} else if err != nil {
			return usageError{fmt.Errorf(`object %d of the input: %w, want {"trial": 3, "numbers": {…}}`, n, err)}
		}
		if err := a.check(); err != nil {
			return usagef(`object %d of the input has %w`, n, err)
		}
		x.mu.Lock()
		own, ok := x.under[a.Trial]
		if a.Step == nil {
			delete(x.under, a.Trial)
		}
		x.mu.Unlock()
		switch {
		case a.Step != nil:
			go x.step(own.ctx, &a)
		case ok:
			own.answer <- a
		}
	}
}

// orNaN returns *v, or NaN for nil.
func orNaN(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}

// step reports a step of an attempt, and writes the reply. A nil ctx is a trial that is not under way.
func (x *evaluations) step(ctx context.Context, a *evaluated) {
	stop := ctx == nil || ctx.Err() != nil
	var err error
	if !stop {
		err = loop.Report(ctx, *a.Step, orNaN(a.Value))
	}
	reply := map[string]any{"trial": a.Trial, "step": *a.Step}
	switch {
	case stop, errors.Is(err, loop.ErrStopped), errors.Is(err, store.ErrConflict), connect.CodeOf(err) == connect.CodeAlreadyExists, err != nil && ctx.Err() != nil: // or it has a result
		reply["stop"] = true
	case err != nil:
		reply["error"] = oneLine(err.Error())
	default:
		reply["stop"] = false
	}
	_ = x.print(reply) // the next trial reports the error
}

// ended writes a stored result and the progress of the study, of all its processes.
func (x *evaluations) ended(ctx context.Context, u *store.Study) func(store.Trial) {
	return func(t store.Trial) {
		line := map[string]any{"result": newTrialJSON(&t, &store.View{Definition: x.definition})}
		if v, err := u.Brief(ctx); err == nil {
			line["finished"], line["budget"] = finishedTrials(v)-addedTrials(v), v.Definition.Budget
		}
		_ = x.print(line) // the next trial reports the error
	}
}

// counted writes a result that a service stored, and the progress of the study if the service reports it soon.
func (x *evaluations) counted(ctx context.Context, client worker.Client, t store.Trial) {
	line := map[string]any{"result": newTrialJSON(&t, &store.View{Definition: x.definition})}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if r, err := client.GetStudy(ctx, &bov1.GetStudyRequest{Study: x.definition.Name}); err == nil {
		line["finished"], line["budget"] = r.Study.Finished-r.Study.Added, r.Study.Budget
	}
	_ = x.print(line) // the next trial reports the error
}

// retried writes a warning of a request that is repeated, once in ten seconds.
func (x *evaluations) retried(err error, _ time.Duration) {
	x.mu.Lock()
	often := time.Since(x.warned) < 10*time.Second
	if !often {
		x.warned = time.Now()
	}
	x.mu.Unlock()
	if !often {
		_ = x.print(map[string]any{"warning": oneLine(err.Error()) + "; trying again"})
	}
}

func (x *evaluations) print(line any) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	return printJSON(x.out, line)
}
