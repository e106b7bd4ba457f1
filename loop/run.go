package loop

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/functionspace/bo/internal/faults"
	"github.com/functionspace/bo/internal/stack"
	"github.com/functionspace/bo/space"
)

// Objective evaluates a point. An error, a panic and a value that is not finite
// make a failed trial; Trial.Stack has the calls that led to a panic. If ctx is cancelled it should return soon, with the
// context's error; the trial is then interrupted, not failed. It can call Report with values while
// it runs; Report returns an error if the trial is stopped.
type Objective func(ctx context.Context, p space.Point) (float64, error)

// Evaluation is an Objective with further numbers, or with several objectives. An Outcome that
// Options.CheckOutcome rejects makes a failed trial.
type Evaluation func(ctx context.Context, p space.Point) (Outcome, error)

// outcomes returns f as an Evaluation, nil for nil.
func (f Objective) outcomes() Evaluation {
	if f == nil {
		return nil
	}
	return func(ctx context.Context, p space.Point) (Outcome, error) {
		value, err := f(ctx, p)
		return Outcome{Value: value}, err
	}
}

// checkObjective returns an error if o needs more numbers than an Objective returns. The error names
// the function that takes an Evaluation.
func (o *Options) checkObjective(outcomes string) error {
	switch {
	case o.Several():
		return fmt.Errorf("%w: an Objective returns one number, and there are %d objectives: use %s", ErrOptions, len(o.Objectives), outcomes)
	case len(o.Require) > 0:
		return fmt.Errorf("%w: an Objective returns one number, and require needs %q too: use %s", ErrOptions, o.Require[0].Name, outcomes)
	}
	return nil
}

// Result is the result of a Run. With several objectives it has Trials and Warnings alone:
// Options.ParetoOf returns the front of the trials, and RecommendFront the front of the posterior
// means.
type Result struct {
	// Best is the result of Study.Best; its State is empty if there is none.
	Best Trial
	// Feasible reports whether Best meets Options.Require.
	Feasible bool
	// Recommendation is the result of Study.Recommend. If the run is cancelled or
	// the fit fails, both estimates are Best with its observed value and SD 0. After a run that
	// ends by a deadline, Study.Recommend or Recommend with another context makes the fit.
	Recommendation Recommendation
	// Incumbents is the result of Study.Incumbents.
	Incumbents []Trial
	Trials     []Trial
	// Warnings are the warnings of the run and of its trials. Each text occurs once,
	// with the first trial that has it.
	Warnings []string
}

// Minimize optimises f over s from the start: New, then Run with o.Budget
// evaluations, o.Workers of them at a time. With o.Maximize it maximises. An error for
// invalid arguments wraps ErrOptions; the other errors are the errors of Run.
func Minimize(ctx context.Context, f Objective, s *space.Space, o Options) (Result, error) {
	if err := o.checkObjective("MinimizeOutcomes"); err != nil {
		return Result{}, err
	}
	return MinimizeOutcomes(ctx, f.outcomes(), s, o)
}

// MinimizeOutcomes is Minimize with further numbers, or with several objectives.
func MinimizeOutcomes(ctx context.Context, f Evaluation, s *space.Space, o Options) (Result, error) {
	study, err := New(s, o)
	if err != nil {
		return Result{}, err
	}
	return study.RunOutcomes(ctx, f, study.opts.Budget, study.opts.Workers)
}

// Run evaluates trials until budget trials of the study are finished. The budget
// includes failed trials and trials of earlier runs, but no trials of Add: a
// resumed study takes its original budget. Up to workers evaluations (at least one)
// run at once. Run records each result when its evaluation returns. Interrupted trials
// come first, then the rest of the initial design, then suggestions.
//
// If Options.Batch is above 0, suggestions come in rounds of Batch trials, and the next
// round begins when all evaluations of the round have returned. The trials then do not
// depend on the number of workers. If Batch is 0, no worker waits for another, and
// running trials are pending for the next one. If choosing a trial takes more than 3 % of
// the mean time of an evaluation, the next trials are chosen while all workers evaluate. With one
// worker this gives the trials of rounds of 1. With several workers the trials depend on
// the order in which evaluations return, and Trial.Pending records it.
//
// If ctx is cancelled, Run waits for the evaluations in progress, which receive the
// cancelled context. It records evaluations that return a value. The other trials
// stay pending and come first in the next Run, or after Resume. The Result is valid
// beside these errors: the error of the context, with its context.Cause; ErrNoValue, with the last
// error of the objective, if every evaluation failed; or an error of the surrogate model. If a finite
// space is exhausted, Run ends early with a warning. If some evaluations failed, a warning has their
// number.
//
// RunOutcomes ends with an error that wraps ErrNotFinite when an outcome lacks a number of Options.Objectives or
// Options.Require while no trial is complete: its name is probably wrong. The trial stays pending.
//
// Run evaluates nothing and returns an error that wraps ErrOptions if budget is below 1 or f is nil. So it does
// if Options.Objectives or Options.Require need numbers that an Objective does not return, or if a parameter is
// Given. The error is ErrRunning if another Run of the study runs.
func (s *Study) Run(ctx context.Context, f Objective, budget, workers int) (Result, error) {
	if err := s.opts.checkObjective("RunOutcomes"); err != nil {
		return Result{}, err
	}
	return s.RunOutcomes(ctx, f.outcomes(), budget, workers)
}

// RunOutcomes is Run with further numbers, or with several objectives.
func (s *Study) RunOutcomes(ctx context.Context, f Evaluation, budget, workers int) (Result, error) {
	if budget < 1 {
		return Result{}, fmt.Errorf("%w: budget is %d, want at least 1", ErrOptions, budget)
	}
	if f == nil {
		return Result{}, fmt.Errorf("%w: no objective", ErrOptions)
	}
	if s.space != nil {
		if err := s.space.CheckGiven(nil); err != nil {
			return Result{}, fmt.Errorf("%w: a run states no given values: use AskGiven and Tell: %w", ErrOptions, err)
		}
	}
	if !s.running.TryLock() {
		return Result{}, ErrRunning
	}
	defer s.running.Unlock()
	workers = max(1, workers)
	var warnings []string
	warn := func(w string) {
		warnings = append(warnings, w)
		s.emit(Event{Kind: Warned, Warnings: []string{w}})
	}
	if idle := workers - s.opts.Batch; s.opts.Batch > 0 && idle > 0 {
		warn(fmt.Sprintf("%d of %d workers are idle after the initial design: set the batch to %d, or to 0 for no rounds", idle, workers, workers))
	}
	evaluate := s.rounds
	if s.opts.Batch == 0 && workers > 1 {
		evaluate = s.asynchronous
	}
	run, end := context.WithCancelCause(ctx)
	defer end(nil)
	err := evaluate(run, evaluator{f, end}, budget, workers)
	if err != nil && ctx.Err() == nil && run.Err() != nil {
		err = context.Cause(run)
	}
	if errors.Is(err, ErrExhausted) {
		warn("the run ends early: every point of the space has been tried")
		err = nil
	}
	r := s.result(ctx, warn)
	if w := failureWarning(r.Trials, s.evaluated()); w != "" {
		warn(w)
	}
	r.Warnings = append(warnings, trialWarnings(r.Trials)...)
	if err == nil {
		err = ctx.Err()
	}
	if cause := context.Cause(ctx); cause != nil && errors.Is(err, ctx.Err()) && !errors.Is(err, cause) {
		err = fmt.Errorf("%w: %w", err, cause)
	}
	if err != nil {
		return r, fmt.Errorf("stopped after %d of %d evaluations: %w", s.evaluated(), budget, err)
	}
	if !anyComplete(r.Trials) {
		return r, s.noValue(r.Trials)
	}
	return r, nil
}

// evaluator evaluates the trials of a run, and can end the run.
type evaluator struct {
	f   Evaluation
	end context.CancelCauseFunc
}

// noValue returns the error of a run without a complete trial.
func (s *Study) noValue(trials []Trial) error {
	stopped := 0
	for i := range trials {
		if trials[i].State == Stopped {
			stopped++
		}
	}
	n, last := s.evaluated(), s.lastError(trials)
	switch stopped {
	case 0:
		return fmt.Errorf("%w: all %d evaluations failed, the last one with: %w", ErrNoValue, n, last)
	case n:
		return fmt.Errorf("%w: all %d evaluations were stopped early", ErrNoValue, n)
	}
	return fmt.Errorf("%w: of %d evaluations %d were stopped early, and the others failed, the last one with: %w", ErrNoValue, n, stopped, last)
}

// rounds evaluates rounds of trials until budget trials are evaluated.
func (s *Study) rounds(ctx context.Context, e evaluator, budget, workers int) error {
	for {
		n := s.round(budget)
		if n == 0 {
			return nil
		}
		trials, err := s.Ask(ctx, n)
		if err != nil {
			return err
		}
		s.evaluate(ctx, e, trials, workers)
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

// round returns the size of the next round. It finishes an interrupted round before
// it begins another, so a resumed study makes the same suggestions. A round has at most MaxPoints trials.
func (s *Study) round(budget int) int {
	left := budget - s.evaluated()
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.idle)
	if n == 0 {
		n = max(1, s.opts.Batch, s.opts.Initial-len(s.trials))
	}
	return max(0, min(n, left, MaxPoints))
}

// evaluated returns the number of finished trials that Add did not record.
func (s *Study) evaluated() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for i := range s.trials {
		if t := &s.trials[i]; t.Source != Added && finished(t.State) {
			n++
		}
	}
	return n
}

// evaluate evaluates the trials, up to workers at a time, and returns when all
// are recorded or interrupted.
func (s *Study) evaluate(ctx context.Context, e evaluator, trials []Trial, workers int) {
	slots := make(chan struct{}, workers)
	var all sync.WaitGroup
	for _, t := range trials {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			s.evaluateOne(ctx, e, t)
		})
	}
	all.Wait()
}

// evaluateOne evaluates a trial and records its result. The outcome is recorded in a deferred
// call, so that neither a panic nor runtime.Goexit loses the trial.
func (s *Study) evaluateOne(ctx context.Context, e evaluator, t Trial) {
	if ctx.Err() != nil {
		s.interrupt(t.ID)
		return
	}
	s.emit(Event{Kind: TrialStarted, Trial: t})
	start := time.Now()
	var out Outcome
	err := errors.New("the objective ended its goroutine")
	panicked, calls := true, ""
	defer func() {
		if p := recover(); p != nil {
			err, calls = fmt.Errorf("panic: %v", p), stack.OfPanic()
		}
		seconds := time.Since(start).Seconds()
		if err == nil {
			err = s.opts.CheckOutcome(out)
			if fault := s.opts.checkNames(out); fault != nil && s.wrongName(t.ID) {
				e.end(fault)
			}
		}
		switch {
		case err == nil:
			err = s.tell(t.ID, out, seconds)
		case ctx.Err() != nil && !panicked:
			s.interrupt(t.ID)
			err = nil
		case !errors.Is(err, ErrStopped):
			err = s.fail(t.ID, err.Error(), err, calls, seconds)
		case s.stop(t.ID, strings.TrimPrefix(err.Error(), ErrStopped.Error()+": "), seconds) != nil:
			err = s.fail(t.ID, err.Error()+faults.NotStopped, err, calls, seconds)
		default:
			err = nil
		}
		// The objective may have called Tell for its trial.
		if err != nil && !errors.Is(err, ErrFinished) {
			panic("loop: " + err.Error())
		}
	}()
	out, err = e.f(WithReporter(ctx, func(steps ...Step) error {
		for _, k := range steps {
			if stop, err := s.Report(t.ID, k.Step, k.Value); err != nil {
				return err
			} else if stop {
				return fmt.Errorf("%w: trial %d", ErrStopped, t.ID)
			}
		}
		return nil
	}), t.Point)
	panicked = false
}

// wrongName reports whether a number that the outcome of a trial lacks probably has a wrong name, which would take the
// whole budget: the trial was not stopped early, and no trial is complete.
func (s *Study) wrongName(id int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.trials[id-1].State == Pending && !anyComplete(s.trials)
}

// interrupt marks a pending trial as one that is not being evaluated.
func (s *Study) interrupt(id int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.trials[id-1].State == Pending {
		s.idle[id] = true
		s.trials[id-1].Steps = nil // the next attempt reports them again
	}
}

// result returns the Result of a run without warnings.
func (s *Study) result(ctx context.Context, warn func(string)) Result {
	r := Result{Trials: s.Trials(), Incumbents: s.Incumbents()}
	var ok bool
	if r.Best, ok = s.Best(); !ok {
		return r
	}
	r.Feasible = s.opts.Feasible(&r.Best)
	observed := Estimate{Trial: r.Best, Mean: r.Best.Value}
	if r.Feasible {
		observed.Feasible = 1
	}
	r.Recommendation = Recommendation{Observed: observed, Model: observed}
	rec, err := s.Recommend(ctx)
	switch {
	case err == nil:
		r.Recommendation = rec
	case ctx.Err() == nil:
		warn("the last fit failed, the best observed trial is recommended: " + err.Error())
	}
	return r
}

// failureWarning returns the warning that some of the evaluations failed; "" if none or all of them
// failed.
func failureWarning(trials []Trial, evaluated int) string {
	failed, last := 0, Trial{}
	for _, t := range trials {
		if t.State == Failed {
			failed, last = failed+1, t
		}
	}
	if failed == 0 || !anyComplete(trials) {
		return ""
	}
	return fmt.Sprintf("%d of %d evaluations failed, so suggestions avoid their region; the last is trial %d: %s", failed, evaluated, last.ID, last.Error)
}

func anyComplete(trials []Trial) bool {
	return slices.ContainsFunc(trials, func(t Trial) bool { return t.State == Complete })
}

// trialWarnings returns the distinct warnings of trials, each with its first trial.
func trialWarnings(trials []Trial) (warnings []string) {
	told := map[string]bool{}
	for _, t := range trials {
		for _, w := range t.Warnings {
			if !told[w] {
				told[w] = true
				warnings = append(warnings, fmt.Sprintf("trial %d: %s", t.ID, w))
			}
		}
	}
	return warnings
}

// lastError returns the error of the failed trial of highest ID. It is the error that the objective
// returned, if the study has it.
func (s *Study) lastError(trials []Trial) error {
	s.mu.Lock()
	last := s.cause
	s.mu.Unlock()
	for _, t := range slices.Backward(trials) {
		switch {
		case t.State == Failed && t.ID == last.id && last.err != nil:
			return last.err
		case t.State == Failed:
			return errors.New(t.Error)
		}
	}
	return errors.New("")
}
