package sqldb

import (
	"database/sql"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/functionspace/bo/internal/flatjson"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/store"
)

const studyColumns = "id, name, definition, created, revision, trials, issued, finished, fits, warm, fit_token, fit_owner, fit_lease"

func scanStudy(scan func(...any) error) (store.Row, error) {
	var r store.Row
	var definition, owner string
	var created, lease int64
	err := scan(&r.ID, &r.Name, &definition, &created, &r.Revision, &r.Trials, &r.Issued, &r.Finished, &r.Fits, &r.Warm, &r.FitToken, &owner, &lease)
	if err != nil {
		return r, err
	}
	r.Definition, r.Created, r.FitLease = json.RawMessage(definition), fromMicros(created), fromMicros(lease)
	return r, fromJSON(sql.NullString{String: owner, Valid: owner != ""}, &r.FitOwner)
}

func (t *tx) Studies() (rows []store.Row, err error) {
	err = t.each("SELECT "+studyColumns+" FROM studies ORDER BY name", nil, func(scan func(...any) error) error {
		r, err := scanStudy(scan)
		rows = append(rows, r)
		return err
	})
	return rows, err
}

func (t *tx) Study(name string) (*store.Row, error) {
	query := "SELECT " + studyColumns + " FROM studies WHERE name = ?"
	if !t.readOnly {
		query += t.d.Lock
	}
	r, err := scanStudy(t.tx.QueryRowContext(t.ctx, t.text(query), name).Scan)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, store.ErrNoStudy
	}
	return &r, err
}

func (t *tx) PutStudy(r *store.Row) error {
	owner := ""
	if r.FitOwner != (store.Owner{}) {
		owner = toJSON(r.FitOwner).String
	}
	args := []any{
		r.Name, string(r.Definition), micros(r.Created), r.Revision, r.Trials, r.Issued, r.Finished, r.Fits, r.Warm, r.FitToken, owner, micros(r.FitLease),
	}
	if r.ID != 0 {
		return t.exec(`UPDATE studies SET name = ?, definition = ?, created = ?, revision = ?, trials = ?, issued = ?, finished = ?, fits = ?, warm = ?,
			fit_token = ?, fit_owner = ?, fit_lease = ? WHERE id = ?`, append(args, r.ID)...)
	}
	err := t.tx.QueryRowContext(t.ctx, t.text(`INSERT INTO studies (name, definition, created, revision, trials, issued, finished, fits, warm,
		fit_token, fit_owner, fit_lease) VALUES (`+marks(len(args))+`) RETURNING id`), args...).Scan(&r.ID)
	if err != nil && t.d.Duplicate(err) {
		return store.ErrExists
	}
	return err
}

// marks returns n placeholders.
func marks(n int) string { return strings.TrimSuffix(strings.Repeat("?, ", n), ", ") }

func (t *tx) DeleteStudy(id int64) error { return t.exec("DELETE FROM studies WHERE id = ?", id) }

const trialColumns = `number, params, source, state, numbers, failure, message, attempt, lost, token, owner, lease,
	prediction, warnings, fit, created, started, finished, seconds, asked, told, revision`

func (t *tx) Trials(study int64, q store.Query) (trials []store.Trial, err error) {
	query, args := "SELECT "+trialColumns+" FROM trials WHERE study = ?", []any{study}
	if q.Number > 0 {
		query, args = query+" AND number = ?", append(args, q.Number)
	}
	if q.Since > 0 {
		query, args = query+" AND revision > ?", append(args, q.Since)
	}
	if q.Pending {
		query += " AND state = 'pending'"
	}
	err = t.each(query+" ORDER BY number", args, func(scan func(...any) error) error {
		r, err := scanTrial(scan)
		if len(trials) == cap(trials) {
			trials = slices.Grow(trials, max(8, len(trials))) // append copies large slices more often
		}
		trials = append(trials, r)
		return err
	})
	return trials, err
}

func scanTrial(scan func(...any) error) (store.Trial, error) {
	var r store.Trial
	var params, source, state, failure string
	var numbers, owner, prediction, warnings sql.NullString
	var lease, created, started, finished int64
	err := scan(&r.Number, &params, &source, &state, &numbers, &failure, &r.Message, &r.Attempt, &r.Lost, &r.Token, &owner, &lease,
		&prediction, &warnings, &r.Fit, &created, &started, &finished, &r.Seconds, &r.Asked, &r.Told, &r.Revision)
	if err != nil {
		return r, err
	}
	r.Params, r.Source, r.State, r.Failure = json.RawMessage(params), loop.Source(source), store.State(state), store.Failure(failure)
	r.Lease, r.Created, r.Started, r.Finished = fromMicros(lease), fromMicros(created), fromMicros(started), fromMicros(finished)
	ok := false
	if r.Numbers, ok = flatjson.Numbers(numbers.String); !ok {
		r.Numbers = nil
		err = fromJSON(numbers, &r.Numbers)
	}
	return r, errors.Join(err, fromJSON(owner, &r.Owner), fromJSON(prediction, &r.Prediction), fromJSON(warnings, &r.Warnings))
}

var upsertTrial = func() string {
	columns := strings.Split(strings.Join(strings.Fields(trialColumns), " "), ", ")
	var set []string
	for _, c := range columns[1:] {
		set = append(set, c+" = excluded."+c)
	}
	return "INSERT INTO trials (study, " + strings.Join(columns, ", ") + ") VALUES (" + marks(len(columns)+1) + ") ON CONFLICT (study, number) DO UPDATE SET " + strings.Join(set, ", ")
}()

func (t *tx) PutTrials(study int64, trials []store.Trial) error {
	return t.many(upsertTrial, len(trials), func(i int) []any {
		r := &trials[i]
		var numbers, owner, prediction, warnings sql.NullString
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
			study, r.Number, string(r.Params), string(r.Source), string(r.State), numbers, string(r.Failure), clean(r.Message), r.Attempt, r.Lost, r.Token, owner,
			micros(r.Lease), prediction, warnings, r.Fit, micros(r.Created), micros(r.Started), micros(r.Finished), r.Seconds, r.Asked, r.Told, r.Revision,
		}
	})
}

// clean makes text valid UTF-8 without NUL, which PostgreSQL rejects.
func clean(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\ufffd"), "\x00", "\ufffd")
}

func (t *tx) PutFit(study int64, f *store.Fit) error {
	var warm sql.NullString
	if f.Warm != nil {
		warm = sql.NullString{String: string(f.Warm), Valid: true}
	}
	return t.exec("INSERT INTO fits (study, number, revision, start, warm, version, kernels, trials) VALUES ("+marks(8)+")",
		study, f.Number, f.Revision, f.Start, warm, f.Version, f.Kernels, f.Trials)
}

func (t *tx) Fit(study int64, number int) (*store.Fit, error) {
	f := store.Fit{}
	var warm sql.NullString
	err := t.tx.QueryRowContext(t.ctx, t.text("SELECT number, revision, start, warm, version, kernels, trials FROM fits WHERE study = ? AND number = ?"), study, number).
		Scan(&f.Number, &f.Revision, &f.Start, &warm, &f.Version, &f.Kernels, &f.Trials)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if warm.Valid {
		f.Warm = json.RawMessage(warm.String)
	}
	return &f, err
}

func (t *tx) PutEvents(study int64, events []store.Event) error {
	return t.many("INSERT INTO events (study, revision, time, kind, trial, attempt, detail) VALUES ("+marks(7)+")", len(events), func(i int) []any {
		e := &events[i]
		return []any{study, e.Revision, micros(e.Time), string(e.Kind), e.Trial, e.Attempt, clean(e.Detail)}
	})
}

func (t *tx) Events(study int64, since int64, limit int) (events []store.Event, err error) {
	err = t.each("SELECT revision, time, kind, trial, attempt, detail FROM events WHERE study = ? AND revision > ? ORDER BY revision LIMIT ?", []any{study, since, limit},
		func(scan func(...any) error) error {
			var e store.Event
			var us int64
			var kind string
			err := scan(&e.Revision, &us, &kind, &e.Trial, &e.Attempt, &e.Detail)
			e.Time, e.Kind = fromMicros(us), store.EventKind(kind)
			events = append(events, e)
			return err
		})
	return events, err
}

func (t *tx) PutWaiting(study int64, ask string, n int, until time.Time) error {
	if n == 0 {
		return t.exec("DELETE FROM asks WHERE study = ? AND ask = ?", study, ask)
	}
	return t.exec("INSERT INTO asks (study, ask, n, until) VALUES (?, ?, ?, ?) ON CONFLICT (study, ask) DO UPDATE SET n = excluded.n, until = excluded.until",
		study, ask, n, micros(until))
}

func (t *tx) Waiting(study int64, now time.Time) (n int, err error) {
	err = t.tx.QueryRowContext(t.ctx, t.text("SELECT COALESCE(SUM(n), 0) FROM asks WHERE study = ? AND until > ?"), study, micros(now)).Scan(&n)
	return n, err
}

func (t *tx) PutReply(study int64, key string, reply json.RawMessage) error {
	return t.exec("INSERT INTO requests (study, key, reply) VALUES (?, ?, ?)", study, key, string(reply))
}

func (t *tx) Reply(study int64, key string) (json.RawMessage, error) {
	var text string
	err := t.tx.QueryRowContext(t.ctx, t.text("SELECT reply FROM requests WHERE study = ? AND key = ?"), study, key).Scan(&text)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return json.RawMessage(text), err
}

func (t *tx) PutSteps(study int64, steps []store.Step) error {
	return t.many("INSERT INTO measurements (study, trial, attempt, step, name, value) VALUES ("+marks(6)+")", len(steps), func(i int) []any {
		s := &steps[i]
		return []any{study, s.Trial, s.Attempt, s.Step, s.Name, s.Value}
	})
}

func (t *tx) Steps(study int64, trial int) (steps []store.Step, err error) {
	query, args := "SELECT trial, attempt, step, name, value FROM measurements WHERE study = ?", []any{study}
	if trial != 0 {
		query, args = query+" AND trial = ?", append(args, trial)
	}
	err = t.each(query+" ORDER BY id", args, func(scan func(...any) error) error {
		var s store.Step
		err := scan(&s.Trial, &s.Attempt, &s.Step, &s.Name, &s.Value)
		steps = append(steps, s)
		return err
	})
	return steps, err
}

// toJSON writes a value that JSON can always hold.
func toJSON(v any) sql.NullString {
	text, err := json.Marshal(v)
	if err != nil {
		panic("sqldb: " + err.Error())
	}
	return sql.NullString{String: string(text), Valid: true}
}

func fromJSON(text sql.NullString, into any) error {
	if !text.Valid {
		return nil
	}
	return json.Unmarshal([]byte(text.String), into)
}
