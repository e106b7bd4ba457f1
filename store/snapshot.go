package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/study"
	"github.com/functionspace/bo/surrogate"
)

// ErrSnapshot is wrapped by every error about the contents of a Snapshot.
var ErrSnapshot = errors.New("invalid snapshot")

// Snapshot is a study with all its rows at one moment, except leases, tokens, open asks and
// replies to requests. Package store/exchange writes and reads snapshots as files.
type Snapshot struct {
	Definition *study.Definition
	Created    time.Time
	Warm       int // number of the fit from which the next fit starts; 0 is none
	Trials     []Trial
	Fits       []Fit
	Steps      []Step
	// Events are the history, with revisions 1, 2, … If there are none, Restore writes the
	// history that the order of the trials gives.
	Events []Event
}

// Snapshot reads the study.
func (u *Study) Snapshot(ctx context.Context) (*Snapshot, error) {
	var s *Snapshot
	err := u.store.view(ctx, func(tx Tx) error {
		row, err := tx.Study(u.name)
		if err != nil {
			return err
		}
		s = &Snapshot{Created: row.Created, Warm: row.Warm}
		if s.Definition, err = row.copied(); err != nil {
			return err
		}
		if s.Trials, err = tx.Trials(row.ID, Query{}); err != nil {
			return err
		}
		for n := 1; n <= row.Fits; n++ {
			f, err := tx.Fit(row.ID, n)
			if err != nil {
				return err
			}
			if f == nil {
				return fmt.Errorf("fit %d is not stored", n)
			}
			s.Fits = append(s.Fits, *f)
		}
		if s.Steps, err = tx.Steps(row.ID, StepQuery{}); err != nil {
			return err
		}
		s.Events, err = tx.Events(row.ID, 0, math.MaxInt32)
		return err
	})
	if err != nil {
		return nil, named(u.name, err)
	}
	for i := range s.Trials {
		s.Trials[i].release()
	}
	unnumbered(s.Steps)
	return s, nil
}

// release removes the token, the lease and the process of a running attempt. The owner's name
// stays for display.
func (t *Trial) release() {
	t.Token, t.Lease, t.Owner = "", time.Time{}, Owner{Name: t.Owner.Name}
}

// Restore stores a snapshot as a new study, in one transaction. A name other than "" replaces
// the name of the definition. Pending trials wait; the restored study makes the same
// suggestions as the original. The error wraps ErrExists or ErrSnapshot, or reports an
// invalid definition.
func (s *Store) Restore(ctx context.Context, name string, from *Snapshot) (*Study, error) {
	if from.Definition == nil {
		return nil, fmt.Errorf("%w: there is no definition", ErrSnapshot)
	}
	d := *from.Definition
	if name != "" {
		d.Name = name
	}
	if err := study.CheckName(d.Name); err != nil {
		return nil, fmt.Errorf("%w: %w", study.ErrInvalid, err)
	}
	if err := d.Validate(); err != nil {
		return nil, named(d.Name, err)
	}
	c := *from
	c.Trials, c.Fits, c.Events = slices.Clone(c.Trials), slices.Clone(c.Fits), slices.Clone(c.Events)
	key := token()
	err := s.backend.Update(ctx, func(tx Tx) error {
		now, err := tx.Now()
		if err != nil {
			return err
		}
		c.complete(now)
		if err := c.check(); err != nil {
			return fmt.Errorf("%w: %w", ErrSnapshot, err)
		}
		row, err := c.row(&d)
		if err != nil {
			return err
		}
		if made, err := insert(tx, row, key); !made {
			return err
		}
		for i := range c.Fits {
			if err := tx.PutFit(row.ID, &c.Fits[i]); err != nil {
				return err
			}
		}
		if err := tx.PutSteps(row.ID, c.Steps); err != nil {
			return err
		}
		return putChanges(tx, row, c.Trials, c.Events)
	})
	if err != nil {
		return nil, named(d.Name, err)
	}
	return s.Study(ctx, d.Name)
}

// row returns the study's row with the counts of its trials.
func (s *Snapshot) row(d *study.Definition) (*Row, error) {
	text, err := marshal(d)
	if err != nil {
		return nil, err
	}
	row := &Row{Name: d.Name, Definition: text, Created: s.Created, Revision: int64(len(s.Events)), Trials: len(s.Trials), Fits: len(s.Fits), Warm: s.Warm}
	for i := range s.Trials {
		if t := &s.Trials[i]; t.Source != loop.Added {
			row.Issued++
			if t.State != Pending {
				row.Finished++
			}
		}
	}
	return row, nil
}

// complete fills in missing times, and the history if there is none.
func (s *Snapshot) complete(now time.Time) {
	if s.Created.IsZero() {
		s.Created = now
	}
	for i := range s.Trials {
		t := &s.Trials[i]
		t.release()
		if t.Created.IsZero() {
			t.Created = s.Created
		}
		if t.State != Pending && t.Finished.IsZero() {
			t.Finished = t.Created
		}
	}
	if len(s.Events) > 0 {
		return
	}
	row := Row{}
	s.Events = []Event{row.event(Event{Time: s.Created, Kind: StudyCreated})}
	for i := range s.Trials {
		t := &s.Trials[i]
		s.Events = append(s.Events, row.event(Event{Time: t.Created, Kind: TrialCreated, Trial: t.Number, Detail: string(t.Source)}))
		t.Asked, t.Told = row.Revision, 0
		if t.State != Pending {
			if t.Source != loop.Added {
				s.Events = append(s.Events, row.event(Event{Time: t.Finished, Kind: TrialFinished, Trial: t.Number, Attempt: t.Attempt, Detail: string(t.State)}))
			}
			t.Told = row.Revision
		}
		t.Revision = row.Revision
	}
	for i := range s.Fits {
		s.Fits[i].Revision = row.Revision
	}
}

// TrialFault is a fault of one trial of a Snapshot.
type TrialFault struct {
	Index  int // in Snapshot.Trials
	Number int // of the trial
	Err    error
}

func (f *TrialFault) Error() string { return fmt.Sprintf("trial %d: %v", f.Number, f.Err) }

func (f *TrialFault) Unwrap() error { return f.Err }

// checkNumber returns the fault of the number of the i-th trial.
func (s *Snapshot) checkNumber(i int) error {
	switch n := s.Trials[i].Number; {
	case n == i+1:
		return nil
	case n > i+1:
		missing := fmt.Sprintf("trial %d is missing", i+1)
		if n > i+2 {
			missing = fmt.Sprintf("trials %d to %d are missing", i+1, n-1)
		}
		return fmt.Errorf(`%s before it, and trials are numbered 1, 2, … without gaps: put the deleted trial back. `+
			`To leave a trial out of fits, keep it with "state":"failed" and "failure":"lost"`, missing)
	default:
		return fmt.Errorf("its number is %d, want %d: trials stand in the order of their numbers, each once", n, i+1)
	}
}

// check returns the first fault of a completed snapshot.
func (s *Snapshot) check() error {
	for i := range s.Trials {
		if err := s.checkTrial(i); err != nil {
			return &TrialFault{i, s.Trials[i].Number, err}
		}
	}
	for i := range s.Fits {
		if err := s.checkFit(i); err != nil {
			return fmt.Errorf("fit %d: %w", i+1, err)
		}
	}
	if s.Warm < 0 || s.Warm > len(s.Fits) || s.Warm > 0 && s.Fits[s.Warm-1].Warm == nil {
		return fmt.Errorf("warm is %d, which is no fit with a warm start", s.Warm)
	}
	seen := make(map[Step]bool, len(s.Steps))
	for i, step := range s.Steps {
		if err := step.check(len(s.Trials)); err != nil {
			return fmt.Errorf("step %d of the list: %w", i+1, err)
		}
		step.Value, step.ID = 0, 0
		if seen[step] {
			return fmt.Errorf("step %d of the list: trial %d has another value of %s at step %v of attempt %d: keep one of them", i+1, step.Trial, step.Name, step.Step, step.Attempt)
		}
		seen[step] = true
	}
	for i, e := range s.Events {
		if e.Revision != int64(i+1) {
			return fmt.Errorf("event %d of the list has revision %d, want %d", i+1, e.Revision, i+1)
		}
	}
	return nil
}

func (s *Snapshot) checkTrial(i int) error {
	t, last := &s.Trials[i], int64(len(s.Events))
	if err := s.checkNumber(i); err != nil {
		return err
	}
	var values map[string]any
	if err := json.Unmarshal(t.Params, &values); err != nil || values == nil {
		return errors.New("params is not an object")
	}
	for name, v := range values {
		switch v.(type) {
		case string, bool, float64:
		default:
			return fmt.Errorf("parameter %q is not text, a number, true or false", name)
		}
	}
	switch {
	case !slices.Contains([]loop.Source{loop.Added, loop.First, loop.Enqueued, loop.Design, loop.Suggested}, t.Source):
		return fmt.Errorf("source is %q, want %s, %s, %s, %s or %s", t.Source, loop.Added, loop.First, loop.Enqueued, loop.Design, loop.Suggested)
	case !slices.Contains([]State{Pending, Complete, Failed, Stopped}, t.State):
		return fmt.Errorf("state is %q, want %s, %s, %s or %s", t.State, Pending, Complete, Failed, Stopped)
	case t.Failure.check() != nil:
		return t.Failure.check()
	case t.State == Failed && t.Failure == "":
		return fmt.Errorf(`state is "failed" and there is no failure: add "failure":"program"`)
	case t.Failure != "" && t.State != Failed:
		return fmt.Errorf(`state is %q and failure is %q: delete the keys "failure" and "message", or write "state":"failed"`, t.State, t.Failure)
	case t.Attempt < 0 || t.Lost < 0 || t.Lost > t.Attempt:
		return fmt.Errorf("%d of %d attempts were lost, want 0 to the number of attempts", t.Lost, t.Attempt)
	case t.Fit < 0 || t.Fit > len(s.Fits):
		return fmt.Errorf("fit is %d, want at most %d", t.Fit, len(s.Fits))
	case t.Asked < 1 || t.Asked > t.Revision || t.Told > t.Revision || t.Revision > last:
		return fmt.Errorf("asked %d, told %d and revision %d are not revisions up to %d", t.Asked, t.Told, t.Revision, last)
	case (t.State == Pending) != (t.Told == 0) || t.Told < 0 || t.Told != 0 && t.Told < t.Asked:
		return fmt.Errorf("it is %s and was told at revision %d", t.State, t.Told)
	case math.IsNaN(t.Seconds) || math.IsInf(t.Seconds, 0):
		return fmt.Errorf("seconds is %v, want a finite number", t.Seconds)
	}
	r := Report{Trial: t.Number, Numbers: t.Numbers}
	return r.check()
}

func (s *Snapshot) checkFit(i int) error {
	f := &s.Fits[i]
	if f.Number != i+1 {
		return fmt.Errorf("its number is %d, want %d", f.Number, i+1)
	}
	if f.Start < 0 || f.Start > i || f.Start > 0 && s.Fits[f.Start-1].Warm == nil {
		return fmt.Errorf("start is %d, which is no earlier fit with a warm start", f.Start)
	}
	if f.Revision < 0 || f.Revision > int64(len(s.Events)) || f.Trials < 0 {
		return fmt.Errorf("revision is %d and trials %d, want a revision from 0 to %d and no negative number of trials", f.Revision, f.Trials, len(s.Events))
	}
	if bytes.Equal(f.Warm, []byte("null")) {
		f.Warm = nil
	}
	if f.Warm != nil {
		if err := json.Unmarshal(f.Warm, new(surrogate.State)); err != nil {
			return errors.New("warm is not a list of numbers")
		}
	}
	return nil
}
