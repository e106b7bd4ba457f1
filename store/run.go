package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/functionspace/bo/internal/faults"
	"github.com/functionspace/bo/internal/stack"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/study"
)

// Evaluate evaluates one attempt at a trial. With loop.Report it can report values of the
// objective while it runs; it should return if the error is loop.ErrStopped, because the trial
// is then stopped and its result is not recorded. With a rule of its own it returns an error that wraps
// loop.ErrStopped, and the trial is stopped as by Study.Stop; without steps it has failed. Its report needs
// neither Trial nor Token. If ctx is cancelled, it should return soon with the error of ctx; the attempt is then
// released. Any other error makes a failed trial.
type Evaluate func(ctx context.Context, t Trial, p space.Point) (Report, error)

// Guarded calls f in a goroutine of its own. It turns a panic into an error, with the calls that led to the
// panic as the output of the report. A call of runtime.Goexit, as by FailNow of package testing, is an error
// too. Guarded leaves out numbers that are not usable. If one of these is among the needed names, the trial
// fails.
func (f Evaluate) Guarded(ctx context.Context, t Trial, p space.Point, needed []string) (r Report, err error) {
	err = errors.New("the evaluation ended its goroutine")
	var all sync.WaitGroup
	all.Go(func() {
		defer func() {
			if fault := recover(); fault != nil {
				err, r.Output = fmt.Errorf("panic: %v", fault), stack.OfPanic()
			}
		}()
		r, err = f(ctx, t, p)
	})
	all.Wait()
	given := r.Numbers
	r.Numbers, _ = usable(given, nil)
	for _, name := range needed {
		v, ok := given[name]
		if _, kept := r.Numbers[name]; ok && !kept && err == nil {
			r.Failure, err = NotFinite, fmt.Errorf("%s is %v", name, v)
		}
	}
	return r, err
}

// RunOptions configures a Run: the number of workers, and conditions that end it before the
// budget is used up. A condition that is not set is the one of the definition's End.
type RunOptions struct {
	// Workers is the number of evaluations of this process at a time. 0 is 1.
	Workers int
	// Target ends the run when a complete trial is at least as good. Nil is none.
	Target *float64
	// Time ends the run when it has lasted so long; evaluations under way are finished. 0 is
	// none.
	Time time.Duration
	// MaxFailures ends the run when more trials than this have failed, without added trials. 0 is none.
	MaxFailures int
	// Cost ends the run when the sum of a reported number has reached a limit, as study.End.
	Cost string
	// Regret ends the run when the regret is at most Regret with Probability, as
	// loop.EstimateRegret estimates it after the initial design. 0 is none; a Probability of 0 is
	// study.DefaultProbability. OnRegret, if not nil, is called with every estimate.
	Regret, Probability float64
	OnRegret            func(loop.Regret)
	// OnStart and OnEnd, if not nil, are called from several goroutines when an evaluation
	// of this process begins and when its result is stored.
	OnStart, OnEnd func(Trial)
	// OnRetry, if not nil, is called from several goroutines when the store does not answer and Run
	// tries again. The error wraps ErrUnavailable, and is a NotStored for a result.
	OnRetry func(error)
}

// The reasons for which a Run ends early.
var (
	ErrTarget   = errors.New("the target is reached")
	ErrCost     = errors.New("the cost is used up")
	ErrRegret   = errors.New("the regret is small enough")
	ErrTime     = errors.New("the time is used up")
	ErrFailures = errors.New("too many trials failed")
)

// NotStored is the error of a result that Run could not store.
type NotStored struct {
	Report Report
	Err    error // the reason
}

func (e *NotStored) Error() string {
	what, numbers := "result", ""
	if e.Report.Failure != "" {
		what = "failure"
	}
	for _, name := range slices.Sorted(maps.Keys(e.Report.Numbers)) {
		numbers += fmt.Sprintf(", %s %v", name, e.Report.Numbers[name])
	}
	if numbers != "" {
		numbers += ","
	}
	return fmt.Sprintf("the %s of trial %d%s is not stored: %v", what, e.Report.Trial, numbers, e.Err)
}

// Unwrap returns the reason.
func (e *NotStored) Unwrap() error { return e.Err }

// Run evaluates trials of the study in this process until every trial of the budget has a
// result. Several processes may run one study. Each Run then ends when the study is finished.
//
// Evaluate is written for the definition at the start of Run. If an edit changes it as Edited
// reports, Run begins no further evaluation. Edits of the budget and of bounds have effect at once.
//
// If the store does not answer, Run tries again for ten minutes, beyond the patience of the backend.
//
// It returns nil when the budget is used up. Otherwise the error wraps ErrTarget, ErrTime, ErrCost,
// ErrRegret, ErrFailures, ErrExhausted, ErrEdited, or ErrNoStudy if the study is deleted. It may also wrap
// the error of the context, or come from the surrogate model or the store. Evaluations in progress have then
// ended or have been released. The error wraps a NotStored for each result that is lost. If evaluate is nil or a parameter
// is Given, it wraps loop.ErrOptions.
func (u *Study) Run(ctx context.Context, evaluate Evaluate, o RunOptions) error {
	if evaluate == nil {
		return fmt.Errorf("%w: no function to evaluate", loop.ErrOptions)
	}
	begun, err := u.readRow(ctx)
	if err != nil {
		return err
	}
	d, err := begun.definition()
	if err != nil {
		return err
	}
	if err := d.CheckRun(); err != nil {
		return fmt.Errorf("%w: %w", loop.ErrOptions, err)
	}
	o.fill(&d.End)
	if _, _, err := (&study.End{Cost: o.Cost}).CostLimit(); err != nil {
		return fmt.Errorf("%w: %w", loop.ErrOptions, err)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r := &run{Study: u, evaluate: evaluate, opts: o, begun: begun, cancel: cancel, held: map[Attempt]context.CancelFunc{}, busy: make(chan struct{}, 1), leased: make(chan fitLease, 1), started: time.Now()}
	var beating sync.WaitGroup
	beating.Go(func() { r.heartbeats(ctx) })
	beating.Go(func() { r.lookAhead(ctx) })
	var all sync.WaitGroup
	errs := make([]error, max(1, o.Workers))
	for w := range errs {
		all.Go(func() {
			if errs[w] = r.work(ctx); errs[w] != nil {
				r.end(errs[w])
			}
		})
	}
	all.Wait()
	cause := context.Cause(ctx)
	cancel(nil)
	beating.Wait()
	r.returnLease(ctx)
	if err := r.ended(); err != nil {
		return err
	}
	return cause
}

// run is the state of a Run.
type run struct {
	*Study
	evaluate Evaluate
	opts     RunOptions
	begun    *Row // at the start
	cancel   context.CancelCauseFunc
	started  time.Time
	busy     chan struct{} // receives when all workers evaluate
	leased   chan fitLease // receives a fit lease that was taken with a claim: at most one is held

	guard  sync.Mutex
	held   map[Attempt]context.CancelFunc // cancel the evaluations
	why    error                          // the first reason to end, and lost results
	firsts Firsts

	estimating sync.Mutex // held while the regret is estimated
	estimated  int        // complete trials of the last estimate
	small      int        // estimates in a row that are small enough
}

// end stops the workers: no new evaluations begin. Reasons other than the conditions of
// RunOptions, an edit and a store that does not answer also cancel the evaluations in progress.
func (r *run) end(err error) {
	r.guard.Lock()
	if lost, ok := errors.AsType[*NotStored](err); r.why == nil || ok && !errors.Is(r.why, lost) {
		r.why = errors.Join(r.why, err)
	}
	r.guard.Unlock()
	if !slices.ContainsFunc([]error{ErrTarget, ErrTime, ErrCost, ErrRegret, ErrFailures, ErrExhausted, ErrEdited, ErrUnavailable}, func(soft error) bool { return errors.Is(err, soft) }) {
		r.cancel(err)
	}
}

func (r *run) ended() error {
	r.guard.Lock()
	defer r.guard.Unlock()
	return r.why
}

// work evaluates one trial after the other until the study or the run ends.
func (r *run) work(ctx context.Context) error {
	var next *Trial // claimed with the last result
	for {
		if err := r.patiently(ctx, func() error { return r.reasonToEnd(ctx) }); err != nil || r.ended() != nil {
			if next != nil {
				after, done := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
				defer done()
				err = errors.Join(err, r.Release(after, Attempt{next.Number, next.Token}))
			}
			return err
		}
		if next == nil {
			var trials []Trial
			a := &asking{Study: r.Study, ask: token(), owner: Self(), lease: r.store.opts.Lease, want: 1, holds: r.holds}
			err := r.patiently(ctx, func() (err error) {
				trials, err = r.ask(ctx, a)
				return err
			})
			if errors.Is(err, ErrBudget) || errors.Is(err, ErrExhausted) {
				var over bool
				waitErr := r.patiently(ctx, func() (err error) {
					over, err = r.over(ctx)
					return err
				})
				switch {
				case waitErr != nil:
					return waitErr
				case over && errors.Is(err, ErrExhausted):
					return err
				case over:
					return nil
				}
				continue
			}
			if err != nil {
				return err
			}
			next = &trials[0]
		}
		var err error
		if next, err = r.attempt(ctx, *next); err != nil {
			return err
		}
	}
}

const (
	runPatience = 10 * time.Minute // of a Run whose store does not answer
	answerTime  = 90 * time.Second // of one transaction with a result: longer than the patience of the backends
	retryPause  = time.Second
)

// patiently calls f, and again while it returns ErrUnavailable, until ctx or the patience ends.
func (r *run) patiently(ctx context.Context, f func() error) error {
	begun := time.Now()
	for {
		err := f()
		if !errors.Is(err, ErrUnavailable) || ctx.Err() != nil || time.Since(begun) > runPatience {
			return err
		}
		if r.opts.OnRetry != nil {
			r.opts.OnRetry(err)
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(retryPause):
		}
	}
}

// reasonToEnd returns the reason to begin no further evaluation, or nil.
func (r *run) reasonToEnd(ctx context.Context) error {
	if r.ended() != nil {
		return nil
	}
	if r.late() {
		return fmt.Errorf("%w: %v", ErrTime, r.opts.Time)
	}
	for {
		if err := r.stop(ctx); err != nil {
			return err
		}
		wait, err := r.checkCost(ctx)
		if err != nil {
			return err
		}
		if !wait {
			return r.checkRegret(ctx)
		}
	}
}

// late reports whether the time for the run is used up.
func (r *run) late() bool { return r.opts.Time > 0 && time.Since(r.started) >= r.opts.Time }

// ask returns the trials of an Ask, which is cancelled at the end of the time for the run.
func (r *run) ask(ctx context.Context, a *asking) ([]Trial, error) {
	if r.opts.Time == 0 {
		return a.trials(ctx)
	}
	limited, cancel := context.WithDeadlineCause(ctx, r.started.Add(r.opts.Time), ErrTime)
	defer cancel()
	trials, err := a.trials(limited)
	if err != nil && ctx.Err() == nil && errors.Is(context.Cause(limited), ErrTime) {
		return nil, fmt.Errorf("%w: %v", ErrTime, r.opts.Time)
	}
	return trials, err
}

// over waits a moment for trials that run elsewhere. It reports true if none is pending,
// and false if one may have to be issued again.
func (r *run) over(ctx context.Context) (bool, error) {
	if err := r.refresh(ctx); err != nil {
		return false, err
	}
	if err := r.mu.lock(ctx); err != nil {
		return false, err
	}
	pending := slices.ContainsFunc(r.trials, func(t Trial) bool { return t.State == Pending })
	r.mu.unlock()
	if !pending {
		return true, nil
	}
	select {
	case <-ctx.Done():
		return false, context.Cause(ctx)
	case <-time.After(maxPoll):
		return false, nil
	}
}

// stop returns the reason to end the run that follows from the trials, or nil.
func (r *run) stop(ctx context.Context) error {
	if err := r.refresh(ctx); err != nil {
		return err
	}
	if err := r.mu.lock(ctx); err != nil {
		return err
	}
	defer r.mu.unlock()
	if err := r.same(); err != nil {
		return err
	}
	return r.conclusion(r.opts.Target, r.opts.MaxFailures)
}

// same returns ErrNoStudy if the copy is of another study than at the start, or the error of Edited. The
// caller holds r.mu.
func (r *run) same() error {
	switch {
	case r.id != r.begun.ID:
		return named(r.name, ErrNoStudy)
	case string(r.text) == string(r.begun.Definition):
		return nil
	}
	return named(r.name, r.edited(r.definition))
}

// edited is Edited for the definition at the start.
func (r *run) edited(d *study.Definition) error {
	was, err := r.begun.definition()
	if err == nil {
		err = Edited(was, d)
	}
	return err
}

// reaches reports whether a value of the objective is at least as good as the target.
func (r *run) reaches(o study.Objective, value float64) bool {
	return r.opts.Target != nil && reaches(o, *r.opts.Target, value)
}

// note records the first results of this run. It returns ErrFailures if all fail alike.
func (r *run) note(ctx context.Context, t Trial, expected, unreported bool) error {
	r.guard.Lock()
	settled := r.firsts.settled
	r.guard.Unlock()
	latest := 0
	if t.State == Failed && !settled {
		latest, _ = r.Alike(ctx, t.Message) // without an answer the results of this run count alone
	}
	r.guard.Lock()
	defer r.guard.Unlock()
	r.firsts.Expected = expected
	return r.firsts.Add(t.State == Failed, unreported, t.Message, latest)
}

// attempt evaluates a trial and stores its result. It returns the next trial to evaluate if one
// waited.
func (r *run) attempt(ctx context.Context, t Trial) (next *Trial, err error) {
	held := Attempt{t.Number, t.Token}
	own, cancel := context.WithCancel(ctx)
	defer cancel()
	r.guard.Lock()
	r.held[held] = cancel
	r.guard.Unlock()
	if r.allHold() {
		select {
		case r.busy <- struct{}{}:
		default:
		}
	}
	defer func() {
		r.guard.Lock()
		delete(r.held, held)
		r.guard.Unlock()
	}()
	var p space.Point
	var d *study.Definition
	err = r.patiently(ctx, func() (err error) {
		p, d, err = r.point(ctx, t)
		return err
	})
	if err != nil {
		after, done := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
		defer done()
		return nil, errors.Join(err, r.Release(after, held))
	}
	if r.opts.OnStart != nil {
		r.opts.OnStart(t)
	}
	begun := time.Now()
	reporting := loop.WithReporter(own, func(steps ...loop.Step) error { return r.report(own, held, steps...) })
	report, err := r.evaluate.Guarded(reporting, t, p, d.Reported())
	stopped := errors.Is(err, loop.ErrStopped) && r.stopTrial(ctx, own, held, strings.TrimPrefix(err.Error(), loop.ErrStopped.Error()+": "))
	if err == nil && report.Failure == "" {
		err = d.Unreported(report.Numbers)
	}
	_, unreported := errors.AsType[study.Unreported](err)
	r.pace.Evaluated(time.Since(begun))
	report.Trial, report.Token = t.Number, t.Token
	if report.Seconds == 0 {
		report.Seconds = time.Since(begun).Seconds()
	}
	after, done := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer done()
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, errors.Join(context.Cause(ctx), r.Release(after, held))
	case err != nil && own.Err() != nil && !stopped:
		return nil, nil // the trial was issued again or has a result
	case err != nil:
		report.Message = err.Error()
		if errors.Is(err, loop.ErrStopped) {
			report.Message += faults.NotStopped
		}
		if report.Failure == "" {
			report.Failure = FailedByProgram
		}
	}
	told, next, err := r.tellAndClaim(ctx, report)
	if errors.Is(err, ErrConflict) {
		err = nil // another attempt was first, or the trial is stopped
	}
	if errors.Is(err, ErrEdited) {
		after, done := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
		defer done()
		err = errors.Join(err, r.Release(after, held))
	}
	if err != nil {
		return nil, err
	}
	if r.opts.OnEnd != nil {
		r.opts.OnEnd(told)
	}
	return next, r.note(ctx, told, d.Failures == study.ExpectedFailures, unreported)
}

// holds returns the attempts of this run.
func (r *run) holds() []Attempt {
	r.guard.Lock()
	defer r.guard.Unlock()
	return slices.Collect(maps.Keys(r.held))
}

// allHold reports whether all workers hold attempts.
func (r *run) allHold() bool {
	r.guard.Lock()
	defer r.guard.Unlock()
	return len(r.held) == max(1, r.opts.Workers)
}

// tellAndClaim stores the result of a trial, also after the end of ctx, and claims a trial that waits, in one
// transaction. It claims none if the run ends or may end with this result. It gives back a trial that it claimed in a
// transaction whose acknowledgement was lost, if the repeated transaction claims none. With the claim it takes the fit
// lease for lookAhead if all workers then evaluate and further trials should wait. The error is ErrConflict or a
// NotStored, with ErrEdited if an edit asks for numbers that the report lacks.
func (r *run) tellAndClaim(ctx context.Context, report Report) (told Trial, next *Trial, err error) {
	key, cached, busy := token(), r.cache(ctx), r.allHold()
	fits := fitLease{token: token()}
	claimed := false // perhaps in a transaction that is repeated
	write := func(tx Tx, row *Row, now time.Time) error {
		next, fits.count = nil, 0
		told, err = report.record(tx, row, now)
		if errors.Is(err, loop.ErrNotFinite) {
			d, unread := row.definition()
			if unread != nil {
				return unread
			}
			return cmp.Or(r.edited(d), err)
		}
		if err != nil || told.State != Complete || r.late() || r.ended() != nil || r.opts.Cost != "" || r.opts.Regret > 0 {
			return err
		}
		d, err := row.definition()
		if err != nil || r.reaches(d.Objective(), told.Numbers[d.Objective().Name]) {
			return err
		}
		pending, err := r.pending(tx, row, now, r.holds)
		if err != nil {
			return err
		}
		c := &claim{tx: tx, row: row, now: now, owner: Self(), key: key, lease: r.store.opts.Lease, cached: cached, before: row.Trials}
		taken, err := c.take(pending, 1)
		if err != nil || len(taken) == 0 {
			return err
		}
		next, claimed = &taken[0], true
		if busy {
			fits.count, err = r.leaseToFit(tx, row, fits.token, now)
		}
		return err
	}
	err = r.patiently(ctx, func() error {
		limited, done := context.WithTimeout(context.WithoutCancel(ctx), answerTime)
		defer done()
		err := named(r.name, r.update(limited, write))
		switch {
		case err == nil || errors.Is(err, ErrConflict):
			return err
		case limited.Err() != nil && !errors.Is(err, ErrUnavailable):
			err = named(r.name, fmt.Errorf("%w: no answer in %v", ErrUnavailable, answerTime))
		}
		return &NotStored{report, err}
	})
	switch {
	case claimed && (err != nil || next == nil):
		(&asking{Study: r.Study, keys: []string{key, fits.token}, unsure: true}).giveBack(ctx)
		next = nil
	case err == nil && fits.count > 0:
		r.passLease(ctx, fits)
	}
	return told, next, err
}

// report records steps of an attempt. It returns loop.ErrStopped if the trial is stopped; the
// evaluation then ends on its own, without a heartbeat.
func (r *run) report(ctx context.Context, a Attempt, steps ...loop.Step) error {
	t, err := r.ReportSteps(ctx, a, steps...)
	if err != nil || t.State != Stopped {
		return err
	}
	r.guard.Lock()
	delete(r.held, a)
	r.guard.Unlock()
	return fmt.Errorf("%w: trial %d: %s", loop.ErrStopped, a.Trial, t.Message)
}

// stopTrial stops a trial whose evaluation has a rule of its own, and reports whether the trial is stopped. The
// attempt is held until then, so that it keeps its lease in an outage. A trial that cannot be stopped, such as one
// without steps, fails with the same message when its result is recorded.
func (r *run) stopTrial(ctx, own context.Context, a Attempt, reason string) (stopped bool) {
	r.guard.Lock()
	lose, held := r.held[a]
	r.guard.Unlock()
	if !held || own.Err() != nil {
		return !held // by the rule of the study
	}
	_ = r.patiently(ctx, func() error {
		t, err := r.Stop(ctx, a, reason)
		if stopped = err == nil && t.State == Stopped; err == nil && !stopped {
			lose() // another attempt is under way
		}
		return err
	})
	return stopped
}

// point returns the point of an issued trial and the definition of the study. It returns the error of same
// if the trial was issued after an edit.
func (r *run) point(ctx context.Context, t Trial) (p space.Point, d *study.Definition, err error) {
	if err := r.mu.lock(ctx); err != nil {
		return p, nil, err
	}
	defer r.mu.unlock()
	if r.revision < t.Revision {
		if err := r.reread(ctx, r.whole, false); err != nil {
			return p, nil, err
		}
	}
	if err := r.same(); err != nil {
		return p, nil, err
	}
	p, err = (&pointReader{space: r.space, defaults: r.definition.Defaults}).point(t.Params)
	if err != nil {
		return p, nil, fmt.Errorf("study %s: trial %d: %w", r.name, t.Number, err)
	}
	return p, r.definition, nil
}

// heartbeats extends the leases of all attempts of this run, and cancels attempts that
// were lost.
func (r *run) heartbeats(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(r.store.opts.Lease / 4):
		}
		held := r.holds()
		if len(held) == 0 {
			continue
		}
		lost, err := r.heartbeat(ctx, held)
		if err != nil {
			continue // the store is unreachable: leases last for a while, and results are stored later
		}
		r.guard.Lock()
		for _, a := range lost {
			if cancel := r.held[a]; cancel != nil {
				cancel()
			}
		}
		r.guard.Unlock()
	}
}
