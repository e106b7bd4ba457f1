package sqldb

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/functionspace/bo/internal/flatjson"
	"github.com/functionspace/bo/internal/plaintext"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/study"
)

var studies = newTable("studies", 0, `name text, definition text, created whole, revision whole, trials whole, issued whole,
	finished whole, fits whole, warm whole, fit_token text, fit_owner text, fit_lease whole`)

// studyRow receives a row of the table studies.
type studyRow struct {
	row               store.Row
	definition, owner string
	created, lease    int64
}

func (s *studyRow) into() []any {
	r := &s.row
	return []any{&r.ID, &r.Name, &s.definition, &s.created, &r.Revision, &r.Trials, &r.Issued, &r.Finished, &r.Fits, &r.Warm, &r.FitToken, &s.owner, &s.lease}
}

func (s *studyRow) value() (store.Row, error) {
	r := s.row
	r.Definition, r.Created, r.FitLease = json.RawMessage(s.definition), fromMicros(s.created), fromMicros(s.lease)
	return r, fromJSON(s.owner, &r.FitOwner)
}

func (t *tx) Studies() (rows []store.Row, err error) {
	var s studyRow
	err = t.each("SELECT id, "+studies.list(0)+" FROM studies ORDER BY name", nil, s.into(), func() error {
		r, err := s.value()
		rows = append(rows, r)
		return err
	})
	return rows, err
}

// Study reads the clock in the same round trip, after the lock.
func (t *tx) Study(name string) (*store.Row, error) {
	query := "SELECT id, " + studies.list(0) + " FROM studies WHERE name = ?"
	if !t.readOnly {
		if !t.place.try(name) {
			return nil, errPlace
		}
		query += t.d.Lock
	}
	var s studyRow
	found := false
	t.later(query, []any{name}, s.into(), func() error {
		found = true
		return nil
	})
	t.readClock()
	if err := t.session.Run(t.ctx, t.take()); err != nil {
		return nil, err
	}
	if !found {
		return nil, store.ErrNoStudy
	}
	r, err := s.value()
	return &r, err
}

func (t *tx) PutStudy(r *store.Row) error {
	owner := ""
	if r.FitOwner != (store.Owner{}) {
		owner = toJSON(r.FitOwner)
	}
	args := []any{
		r.Name, string(r.Definition), micros(r.Created), r.Revision, r.Trials, r.Issued, r.Finished, r.Fits, r.Warm, r.FitToken, owner, micros(r.FitLease),
	}
	if r.ID != 0 {
		t.exec("UPDATE studies SET "+strings.ReplaceAll(studies.names(), ",", " = ?,")+" = ? WHERE id = ?", append(args, r.ID)...)
		return nil
	}
	_, err := t.row(studies.insert(false)+" RETURNING id", args, []any{&r.ID})
	if err != nil && t.d.Duplicate(err) {
		return store.ErrExists
	}
	return err
}

func (t *tx) DeleteStudy(id int64) error {
	t.exec("DELETE FROM studies WHERE id = ?", id)
	return nil
}

var trials = newTable("trials", 2, `study whole, number whole, params text, source text, state text, numbers text null, failure text, message text,
	attempt whole, lost whole, token text, owner text null, lease whole, prediction text null, warnings text null, fit whole, created whole,
	started whole, finished whole, seconds real, asked whole, told whole, revision whole`)

func (t *tx) Trials(study int64, q store.Query) (all []store.Trial, err error) {
	var parts [][]store.Trial // append to one slice would copy long rows often
	var last []store.Trial
	r := trialRow{owners: map[string]store.Owner{}}
	columns, into := trials.list(1), r.into()
	if q.Brief {
		columns, into = briefColumns, r.brief()
	}
	query, args := "SELECT "+columns+" FROM trials WHERE study = ?", []any{study}
	if q.Number > 0 {
		query, args = query+" AND number = ?", append(args, q.Number)
	}
	if q.Since > 0 {
		query, args = query+" AND revision > ?", append(args, q.Since)
	}
	if q.Pending {
		query += " AND state = 'pending'"
	}
	err = t.each(query+" ORDER BY number", args, into, func() error {
		v, err := r.value()
		if len(last) == cap(last) {
			parts, last = append(parts, last), make([]store.Trial, 0, min(max(8, 2*cap(last)), 1024))
		}
		last = append(last, v)
		return err
	})
	return slices.Concat(append(parts, last)...), err
}

// trialRow receives a row of the table trials.
type trialRow struct {
	t                                    store.Trial
	params, source, state, failure       string
	numbers, owner, prediction, warnings string
	lease, created, started, finished    int64
	owners                               map[string]store.Owner // by their text: few processes own many trials
}

func (r *trialRow) into() []any {
	t := &r.t
	return []any{
		&t.Number, &r.params, &r.source, &r.state, &r.numbers, &r.failure, &t.Message, &t.Attempt, &t.Lost, &t.Token, &r.owner, &r.lease,
		&r.prediction, &r.warnings, &t.Fit, &r.created, &r.started, &r.finished, &t.Seconds, &t.Asked, &t.Told, &t.Revision,
	}
}

// briefColumns are the columns of Query.Brief.
const briefColumns = `number, params, source, state, COALESCE(numbers, ''), failure, message, attempt, fit, seconds, asked, told, revision,
	CASE state WHEN 'pending' THEN COALESCE(owner, '') ELSE '' END, CASE state WHEN 'pending' THEN lease ELSE 0 END`

func (r *trialRow) brief() []any {
	t := &r.t
	return []any{
		&t.Number, &r.params, &r.source, &r.state, &r.numbers, &r.failure, &t.Message, &t.Attempt, &t.Fit, &t.Seconds, &t.Asked, &t.Told, &t.Revision,
		&r.owner, &r.lease,
	}
}

func (r *trialRow) value() (store.Trial, error) {
	t := r.t
	t.Params, t.Source, t.State, t.Failure = json.RawMessage(r.params), loop.Source(r.source), store.State(r.state), store.Failure(r.failure)
	t.Lease, t.Created, t.Started, t.Finished = fromMicros(r.lease), fromMicros(r.created), fromMicros(r.started), fromMicros(r.finished)
	var err error
	if r.numbers != "" {
		ok := false
		if t.Numbers, ok = flatjson.Numbers(r.numbers); !ok {
			t.Numbers = nil
			err = fromJSON(r.numbers, &t.Numbers)
		}
	}
	if r.owner != "" {
		owner, known := r.owners[r.owner]
		if !known {
			err = errors.Join(err, fromJSON(r.owner, &owner))
			r.owners[r.owner] = owner
		}
		t.Owner = owner
	}
	if r.prediction != "" {
		t.Prediction = &study.Prediction{}
		err = errors.Join(err, predictionFrom(r.prediction, t.Prediction))
	}
	return t, errors.Join(err, fromJSON(r.warnings, &t.Warnings))
}

// predictionFrom reads the JSON object of a prediction.
func predictionFrom(text string, p *study.Prediction) error {
	known := true
	read := flatjson.Each(text, func(name string, v flatjson.Value) {
		switch name {
		case "mean":
			p.Mean = &v.Number
		case "sd":
			p.SD = &v.Number
		case "acquisition":
			p.Acquisition = &v.Number
		default:
			known = false
		}
		known = known && v.Kind == flatjson.Number
	})
	if read && known {
		return nil
	}
	*p = study.Prediction{}
	return fromJSON(text, p)
}

func (t *tx) PutTrials(study int64, changed []store.Trial) error {
	t.put(trials, len(changed), func(i int) []any {
		r := &changed[i]
		numbers, owner, prediction, warnings := "", "", "", ""
		if r.Numbers != nil {
			numbers = toJSON(r.Numbers)
		}
		if r.Owner != (store.Owner{}) {
			owner = toJSON(r.Owner)
		}
		if r.Prediction != nil {
			prediction = toJSON(r.Prediction)
		}
		if r.Warnings != nil {
			warnings = toJSON(r.Warnings)
		}
		return []any{
			study, r.Number, string(r.Params), string(r.Source), string(r.State), numbers, string(r.Failure), plaintext.Clean(r.Message), r.Attempt, r.Lost, r.Token, owner,
			micros(r.Lease), prediction, warnings, r.Fit, micros(r.Created), micros(r.Started), micros(r.Finished), r.Seconds, r.Asked, r.Told, r.Revision,
		}
	})
	return nil
}

var fits = newTable("fits", 0, "study whole, number whole, revision whole, start whole, warm text null, version text, kernels text, trials whole, given text null")

func (t *tx) PutFit(study int64, f *store.Fit) error {
	t.put(fits, 1, func(int) []any {
		return []any{study, f.Number, f.Revision, f.Start, string(f.Warm), f.Version, f.Kernels, f.Trials, string(f.Given)}
	})
	return nil
}

func (t *tx) Fit(study int64, number int) (*store.Fit, error) {
	f := store.Fit{}
	warm, given := "", ""
	into := []any{&f.Number, &f.Revision, &f.Start, &warm, &f.Version, &f.Kernels, &f.Trials, &given}
	found, err := t.row("SELECT "+fits.list(1)+" FROM fits WHERE study = ? AND number = ?", []any{study, number}, into)
	if err != nil || !found {
		return nil, err
	}
	if warm != "" {
		f.Warm = json.RawMessage(warm)
	}
	if given != "" {
		f.Given = json.RawMessage(given)
	}
	return &f, nil
}

var events = newTable("events", 0, "study whole, revision whole, time whole, kind text, trial whole, attempt whole, detail text")

func (t *tx) PutEvents(study int64, added []store.Event) error {
	t.put(events, len(added), func(i int) []any {
		e := &added[i]
		return []any{study, e.Revision, micros(e.Time), string(e.Kind), e.Trial, e.Attempt, plaintext.Clean(e.Detail)}
	})
	return nil
}

func (t *tx) Events(study int64, since int64, limit int) (all []store.Event, err error) {
	var e store.Event
	var us int64
	var kind string
	into := []any{&e.Revision, &us, &kind, &e.Trial, &e.Attempt, &e.Detail}
	query := "SELECT " + events.list(1) + " FROM events WHERE study = ? AND revision > ? ORDER BY revision LIMIT ?"
	err = t.each(query, []any{study, since, limit}, into, func() error {
		e.Time, e.Kind = fromMicros(us), store.EventKind(kind)
		all = append(all, e)
		return nil
	})
	return all, err
}

func (t *tx) PutWaiting(study int64, ask string, n int, until time.Time) error {
	if n == 0 {
		t.exec("DELETE FROM asks WHERE study = ? AND ask = ?", study, ask)
		return nil
	}
	now, err := t.Now()
	if err != nil {
		return err
	}
	t.exec("DELETE FROM asks WHERE study = ? AND until <= ?", study, micros(now))
	t.exec("INSERT INTO asks (study, ask, n, until) VALUES (?, ?, ?, ?) ON CONFLICT (study, ask) DO UPDATE SET n = excluded.n, until = excluded.until",
		study, ask, n, micros(until))
	return nil
}

func (t *tx) Waiting(study int64, now time.Time) (n int, err error) {
	_, err = t.row("SELECT CAST(COALESCE(SUM(n), 0) AS BIGINT) FROM asks WHERE study = ? AND until > ?", []any{study, micros(now)}, []any{&n})
	return n, err
}

// Transient implements store.Transient.
func (t *tx) Transient() {
	if t.d.Transient != "" {
		t.exec(t.d.Transient)
	}
}

func (t *tx) PutReply(study int64, key string, reply json.RawMessage) error {
	if reply == nil {
		t.exec("DELETE FROM requests WHERE study = ? AND key = ?", study, key)
		return nil
	}
	t.exec("INSERT INTO requests (study, key, reply) VALUES (?, ?, ?)", study, key, string(reply))
	return nil
}

// pruned is the number of replies that a transaction of PruneReplies deletes, so that other writers wait briefly.
const pruned = 5000

// PruneReplies implements store.Pruner.
func (b *DB) PruneReplies(ctx context.Context, age time.Duration) error {
	for n := pruned; n == pruned; {
		if err := b.Update(ctx, func(s store.Tx) error {
			t := s.(*tx)
			now, err := t.Now()
			if err != nil {
				return err
			}
			n = 0
			var study int64
			return t.each("DELETE FROM requests WHERE (study, key) IN (SELECT study, key FROM requests WHERE stored < ? ORDER BY stored LIMIT ?) RETURNING study",
				[]any{micros(now.Add(-age)), pruned}, []any{&study}, func() error {
					n++
					return nil
				})
		}); err != nil {
			return err
		}
	}
	return nil
}

func (t *tx) Reply(study int64, key string) (json.RawMessage, error) {
	text := ""
	found, err := t.row("SELECT reply FROM requests WHERE study = ? AND key = ?", []any{study, key}, []any{&text})
	if err != nil || !found {
		return nil, err
	}
	return json.RawMessage(text), nil
}

var measurements = newTable("measurements", 0, "study whole, trial whole, attempt whole, step real, name text, value real")

func (t *tx) PutSteps(study int64, steps []store.Step) error {
	t.put(measurements, len(steps), func(i int) []any {
		s := &steps[i]
		return []any{study, s.Trial, s.Attempt, s.Step, s.Name, s.Value}
	})
	return nil
}

func (t *tx) Steps(study int64, q store.StepQuery) (steps []store.Step, err error) {
	query, args := "SELECT id, "+measurements.list(1)+" FROM measurements WHERE study = ?", []any{study}
	if q.Trial != 0 {
		query, args = query+" AND trial = ?", append(args, q.Trial)
	}
	if q.Since > 0 {
		query, args = query+" AND id > ?", append(args, q.Since)
	}
	var s store.Step
	err = t.each(query+" ORDER BY id", args, []any{&s.ID, &s.Trial, &s.Attempt, &s.Step, &s.Name, &s.Value}, func() error {
		steps = append(steps, s)
		return nil
	})
	return steps, err
}

// toJSON writes a value that JSON can always hold.
func toJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic("sqldb: " + err.Error())
	}
	return string(text)
}

func fromJSON(text string, into any) error {
	if text == "" {
		return nil
	}
	return json.Unmarshal([]byte(text), into)
}
