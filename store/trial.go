package store

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/study"
)

// State is the progress of a trial.
type State string

// The states of a trial. A pending trial is waiting, or running under a lease.
const (
	Pending  State = "pending"
	Complete State = "complete"
	Failed   State = "failed"
	Stopped  State = "stopped" // ended early by a stopping rule
)

// Failure is the kind of a failed trial.
type Failure string

// The kinds of failure.
const (
	FailedByProgram Failure = "program" // the evaluation reported a failure
	TimedOut        Failure = "timeout"
	NotFinite       Failure = "not finite" // a value that is NaN, infinite or beyond loop.MaxValue
	Lost            Failure = "lost"       // every attempt lost its worker
	Unfit           Failure = "unfit"      // the study was edited, and the waiting trial is no point of its space
)

// check returns an error for a text that is no kind of failure.
func (f Failure) check() error {
	if slices.Contains([]Failure{"", FailedByProgram, TimedOut, NotFinite, Lost, Unfit}, f) {
		return nil
	}
	return fmt.Errorf("failure is %q, want %s, %s, %s, %s or %s", f, FailedByProgram, TimedOut, NotFinite, Lost, Unfit)
}

// Trial is one stored evaluation of a study.
type Trial struct {
	Number int `json:"trial"` // 1, 2, … without gaps
	// Params are the values of the parameters. Space.ParsePoint reads the values of a trial that Ask has
	// returned; View.Points has the points of all trials.
	Params json.RawMessage `json:"params"`
	Source loop.Source     `json:"source"`
	State  State           `json:"state"`

	// Numbers are the results by name: the objective and any other reported numbers.
	Numbers map[string]float64 `json:"numbers,omitempty"`
	Failure Failure            `json:"failure,omitempty"`
	Message string             `json:"message,omitempty"` // reason of the failure, or a note on the numbers

	Attempt int       `json:"attempt,omitempty"` // times it was issued
	Lost    int       `json:"lost,omitempty"`    // attempts whose worker was lost
	Token   string    `json:"-"`                 // token of the attempt that runs
	Owner   Owner     `json:"owner,omitzero"`
	Lease   time.Time `json:"lease,omitzero"` // end of the lease; zero while waiting

	Prediction *study.Prediction `json:"prediction,omitempty"`
	Warnings   []string          `json:"warnings,omitempty"`
	Fit        int               `json:"fit,omitempty"` // number of the fit that proposed it

	Created  time.Time `json:"created"`
	Started  time.Time `json:"started,omitzero"`
	Finished time.Time `json:"finished,omitzero"`
	// Seconds is the time of the evaluation as its worker measured it.
	Seconds float64 `json:"seconds,omitempty"`

	// Asked and Told are the revisions of the study at which the trial was created and
	// its result was recorded. Revision is the revision of its last change.
	Asked    int64 `json:"asked"`
	Told     int64 `json:"told,omitempty"`
	Revision int64 `json:"revision"`
}

// Brief returns the trial as Query.Brief selects it.
func (t *Trial) Brief() Trial {
	b := Trial{
		Number: t.Number, Params: t.Params, Source: t.Source, State: t.State, Numbers: t.Numbers, Failure: t.Failure, Message: t.Message,
		Attempt: t.Attempt, Fit: t.Fit, Seconds: t.Seconds, Asked: t.Asked, Told: t.Told, Revision: t.Revision,
	}
	if t.State == Pending {
		b.Owner, b.Lease = t.Owner, t.Lease
	}
	return b
}

// Running reports whether an attempt is under way at a time of the store's clock.
func (t *Trial) Running(now time.Time) bool {
	return t.State == Pending && t.Lease.After(now) && !t.Owner.dead()
}

// Measured returns Numbers, without the number of a stopped trial whose last step has no usable value: the number is then
// the worst value, which stands for NaN, an infinity or a larger number.
func (t *Trial) Measured() map[string]float64 {
	if t.State != Stopped {
		return t.Numbers
	}
	worst := func(_ string, v float64) bool { return math.Abs(v) >= loop.MaxValue }
	measured := maps.Clone(t.Numbers)
	maps.DeleteFunc(measured, worst)
	return measured
}

// Attempt names one attempt at a trial. The caller holds its lease if Token is the token
// of the attempt.
type Attempt struct {
	Trial int    `json:"trial"`
	Token string `json:"token"`
}

// token returns the token of the attempt at a trial that a claim with a key issues.
func (r *Row) token(key string, t *Trial) string {
	return fmt.Sprintf("%s-%d-%d-%d", key, r.ID, t.Number, t.Created.UnixMicro())
}

// issued returns ErrNoTrial if a token was issued for another trial. A store that was restored from an earlier copy
// gives the numbers of its lost trials again.
func (t *Trial) issued(token string) error {
	parts := strings.Split(token, "-")
	if len(parts) != 4 || parts[2] == strconv.Itoa(t.Number) && parts[3] == strconv.FormatInt(t.Created.UnixMicro(), 10) {
		return nil // also a token of an earlier version, which has no time
	}
	return fmt.Errorf("%w: %d: the token belongs to another trial, or to a trial that a restored copy of the store does not have", ErrNoTrial, t.Number)
}

// issued returns ErrNoStudy if an earlier study of the same name, which was deleted, has issued the token of an attempt.
func (r *Row) issued(a Attempt) error {
	_, rest, _ := strings.Cut(a.Token, "-")
	id, _, found := strings.Cut(rest, "-")
	if study, err := strconv.ParseInt(id, 10, 64); !found || err != nil || study == r.ID {
		return nil // also a token of an earlier version, which has no ID
	}
	return fmt.Errorf("%w: trial %d was issued by an earlier study of this name, which was deleted", ErrNoStudy, a.Trial)
}

// Fit is one fit of the surrogate that made proposals, with the data to replay it.
type Fit struct {
	Number   int   `json:"fit"`
	Revision int64 `json:"revision"` // revision of the fitted history
	// Start is the number of the fit whose warm start this fit began from; 0 is none.
	Start   int             `json:"start,omitempty"`
	Warm    json.RawMessage `json:"warm,omitempty"`  // warm start for the next fit
	Version string          `json:"version"`         // version of the program
	Kernels string          `json:"kernels"`         // instruction set of the numeric kernels
	Trials  int             `json:"trials"`          // proposals made
	Given   json.RawMessage `json:"given,omitempty"` // AskRequest.Given of the ask that proposed; nil without
}

// Event is one change of a study. Revisions count a study's events from 1.
type Event struct {
	Revision int64     `json:"revision"`
	Time     time.Time `json:"time"`
	Kind     EventKind `json:"kind"`
	Trial    int       `json:"trial,omitempty"`
	Attempt  int       `json:"attempt,omitempty"`
	Detail   string    `json:"detail,omitempty"`
}

// EventKind is the kind of an event.
type EventKind string

// The kinds of event.
const (
	StudyCreated   EventKind = "study created"
	StudyEdited    EventKind = "study edited"
	TrialCreated   EventKind = "trial created"
	TrialIssued    EventKind = "trial issued"
	TrialReleased  EventKind = "trial released"
	AttemptLost    EventKind = "attempt lost"
	TrialOutput    EventKind = "trial output" // Detail is the end of the output, before the result
	TrialFinished  EventKind = "trial finished"
	TrialMoved     EventKind = "trial moved"     // Detail is the suggested parameters as JSON, before the result
	TrialCorrected EventKind = "trial corrected" // Detail is the former result, also of a lost trial, as JSON
	TrialStopped   EventKind = "trial stopped"   // Detail is the loop.Decision as JSON
)

// Step is a number that a trial reported while it ran. A trial has each step of an attempt
// and a name once.
type Step struct {
	Trial   int     `json:"trial"`
	Attempt int     `json:"attempt"` // 0 is an attempt that is not recorded
	Step    float64 `json:"step"`
	Name    string  `json:"name"`
	Value   float64 `json:"value"`
	// ID numbers the steps of a backend in the order in which they were stored, with gaps. It is
	// 0 for a step that is not stored.
	ID int64 `json:"-"`
}

// Usable reports whether the value of the step is a number. Otherwise it is the worst value, loop.MaxValue with the
// sign of the goal, which stands for NaN, an infinity or a larger number.
func (s *Step) Usable() bool { return math.Abs(s.Value) < loop.MaxValue }

// check returns the fault of a step in a study of the given number of trials.
func (s *Step) check(trials int) error {
	switch {
	case s.Trial < 1 || s.Trial > trials:
		return fmt.Errorf("%w: %d, the last one is %d", ErrNoTrial, s.Trial, trials)
	case math.IsNaN(s.Step+s.Value) || math.IsInf(s.Step, 0) || math.Abs(s.Value) > loop.MaxValue:
		return fmt.Errorf("trial %d: step %v: %w: %s is %v", s.Trial, s.Step, loop.ErrNotFinite, s.Name, s.Value)
	}
	if err := checkText("the name of a number", s.Name); err != nil {
		return fmt.Errorf("trial %d: step %v: %w", s.Trial, s.Step, err)
	}
	return nil
}

// checkText returns an error for text that a backend may not hold: PostgreSQL rejects the
// character NUL.
func checkText(what, text string) error {
	if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		return fmt.Errorf("%s is %q, want valid UTF-8 without the character NUL", what, text)
	}
	return nil
}
