package store

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/study"
)

// AddSteps records numbers that trials reported while they ran. A step that is recorded
// already changes nothing, so that a repeated call is safe. It makes no decision to stop a
// trial; see ReportSteps.
func (u *Study) AddSteps(ctx context.Context, steps ...Step) error {
	return named(u.name, u.store.backend.Update(ctx, func(tx Tx) error {
		row, err := tx.Study(u.name)
		if err != nil {
			return err
		}
		for i := range steps {
			if err := steps[i].check(row.Trials); err != nil {
				return err
			}
		}
		known, err := stepsOfTrials(tx, row, steps)
		if err != nil {
			return err
		}
		return tx.PutSteps(row.ID, fresh(steps, known))
	}))
}

// stepsOfTrials returns the stored steps of the trials that steps name, and perhaps of others.
func stepsOfTrials(tx Tx, row *Row, steps []Step) (known []Step, err error) {
	trials := map[int]bool{}
	for i := range steps {
		trials[steps[i].Trial] = true
	}
	if len(trials) > 10 { // one read of all takes less time
		return tx.Steps(row.ID, StepQuery{})
	}
	for n := range trials {
		own, err := tx.Steps(row.ID, StepQuery{Trial: n})
		if err != nil {
			return nil, err
		}
		known = append(known, own...)
	}
	return known, nil
}

// unnumbered removes the IDs, which only the backend uses.
func unnumbered(steps []Step) {
	for i := range steps {
		steps[i].ID = 0
	}
}

// fresh returns the steps that are not among known steps, each once.
func fresh(steps, known []Step) []Step {
	seen := make(map[Step]bool, len(known))
	for _, s := range known {
		s.Value, s.ID = 0, 0
		seen[s] = true
	}
	var out []Step
	for _, s := range steps {
		key := s
		if key.Value, key.ID = 0, 0; !seen[key] {
			seen[key] = true
			out = append(out, s)
		}
	}
	return out
}

// ReportSteps records values of the objective that a pending trial reported while it ran, and
// returns the trial. If the study's rule stops the trial, its state is Stopped, its number is
// the value at its last step, and an event holds the grounds of the decision. All processes
// of a study share one rule: the decision uses the steps of all trials in the store.
//
// A step of an attempt that is recorded already changes nothing. A value that is NaN,
// infinite or beyond loop.MaxValue is recorded as the worst value, loop.MaxValue with the sign
// of the goal. Steps may arrive in any order. Token is the token of the attempt, or "" if the
// caller holds no lease. Steps of an attempt that lost its lease are not recorded.
//
// The error wraps ErrNoTrial, or ErrNoStudy if the token belongs to a deleted study of the same name. It
// wraps ErrConflict if the trial is complete or failed, and loop.ErrNotFinite for a step that is not a finite
// number. A Study reads the steps of other trials once, at the first decision that compares trials,
// and then only new steps.
func (u *Study) ReportSteps(ctx context.Context, a Attempt, steps ...loop.Step) (Trial, error) {
	return u.report(ctx, a, func(r *reporting) (loop.Decision, error) { return r.record(steps) })
}

// Stop records that a pending trial is stopped early by a rule of the caller, as the study's rule would: its state is
// Stopped and its number is the value at its last step. The attempt has recorded at least one step, and the study has
// one objective. A trial that is stopped already, or an attempt that lost its lease, changes nothing. The
// errors are the errors of ReportSteps, and loop.ErrOptions for several objectives or without a step.
func (u *Study) Stop(ctx context.Context, a Attempt, reason string) (Trial, error) {
	return u.report(ctx, a, func(r *reporting) (loop.Decision, error) {
		if n := len(r.definition.Objectives); n > 1 {
			return loop.Decision{}, fmt.Errorf("%w: trial %d: only trials of one objective are stopped, and there are %d", loop.ErrOptions, a.Trial, n)
		}
		if _, err := r.record(nil); err != nil {
			return loop.Decision{}, err
		}
		if len(r.own) == 0 {
			return loop.Decision{}, fmt.Errorf("%w: trial %d has no steps: report one before it is stopped", loop.ErrOptions, a.Trial)
		}
		last := loop.LastStep(stepsOf(r.own))
		return loop.Decision{Stop: true, Step: last.Step, Value: last.Value, Reason: reason}, nil
	})
}

// report calls decide in a transaction with a pending trial, and stops the trial if the decision is to stop.
func (u *Study) report(ctx context.Context, a Attempt, decide func(*reporting) (loop.Decision, error)) (Trial, error) {
	var told Trial
	var r reporting
	err := u.update(ctx, func(tx Tx, row *Row, now time.Time) error {
		r = reporting{}
		if err := row.issued(a); err != nil {
			return err
		}
		d, err := row.definition()
		if err != nil {
			return err
		}
		t, err := trialOf(tx, row, a.Trial)
		if err == nil {
			err = t.issued(a.Token)
		}
		if err != nil {
			return err
		}
		told = *t
		switch told.State {
		case Stopped:
			return nil
		case Complete, Failed:
			return fmt.Errorf("%w: trial %d is %s: its steps were not recorded", ErrConflict, a.Trial, told.State)
		}
		if a.Token != "" && a.Token != told.Token {
			return nil // another attempt is under way, or the trial waits for one
		}
		r = reporting{tx: tx, row: row, definition: d, trial: &told, decides: d.Stop.Active(), curves: u.curves.Load(), others: u.steps.Load()}
		decision, err := decide(&r)
		if err != nil || !decision.Stop {
			return err
		}
		return r.stop(now, decision)
	})
	if err == nil && r.decides { // what a transaction read is kept once it is committed
		u.curves.Store(r.curves)
		u.steps.Store(r.others)
	}
	return told, named(u.name, err)
}

// reporting is the transaction of one ReportSteps or Stop.
type reporting struct {
	tx         Tx
	row        *Row
	definition *study.Definition
	trial      *Trial
	decides    bool
	curves     *curves   // nil before the first decision
	others     *stepCopy // nil before the first decision

	own []Step       // recorded steps of the attempt with the objective
	all []loop.Trial // all trials with their steps; nil before the first decision
}

// record stores the new steps one after the other and returns the first decision to stop.
func (r *reporting) record(steps []loop.Step) (loop.Decision, error) {
	o := r.definition.Objective()
	known, err := r.tx.Steps(r.row.ID, StepQuery{Trial: r.trial.Number})
	if err != nil {
		return loop.Decision{}, err
	}
	seen := map[float64]bool{}
	for _, s := range known {
		if s.Attempt == r.trial.Attempt && s.Name == o.Name {
			r.own, seen[s.Step] = append(r.own, s), true
		}
	}
	var added []Step
	var decision loop.Decision
	for _, s := range steps {
		step := Step{Trial: r.trial.Number, Attempt: r.trial.Attempt, Step: s.Step, Name: o.Name, Value: s.Value}
		if math.IsNaN(s.Value) || math.Abs(s.Value) > loop.MaxValue {
			if step.Value = loop.MaxValue; o.Goal == study.Maximize {
				step.Value = -loop.MaxValue
			}
		}
		if err := step.check(r.row.Trials); err != nil {
			return decision, err
		}
		if seen[s.Step] {
			continue
		}
		seen[s.Step] = true
		r.own, added = append(r.own, step), append(added, step)
		if decision, err = r.decide(s.Step); err != nil || decision.Stop {
			break
		}
	}
	if err != nil {
		return decision, err
	}
	return decision, r.tx.PutSteps(r.row.ID, added)
}

// decide returns the decision of the rule after a step of r.own.
func (r *reporting) decide(at float64) (d loop.Decision, err error) {
	if !r.decides {
		return loop.Decision{}, nil
	}
	maximize := r.definition.Objective().Goal == study.Maximize
	own := []loop.Trial{{ID: r.trial.Number, State: loop.Pending, Steps: stepsOf(r.own)}}
	if r.definition.Stop.Rule == loop.Median {
		if r.curves, err = r.curves.update(r.tx, r.row, r.definition.Objective().Name, maximize); err != nil {
			return loop.Decision{}, err
		}
		d, _ := r.definition.Stop.Decide(append(r.curves.trials(at), own...), r.trial.Number, at, maximize)
		return d, nil
	}
	if _, ok := r.definition.Stop.Decide(own, r.trial.Number, at, maximize); !ok {
		return loop.Decision{}, nil // no new rung: the other trials do not matter
	}
	if r.all == nil {
		if r.others, err = r.others.update(r.tx, r.row, r.definition.Objective().Name); err != nil {
			return loop.Decision{}, err
		}
		r.all = slices.Clone(r.others.trials)
	}
	r.all[r.trial.Number-1].Steps = stepsOf(r.own)
	d, _ = r.definition.Stop.Decide(r.all, r.trial.Number, at, maximize)
	return d, nil
}

// stepCopy is a copy of the trials of a study and of the values of the objective in their last
// attempts, as loop.ASHA compares them. It is immutable.
type stepCopy struct {
	study    int64
	name     string // of the objective
	revision int64
	last     int64 // ID of the last step
	attempts []int
	trials   []loop.Trial
}

// update returns c, which may be nil, with the changes since its transaction. A transaction that began to write may
// be rolled back, with writes of others in it: the caller keeps the result only once it is committed.
func (c *stepCopy) update(tx Tx, row *Row, name string) (*stepCopy, error) {
	if c == nil || row.ID != c.study || name != c.name {
		c = &stepCopy{study: row.ID, name: name}
	}
	changed, err := tx.Trials(row.ID, Query{Since: c.revision, Brief: true})
	if err != nil {
		return nil, err
	}
	added, err := tx.Steps(row.ID, StepQuery{Since: c.last})
	if err != nil {
		return nil, err
	}
	next := &stepCopy{study: c.study, name: name, revision: row.Revision, last: c.last}
	var again []Step // steps of trials whose attempt has changed
	for i := range changed {
		t := &changed[i]
		if c.revision > 0 && t.Number <= len(c.attempts) && c.attempts[t.Number-1] != t.Attempt {
			own, err := tx.Steps(row.ID, StepQuery{Trial: t.Number})
			if err != nil {
				return nil, err
			}
			again = append(again, slices.DeleteFunc(own, func(s Step) bool { return s.ID > c.last })...)
		}
	}
	next.attempts, next.trials = make([]int, row.Trials), make([]loop.Trial, row.Trials)
	copy(next.attempts, c.attempts)
	copy(next.trials, c.trials)
	for i := range changed {
		t := &changed[i]
		own := &next.trials[t.Number-1]
		if next.attempts[t.Number-1] != t.Attempt {
			own.Steps = nil
		}
		own.ID, own.State, next.attempts[t.Number-1] = t.Number, loop.State(t.State), t.Attempt
	}
	for _, s := range slices.Concat(again, added) {
		if s.Name == name && s.Attempt == next.attempts[s.Trial-1] {
			own := &next.trials[s.Trial-1]
			own.Steps = append(slices.Clip(own.Steps), loop.Step{Step: s.Step, Value: s.Value})
		}
	}
	if len(added) > 0 {
		next.last = added[len(added)-1].ID
	}
	return next, nil
}

func stepsOf(steps []Step) []loop.Step {
	out := make([]loop.Step, len(steps))
	for i, s := range steps {
		out[i] = loop.Step{Step: s.Step, Value: s.Value}
	}
	return slices.Clip(out)
}

// stop ends the trial.
func (r *reporting) stop(now time.Time, d loop.Decision) error {
	detail, err := json.Marshal(d)
	if err != nil {
		return err
	}
	t := r.trial
	last := loop.LastStep(stepsOf(r.own))
	if t.Source != loop.Added {
		r.row.Finished++
	}
	t.State, t.Numbers = Stopped, map[string]float64{r.definition.Objective().Name: last.Value}
	t.Message = fmt.Sprintf("step %v: %s", last.Step, d.Grounds())
	t.Token, t.Lease, t.Finished = "", time.Time{}, now
	if !t.Started.IsZero() {
		t.Seconds = now.Sub(t.Started).Seconds()
	}
	e := r.row.event(Event{Time: now, Kind: TrialStopped, Trial: t.Number, Attempt: t.Attempt, Detail: string(detail)})
	t.Told, t.Revision = e.Revision, e.Revision
	return putChanges(r.tx, r.row, []Trial{*t}, []Event{e})
}
