package store

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/functionspace/bo/internal/pace"
	"github.com/functionspace/bo/internal/parallel"
	"github.com/functionspace/bo/internal/signal"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/study"
	"github.com/functionspace/bo/surrogate"
)

// Study is a handle on a stored study. It holds a copy of the trials and reads only
// changes. It is safe for concurrent use.
type Study struct {
	store *Store
	name  string

	mu         lock         // guards the copy; held during a read of the store
	rereads    atomic.Int64 // number of rereads of all leases that have begun
	latest     int64        // number of the last one that succeeded
	failures   atomic.Int64 // number of rereads that ended with ErrUnavailable
	fault      error        // of the last one
	id         int64
	text       json.RawMessage // JSON text of definition
	definition *study.Definition
	space      *space.Space
	options    loop.Options
	revision   int64 // revision of the copy
	whole      bool  // the copy has all fields of the trials; otherwise it is as Query.Brief selects
	trials     []Trial
	points     []space.Point // points of the trials; zero if a trial does not fit the definition
	held       atomic.Int64  // length of trials
	unfit      int           // trials that do not fit the definition
	outside    []space.Point // points of finished trials that violate constraints alone; else zero
	now        time.Time     // time of the store's clock at the last refresh
	row        Row

	warm      json.RawMessage // warm start that this handle stored last
	warmFit   int             // number of its fit
	warmStudy int64           // ID of its study

	// What early stopping has read of other trials.
	steps  atomic.Pointer[stepCopy]
	curves atomic.Pointer[curves]

	costs atomic.Pointer[costCopy] // costs that the last Ask has read

	spent spentKeys // of requests of this handle without a key that have ended

	committed signal.Signal // proposals of this handle are stored
	pace      pace.Pace
}

// lock is a mutex that is waited for until a context ends.
type lock chan struct{}

func newLock() lock { return make(lock, 1) }

// lock returns the error of ctx if ctx ends before the lock is free.
func (l lock) lock(ctx context.Context) error {
	select {
	case l <- struct{}{}:
		return nil
	default:
	}
	select {
	case l <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (l lock) unlock() { <-l }

// Study opens a study by name. The error wraps ErrNoStudy if there is none.
func (s *Store) Study(ctx context.Context, name string) (*Study, error) {
	u := &Study{store: s, name: name, mu: newLock()}
	if _, _, err := u.Definition(ctx); err != nil {
		return nil, err
	}
	return u, nil
}

// Definition returns the present definition of the study and its space. It reads no trials, so
// its cost does not depend on their number.
func (u *Study) Definition(ctx context.Context) (*study.Definition, *space.Space, error) {
	row, err := u.readRow(ctx)
	if err != nil {
		return nil, nil, err
	}
	p, err := row.parsed()
	if err != nil {
		return nil, nil, err
	}
	return p.definition, p.space, nil
}

// Summary returns the line of the study in a list of studies.
func (u *Study) Summary(ctx context.Context) (*Summary, error) {
	row, err := u.readRow(ctx)
	if err != nil {
		return nil, err
	}
	d, err := row.definition()
	if err != nil {
		return nil, err
	}
	s := row.summary(d.Budget)
	return &s, nil
}

// Revision returns the number of the last event of the study.
func (u *Study) Revision(ctx context.Context) (int64, error) {
	row, err := u.readRow(ctx)
	if err != nil {
		return 0, err
	}
	return row.Revision, nil
}

// readRow reads the row of the study in a transaction of its own.
func (u *Study) readRow(ctx context.Context) (row *Row, err error) {
	err = u.store.view(ctx, func(tx Tx) (err error) {
		row, err = tx.Study(u.name)
		return err
	})
	return row, named(u.name, err)
}

// cached is a space with the text of its definition.
type cached struct {
	text json.RawMessage
	read pointReader
}

// cache returns the space of the copy, which may be out of date, or nothing if ctx ends. Transactions must not
// call it: refresh begins one while it holds u.mu.
func (u *Study) cache(ctx context.Context) cached {
	if u.mu.lock(ctx) != nil {
		return cached{}
	}
	defer u.mu.unlock()
	if u.definition == nil {
		return cached{}
	}
	return cached{u.text, pointReader{space: u.space, defaults: u.definition.Defaults}}
}

// refresh brings the copy up to date, except for leases that heartbeats have extended. If a reread
// of another goroutine ends in vain while it waits, it returns that error.
func (u *Study) refresh(ctx context.Context) error {
	before := u.begin()
	if err := u.mu.lock(ctx); err != nil {
		return named(u.name, err)
	}
	defer u.mu.unlock()
	if u.failures.Load() > before.failures {
		return u.fault
	}
	return u.reread(ctx, u.whole, false)
}

// reread is refresh under u.mu, also of all leases if leases is true. If whole is true, the copy
// then has all fields of the trials.
func (u *Study) reread(ctx context.Context, whole, leases bool) error {
	err := u.readChanges(ctx, whole, leases)
	if errors.Is(err, ErrUnavailable) {
		u.fault = err
		u.failures.Add(1)
	}
	return err
}

// readChanges is reread without a record of failures.
func (u *Study) readChanges(ctx context.Context, whole, leases bool) error {
	var row *Row
	var changed, pending []Trial
	var now time.Time
	err := u.store.view(ctx, func(tx Tx) (err error) {
		if row, err = tx.Study(u.name); err != nil {
			return err
		}
		if now, err = tx.Now(); err != nil {
			return err
		}
		since := u.revision
		if row.ID != u.id || whole && !u.whole { // deleted and created again, or fields are missing
			since = 0
		}
		changed, pending = nil, nil
		if row.Revision > since || since == 0 {
			changed, err = tx.Trials(row.ID, Query{Since: since, Brief: !whole})
		}
		if err == nil && leases && since > 0 {
			pending, err = tx.Trials(row.ID, Query{Pending: true, Brief: !whole})
		}
		return err
	})
	if err != nil {
		return named(u.name, err)
	}
	if row.ID != u.id {
		u.trials, u.points, u.outside, u.text = nil, nil, nil, nil
	}
	redefined := string(row.Definition) != string(u.text)
	if redefined {
		if err := u.define(row); err != nil {
			return err
		}
	}
	u.id, u.revision, u.row, u.now, u.whole = row.ID, row.Revision, *row, now, whole
	u.lengthen(row.Trials)
	var moved []int // indices of trials to place
	for i := range changed {
		t := &changed[i]
		u.lengthen(t.Number)
		stays := u.points[t.Number-1].Space() != nil && bytes.Equal(u.trials[t.Number-1].Params, t.Params)
		u.trials[t.Number-1] = *t
		if !stays && !redefined {
			moved = append(moved, t.Number-1)
		}
	}
	for i := range pending {
		u.trials[pending[i].Number-1].Lease = pending[i].Lease
	}
	if redefined {
		for i := range u.trials {
			moved = append(moved, i)
		}
	}
	u.place(moved)
	return nil
}

// before has the numbers of rereads before a goroutine waits for u.mu.
type before struct{ rereads, failures int64 }

func (u *Study) begin() before { return before{u.rereads.Load(), u.failures.Load()} }

// renew is reread of all leases under u.mu, for a caller that called u.begin before it took u.mu. If another goroutine has
// begun and ended a reread since, the copy is fresh enough; if one has ended in vain, the store is unavailable. So
// goroutines that wait for u.mu together need one reread.
func (u *Study) renew(ctx context.Context, b before, whole bool) error {
	if u.latest > b.rereads && (u.whole || !whole) {
		return nil
	}
	if u.failures.Load() > b.failures {
		return u.fault
	}
	number := u.rereads.Add(1)
	err := u.reread(ctx, whole || u.whole, true)
	if err == nil {
		u.latest = number
	}
	return err
}

// lengthen makes room in the copy for n trials.
func (u *Study) lengthen(n int) {
	if more := n - len(u.trials); more > 0 {
		u.trials = append(u.trials, make([]Trial, more)...)
		u.points = append(u.points, make([]space.Point, more)...)
		u.outside = append(u.outside, make([]space.Point, more)...)
	}
	u.held.Store(int64(len(u.trials)))
}

// Held returns the number of trials in the copy, without waiting for a read of the store.
func (u *Study) Held() int { return int(u.held.Load()) }

func (u *Study) define(row *Row) error {
	p, err := row.parsed()
	if err != nil {
		return err
	}
	d, s := p.definition, p.space
	o, err := d.Method()
	if err != nil {
		return named(u.name, err)
	}
	resolved, err := loop.New(s, o)
	if err != nil {
		return named(u.name, err)
	}
	u.text, u.definition, u.space, u.options = row.Definition, d, s, resolved.Options()
	return nil
}

// place computes the points of the trials with the given indices, and counts the trials that have
// none: they do not fit the space, or are complete with a result that fits cannot use.
func (u *Study) place(indices []int) {
	parts := slices.Collect(slices.Chunk(indices, 256))
	needed := neededBy(u.definition)
	parallel.Each(len(parts), func(k int) {
		read := pointReader{space: u.space, defaults: u.definition.Defaults}
		for _, i := range parts[k] {
			p, err := read.point(u.trials[i].Params)
			if err != nil || u.trials[i].State == Complete && !needed.met(u.trials[i].Numbers) {
				p = space.Point{}
			}
			u.points[i], u.outside[i] = p, space.Point{}
			if err != nil && len(u.space.Constraints()) > 0 && u.trials[i].fitted(needed) {
				u.outside[i] = read.outside()
			}
		}
	})
	u.unfit = 0
	for i := range u.points {
		if u.points[i].Space() == nil {
			u.unfit++
		}
	}
}

// fitted reports whether a trial has a result that fits use.
func (t *Trial) fitted(n needed) bool {
	return t.State == Complete && n.met(t.Numbers) || t.State == Failed && t.Failure != Lost && t.Failure != Unfit
}

// history returns the trials up to a revision as package loop takes them.
func (u *Study) history(revision int64) []loop.Trial {
	objective := u.definition.Objective().Name
	needed := neededBy(u.definition)
	out := make([]loop.Trial, 0, len(u.trials))
	for i := range u.trials {
		t := &u.trials[i]
		if t.Asked > revision || t.Failure == Unfit && t.Told <= revision {
			continue
		}
		h := loop.Trial{ID: t.Number, Point: u.points[i], Source: t.Source, State: loop.Pending}
		if h.Point.Space() == nil {
			if h.Point, h.Outside = u.outside[i], true; h.Point.Space() == nil || t.Told > revision {
				continue
			}
		}
		if t.State != Pending && t.Told <= revision {
			switch {
			case t.State == Complete && needed.met(t.Numbers):
				h.State, h.Value, h.Numbers = loop.Complete, t.Numbers[objective], t.Numbers
			case t.State == Stopped:
				h.State, h.Value = loop.Stopped, t.Numbers[objective]
			case t.Failure == Lost:
				h.State, h.Error = loop.Lost, t.Message
			default:
				h.State, h.Error = loop.Failed, t.Message
			}
		}
		out = append(out, h)
	}
	return out
}

// addSteps adds the values of the objective that finished trials reported, if a trial is stopped: its
// expected value depends on them. Steps that AddSteps adds to a finished trial count too.
func (u *Study) addSteps(ctx context.Context, objective string, trials []loop.Trial) error {
	if !slices.ContainsFunc(trials, func(t loop.Trial) bool { return t.State == loop.Stopped }) {
		return nil
	}
	return u.store.view(ctx, func(tx Tx) error {
		row, err := tx.Study(u.name)
		if err != nil {
			return err
		}
		c, err := u.steps.Load().update(tx, row, objective)
		if err != nil {
			return err
		}
		u.steps.Store(c)
		for i := range trials {
			if t := &trials[i]; t.ID <= len(c.trials) && (t.State == loop.Complete || t.State == loop.Stopped) {
				t.Steps = slices.Clone(c.trials[t.ID-1].Steps)
			}
		}
		return nil
	})
}

// needed are conditions on the numbers of a complete trial. A trial that is older than a change of the study may not meet
// them.
type needed struct {
	declared []string // there is a number of each name
	errors   []string // these standard errors, where they are given, are not negative
}

func neededBy(d *study.Definition) needed { return needed{d.Declared(), d.StandardErrors()} }

func (n needed) met(numbers map[string]float64) bool {
	return !slices.ContainsFunc(n.declared, func(name string) bool { _, ok := numbers[name]; return !ok }) &&
		!slices.ContainsFunc(n.errors, func(name string) bool { return numbers[name] < 0 })
}

// Name returns the name of the study.
func (u *Study) Name() string { return u.name }

// View is a study at one moment.
type View struct {
	Definition *study.Definition
	Space      *space.Space
	Trials     []Trial
	Points     []space.Point // points of the trials; zero if a trial does not fit the definition
	Unfit      int           // number of trials that do not fit: they are never the best, and enter fits only if Outside
	Revision   int64
	Now        time.Time // time of the store's clock
	Created    time.Time
	Fitting    string // name of the process that fits, if any

	outside []space.Point
}

// Outside reports whether the i-th trial violates constraints of the definition, and fits it otherwise. The results of such
// trials count in fits.
func (v *View) Outside(i int) bool { return v.outside[i].Space() != nil }

// LeftOut returns the number of trials that do not fit and are not Outside: fits leave them out.
func (v *View) LeftOut() int {
	n := v.Unfit
	for i := range v.outside {
		if v.Outside(i) {
			n--
		}
	}
	return n
}

// View returns the present state of the study. It reads only the rows that have changed since the last
// call, and copies all trials. The error wraps ErrNoStudy if the study was deleted.
func (u *Study) View(ctx context.Context) (*View, error) { return u.view(ctx, true) }

// Brief is View with brief trials: see Query.Brief. It takes about half the time in a study with
// many trials.
func (u *Study) Brief(ctx context.Context) (*View, error) { return u.view(ctx, false) }

func (u *Study) view(ctx context.Context, whole bool) (*View, error) {
	before := u.begin()
	if err := u.mu.lock(ctx); err != nil {
		return nil, named(u.name, err)
	}
	defer u.mu.unlock()
	if err := u.renew(ctx, before, whole); err != nil {
		return nil, err
	}
	v := &View{
		Definition: u.definition, Space: u.space, Trials: slices.Clone(u.trials), Points: slices.Clone(u.points),
		Unfit: u.unfit, Revision: u.revision, Now: u.now, Created: u.row.Created, outside: slices.Clone(u.outside),
	}
	if !whole && u.whole {
		for i := range v.Trials {
			v.Trials[i] = v.Trials[i].Brief()
		}
	}
	if u.row.fitting(u.now) {
		v.Fitting = u.row.FitOwner.Name
	}
	return v, nil
}

// ViewOf returns the view of a definition and trials outside a store: without a revision and times.
func ViewOf(d *study.Definition, trials []Trial) (*View, error) {
	s, err := d.Space()
	if err != nil {
		return nil, err
	}
	u := &Study{definition: d, space: s, trials: trials, points: make([]space.Point, len(trials)), outside: make([]space.Point, len(trials))}
	all := make([]int, len(trials))
	for i := range all {
		all[i] = i
	}
	u.place(all)
	return &View{Definition: d, Space: s, Trials: trials, Points: u.points, Unfit: u.unfit, outside: u.outside}, nil
}

// Best returns the best trial that fits the definition, as loop.Options.Best defines it; nil if no
// such trial is complete or there are several objectives.
func (v *View) Best() *Trial { return best(v.Trials, v.Points, v.Definition) }

// Fault returns the reason for which the i-th trial does not fit the definition, nil if the trial fits.
func (v *View) Fault(i int) error {
	t := &v.Trials[i]
	read := pointReader{space: v.Space, defaults: v.Definition.Defaults}
	if _, err := read.point(t.Params); err != nil || t.State != Complete {
		return err
	}
	return cmp.Or(v.Definition.Missing(t.Numbers), checkErrors(t.Numbers, v.Definition))
}

// Feasible reports whether a trial is complete and meets all requirements.
func (v *View) Feasible(t *Trial) bool {
	return t.State == Complete && v.Definition.Feasible(t.Numbers)
}

// Pareto returns the front, the reference point and the history of the hypervolume of a study
// with several objectives. They are computed from the trials that fit the definition.
func (v *View) Pareto() loop.Pareto {
	o := outcomeOptions(v.Definition)
	return o.ParetoOf(results(v.Trials, v.Points, v.Definition))
}

// outcomeOptions returns the options of package loop about objectives and requirements.
func outcomeOptions(d *study.Definition) loop.Options {
	goals, require := d.Outcomes()
	return loop.Options{Maximize: d.Objective().Goal == study.Maximize, Objectives: goals, Require: require}
}

// results returns the numbers of the trials as package loop takes them, without points. Trials that do
// not fit the definition have none.
func results(trials []Trial, points []space.Point, d *study.Definition) []loop.Trial {
	objective := d.Objective().Name
	out := make([]loop.Trial, len(trials))
	for i := range trials {
		t := &trials[i]
		out[i] = loop.Trial{ID: t.Number, State: loop.Pending}
		switch {
		case t.State == Pending:
		case t.State == Complete && points[i].Space() != nil:
			out[i].State, out[i].Value, out[i].Numbers = loop.Complete, t.Numbers[objective], t.Numbers
		case t.State == Stopped:
			out[i].State = loop.Stopped
		default:
			out[i].State = loop.Failed
		}
	}
	return out
}

func best(trials []Trial, points []space.Point, d *study.Definition) *Trial {
	o := outcomeOptions(d)
	if i := o.Best(results(trials, points, d)); i >= 0 {
		return &trials[i]
	}
	return nil
}

// History returns the trials of a View that fit the definition, as package loop takes them.
func (u *Study) History(ctx context.Context) (*space.Space, loop.Options, loop.History, error) {
	if err := u.refresh(ctx); err != nil {
		return nil, loop.Options{}, loop.History{}, err
	}
	if err := u.mu.lock(ctx); err != nil {
		return nil, loop.Options{}, loop.History{}, named(u.name, err)
	}
	sp, options, h, objective := u.space, u.options, loop.History{Trials: u.history(u.revision)}, u.definition.Objective().Name
	u.mu.unlock()
	if err := u.addSteps(ctx, objective, h.Trials); err != nil {
		return nil, loop.Options{}, loop.History{}, named(u.name, err)
	}
	return sp, options, h, nil
}

// Warm returns the warm start of the next fit, for loop.History; nil if there is none.
func (u *Study) Warm(ctx context.Context) (surrogate.State, error) {
	var state surrogate.State
	err := u.store.view(ctx, func(tx Tx) error {
		row, err := tx.Study(u.name)
		if err != nil || row.Warm == 0 {
			return err
		}
		f, err := tx.Fit(row.ID, row.Warm)
		if err != nil || f == nil {
			return err
		}
		return json.Unmarshal(f.Warm, &state)
	})
	return state, named(u.name, err)
}

// Events returns up to limit events above a revision.
func (u *Study) Events(ctx context.Context, since int64, limit int) ([]Event, error) {
	var events []Event
	err := u.store.view(ctx, func(tx Tx) error {
		row, err := tx.Study(u.name)
		if err != nil {
			return err
		}
		events, err = tx.Events(row.ID, since, limit)
		return err
	})
	return events, named(u.name, err)
}

// Feed reads the events of a study in their order. It is not safe for concurrent use.
type Feed struct {
	study    *Study
	id       int64 // of the study, once it is read
	revision int64 // of the last event
}

// Feed returns the events above a revision.
func (u *Study) Feed(since int64) *Feed { return &Feed{study: u, revision: since} }

// Next returns up to limit further events, none if there are none yet. The error wraps ErrNoStudy if the study is
// deleted, also if another one has its name.
func (f *Feed) Next(ctx context.Context, limit int) ([]Event, error) {
	var id int64
	var events []Event
	err := f.study.store.view(ctx, func(tx Tx) error {
		row, err := tx.Study(f.study.name)
		if err != nil {
			return err
		}
		if id = row.ID; f.id != 0 && f.id != id {
			return ErrNoStudy
		}
		events, err = tx.Events(id, f.revision, limit)
		return err
	})
	if err != nil {
		return nil, named(f.study.name, err)
	}
	if f.id = id; len(events) > 0 {
		f.revision = events[len(events)-1].Revision
	}
	return events, nil
}

// Edit replaces the definition by the result of change for the present definition. Trials that do not fit the
// new space are kept and left out of fits. So are complete trials without a number that the new definition
// declares. Earlier evaluations of the new definition are added, as AddEarlier does. The name cannot change.
func (u *Study) Edit(ctx context.Context, change func(study.Definition) (*study.Definition, error)) error {
	err := u.once(ctx, "", new(bool), func(tx Tx, row *Row, now time.Time) error {
		old, err := row.copied()
		if err != nil {
			return err
		}
		d, err := change(*old)
		if err != nil {
			return err
		}
		if err := d.Validate(); err != nil {
			return err
		}
		if d.Name != row.Name {
			return fmt.Errorf("%w: the name of a study cannot change", study.ErrInvalid)
		}
		if row.Definition, err = marshal(d); err != nil {
			return err
		}
		row.Warm = 0 // a warm start of another space or surrogate is useless
		if _, err := addEarlier(tx, row, now, d); err != nil {
			return err
		}
		return tx.PutEvents(row.ID, []Event{row.event(Event{Time: now, Kind: StudyEdited})})
	})
	if err != nil {
		return named(u.name, err)
	}
	return u.refresh(ctx)
}

// Page is a part of the trials of a study at one moment.
type Page struct {
	Trials   []Trial // as Query.Brief selects them
	More     bool    // further trials follow
	Revision int64
	Now      time.Time // time of the store's clock
}

// Page returns up to n trials with numbers above after, in the order of their numbers: all, or those
// that keep accepts. It copies no other trials.
func (u *Study) Page(ctx context.Context, after, n int, keep func(*Trial) bool) (*Page, error) {
	before := u.begin()
	if err := u.mu.lock(ctx); err != nil {
		return nil, named(u.name, err)
	}
	defer u.mu.unlock()
	if err := u.renew(ctx, before, false); err != nil {
		return nil, err
	}
	p := &Page{Revision: u.revision, Now: u.now}
	for i := min(max(0, after), len(u.trials)); i < len(u.trials); i++ {
		if keep != nil && !keep(&u.trials[i]) {
			continue
		}
		if p.More = len(p.Trials) == n; p.More {
			break
		}
		p.Trials = append(p.Trials, u.trials[i].Brief())
	}
	return p, nil
}

// Trial returns a trial, and the time of the store's clock. The error wraps ErrNoTrial.
func (u *Study) Trial(ctx context.Context, number int) (t Trial, now time.Time, err error) {
	err = u.store.view(ctx, func(tx Tx) error {
		row, err := tx.Study(u.name)
		if err != nil {
			return err
		}
		if now, err = tx.Now(); err != nil {
			return err
		}
		found, err := trialOf(tx, row, number)
		if err == nil {
			t = *found
		}
		return err
	})
	return t, now, named(u.name, err)
}

// trialOf returns the trial of a number. The error wraps ErrNoTrial.
func trialOf(tx Tx, row *Row, number int) (*Trial, error) {
	var found []Trial
	var err error
	if number > 0 { // a Query of the number 0 finds all trials
		found, err = tx.Trials(row.ID, Query{Number: number})
	}
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%w: %d, the last one is %d", ErrNoTrial, number, row.Trials)
	}
	return &found[0], nil
}
