package store

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/functionspace/bo/internal/flatjson"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/study"
	"github.com/functionspace/bo/surrogate"
)

// Defaults of Options.
const (
	DefaultLease    = time.Minute
	DefaultFitLease = 30 * time.Second
	MaxLost         = 3 // attempts that lose their worker before a trial fails
)

// Options are the settings of a Store. The zero value is the default.
type Options struct {
	// Lease is the time after which an attempt without a heartbeat is lost. 0 is
	// DefaultLease. Run sends heartbeats, and callers of Ask call Heartbeat. The end of a process on
	// the same host is noticed at once, without the lease.
	Lease time.Duration
	// FitLease is the lease of a process that fits, which it renews while it fits. 0 is DefaultFitLease,
	// which suits all programs; tests set other leases.
	FitLease time.Duration
	// ReadTime bounds the time of a read of the backend, which is then ErrUnavailable. 0 is the time for which the backend
	// waits for a database, and no bound for a database that does not answer.
	ReadTime time.Duration
	// Version is recorded with every fit.
	Version string
	// Admit, if not nil, is called before each computation of proposals, which begins when Admit
	// returns and calls done at its end. A process with many studies bounds its load by it.
	Admit func(ctx context.Context) (done func(), err error)
	// OnProgress, if not nil, is called with the progress of fits that this process makes.
	OnProgress func(surrogate.Progress)
	// OnFit, if not nil, is called after each of these fits with its duration.
	OnFit func(loop.Fit, time.Duration)
}

// Store is a set of studies on a backend. It is safe for concurrent use.
type Store struct {
	backend Backend
	opts    Options
	budgets budgets
}

// New returns the store on a backend.
func New(b Backend, o Options) *Store {
	if o.Lease <= 0 {
		o.Lease = DefaultLease
	}
	if o.FitLease <= 0 {
		o.FitLease = DefaultFitLease
	}
	return &Store{backend: b, opts: o}
}

// view runs f on a snapshot of the rows within Options.ReadTime.
func (s *Store) view(ctx context.Context, f func(Tx) error) error {
	if s.opts.ReadTime <= 0 {
		return s.backend.View(ctx, f)
	}
	limited, cancel := context.WithTimeout(ctx, s.opts.ReadTime)
	defer cancel()
	err := s.backend.View(limited, f)
	if err != nil && ctx.Err() == nil && limited.Err() != nil && !errors.Is(err, ErrUnavailable) {
		return fmt.Errorf("%w: no answer in %v", ErrUnavailable, s.opts.ReadTime)
	}
	return err
}

// Close closes the backend.
func (s *Store) Close() error { return s.backend.Close() }

// Create stores a new study, with the earlier evaluations of the definition as its first trials.
// It returns ErrExists if a study of that name exists.
func (s *Store) Create(ctx context.Context, d *study.Definition) (*Study, error) {
	return s.create(ctx, token(), d)
}

// create is Create under the key of a request.
func (s *Store) create(ctx context.Context, key string, d *study.Definition) (*Study, error) {
	if err := study.CheckName(d.Name); err != nil {
		return nil, fmt.Errorf("%w: %w", study.ErrInvalid, err)
	}
	if err := d.Validate(); err != nil {
		return nil, err
	}
	text, err := marshal(d)
	if err != nil {
		return nil, err
	}
	write := func(tx Tx) error {
		now, err := tx.Now()
		if err != nil {
			return err
		}
		row := &Row{Name: d.Name, Definition: text, Created: now}
		e := row.event(Event{Time: now, Kind: StudyCreated})
		if made, err := insert(tx, row, key); !made {
			return err
		}
		if err := tx.PutEvents(row.ID, []Event{e}); err != nil {
			return err
		}
		if _, err := addEarlier(tx, row, now, d); err != nil {
			return err
		}
		return tx.PutStudy(row)
	}
	err = s.backend.Update(ctx, write)
	if errors.Is(err, ErrExists) { // perhaps created meanwhile under the same key: its reply can be read afterwards
		err = s.backend.Update(ctx, write)
	}
	if err != nil {
		return nil, named(d.Name, err)
	}
	return s.Study(ctx, d.Name)
}

// insert inserts a study under the key of a request. It returns false and no error if the request has inserted
// it before, in a transaction that was repeated. The error is ErrKey if a request with the same key had another
// definition. It is ErrExists if a request with another key has inserted the study.
func insert(tx Tx, row *Row, key string) (made bool, err error) {
	existing, err := tx.Study(row.Name)
	if errors.Is(err, ErrNoStudy) {
		if err := tx.PutStudy(row); err != nil {
			return false, err
		}
		return true, tx.PutReply(row.ID, key, row.Definition)
	}
	if err != nil {
		return false, err
	}
	reply, err := tx.Reply(existing.ID, key)
	switch {
	case err != nil:
	case reply == nil:
		err = ErrExists
	case string(reply) != "true" && !same(reply, row.Definition): // true is the reply of earlier versions
		err = fmt.Errorf("%w: %q created the study with another definition", ErrKey, strings.TrimPrefix(key, "create "))
	}
	return false, err
}

// same reports whether a stored definition is the other one. An earlier version may have written it with other keys.
func same(stored, other json.RawMessage) bool {
	if bytes.Equal(stored, other) {
		return true
	}
	p, err := parse(stored)
	if err != nil {
		return false
	}
	text, err := marshal(p.definition)
	return err == nil && bytes.Equal(text, other)
}

// Summary is a line of a list of studies.
type Summary struct {
	Name     string    `json:"name"`
	Created  time.Time `json:"created"`
	Budget   int       `json:"budget"`
	Trials   int       `json:"trials"`
	Finished int       `json:"finished"`
	Added    int       `json:"added"` // finished trials that do not count against the budget
	Revision int64     `json:"revision"`
	// Fault is the reason for which the definition cannot be read; Budget is then 0.
	Fault string `json:"fault,omitempty"`
}

// List returns all studies in the order of their names. A study with a definition that cannot be
// read, such as one of a newer version, has a Fault.
func (s *Store) List(ctx context.Context) ([]Summary, error) {
	var rows []Row
	err := s.view(ctx, func(tx Tx) (err error) {
		rows, err = tx.Studies()
		return err
	})
	if err != nil {
		return nil, err
	}
	list := make([]Summary, len(rows))
	for i, b := range s.budgets.of(rows) {
		list[i] = rows[i].summary(b.trials)
		list[i].Fault = b.fault
	}
	return list, nil
}

// Ping returns an error if the store cannot be used, for example ErrNewer or ErrUnavailable.
func (s *Store) Ping(ctx context.Context) error {
	if p, ok := s.backend.(Pinger); ok {
		return p.Ping(ctx)
	}
	return s.backend.View(ctx, func(Tx) error { return nil })
}

func (r *Row) summary(budget int) Summary {
	added := r.Trials - r.Issued
	return Summary{Name: r.Name, Created: r.Created, Budget: budget, Trials: r.Trials, Finished: r.Finished + added, Added: added, Revision: r.Revision}
}

// Delete deletes a study and all its trials.
func (s *Store) Delete(ctx context.Context, name string) error {
	var found *Row
	err := s.view(ctx, func(tx Tx) (err error) {
		found, err = tx.Study(name)
		return err
	})
	if err != nil {
		return named(name, err)
	}
	return named(name, s.backend.Update(ctx, func(tx Tx) error {
		row, err := tx.Study(name)
		if errors.Is(err, ErrNoStudy) || err == nil && row.ID != found.ID {
			return nil // deleted, perhaps by this request in a transaction that was repeated
		}
		if err != nil {
			return err
		}
		return tx.DeleteStudy(row.ID)
	}))
}

// putChanges writes changed trials and the events of their changes.
func putChanges(tx Tx, row *Row, trials []Trial, events []Event) error {
	if err := tx.PutTrials(row.ID, trials); err != nil {
		return err
	}
	return tx.PutEvents(row.ID, events)
}

// event numbers e with the next revision.
func (r *Row) event(e Event) Event {
	r.Revision++
	e.Revision = r.Revision
	return e
}

// definition returns the definition of a study, which callers must not change.
func (r *Row) definition() (*study.Definition, error) {
	p, err := r.parsed()
	if err != nil {
		return nil, err
	}
	return p.definition, nil
}

// parsed returns the definition of a study and its space.
func (r *Row) parsed() (*parsed, error) {
	p, err := definitions.get(r.Definition)
	return p, named(r.Name, err)
}

// copied returns a definition that the caller may change.
func (r *Row) copied() (*study.Definition, error) {
	d, err := study.Parse(r.Definition)
	if err != nil {
		err = unreadable(err)
	}
	return d, named(r.Name, err)
}

// fitting reports whether a process holds the fit lease.
func (r *Row) fitting(now time.Time) bool {
	return r.FitToken != "" && r.FitLease.After(now) && !r.FitOwner.dead()
}

// marshal writes a definition with its budget, so that a later default does not change it, and
// without earlier evaluations, which are trials.
func marshal(d *study.Definition) (json.RawMessage, error) {
	c := *d
	c.Earlier = study.Earlier{}
	c.Version = study.Version
	c.Budget = cmp.Or(c.Budget, loop.DefaultBudget)
	return json.Marshal(c)
}

// named begins an error with the name of its study.
func named(name string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("study %s: %w", name, err)
}

// token returns a random name, different in every call.
func token() string { return rand.Text() }

// pointReader returns the points of trials. It is not safe for concurrent use.
type pointReader struct {
	space    *space.Space
	defaults map[string]any
	values   map[string]any // parameters of the trial that is read
}

// point returns the point of a trial's parameters. Parameters that the space does not have are
// left out, and missing parameters have their defaults.
func (r *pointReader) point(params json.RawMessage) (space.Point, error) {
	if r.values == nil {
		r.values = map[string]any{}
	}
	if err := flatjson.Values(params, r.values); err != nil {
		return space.Point{}, err
	}
	if p, err := r.space.PointOf(r.values); err == nil {
		return p, nil
	}
	return r.space.PointWith(r.known(), r.defaults)
}

// outside returns the last point that point could not return, if it violates constraints alone, or no point.
func (r *pointReader) outside() space.Point {
	p, err := r.space.Outside(r.known(), r.defaults)
	if err != nil {
		return space.Point{}
	}
	return p
}

// known returns the values of the last point by the parameters of the space.
func (r *pointReader) known() map[string]any {
	known := map[string]any{}
	for _, p := range r.space.Parameters() {
		if v, ok := r.values[p.Name]; ok {
			known[p.Name] = v
		}
	}
	return known
}
