package store

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/study"
)

// Report is the result of a trial.
type Report struct {
	Trial int
	// Token is the token of the attempt that made the result, or "" if the caller does
	// not hold a lease, as with bo tell. A token of another trial, or of a deleted study of the same name, is refused.
	// Without a token, a number with the name of a parameter must have the value of the parameter, up to six digits.
	// Other results with and without a token are treated alike.
	Token string

	// Numbers are the results by name, including the objective. A failed trial may have
	// numbers too. Numbers that the trial does not need are left out if they are not usable, or if there are
	// more than 1000 numbers. They are left out too if their names have more than 256 bytes, are no valid UTF-8
	// or have the character NUL.
	Numbers map[string]float64
	// Failure is the kind of failure; "" is a complete trial.
	Failure Failure
	Message string // reason of the failure, or a note on the numbers; the store keeps the first MaxMessage bytes
	// Output is the output of the evaluation, of which the store keeps the last MaxOutput bytes.
	Output string
	// Seconds is the time of the evaluation. A number that is negative, NaN or infinite is stored as 0.
	Seconds float64
	// Key, if not "", makes the report idempotent even if its numbers differ from the
	// first report: a repeated report with the same key returns the trial as the first
	// report left it. A key belongs to one trial.
	Key string
	// At has the values, by parameter, at which the trial was evaluated, if they differ from the suggested values. The
	// other active parameters keep their values. The trial moves to this point and loses its prediction.
	At map[string]any
	// Correct replaces the result of a finished trial. Numbers that the report does not have stay, and so does the note
	// of a report without one, unless it is a failure. Seconds and Output are left out. A trial without a result is an error, because its number may be wrong.
	Correct bool
}

// Tell records the result of a trial durably and returns the stored trial. It never waits
// for a fit.
//
// The same result again is no error. A trial that failed because its workers were lost, or
// because the study was edited while it waited, accepts a first result. The result of an attempt that
// was issued before an edit needs no number for End.Cost. The error wraps ErrNoTrial, or ErrNoStudy if the
// token belongs to a deleted study of the same name. It wraps loop.ErrNotFinite if a needed number is missing,
// and ErrEdited too if the study was edited after the attempt was issued. It wraps space.ErrPoint if Report.At
// leads to no point of the space. It also wraps space.ErrPoint if the report has no token and a number with the
// name of a parameter and not its value. It wraps ErrConflict if the trial has another result or point, or the
// key belongs to the result of another trial. It wraps ErrConflict too for a failure of an attempt that lost its
// lease, while another attempt is under way. After an error the study is unchanged.
//
// A Report with Correct replaces another result. Suggestions that were computed from the earlier result stay,
// and Replay computes them from the earlier result. The error wraps ErrConflict for a trial without a result or
// a trial that was stopped early.
func (u *Study) Tell(ctx context.Context, r Report) (Trial, error) {
	var told Trial
	tell := func(tx Tx, row *Row, now time.Time) (err error) {
		told, err = r.record(tx, row, now)
		return err
	}
	var err error
	if r.Key != "" {
		err = u.once(ctx, "tell "+r.Key, &told, tell)
		if err == nil && told.Number != r.Trial {
			err = fmt.Errorf("%w: the key %q belongs to the result of trial %d: use another key", ErrConflict, r.Key, told.Number)
			told = Trial{}
		}
	} else {
		err = u.update(ctx, tell)
	}
	if err != nil {
		return told, named(u.name, err)
	}
	return told, nil
}

// ReportError is the error of one of several reports.
type ReportError struct {
	Index int // index of the report
	Err   error
}

func (e *ReportError) Error() string { return e.Err.Error() }

func (e *ReportError) Unwrap() error { return e.Err }

// TellAll records several results in one transaction: all of them, or none on an error. It returns the stored trials. The
// result of each report is like Tell's, and the first error that belongs to a report is a *ReportError. Reports have no Key.
func (u *Study) TellAll(ctx context.Context, reports []Report) ([]Trial, error) {
	var told []Trial
	err := u.update(ctx, func(tx Tx, row *Row, now time.Time) error {
		told = make([]Trial, 0, len(reports))
		for i, r := range reports {
			if r.Key != "" {
				return &ReportError{i, fmt.Errorf("trial %d: a key belongs to a single report", r.Trial)}
			}
			t, err := r.record(tx, row, now)
			if err != nil {
				return &ReportError{i, err}
			}
			told = append(told, t)
		}
		return nil
	})
	if err != nil {
		return nil, named(u.name, err)
	}
	return told, nil
}

// record writes the result of a trial and returns the stored trial.
func (r Report) record(tx Tx, row *Row, now time.Time) (Trial, error) {
	if err := row.issued(Attempt{r.Trial, r.Token}); err != nil {
		return Trial{}, err
	}
	if err := r.Failure.check(); err != nil {
		return Trial{}, fmt.Errorf("trial %d: %w", r.Trial, err)
	}
	if len(r.Message) > MaxMessage {
		r.Message = strings.ToValidUTF8(r.Message[:MaxMessage], "")
	}
	d, err := row.definition()
	if err != nil {
		return Trial{}, err
	}
	var needed []string
	if r.Failure == "" {
		needed = d.Declared()
	}
	given := r.Numbers
	if r.Numbers, err = usable(given, needed); err == nil {
		err = checkErrors(r.Numbers, d)
	}
	if err != nil {
		return Trial{}, fmt.Errorf("trial %d: %w", r.Trial, err)
	}
	t, err := trialOf(tx, row, r.Trial)
	if err == nil {
		err = t.issued(r.Token)
	}
	if err != nil {
		return Trial{}, err
	}
	point, err := r.point(row, t)
	if err != nil {
		return Trial{}, err
	}
	open := t.State == Pending || t.Failure == Lost || t.Failure == Unfit
	switch {
	case r.Correct && t.State == Pending:
		return Trial{}, fmt.Errorf("%w: trial %d has no result to correct", ErrConflict, t.Number)
	case r.Correct && t.State == Stopped:
		return Trial{}, r.agrees(t)
	case r.Correct && (!open || t.Failure == Lost && r.Failure != ""):
		return r.correct(tx, row, now, d, t, point)
	}
	if r.Failure == "" {
		if err := r.complete(tx, row, d, t, given); err != nil {
			return Trial{}, err
		}
	}
	if !open || t.Failure == Lost && r.Failure == Lost {
		if point != nil {
			return Trial{}, fmt.Errorf("%w: trial %d has a result at %s; the result at %s was not recorded", ErrConflict, t.Number, t.Params, point)
		}
		return *t, r.agrees(t)
	}
	if r.Failure != "" && r.Token != "" && r.Token != t.Token && t.Running(now) {
		return Trial{}, fmt.Errorf("%w: trial %d is evaluated again by attempt %d; the failure of the attempt that lost its lease was not recorded", ErrConflict, t.Number, t.Attempt)
	}
	if r.Token == "" {
		at := t.Params
		if point != nil {
			at = point
		}
		if err := r.elsewhere(d, at); err != nil {
			return Trial{}, err
		}
	}
	return r.finish(tx, row, now, t, point)
}

// finish writes the result to a trial that has none, or that failed without one. point is not nil if the trial moves to it.
func (r *Report) finish(tx Tx, row *Row, now time.Time, t *Trial, point json.RawMessage) (Trial, error) {
	var events []Event
	if t.State == Failed { // lost or unfit: fits since then have left it out
		e, err := row.corrected(now, t, false)
		if err != nil {
			return Trial{}, err
		}
		events = append(events, e)
	}
	if point != nil {
		events = append(events, row.event(Event{Time: now, Kind: TrialMoved, Trial: t.Number, Attempt: t.Attempt, Detail: string(t.Params)}))
		t.Params, t.Prediction = point, nil
	}
	if t.State == Pending && t.Source != loop.Added {
		row.Finished++
	}
	t.State, t.Failure, t.Message, t.Numbers = Complete, r.Failure, r.Message, r.Numbers
	if r.Failure != "" {
		t.State = Failed
	}
	t.Token, t.Lease, t.Finished, t.Seconds = "", time.Time{}, now, 0
	if r.Seconds > 0 && !math.IsInf(r.Seconds, 1) { // JSON and databases do not take NaN and infinities
		t.Seconds = r.Seconds
	}
	if output := ending(r.Output); output != "" {
		events = append(events, row.event(Event{Time: now, Kind: TrialOutput, Trial: t.Number, Attempt: t.Attempt, Detail: output}))
	}
	e := row.event(Event{Time: now, Kind: TrialFinished, Trial: t.Number, Attempt: t.Attempt, Detail: string(t.State)})
	t.Told, t.Revision = e.Revision, e.Revision
	return *t, putChanges(tx, row, []Trial{*t}, append(events, e))
}

// point returns the parameters of the point at which the trial was evaluated, nil if it is the suggested point.
func (r *Report) point(row *Row, t *Trial) (json.RawMessage, error) {
	if len(r.At) == 0 {
		return nil, nil
	}
	p, err := row.parsed()
	if err != nil {
		return nil, err
	}
	var values map[string]any
	if err := json.Unmarshal(t.Params, &values); err != nil {
		return nil, err
	}
	defaults := maps.Clone(p.definition.Defaults)
	if defaults == nil {
		defaults = map[string]any{}
	}
	maps.Copy(defaults, values)
	at, err := p.space.PointWith(r.At, defaults)
	if err != nil {
		return nil, fmt.Errorf("trial %d: %w", t.Number, err)
	}
	read := pointReader{space: p.space, defaults: p.definition.Defaults}
	if suggested, err := read.point(t.Params); err == nil && suggested.Key() == at.Key() {
		return nil, nil
	}
	return json.Marshal(at)
}

// elsewhere compares the numbers that have the name of a parameter with its value at the point of the trial.
// The error wraps space.ErrPoint if one differs.
func (r *Report) elsewhere(d *study.Definition, point json.RawMessage) error {
	var params map[string]any
	if err := json.Unmarshal(point, &params); err != nil {
		return err
	}
	for _, p := range d.Parameters {
		v, given := r.Numbers[p.Name]
		if !given || equalSetting(params[p.Name], v) || slices.Contains(d.Reported(), p.Name) {
			continue
		}
		at := "without " + p.Name
		if value, active := params[p.Name]; active {
			at = fmt.Sprintf("at %s=%v", p.Name, value)
		}
		return fmt.Errorf("%w: trial %d was suggested %s, and its result has %s=%v: to record a result at other values, state them as bo tell --at does",
			space.ErrPoint, r.Trial, at, p.Name, v)
	}
	return nil
}

// equalSetting reports whether v is the value of a parameter, up to the six digits that programs print. A bool is 0 or 1.
func equalSetting(setting any, v float64) bool {
	switch setting := setting.(type) {
	case bool:
		return v == 1 && setting || v == 0 && !setting
	case float64:
		return math.Abs(v-setting) <= 1e-5*math.Abs(setting)
	}
	return false
}

// complete returns an error if a result lacks a number that d.Reported names. Its numbers are given, usable or not.
// The error wraps ErrEdited if the study was edited after the attempt was issued. The result of an attempt that was
// issued before an edit needs no cost, because the edit may have added it.
func (r *Report) complete(tx Tx, row *Row, d *study.Definition, t *Trial, given map[string]float64) error {
	lacks := d.Unreported(r.Numbers)
	if lacks == nil {
		return nil
	}
	if t.State == Complete && maps.Equal(r.Numbers, t.Numbers) {
		return nil // the same result again
	}
	if _, err := usable(given, d.Reported()); err != nil {
		lacks = fmt.Errorf("trial %d: %w", r.Trial, err)
	} else {
		lacks = fmt.Errorf("%w: trial %d: %w", loop.ErrNotFinite, r.Trial, lacks)
	}
	if r.Token == "" || r.Token != t.Token {
		return lacks
	}
	edited, err := since(tx, row, StudyEdited, t.Revision)
	switch {
	case err != nil:
		return err
	case !edited:
		return lacks
	case d.Missing(r.Numbers) == nil:
		return nil
	}
	return fmt.Errorf("%w after the trial was issued: %w", ErrEdited, lacks)
}

// since reports whether an event of a kind is later than a revision.
func since(tx Tx, row *Row, kind EventKind, revision int64) (bool, error) {
	if row.Revision <= revision {
		return false, nil
	}
	const page = 1000
	for {
		events, err := tx.Events(row.ID, revision, page)
		if err != nil || slices.ContainsFunc(events, func(e Event) bool { return e.Kind == kind }) {
			return err == nil, err
		}
		if len(events) < page {
			return false, nil
		}
		revision = events[page-1].Revision
	}
}

// MaxMessage is the number of bytes that the store keeps of a message.
const MaxMessage = 4 << 10

// MaxOutput is the number of bytes that the store keeps of the end of an evaluation's output.
const MaxOutput = 4 << 10

// ending returns the part of an output that is stored: whole lines, unless the last one is longer.
func ending(output string) string {
	output = strings.TrimRight(strings.ToValidUTF8(output, "\ufffd"), " \t\r\n")
	if len(output) <= MaxOutput {
		return output
	}
	begin := len(output) - MaxOutput
	if output[begin-1] != '\n' {
		if n := strings.IndexByte(output[begin:], '\n'); n >= 0 {
			begin += n + 1
		}
	}
	return strings.ToValidUTF8(output[begin:], "")
}

// Output returns the end of the output of a finished trial, "" if there is none.
func (u *Study) Output(ctx context.Context, t *Trial) (string, error) {
	if t.Told < 2 {
		return "", nil
	}
	events, err := u.Events(ctx, t.Told-2, 1)
	if err != nil || len(events) == 0 || events[0].Kind != TrialOutput || events[0].Trial != t.Number {
		return "", err
	}
	return events[0].Detail, nil
}

func (r *Report) check() error {
	if err := checkNumbers(r.Numbers); err != nil {
		return fmt.Errorf("trial %d: %w", r.Trial, err)
	}
	return nil
}

func checkNumbers(numbers map[string]float64) error {
	for _, name := range slices.Sorted(maps.Keys(numbers)) {
		if v := numbers[name]; math.IsNaN(v) || math.Abs(v) > loop.MaxValue {
			return fmt.Errorf("%w: %s is %v", loop.ErrNotFinite, name, v)
		}
	}
	return nil
}

// checkErrors returns an error if a standard error among the numbers is negative.
func checkErrors(numbers map[string]float64, d *study.Definition) error {
	for _, name := range d.StandardErrors() {
		if v := numbers[name]; v < 0 {
			return fmt.Errorf("%w: the standard error %s is %v, want a number of at least 0", loop.ErrNotFinite, name, v)
		}
	}
	return nil
}

// Undeclared numbers with longer names, or beyond the count, are left out.
const (
	maxName    = 256 // bytes
	maxNumbers = 1000
)

// usable returns numbers without the numbers that are not usable and not needed: values that are no number, names that
// a backend may not hold, and the last names of too many. It returns the error of checkNumbers if a needed number is not
// usable. It leaves numbers unchanged.
func usable(numbers map[string]float64, needed []string) (map[string]float64, error) {
	out := maps.Clone(numbers)
	maps.DeleteFunc(out, func(name string, v float64) bool {
		return !slices.Contains(needed, name) && (math.IsNaN(v) || math.Abs(v) > loop.MaxValue || len(name) > maxName || checkText("name", name) != nil)
	})
	if len(out) > maxNumbers {
		others := slices.DeleteFunc(slices.Sorted(maps.Keys(out)), func(name string) bool { return slices.Contains(needed, name) })
		for _, name := range others[max(0, len(others)-(len(out)-maxNumbers)):] {
			delete(out, name)
		}
	}
	return out, checkNumbers(out)
}

// agrees returns ErrConflict if the report differs from the result of the finished trial t.
func (r *Report) agrees(t *Trial) error {
	if t.State == Stopped {
		return fmt.Errorf("%w: trial %d was stopped early at %s; %s was not recorded", ErrConflict, t.Number,
			t.Finished.UTC().Format(time.RFC3339), outcome(r.Failure == "", r.Numbers))
	}
	if r.Failure == "" && t.State == Complete && maps.Equal(r.Numbers, t.Numbers) || r.Failure != "" && t.State == Failed {
		return nil
	}
	return fmt.Errorf("%w: trial %d has %s since %s; %s was not recorded", ErrConflict, t.Number,
		outcome(t.State == Complete, t.Numbers), t.Finished.UTC().Format(time.RFC3339), outcome(r.Failure == "", r.Numbers))
}

func outcome(complete bool, numbers map[string]float64) string {
	if !complete {
		return "a failure"
	}
	text, _ := json.Marshal(numbers)
	return "the result " + string(text)
}

// Heartbeat extends the leases of attempts that end within Options.Lease. It returns the numbers
// of trials whose lease the caller has lost, because the trial has a result or was issued again.
// Further work on them is useless.
func (u *Study) Heartbeat(ctx context.Context, attempts ...Attempt) (lost []int, err error) {
	ended, err := u.heartbeat(ctx, attempts)
	for _, a := range ended {
		lost = append(lost, a.Trial)
	}
	return lost, err
}

// heartbeat is Heartbeat, and returns the lost attempts.
func (u *Study) heartbeat(ctx context.Context, attempts []Attempt) (lost []Attempt, err error) {
	err = u.store.backend.Update(ctx, func(tx Tx) error {
		lost = nil
		row, err := tx.Study(u.name)
		if err != nil {
			return err
		}
		now, err := tx.Now()
		if err != nil {
			return err
		}
		return eachHeld(tx, row, attempts, func(t *Trial) { t.Lease = later(t.Lease, now.Add(u.store.opts.Lease)) }, func(a Attempt) { lost = append(lost, a) })
	})
	return lost, named(u.name, err)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// eachHeld changes the trials whose attempts the caller holds, each once, and calls lost for the others.
func eachHeld(tx Tx, row *Row, attempts []Attempt, change func(*Trial), lost func(Attempt)) error {
	pending, err := pendingOf(tx, row, attempts)
	if err != nil {
		return err
	}
	var changed []Trial
	held := map[Attempt]bool{}
	for _, a := range attempts {
		if held[a] {
			continue
		}
		t, found := pending[a.Trial]
		if !found || t.Token != a.Token || a.Token == "" {
			lost(a)
			continue
		}
		held[a] = true
		change(&t)
		changed = append(changed, t)
	}
	return tx.PutTrials(row.ID, changed)
}

// pendingOf returns the trials of the attempts that are pending, and perhaps others, by their numbers. It makes one
// query.
func pendingOf(tx Tx, row *Row, attempts []Attempt) (map[int]Trial, error) {
	var trials []Trial
	var err error
	switch {
	case len(attempts) > 1:
		trials, err = tx.Trials(row.ID, Query{Pending: true})
	case len(attempts) == 1 && attempts[0].Trial > 0: // a Query of the number 0 finds all trials
		trials, err = tx.Trials(row.ID, Query{Number: attempts[0].Trial, Pending: true})
	}
	if err != nil {
		return nil, err
	}
	pending := make(map[int]Trial, len(trials))
	for _, t := range trials {
		pending[t.Number] = t
	}
	return pending, nil
}

// Release returns attempts to the study, for example after an interrupt: the trials
// wait again, and the attempts do not count as lost.
func (u *Study) Release(ctx context.Context, attempts ...Attempt) error {
	return named(u.name, u.update(ctx, func(tx Tx, row *Row, now time.Time) error {
		return release(tx, row, now, attempts)
	}))
}

// release is Release within a transaction.
func release(tx Tx, row *Row, now time.Time, attempts []Attempt) error {
	var events []Event
	err := eachHeld(tx, row, attempts, func(t *Trial) {
		t.Token, t.Lease, t.Owner = "", time.Time{}, Owner{}
		e := row.event(Event{Time: now, Kind: TrialReleased, Trial: t.Number, Attempt: t.Attempt})
		events, t.Revision = append(events, e), e.Revision
	}, func(Attempt) {})
	if err != nil {
		return err
	}
	return tx.PutEvents(row.ID, events)
}

// Evaluated is a point that was evaluated elsewhere.
type Evaluated struct {
	Params  map[string]any
	Numbers map[string]float64
	Failure Failure
	Stopped bool // ended early by a stopping rule, so that it may lack numbers
	Message string
	// Steps are numbers that the evaluation reported while it ran. Their Trial and Attempt are set by Add.
	Steps []Step
}

// check returns an error if a declared number of a complete trial is missing or not usable. It leaves out
// other numbers that are not usable.
func (e *Evaluated) check(d *study.Definition) (err error) {
	var needed []string
	if e.Failure == "" && !e.Stopped {
		needed = d.Declared()
	}
	if e.Numbers, err = usable(e.Numbers, needed); err != nil || needed == nil {
		return err
	}
	if err := d.Missing(e.Numbers); err != nil {
		return fmt.Errorf("%w: %w", loop.ErrNotFinite, err)
	}
	return checkErrors(e.Numbers, d)
}

// Add records evaluations made elsewhere as finished trials, with their steps. They do not count against the
// budget. With key, a repeated call adds nothing and returns the same trials. On an error nothing is
// added: the error wraps space.ErrPoint for parameters that are no point of the space, or
// loop.ErrNotFinite for an objective without a usable number. It names the first ten wrong evaluations
// and counts the others.
func (u *Study) Add(ctx context.Context, key string, evaluated ...Evaluated) ([]Trial, error) {
	var added []Trial
	evaluated = slices.Clone(evaluated) // check replaces numbers
	err := u.once(ctx, key, &added, func(tx Tx, row *Row, now time.Time) error {
		d, err := row.definition()
		if err != nil {
			return err
		}
		points := make([]map[string]any, len(evaluated))
		for i, e := range evaluated {
			points[i] = e.Params
		}
		trials, err := trialsOf(d, "evaluation", points, func(i int) error { return evaluated[i].check(d) })
		if err != nil {
			return err
		}
		for i, e := range evaluated {
			t := &trials[i]
			t.Source, t.State, t.Numbers, t.Failure, t.Message = loop.Added, Complete, e.Numbers, e.Failure, e.Message
			switch {
			case e.Failure != "":
				t.State = Failed
			case e.Stopped:
				t.State = Stopped
			}
		}
		added = trials
		if err := row.add(tx, now, trials); err != nil {
			return err
		}
		var steps []Step
		for i, e := range evaluated {
			for _, step := range e.Steps {
				step.Trial, step.Attempt = trials[i].Number, 0
				if err := step.check(row.Trials); err != nil {
					return err
				}
				steps = append(steps, step)
			}
		}
		return tx.PutSteps(row.ID, fresh(steps, nil))
	})
	return added, named(u.name, err)
}

// Steps returns the numbers that a trial reported while it ran. If trial is 0, it returns the numbers of all
// trials. They are in the order in which they were stored.
func (u *Study) Steps(ctx context.Context, trial int) ([]Step, error) {
	var steps []Step
	err := u.store.view(ctx, func(tx Tx) error {
		row, err := tx.Study(u.name)
		if err != nil {
			return err
		}
		steps, err = tx.Steps(row.ID, StepQuery{Trial: trial})
		return err
	})
	unnumbered(steps)
	return steps, named(u.name, err)
}
