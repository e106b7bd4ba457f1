package store

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sort"
	"sync"
	"time"
)

// NewMemory returns a backend that stores its rows in the memory of this process.
func NewMemory() Backend { return &memory{studies: map[string]*memoryStudy{}} }

type memory struct {
	mu      sync.RWMutex // held by an Update until its changes are kept or undone
	last    int64
	studies map[string]*memoryStudy
}

// memoryStudy is a study with its rows.
type memoryStudy struct {
	row     Row
	trials  []Trial // in the order of their numbers
	changes []memoryChange
	pending []int // numbers of the pending trials, ascending
	fits    []Fit
	events  []Event
	waiting map[string]memoryAsk
	replies map[string]json.RawMessage
	steps   []Step
}

// memoryChange is a write of a trial. A study has its changes in the order of their revisions. A query of the
// trials since a revision therefore visits only the changed ones.
type memoryChange struct {
	revision int64
	number   int
}

type memoryAsk struct {
	n     int
	until time.Time
}

// search returns the index of a trial, and whether there is one of that number.
func (s *memoryStudy) search(number int) (int, bool) {
	return slices.BinarySearchFunc(s.trials, number, func(t Trial, n int) int { return cmp.Compare(t.Number, n) })
}

// since returns the index of the first change after a revision.
func (s *memoryStudy) since(revision int64) int {
	return sort.Search(len(s.changes), func(i int) bool { return s.changes[i].revision > revision })
}

// candidates returns the numbers, ascending, of a set of trials that contains the trials of a query.
func (s *memoryStudy) candidates(q Query) []int {
	switch {
	case q.Number != 0:
		return []int{q.Number}
	case q.Pending:
		return s.pending
	}
	var numbers []int
	for _, c := range s.changes[s.since(q.Since):] {
		numbers = append(numbers, c.number)
	}
	slices.Sort(numbers)
	return slices.Compact(numbers)
}

func (m *memory) Close() error { return nil }

// Update changes the rows in place. If f fails or panics, it restores the rows that f changed, so its
// cost depends on the changes alone.
func (m *memory) Update(ctx context.Context, f func(Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	tx := &memoryTx{m: m}
	defer func() {
		for _, restore := range slices.Backward(tx.undo) {
			restore()
		}
	}()
	if err := f(tx); err != nil {
		return err
	}
	tx.undo = nil
	return nil
}

func (m *memory) View(ctx context.Context, f func(Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	return f(&memoryTx{m: m})
}

type memoryTx struct {
	m    *memory
	undo []func() // restore the changed rows; to call in reverse order
}

// undoing records how to restore a row.
func (tx *memoryTx) undoing(restore func()) { tx.undo = append(tx.undo, restore) }

// set changes an entry of a map.
func set[V any](tx *memoryTx, in map[string]V, key string, v V) {
	restoring(tx, in, key)
	in[key] = v
}

// remove deletes an entry of a map.
func remove[V any](tx *memoryTx, in map[string]V, key string) {
	restoring(tx, in, key)
	delete(in, key)
}

func restoring[V any](tx *memoryTx, in map[string]V, key string) {
	old, found := in[key]
	tx.undoing(func() {
		if delete(in, key); found {
			in[key] = old
		}
	})
}

// insertAt inserts an element in a slice.
func insertAt[V any](tx *memoryTx, in *[]V, i int, v V) {
	*in = slices.Insert(*in, i, v)
	tx.undoing(func() { *in = slices.Delete(*in, i, i+1) })
}

// extend appends elements to a slice.
func extend[V any](tx *memoryTx, in *[]V, more ...V) {
	n := len(*in)
	*in = append(*in, more...)
	tx.undoing(func() { *in = slices.Delete(*in, n, len(*in)) })
}

func (tx *memoryTx) Now() (time.Time, error) { return time.Now().UTC(), nil }

// find returns a study by its number.
func (tx *memoryTx) find(id int64) (*memoryStudy, error) {
	for _, s := range tx.m.studies {
		if s.row.ID == id {
			return s, nil
		}
	}
	return nil, ErrNoStudy
}

func (tx *memoryTx) Studies() ([]Row, error) {
	var rows []Row
	for _, s := range tx.m.studies {
		rows = append(rows, s.row)
	}
	slices.SortFunc(rows, func(a, b Row) int { return cmp.Compare(a.Name, b.Name) })
	return rows, nil
}

func (tx *memoryTx) Study(name string) (*Row, error) {
	s := tx.m.studies[name]
	if s == nil {
		return nil, ErrNoStudy
	}
	row := s.row
	return &row, nil
}

func (tx *memoryTx) PutStudy(r *Row) error {
	if r.ID == 0 {
		if tx.m.studies[r.Name] != nil {
			return ErrExists
		}
		tx.m.last++
		r.ID = tx.m.last
		set(tx, tx.m.studies, r.Name, &memoryStudy{row: *r, waiting: map[string]memoryAsk{}, replies: map[string]json.RawMessage{}})
		return nil
	}
	s, err := tx.find(r.ID)
	if err == nil {
		old := s.row
		tx.undoing(func() { s.row = old })
		s.row = *r
	}
	return err
}

func (tx *memoryTx) DeleteStudy(id int64) error {
	s, err := tx.find(id)
	if err == nil {
		remove(tx, tx.m.studies, s.row.Name)
	}
	return err
}

func (tx *memoryTx) Trials(study int64, q Query) ([]Trial, error) {
	s, err := tx.find(study)
	if err != nil {
		return nil, err
	}
	var out []Trial
	visit := func(t *Trial) {
		if t.Revision > q.Since && (!q.Pending || t.State == Pending) {
			c := *t
			if q.Brief {
				c = t.Brief()
			}
			c.Numbers, c.Warnings, c.Params = maps.Clone(c.Numbers), slices.Clone(c.Warnings), bytes.Clone(c.Params)
			out = append(out, c)
		}
	}
	if q == (Query{Brief: q.Brief}) {
		for i := range s.trials {
			visit(&s.trials[i])
		}
		return out, nil
	}
	for _, n := range s.candidates(q) {
		if i, found := s.search(n); found {
			visit(&s.trials[i])
		}
	}
	return out, nil
}

func (tx *memoryTx) PutTrials(study int64, trials []Trial) error {
	s, err := tx.find(study)
	if err != nil {
		return err
	}
	for _, t := range trials {
		t.Numbers, t.Warnings, t.Params = maps.Clone(t.Numbers), slices.Clone(t.Warnings), bytes.Clone(t.Params)
		i, found := s.search(t.Number)
		changed := !found || s.trials[i].Revision != t.Revision
		if found {
			old := s.trials[i]
			tx.undoing(func() { s.trials[i] = old })
			s.trials[i] = t
		} else {
			insertAt(tx, &s.trials, i, t)
		}
		if changed {
			insertAt(tx, &s.changes, s.since(t.Revision), memoryChange{t.Revision, t.Number})
		}
		switch at, waits := slices.BinarySearch(s.pending, t.Number); {
		case waits && t.State != Pending:
			s.pending = slices.Delete(s.pending, at, at+1)
			tx.undoing(func() { s.pending = slices.Insert(s.pending, at, t.Number) })
		case !waits && t.State == Pending:
			insertAt(tx, &s.pending, at, t.Number)
		}
	}
	return nil
}

func (tx *memoryTx) PutFit(study int64, f *Fit) error {
	s, err := tx.find(study)
	if err == nil {
		extend(tx, &s.fits, *f)
	}
	return err
}

func (tx *memoryTx) Fit(study int64, number int) (*Fit, error) {
	s, err := tx.find(study)
	if err != nil {
		return nil, err
	}
	if i := number - 1; i >= 0 && i < len(s.fits) && s.fits[i].Number == number { // fits are stored in order
		f := s.fits[i]
		return &f, nil
	}
	for _, f := range s.fits {
		if f.Number == number {
			return &f, nil
		}
	}
	return nil, nil
}

func (tx *memoryTx) PutEvents(study int64, events []Event) error {
	s, err := tx.find(study)
	if err == nil {
		extend(tx, &s.events, events...)
	}
	return err
}

func (tx *memoryTx) Events(study int64, since int64, limit int) ([]Event, error) {
	s, err := tx.find(study)
	if err != nil {
		return nil, err
	}
	from := sort.Search(len(s.events), func(i int) bool { return s.events[i].Revision > since })
	return append([]Event(nil), s.events[from:from+max(0, min(limit, len(s.events)-from))]...), nil
}

func (tx *memoryTx) PutWaiting(study int64, ask string, n int, until time.Time) error {
	s, err := tx.find(study)
	if err != nil {
		return err
	}
	if n == 0 {
		remove(tx, s.waiting, ask)
		return nil
	}
	now, err := tx.Now()
	if err != nil {
		return err
	}
	for other, a := range s.waiting {
		if !a.until.After(now) {
			remove(tx, s.waiting, other)
		}
	}
	set(tx, s.waiting, ask, memoryAsk{n, until})
	return nil
}

func (tx *memoryTx) Waiting(study int64, now time.Time) (int, error) {
	s, err := tx.find(study)
	if err != nil {
		return 0, err
	}
	n := 0
	for _, a := range s.waiting {
		if a.until.After(now) {
			n += a.n
		}
	}
	return n, nil
}

func (tx *memoryTx) PutReply(study int64, key string, reply json.RawMessage) error {
	s, err := tx.find(study)
	switch {
	case err != nil:
		return err
	case reply == nil:
		remove(tx, s.replies, key)
	default:
		set(tx, s.replies, key, json.RawMessage(bytes.Clone(reply)))
	}
	return nil
}

func (tx *memoryTx) Reply(study int64, key string) (json.RawMessage, error) {
	s, err := tx.find(study)
	if err != nil {
		return nil, err
	}
	return bytes.Clone(s.replies[key]), nil
}

func (tx *memoryTx) PutSteps(study int64, steps []Step) error {
	s, err := tx.find(study)
	if err != nil {
		return err
	}
	for _, step := range steps {
		step.ID = int64(len(s.steps) + 1)
		extend(tx, &s.steps, step)
	}
	return nil
}

func (tx *memoryTx) Steps(study int64, q StepQuery) ([]Step, error) {
	s, err := tx.find(study)
	if err != nil {
		return nil, err
	}
	var out []Step
	for _, step := range s.steps[min(int(q.Since), len(s.steps)):] {
		if q.Trial == 0 || step.Trial == q.Trial {
			out = append(out, step)
		}
	}
	return out, nil
}
