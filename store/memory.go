package store

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"time"
)

// NewMemory returns a backend that stores its rows in the memory of this process.
func NewMemory() Backend { return &memory{studies: map[string]*memoryStudy{}} }

type memory struct {
	mu      sync.RWMutex
	last    int64
	studies map[string]*memoryStudy
}

// memoryStudy is a study with its rows. Rows are replaced, never changed, so a shallow
// copy of it is a snapshot.
type memoryStudy struct {
	row     Row
	trials  []Trial
	fits    []Fit
	events  []Event
	waiting map[string]memoryAsk
	replies map[string]json.RawMessage
	steps   []Step
}

type memoryAsk struct {
	n     int
	until time.Time
}

func (s *memoryStudy) clone() *memoryStudy {
	c := *s
	c.trials, c.waiting, c.replies = slices.Clone(s.trials), maps.Clone(s.waiting), maps.Clone(s.replies)
	// Appending must not write to arrays shared with the original.
	c.fits, c.events, c.steps = slices.Clip(s.fits), slices.Clip(s.events), slices.Clip(s.steps)
	return &c
}

func (m *memory) Close() error { return nil }

// Update works on copies of the studies that f touches and keeps them if f succeeds.
func (m *memory) Update(ctx context.Context, f func(Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	tx := &memoryTx{m: m, changed: map[string]*memoryStudy{}}
	if err := f(tx); err != nil {
		return err
	}
	for name, s := range tx.changed {
		if s == nil {
			delete(m.studies, name)
		} else {
			m.studies[name] = s
		}
	}
	return nil
}

func (m *memory) View(ctx context.Context, f func(Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	return f(&memoryTx{m: m, changed: map[string]*memoryStudy{}})
}

type memoryTx struct {
	m       *memory
	changed map[string]*memoryStudy // nil is deleted
}

func (tx *memoryTx) Now() (time.Time, error) { return time.Now().UTC(), nil }

// find returns a study for reading, by name or by number.
func (tx *memoryTx) find(name string, id int64) *memoryStudy {
	for n, s := range tx.changed {
		if s != nil && (n == name || s.row.ID == id) {
			return s
		}
	}
	for n, s := range tx.m.studies {
		if _, changed := tx.changed[n]; !changed && (n == name || s.row.ID == id) {
			return s
		}
	}
	return nil
}

// own returns a study for writing.
func (tx *memoryTx) own(id int64) (*memoryStudy, error) {
	s := tx.find("", id)
	if s == nil {
		return nil, ErrNoStudy
	}
	if tx.changed[s.row.Name] != s {
		s = s.clone()
		tx.changed[s.row.Name] = s
	}
	return s, nil
}

func (tx *memoryTx) Studies() ([]Row, error) {
	var rows []Row
	for n, s := range tx.m.studies {
		if _, changed := tx.changed[n]; !changed {
			rows = append(rows, s.row)
		}
	}
	for _, s := range tx.changed {
		if s != nil {
			rows = append(rows, s.row)
		}
	}
	slices.SortFunc(rows, func(a, b Row) int { return cmp.Compare(a.Name, b.Name) })
	return rows, nil
}

func (tx *memoryTx) Study(name string) (*Row, error) {
	s := tx.find(name, 0)
	if s == nil {
		return nil, ErrNoStudy
	}
	row := s.row
	return &row, nil
}

func (tx *memoryTx) PutStudy(r *Row) error {
	if r.ID == 0 {
		if tx.find(r.Name, 0) != nil {
			return ErrExists
		}
		tx.m.last++
		r.ID = tx.m.last
		tx.changed[r.Name] = &memoryStudy{row: *r, waiting: map[string]memoryAsk{}, replies: map[string]json.RawMessage{}}
		return nil
	}
	s, err := tx.own(r.ID)
	if err == nil {
		s.row = *r
	}
	return err
}

func (tx *memoryTx) DeleteStudy(id int64) error {
	s := tx.find("", id)
	if s == nil {
		return ErrNoStudy
	}
	tx.changed[s.row.Name] = nil
	return nil
}

func (tx *memoryTx) Trials(study int64, q Query) ([]Trial, error) {
	s := tx.find("", study)
	if s == nil {
		return nil, ErrNoStudy
	}
	var out []Trial
	for i := range s.trials {
		t := &s.trials[i]
		if (q.Number == 0 || t.Number == q.Number) && t.Revision > q.Since && (!q.Pending || t.State == Pending) {
			c := *t
			if q.Brief {
				c = t.Brief()
			}
			c.Numbers, c.Warnings, c.Params = maps.Clone(c.Numbers), slices.Clone(c.Warnings), bytes.Clone(c.Params)
			out = append(out, c)
		}
	}
	return out, nil
}

func (tx *memoryTx) PutTrials(study int64, trials []Trial) error {
	s, err := tx.own(study)
	if err != nil {
		return err
	}
	for _, t := range trials {
		t.Numbers, t.Warnings, t.Params = maps.Clone(t.Numbers), slices.Clone(t.Warnings), bytes.Clone(t.Params)
		i, found := slices.BinarySearchFunc(s.trials, t.Number, func(a Trial, n int) int { return cmp.Compare(a.Number, n) })
		if found {
			s.trials[i] = t
		} else {
			s.trials = slices.Insert(s.trials, i, t)
		}
	}
	return nil
}

func (tx *memoryTx) PutFit(study int64, f *Fit) error {
	s, err := tx.own(study)
	if err == nil {
		s.fits = append(s.fits, *f)
	}
	return err
}

func (tx *memoryTx) Fit(study int64, number int) (*Fit, error) {
	s := tx.find("", study)
	if s == nil {
		return nil, ErrNoStudy
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
	s, err := tx.own(study)
	if err == nil {
		s.events = append(s.events, events...)
	}
	return err
}

func (tx *memoryTx) Events(study int64, since int64, limit int) ([]Event, error) {
	s := tx.find("", study)
	if s == nil {
		return nil, ErrNoStudy
	}
	var out []Event
	for _, e := range s.events {
		if e.Revision > since && len(out) < limit {
			out = append(out, e)
		}
	}
	return out, nil
}

func (tx *memoryTx) PutWaiting(study int64, ask string, n int, until time.Time) error {
	s, err := tx.own(study)
	if err != nil {
		return err
	}
	if n == 0 {
		delete(s.waiting, ask)
	} else {
		s.waiting[ask] = memoryAsk{n, until}
	}
	return nil
}

func (tx *memoryTx) Waiting(study int64, now time.Time) (int, error) {
	s := tx.find("", study)
	if s == nil {
		return 0, ErrNoStudy
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
	s, err := tx.own(study)
	if err == nil {
		s.replies[key] = bytes.Clone(reply)
	}
	return err
}

func (tx *memoryTx) Reply(study int64, key string) (json.RawMessage, error) {
	s := tx.find("", study)
	if s == nil {
		return nil, ErrNoStudy
	}
	return bytes.Clone(s.replies[key]), nil
}

func (tx *memoryTx) PutSteps(study int64, steps []Step) error {
	s, err := tx.own(study)
	if err != nil {
		return err
	}
	for _, step := range steps {
		step.ID = int64(len(s.steps) + 1)
		s.steps = append(s.steps, step)
	}
	return nil
}

func (tx *memoryTx) Steps(study int64, q StepQuery) ([]Step, error) {
	s := tx.find("", study)
	if s == nil {
		return nil, ErrNoStudy
	}
	var out []Step
	for _, step := range s.steps[min(int(q.Since), len(s.steps)):] {
		if q.Trial == 0 || step.Trial == q.Trial {
			out = append(out, step)
		}
	}
	return out, nil
}
