package loop

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
)

// Study is an optimisation under way. Its methods may be called from several
// goroutines.
type Study struct {
	space *space.Space
	opts  Options

	asking  sync.Mutex // held by Ask: suggestions are made one after the other
	running sync.Mutex // held by Run
	events  sync.Mutex // held while the caller handles an event

	mu      sync.Mutex // guards what follows
	records []record   // the trial with ID i at i-1
	queue   []space.Point
	warm    surrogate.State // of the last fit; nil before, or if it was not finite
}

// New returns a study without trials. It returns an error that wraps ErrOptions
// for options that make no sense.
func New(s *space.Space, o Options) (*Study, error) {
	if s == nil {
		return nil, fmt.Errorf("%w: no space", ErrOptions)
	}
	o, err := o.withDefaults(s)
	if err != nil {
		return nil, err
	}
	return &Study{space: s, opts: o}, nil
}

// Space returns the space that is searched.
func (s *Study) Space() *space.Space { return s.space }

// Options returns the options with defaults filled in.
func (s *Study) Options() Options { return s.opts }

// Trials returns all trials in the order of their IDs.
func (s *Study) Trials() []Trial {
	s.mu.Lock()
	defer s.mu.Unlock()
	trials := make([]Trial, len(s.records))
	for i := range s.records {
		trials[i] = s.records[i].public()
	}
	return trials
}

// Best returns the complete trial with the best observed value, the first of
// equals; false if there is none.
func (s *Study) Best() (Trial, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.best()
	if i < 0 {
		return Trial{}, false
	}
	return s.records[i].public(), true
}

// Incumbents returns the complete trials that, in the order of their IDs, were
// better than all before them. The last is Best.
func (s *Study) Incumbents() []Trial {
	s.mu.Lock()
	defer s.mu.Unlock()
	var line []Trial
	best, sign := math.Inf(1), s.opts.sign()
	for i := range s.records {
		if r := &s.records[i]; r.State == Complete && sign*r.Value < best {
			best = sign * r.Value
			line = append(line, r.public())
		}
	}
	return line
}

// Enqueue appends points to the queue of those to ask ahead of the design and
// of suggestions. A noise-free study leaves out points that it has asked or
// queued already. The error is the space's, for a point that is not of this
// space; nothing is queued then.
func (s *Study) Enqueue(points ...space.Point) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	own := make([]space.Point, len(points))
	for i, p := range points {
		q, err := s.space.PointOf(p.Map())
		if err != nil {
			return err
		}
		own[i] = q
	}
	t := s.snapshot()
	seen := t.seen()
	for _, p := range own {
		if s.opts.NoiseFree && seen[p.Key()] {
			continue
		}
		seen[p.Key()] = true
		s.queue = append(s.queue, p)
	}
	return nil
}

// Add records an evaluation made elsewhere, such as an earlier study's. It
// returns the ID of the new trial, an error that wraps ErrNotFinite, or the
// space's error for a point that is not of this space.
func (s *Study) Add(p space.Point, value float64) (int, error) {
	if err := checkValue(value); err != nil {
		return 0, err
	}
	p, err := s.space.PointOf(p.Map())
	if err != nil {
		return 0, err
	}
	s.mu.Lock()
	id := len(s.records) + 1
	r := record{Trial: Trial{ID: id, Point: p, Source: Added, State: Complete, Value: value}, x: s.space.Encode(p)}
	s.records = append(s.records, r)
	e := Event{Kind: TrialFinished, Trial: r.public(), Improved: s.best() == id-1}
	s.mu.Unlock()
	s.emit(e)
	return id, nil
}

// Tell records the value of a pending trial. It returns an error that wraps
// ErrUnknownTrial, ErrFinished or ErrNotFinite, and then leaves the study
// unchanged: the caller decides whether a value that is not finite is a failed
// trial.
func (s *Study) Tell(id int, value float64) error { return s.tell(id, value, 0) }

func (s *Study) tell(id int, value, seconds float64) error {
	if err := checkValue(value); err != nil {
		return fmt.Errorf("trial %d: %w", id, err)
	}
	return s.finish(id, Event{Kind: TrialFinished}, func(r *record) {
		r.State, r.Value, r.EvaluateSeconds = Complete, value, seconds
	})
}

// Fail records that a pending trial could not be evaluated. The surrogate
// learns from it as if it had the worst value observed so far. The errors are
// those of Tell.
func (s *Study) Fail(id int, reason string) error { return s.fail(id, reason, 0) }

func (s *Study) fail(id int, reason string, seconds float64) error {
	return s.finish(id, Event{Kind: TrialFailed}, func(r *record) {
		r.State, r.Error, r.EvaluateSeconds = Failed, reason, seconds
	})
}

func (s *Study) finish(id int, e Event, change func(*record)) error {
	s.mu.Lock()
	if id < 1 || id > len(s.records) {
		s.mu.Unlock()
		return fmt.Errorf("%w: %d", ErrUnknownTrial, id)
	}
	r := &s.records[id-1]
	if r.State != Pending {
		s.mu.Unlock()
		return fmt.Errorf("%w: %d is %s", ErrFinished, id, r.State)
	}
	change(r)
	r.idle = false
	e.Trial, e.Improved = r.public(), r.State == Complete && s.best() == id-1
	s.mu.Unlock()
	s.emit(e)
	return nil
}

// best returns the index of the best complete record, or -1. The caller holds
// s.mu.
func (s *Study) best() int {
	found, sign := -1, s.opts.sign()
	for i := range s.records {
		r := &s.records[i]
		if r.State == Complete && (found < 0 || sign*r.Value < sign*s.records[found].Value) {
			found = i
		}
	}
	return found
}

func (r *record) public() Trial {
	t := r.Trial
	t.Warnings = slices.Clone(t.Warnings)
	if t.Prediction != nil {
		p := *t.Prediction
		t.Prediction = &p
	}
	return t
}

func checkValue(v float64) error {
	if math.IsNaN(v) || math.Abs(v) > MaxValue {
		return fmt.Errorf("%w: %v", ErrNotFinite, v)
	}
	return nil
}
