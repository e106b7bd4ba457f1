package loop

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/functionspace/bo/internal/faults"
	"github.com/functionspace/bo/internal/pace"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
)

// Study is an optimisation with its records, in memory. New and Resume make one; the zero Study has
// no space. Its methods may be called from several goroutines. Suggestions come from Propose, recommendations from
// Recommend.
type Study struct {
	space *space.Space
	opts  Options

	asking  chan struct{} // full while Ask runs, so that calls run one after another
	running sync.Mutex    // held by Run
	events  sync.Mutex    // held while OnEvent runs
	pace    pace.Pace

	mu      sync.Mutex   // guards the fields below
	trials  []Trial      // the trial with ID i at i-1
	idle    map[int]bool // IDs of pending trials that are not being evaluated
	queue   []space.Point
	warm    surrogate.State // state of the last fit with a finite state; nil before
	ready   []Proposal      // the next points of First and the design while there are readyAt trials; see readyPoints
	readyAt int
	cause   cause
}

// cause is the error of the objective in the failed trial of highest ID; err is nil if the caller
// recorded this trial with Fail.
type cause struct {
	id  int
	err error
}

// New returns a study without trials. It copies the slices and maps of o. The error for invalid options
// wraps ErrOptions.
func New(s *space.Space, o Options) (*Study, error) {
	o, err := o.clone().withDefaults(s)
	if err != nil {
		return nil, err
	}
	return &Study{space: s, opts: o, asking: make(chan struct{}, 1), idle: map[int]bool{}}, nil
}

// Space returns the search space.
func (s *Study) Space() *space.Space { return s.space }

// Options returns a copy of the options, with the defaults in place of zero values.
func (s *Study) Options() Options { return s.opts.clone() }

// Trials returns all trials in the order of their IDs.
func (s *Study) Trials() []Trial {
	s.mu.Lock()
	defer s.mu.Unlock()
	trials := make([]Trial, len(s.trials))
	for i := range s.trials {
		trials[i] = s.trials[i].clone()
	}
	return trials
}

// Best returns the best trial, as Options.Best defines it: the feasible trial with the best
// observed value. It returns false if no trial is complete or there are several objectives.
func (s *Study) Best() (Trial, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.best()
	if i < 0 {
		return Trial{}, false
	}
	return s.trials[i].clone(), true
}

// Incumbents returns the feasible trials with a better value than all feasible
// trials of lower ID. The last trial is Best. With several objectives there are none.
func (s *Study) Incumbents() []Trial {
	s.mu.Lock()
	defer s.mu.Unlock()
	var line []Trial
	best, sign := math.Inf(1), s.opts.sign()
	for i := range s.trials {
		if t := &s.trials[i]; !s.opts.Several() && s.opts.Feasible(t) && sign*t.Value < best {
			best = sign * t.Value
			line = append(line, t.clone())
		}
	}
	return line
}

// Enqueue appends points to a queue. Ask returns them ahead of the initial design
// and of suggestions. A noise-free study leaves out points that have a trial, other than a lost one, or are
// queued already. If points are not in the study's space or violate a constraint, Enqueue queues
// nothing. It returns the error of space.PointOf; of several points the error wraps a space.Faults with the
// first ten wrong points and the number of the others.
func (s *Study) Enqueue(points ...space.Point) error {
	queue := make([]space.Point, len(points))
	wrong := faults.List{What: "points"}
	for i, p := range points {
		var err error
		if queue[i], err = own(s.space, p); err == nil {
			continue
		}
		if len(points) == 1 {
			return err
		}
		wrong.Add(fmt.Errorf("point %d of %d: %w", i+1, len(points), err))
	}
	if list := wrong.Errors(); list != nil {
		return space.Faults(list)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue = append(s.queue, queue...)
	if s.opts.NoiseFree {
		s.queue = untried(s.queue, s.trials)
	}
	return nil
}

// untried returns the points of queue that no trial has, each once. Lost trials do not count.
func untried(queue []space.Point, trials []Trial) []space.Point {
	seen := keys(withoutLost(trials))
	var left []space.Point
	for _, p := range queue {
		if key := p.Key(); !seen[key] {
			seen[key] = true
			left = append(left, p)
		}
	}
	return left
}

// Add records an evaluation made elsewhere, for example in an earlier study, and
// returns the ID of the new trial. The error wraps ErrNotFinite, or is the error of
// space.PointOf for a point that is not in the study's space or violates a constraint.
func (s *Study) Add(p space.Point, value float64) (int, error) {
	return s.AddOutcome(p, Outcome{Value: value})
}

// AddOutcome is Add for a result with several numbers.
func (s *Study) AddOutcome(p space.Point, out Outcome) (int, error) {
	if err := s.opts.CheckOutcome(out); err != nil {
		return 0, err
	}
	p, err := own(s.space, p)
	if err != nil {
		return 0, err
	}
	s.mu.Lock()
	id := len(s.trials) + 1
	t := Trial{ID: id, Point: p, Source: Added, State: Complete}
	t.record(&s.opts, out)
	s.trials = append(s.trials, t)
	e := Event{Kind: TrialFinished, Trial: t.clone(), Improved: s.improves(&t)}
	s.mu.Unlock()
	s.emit(e)
	return id, nil
}

// Tell records the value of a pending trial. The error wraps ErrUnknownTrial,
// ErrFinished or ErrNotFinite; the study is then unchanged. After ErrNotFinite the
// caller may record the trial with Fail.
func (s *Study) Tell(id int, value float64) error { return s.tell(id, Outcome{Value: value}, 0) }

// TellOutcome is Tell for a result with several numbers. ErrNotFinite also reports a missing
// number.
func (s *Study) TellOutcome(id int, out Outcome) error { return s.tell(id, out, 0) }

// tell is TellOutcome with the duration of the evaluation.
func (s *Study) tell(id int, out Outcome, seconds float64) error {
	if err := s.opts.CheckOutcome(out); err != nil {
		return fmt.Errorf("trial %d: %w", id, err)
	}
	return s.finish(id, Event{Kind: TrialFinished}, func(t *Trial) {
		t.State, t.EvaluateSeconds = Complete, seconds
		t.record(&s.opts, out)
	})
}

// record writes an outcome to the trial.
func (t *Trial) record(o *Options, out Outcome) {
	t.Value, t.Numbers = out.Value, usable(out.Numbers)
	if o.Several() {
		t.Value = t.Numbers[o.Objectives[0].Name]
	}
}

// Fail records that a pending trial could not be evaluated. Later
// suggestions take the learned probability of a failure into account. The error wraps ErrUnknownTrial or
// ErrFinished.
func (s *Study) Fail(id int, reason string) error { return s.fail(id, reason, nil, "", 0) }

// Lose records that a pending trial is not evaluated. The reason has nothing to do with the point of the trial,
// such as a machine that is gone. Fits leave the trial out. Against a budget it counts as a failed one. The
// error wraps ErrUnknownTrial or ErrFinished.
func (s *Study) Lose(id int, reason string) error {
	return s.finish(id, Event{Kind: TrialFailed}, func(t *Trial) { t.State, t.Error = Lost, reason })
}

// Stop records that a pending trial is stopped early by a rule of the caller, as Options.Stop would: its state is Stopped
// and its value is the value at its last step. The trial has reported at least one step, and there is one objective. The
// error wraps ErrUnknownTrial, ErrFinished, or ErrOptions for several objectives.
func (s *Study) Stop(id int, reason string) error { return s.stop(id, reason, 0) }

// stop is Stop with the duration of the evaluation.
func (s *Study) stop(id int, reason string, seconds float64) error {
	if s.opts.Several() {
		return fmt.Errorf("%w: trial %d: only trials of one objective are stopped", ErrOptions, id)
	}
	s.mu.Lock()
	t, err := s.pendingTrial(id)
	if err == nil && len(t.Steps) == 0 {
		err = fmt.Errorf("trial %d has no steps: report one before it is stopped", id)
	}
	if err != nil {
		s.mu.Unlock()
		return err
	}
	last := LastStep(t.Steps)
	t.Error, t.EvaluateSeconds = reason, seconds
	sign := s.opts.sign()
	s.end(t, Decision{Stop: true, Step: last.Step, Value: sign * capped(signed(sign, last.Value)), Reason: reason})
	return nil
}

// end stops a pending trial. The caller holds s.mu, which end unlocks.
func (s *Study) end(t *Trial, d Decision) {
	t.State, t.Value = Stopped, LastStep(t.Steps).Value
	delete(s.idle, t.ID)
	e := Event{Kind: TrialStopped, Decision: d, Trial: t.clone()}
	s.mu.Unlock()
	s.emit(e)
}

// fail is Fail with the error of the objective, the stack of a panic and the duration of the
// evaluation.
func (s *Study) fail(id int, reason string, err error, stack string, seconds float64) error {
	return s.finish(id, Event{Kind: TrialFailed}, func(t *Trial) {
		t.State, t.Error, t.Stack, t.EvaluateSeconds = Failed, reason, stack, seconds
		if id >= s.cause.id {
			s.cause = cause{id, err}
		}
	})
}

// pendingTrial returns the trial with an ID if it is pending. The caller holds s.mu.
func (s *Study) pendingTrial(id int) (*Trial, error) {
	if id < 1 || id > len(s.trials) {
		return nil, fmt.Errorf("%w: %d", ErrUnknownTrial, id)
	}
	if t := &s.trials[id-1]; t.State != Pending {
		return nil, fmt.Errorf("%w: trial %d is %s", ErrFinished, id, t.State)
	}
	return &s.trials[id-1], nil
}

// finish changes a pending trial and emits e with it.
func (s *Study) finish(id int, e Event, change func(*Trial)) error {
	s.mu.Lock()
	t, err := s.pendingTrial(id)
	if err != nil {
		s.mu.Unlock()
		return err
	}
	change(t)
	delete(s.idle, id)
	e.Trial, e.Improved = t.clone(), s.improves(t)
	s.mu.Unlock()
	s.emit(e)
	return nil
}

// Report records a value of the objective that a pending trial has at a step, such as an epoch. It reports
// whether Options.Stop stops the trial. A stopped trial has the state Stopped; its evaluation should end, and
// its result is not recorded. A step that was reported before changes nothing. A value that is NaN, infinite or
// beyond MaxValue is recorded as NaN, which is worse than every number. Steps may arrive in any order.
//
// The error wraps ErrUnknownTrial, ErrFinished for a complete, failed or lost trial, or
// ErrNotFinite for a step that is not a finite number.
func (s *Study) Report(id int, step, value float64) (stop bool, err error) {
	if err := checkValue(step); err != nil {
		return false, fmt.Errorf("trial %d: step: %w", id, err)
	}
	if checkValue(value) != nil {
		value = math.NaN()
	}
	s.mu.Lock()
	if id < 1 || id > len(s.trials) {
		s.mu.Unlock()
		return false, fmt.Errorf("%w: %d", ErrUnknownTrial, id)
	}
	t := &s.trials[id-1]
	known := slices.ContainsFunc(t.Steps, func(k Step) bool { return k.Step == step })
	if t.State != Pending || known {
		state := t.State
		s.mu.Unlock()
		if finished(state) && state != Stopped {
			return false, fmt.Errorf("%w: trial %d is %s", ErrFinished, id, state)
		}
		return state == Stopped, nil
	}
	t.Steps = append(t.Steps, Step{step, value}) // histories share the earlier steps, which stay as they are
	d, _ := s.opts.Stop.Decide(s.trials, id, step, s.opts.Maximize)
	if !d.Stop {
		s.mu.Unlock()
		return false, nil
	}
	s.end(t, d)
	return true, nil
}

// history returns the history of the study. The caller holds s.mu; the history
// stays valid after that.
func (s *Study) history() History {
	return History{Trials: slices.Clone(s.trials), Queue: slices.Clone(s.queue), Warm: s.warm}
}

// finished returns the number of trials that are not pending.
func (h History) finished() int {
	n := 0
	for i := range h.Trials {
		if finished(h.Trials[i].State) {
			n++
		}
	}
	return n
}

// pending returns the IDs of the pending trials.
func (h History) pending() (ids []int) {
	for i := range h.Trials {
		if t := &h.Trials[i]; t.State == Pending {
			ids = append(ids, t.ID)
		}
	}
	return ids
}

// best is Options.Best for the study's trials. The caller holds s.mu.
func (s *Study) best() int { return s.opts.Best(s.trials) }

// improves reports whether a finished trial of the study is the best one, for Event.Improved. It costs as much as
// best, and nothing without Options.OnEvent, so that adding n trials does not take O(n²). The caller holds s.mu.
func (s *Study) improves(t *Trial) bool {
	return s.opts.OnEvent != nil && t.State == Complete && s.best() == t.ID-1
}

// checkValue returns an error that wraps ErrNotFinite for an unusable value.
func checkValue(v float64) error {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return fmt.Errorf("%w: %v", ErrNotFinite, v)
	case math.Abs(v) > MaxValue:
		return fmt.Errorf("%w: %v is beyond ±%v", ErrNotFinite, v, MaxValue)
	}
	return nil
}
