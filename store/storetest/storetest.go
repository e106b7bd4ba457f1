// Package storetest checks implementations of store.Backend. One call tests a backend:
//
//	func TestBackend(t *testing.T) {
//		storetest.Run(t, func(t *testing.T) storetest.Opener { … })
//	}
package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/study"
)

// Opener opens the same rows each time it is called, as another process would. At first
// there are none. If a backend cannot be opened twice, Opener returns the same Backend.
type Opener func() (store.Backend, error)

// Run runs the whole suite. Function fresh returns new rows for each test.
func Run(t *testing.T, fresh func(t *testing.T) Opener) {
	t.Helper()
	for _, c := range []struct {
		name string
		test func(*testing.T, Opener)
	}{
		{"studies", studies},
		{"rows come back as they were", rowsComeBack},
		{"a failed update leaves nothing", rollback},
		{"concurrent updates exclude one another", exclusive},
		{"a trial's life", life},
		{"leases", leases},
		{"lost trials say nothing about their points", lostTrials},
		{"results", results},
		{"corrections", corrections},
		{"keys", keys},
		{"keyed creations at the same time", keyedCreations},
		{"keyed asks", keyedAsks},
		{"given values", givenValues},
		{"enqueue and add", enqueueAndAdd},
		{"the budget holds among many askers", budgetHolds},
		{"rounds do not depend on workers", rounds},
		{"suggestions equal the suggestions of package loop", suggestions},
		{"durations", durations},
		{"edits", edits},
		{"events", events},
		{"outputs", outputs},
		{"rows without a use are deleted", useless},
		{"old replies are deleted", pruned},
		{"snapshots", snapshots},
		{"stopping rules", stops},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, fresh(t)) })
	}
}

// must ends the test on an error.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantError(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("error is %v, want %v", err, want)
	}
}

func equal[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	g, err := json.Marshal(got)
	must(t, err)
	w, err := json.Marshal(want)
	must(t, err)
	if string(g) != string(w) {
		t.Fatalf("%s is %s, want %s", what, g, w)
	}
}

func open(t *testing.T, o Opener, options store.Options) *store.Store {
	t.Helper()
	b, err := o()
	must(t, err)
	s := store.New(b, options)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// openShifted is open with a clock that the test shifts.
func openShifted(t *testing.T, o Opener, options store.Options) (*store.Store, *clock) {
	t.Helper()
	c := &clock{}
	return open(t, func() (store.Backend, error) {
		b, err := o()
		return shifted{b, c}, err
	}, options), c
}

// definition returns a small study: two parameters and a cheap method.
func definition(name string) *study.Definition {
	return &study.Definition{
		Version: 1, Name: name, Budget: 12, Initial: 4,
		Parameters: []space.Parameter{space.Float("x", 0, 1), space.Int("n", 1, 9)},
		Objectives: []study.Objective{{Name: "loss"}},
		Maximizer:  map[string]any{"raw": 32, "starts": 2},
	}
}

func created(t *testing.T, s *store.Store, d *study.Definition) *store.Study {
	t.Helper()
	u, err := s.Create(context.Background(), d)
	must(t, err)
	return u
}

// value evaluates the objective of the suite.
func value(trial store.Trial) map[string]float64 {
	var p struct{ X, N float64 }
	if err := json.Unmarshal(trial.Params, &p); err != nil {
		panic(err)
	}
	return map[string]float64{"loss": (p.X-0.3)*(p.X-0.3) + (p.N-4)*(p.N-4)/10}
}

func tell(t *testing.T, u *store.Study, trials ...store.Trial) {
	t.Helper()
	for _, trial := range trials {
		_, err := u.Tell(context.Background(), store.Report{Trial: trial.Number, Token: trial.Token, Numbers: value(trial)})
		must(t, err)
	}
}

func studies(t *testing.T, o Opener) {
	ctx := context.Background()
	s := open(t, o, store.Options{})
	_, err := s.Study(ctx, "none")
	wantError(t, err, store.ErrNoStudy)
	created(t, s, definition("b"))
	created(t, s, definition("a"))
	_, err = s.Create(ctx, definition("a"))
	wantError(t, err, store.ErrExists)
	list, err := s.List(ctx)
	must(t, err)
	names := []string{}
	for _, l := range list {
		names = append(names, l.Name)
	}
	equal(t, "the list", names, []string{"a", "b"})
	must(t, s.Delete(ctx, "a"))
	wantError(t, s.Delete(ctx, "a"), store.ErrNoStudy)
	u := created(t, s, definition("a")) // again
	v, err := u.View(ctx)
	must(t, err)
	equal(t, "the definition", v.Definition, definition("a"))
	equal(t, "the revision", v.Revision, 1)

	// A definition of a newer version is a fault of its study alone.
	backend, err := o()
	must(t, err)
	must(t, backend.Update(ctx, func(tx store.Tx) error {
		row, err := tx.Study("b")
		if err != nil {
			return err
		}
		row.Definition = json.RawMessage(`{"version": 2, "fidelities": [1]}`)
		return tx.PutStudy(row)
	}))
	must(t, backend.Close())
	list, err = s.List(ctx)
	must(t, err)
	equal(t, "the number of studies", len(list), 2)
	equal(t, "the fault of a", list[0].Fault, "")
	equal(t, "the fault of b", list[1].Fault, "the definition cannot be read: version is 2: this program reads up to 1")
	_, err = s.Study(ctx, "b")
	wantError(t, err, store.ErrUnreadable)
	must(t, s.Delete(ctx, "b"))
}

func rowsComeBack(t *testing.T, o Opener) {
	ctx := context.Background()
	b, err := o()
	must(t, err)
	defer b.Close()
	at := time.Date(2026, 2, 3, 4, 5, 6, 789000, time.UTC)
	mean := 0.1 + 0.2
	row := &store.Row{
		Name: "s", Definition: json.RawMessage(`{"version":1}`), Created: at, Revision: 7, Trials: 2, Issued: 2, Finished: 1, Fits: 3, Warm: 2,
		FitToken: "t", FitOwner: store.Owner{Host: "h", PID: 1, Start: "2", Name: "n"}, FitLease: at,
	}
	trials := []store.Trial{
		{
			Number: 1, Params: json.RawMessage(`{"x":1e-300,"o":"é\u0000"}`), Source: loop.Suggested, State: store.Complete, Numbers: map[string]float64{"loss": 5e-324, "größe": -1e300},
			Message: "two\nlines", Attempt: 2, Lost: 1, Token: "k", Owner: store.Self(), Lease: at, Prediction: &study.Prediction{Mean: &mean}, Warnings: []string{"w", ""},
			Fit: 3, Created: at, Started: at, Finished: at, Seconds: 0.1, Asked: 3, Told: 5, Revision: 6,
		},
		{
			Number: 2, Params: json.RawMessage(`{}`), Source: loop.Design, State: store.Pending, Created: at, Asked: 4, Revision: 7,
			Prediction: &study.Prediction{Mean: &mean, SD: &mean, Interval: [2]float64{-1e-9, 1e300}},
		},
	}
	fits := []store.Fit{{Number: 2, Revision: 4, Start: 1, Warm: json.RawMessage(`[0.1,-1e-9]`), Version: "v", Kernels: "go", Trials: 2}, {Number: 3, Revision: 5}}
	evs := []store.Event{{Revision: 6, Time: at, Kind: store.TrialIssued, Trial: 1, Attempt: 2, Detail: "d"}, {Revision: 7, Time: at, Kind: store.TrialCreated, Trial: 2}}
	steps := []store.Step{{Trial: 1, Attempt: 2, Step: 0.5, Name: "loss", Value: 1e-9}, {Trial: 2, Step: 1, Name: "loss", Value: 2}}
	must(t, b.Update(ctx, func(tx store.Tx) error {
		if err := tx.PutStudy(row); err != nil {
			return err
		}
		return errors.Join(tx.PutTrials(row.ID, trials), tx.PutFit(row.ID, &fits[0]), tx.PutFit(row.ID, &fits[1]), tx.PutEvents(row.ID, evs), tx.PutSteps(row.ID, steps),
			tx.PutReply(row.ID, "k", json.RawMessage(`{"a":1}`)), tx.PutWaiting(row.ID, "a", 2, at.Add(time.Hour)), tx.PutWaiting(row.ID, "b", 3, at), tx.PutWaiting(row.ID, "a", 4, at.Add(time.Hour)))
	}))
	must(t, b.View(ctx, func(tx store.Tx) error {
		r, err := tx.Study("s")
		must(t, err)
		equal(t, "the study", r, row)
		for _, c := range []struct {
			q    store.Query
			want []store.Trial
		}{
			{store.Query{}, trials}, {store.Query{Brief: true}, []store.Trial{trials[0].Brief(), trials[1].Brief()}},
			{store.Query{Number: 1}, trials[:1]}, {store.Query{Number: 3}, nil}, {store.Query{Since: 6}, trials[1:]},
			{store.Query{Number: 2, Pending: true}, trials[1:]}, {store.Query{Number: 1, Pending: true}, nil},
			{store.Query{Pending: true}, trials[1:]}, {store.Query{Pending: true, Brief: true}, []store.Trial{trials[1].Brief()}},
		} {
			got, err := tx.Trials(r.ID, c.q)
			must(t, err)
			equal(t, fmt.Sprintf("trials of %+v", c.q), got, c.want)
			for i := range got {
				equal(t, "the token", got[i].Token, c.want[i].Token)
			}
		}
		f, err := tx.Fit(r.ID, 2)
		must(t, err)
		equal(t, "the fit", f, &fits[0])
		f, err = tx.Fit(r.ID, 3)
		must(t, err)
		equal(t, "the fit without a state", f, &fits[1])
		f, err = tx.Fit(r.ID, 4)
		must(t, err)
		equal(t, "a fit that is not there", f, nil)
		e, err := tx.Events(r.ID, 5, 1)
		must(t, err)
		equal(t, "events", e, evs[:1])
		st, err := tx.Steps(r.ID, store.StepQuery{Trial: 1})
		must(t, err)
		equal(t, "steps", st, steps[:1])
		st, err = tx.Steps(r.ID, store.StepQuery{})
		must(t, err)
		equal(t, "all steps", st, steps)
		equal(t, "the order of the IDs", 0 < st[0].ID && st[0].ID < st[1].ID, true)
		st, err = tx.Steps(r.ID, store.StepQuery{Since: st[0].ID})
		must(t, err)
		equal(t, "later steps", st, steps[1:])
		n, err := tx.Waiting(r.ID, at.Add(time.Minute))
		must(t, err)
		equal(t, "waiting", n, 4)
		reply, err := tx.Reply(r.ID, "k")
		must(t, err)
		equal(t, "the reply", string(reply), `{"a":1}`)
		reply, err = tx.Reply(r.ID, "other")
		must(t, err)
		equal(t, "a reply that is not there", reply == nil, true)
		return nil
	}))
	must(t, b.Update(ctx, func(tx store.Tx) error { return tx.DeleteStudy(row.ID) }))
	must(t, b.View(ctx, func(tx store.Tx) error {
		rows, err := tx.Studies()
		equal(t, "the studies after deleting", len(rows), 0)
		return err
	}))
}

// useless checks that records of asks that ended long ago and replies to earlier requests without a key
// are deleted.
func useless(t *testing.T, o Opener) {
	ctx := context.Background()
	inner, err := o()
	must(t, err)
	defer inner.Close()
	b := &repliesOf{Backend: inner}
	u := created(t, store.New(b, store.Options{}), definition("s"))
	b.keys = nil
	for range 4 {
		_, err := u.Enqueue(ctx, "", map[string]any{"x": 0.5, "n": 2})
		must(t, err)
	}
	_, err = u.Enqueue(ctx, "k", map[string]any{"x": 0.5, "n": 2})
	must(t, err)
	past := time.Now().Add(-time.Hour)
	kept := 0
	must(t, inner.Update(ctx, func(tx store.Tx) error {
		row, err := tx.Study("s")
		must(t, err)
		for _, key := range b.keys {
			reply, err := tx.Reply(row.ID, key)
			must(t, err)
			if reply != nil {
				kept++
			}
		}
		must(t, tx.PutWaiting(row.ID, "old", 5, past))
		return tx.PutWaiting(row.ID, "new", 3, time.Now().Add(time.Hour))
	}))
	equal(t, "the replies that are written and kept", []int{len(b.keys), kept}, []int{5, 2})
	must(t, inner.View(ctx, func(tx store.Tx) error {
		row, err := tx.Study("s")
		must(t, err)
		n, err := tx.Waiting(row.ID, past.Add(-time.Hour))
		equal(t, "the trials that asks wait for", n, 3)
		return err
	}))
}

// pruned checks that a Pruner deletes old replies, and no others.
func pruned(t *testing.T, o Opener) {
	ctx := context.Background()
	b, err := o()
	must(t, err)
	defer b.Close()
	p, ok := b.(store.Pruner)
	if !ok {
		t.Skip("the backend is no store.Pruner")
	}
	s := store.New(b, store.Options{})
	u := created(t, s, definition("s"))
	replies := func() (n int) {
		must(t, b.View(ctx, func(tx store.Tx) error {
			row, err := tx.Study("s")
			must(t, err)
			for i := range 5001 { // more than a backend deletes at a time
				reply, err := tx.Reply(row.ID, fmt.Sprint("k", i))
				must(t, err)
				if reply != nil {
					n++
				}
			}
			return nil
		}))
		return n
	}
	must(t, b.Update(ctx, func(tx store.Tx) error {
		row, err := tx.Study("s")
		must(t, err)
		for i := range 5001 {
			must(t, tx.PutReply(row.ID, fmt.Sprint("k", i), json.RawMessage("1")))
		}
		return nil
	}))
	must(t, s.Prune(ctx))
	equal(t, "the replies after Prune", replies(), 5001)
	must(t, p.PruneReplies(ctx, -time.Hour))
	equal(t, "the replies after their age", replies(), 0)
	_, err = u.Enqueue(ctx, "k0", map[string]any{"x": 0.5, "n": 2})
	must(t, err)
}

// repliesOf notes the keys of the replies that are written.
type repliesOf struct {
	store.Backend
	keys []string
}

func (b *repliesOf) Update(ctx context.Context, f func(store.Tx) error) error {
	return b.Backend.Update(ctx, func(tx store.Tx) error { return f(repliesTx{tx, b}) })
}

type repliesTx struct {
	store.Tx
	b *repliesOf
}

func (tx repliesTx) PutReply(study int64, key string, reply json.RawMessage) error {
	if reply != nil {
		tx.b.keys = append(tx.b.keys, key)
	}
	return tx.Tx.PutReply(study, key, reply)
}

func rollback(t *testing.T, o Opener) {
	ctx := context.Background()
	b, err := o()
	must(t, err)
	defer b.Close()
	s := store.New(b, store.Options{})
	u := created(t, s, definition("s"))
	created(t, s, definition("other"))
	trials, err := u.Ask(ctx, 3)
	must(t, err)
	tell(t, u, trials[0])
	at := time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)
	must(t, b.Update(ctx, func(tx store.Tx) error {
		row, err := tx.Study("s")
		must(t, err)
		return errors.Join(tx.PutWaiting(row.ID, "a", 2, at.Add(time.Hour)), tx.PutReply(row.ID, "k", json.RawMessage("1")), tx.PutSteps(row.ID, []store.Step{{Trial: 1, Step: 1, Name: "loss"}}))
	}))
	before := contents(t, b, at)
	fault := errors.New("fault")
	err = b.Update(ctx, func(tx store.Tx) error {
		row, err := tx.Study("s")
		must(t, err)
		other, err := tx.Study("other")
		must(t, err)
		row.Revision = 99
		changed := trials[1]
		changed.State, changed.Revision = store.Failed, 98
		must(t, errors.Join(tx.PutStudy(row), tx.PutStudy(&store.Row{Name: "new", Definition: json.RawMessage("{}"), Created: at}), tx.DeleteStudy(other.ID),
			tx.PutTrials(row.ID, []store.Trial{changed, {Number: 4, Params: json.RawMessage(`{}`), State: store.Pending, Revision: 99}}),
			tx.PutTrials(row.ID, []store.Trial{trials[0]}),
			tx.PutFit(row.ID, &store.Fit{Number: 9}), tx.PutEvents(row.ID, []store.Event{{Revision: 98, Time: at}, {Revision: 99, Time: at}}),
			tx.PutSteps(row.ID, []store.Step{{Trial: 1, Step: 2, Name: "loss"}}), tx.PutReply(row.ID, "new", json.RawMessage("2")),
			tx.PutWaiting(row.ID, "a", 0, time.Time{}), tx.PutWaiting(row.ID, "b", 7, at.Add(time.Hour))))
		return fault
	})
	wantError(t, err, fault)
	equal(t, "the rows", contents(t, b, at), before)
	v, err := u.View(ctx)
	must(t, err)
	equal(t, "the trials", len(v.Trials), 3)
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	wantError(t, b.Update(cancelled, func(store.Tx) error { return nil }), context.Canceled)
}

// contents returns the rows of a backend.
func contents(t *testing.T, b store.Backend, at time.Time) (all []any) {
	t.Helper()
	must(t, b.View(context.Background(), func(tx store.Tx) error {
		add := func(rows any, err error) {
			must(t, err)
			all = append(all, rows)
		}
		all = nil
		studies, err := tx.Studies()
		add(studies, err)
		for _, row := range studies {
			for _, q := range []store.Query{{}, {Pending: true}, {Since: 4}, {Number: 2}} {
				add(tx.Trials(row.ID, q))
			}
			add(tx.Fit(row.ID, 1))
			add(tx.Fit(row.ID, 9))
			add(tx.Events(row.ID, 0, 1000))
			add(tx.Steps(row.ID, store.StepQuery{}))
			add(tx.Waiting(row.ID, at))
			for _, key := range []string{"k", "new"} {
				add(tx.Reply(row.ID, key))
			}
		}
		return nil
	}))
	return all
}

func exclusive(t *testing.T, o Opener) {
	ctx := context.Background()
	s := open(t, o, store.Options{})
	created(t, s, definition("s"))
	const writers, times = 8, 20
	var all sync.WaitGroup
	faults := make(chan error, writers)
	for range writers {
		all.Go(func() {
			b, err := o()
			if err != nil {
				faults <- err
				return
			}
			defer b.Close()
			for range times {
				err = errors.Join(err, b.Update(ctx, func(tx store.Tx) error {
					row, err := tx.Study("s")
					if err != nil {
						return err
					}
					row.Trials++
					return tx.PutStudy(row)
				}))
			}
			faults <- err
		})
	}
	all.Wait()
	for range writers {
		must(t, <-faults)
	}
	list, err := s.List(ctx)
	must(t, err)
	equal(t, "the count", list[0].Trials, writers*times)
}

func life(t *testing.T, o Opener) {
	ctx := context.Background()
	u := created(t, open(t, o, store.Options{Version: "test"}), definition("s"))
	trials, err := u.Ask(ctx, 3)
	must(t, err)
	equal(t, "the number of trials", len(trials), 3)
	for i, trial := range trials {
		equal(t, "number, attempt and state", []any{trial.Number, trial.Attempt, trial.State}, []any{i + 1, 1, store.Pending})
	}
	for range 2 { // before and after View
		brief, err := u.Brief(ctx)
		must(t, err)
		equal(t, "running", brief.Trials[0].Running(brief.Now), true)
		v, err := u.View(ctx)
		must(t, err)
		equal(t, "running", v.Trials[0].Running(v.Now), true)
		equal(t, "the time of creation", v.Trials[0].Created.IsZero(), false)
		equal(t, "the brief trial", brief.Trials[0], v.Trials[0].Brief())
		equal(t, "the points", brief.Points, v.Points)
	}
	tell(t, u, trials...)
	v, err := u.View(ctx)
	must(t, err)
	equal(t, "the result", v.Trials[1].Numbers, value(trials[1]))
	if v.Trials[1].Finished.IsZero() || v.Trials[1].Told == 0 {
		t.Fatalf("trial 2 is %+v", v.Trials[1])
	}
	var all []store.Trial
	for len(all)+3 < 12 {
		next, err := u.Ask(ctx, 4)
		must(t, err)
		tell(t, u, next...)
		all = append(all, next...)
	}
	_, err = u.Ask(ctx, 1)
	wantError(t, err, store.ErrBudget)
	if all[len(all)-1].Source != loop.Suggested || all[len(all)-1].Prediction == nil || all[len(all)-1].Fit == 0 {
		t.Fatalf("the last trial is %+v", all[len(all)-1])
	}
}

func leases(t *testing.T, o Opener) {
	ctx := context.Background()
	s, clock := openShifted(t, o, store.Options{Lease: lease})
	u := created(t, s, definition("s"))
	first, err := u.Ask(ctx, 1)
	must(t, err)
	held := store.Attempt{Trial: first[0].Number, Token: first[0].Token}
	for range 4 { // beyond one lease
		clock.offset += lease / 2
		lost, err := u.Heartbeat(ctx, held)
		must(t, err)
		equal(t, "lost", len(lost), 0)
		v, err := u.View(ctx)
		must(t, err)
		equal(t, "the trial runs", v.Trials[0].Running(v.Now.Add(lease*9/10)), true)
	}
	must(t, u.Release(ctx, held))
	again, err := u.Ask(ctx, 1)
	must(t, err)
	equal(t, "the released trial", []int{again[0].Number, again[0].Attempt, again[0].Lost}, []int{1, 2, 0})
	lost, err := u.Heartbeat(ctx, held)
	must(t, err)
	equal(t, "lost", lost, []int{1})
	for attempt := 3; attempt <= 4; attempt++ {
		clock.offset += 2 * lease
		again, err = u.Ask(ctx, 1)
		must(t, err)
		equal(t, "the lost trial", []int{again[0].Number, again[0].Attempt, again[0].Lost}, []int{1, attempt, attempt - 2})
	}
	_, err = u.Tell(ctx, store.Report{Trial: 1, Token: first[0].Token, Failure: store.FailedByProgram, Message: "late"})
	wantError(t, err, store.ErrConflict) // another attempt may succeed
	clock.offset += 2 * lease
	next, err := u.Ask(ctx, 1)
	must(t, err)
	equal(t, "the next trial", next[0].Number, 2)
	v, err := u.View(ctx)
	must(t, err)
	equal(t, "the trial lost three times", []string{string(v.Trials[0].State), string(v.Trials[0].Failure)}, []string{"failed", "lost"})
	tell(t, u, first[0]) // late, and the first result
	v, err = u.View(ctx)
	must(t, err)
	equal(t, "the trial with a late result", v.Trials[0].State, store.Complete)
}

func results(t *testing.T, o Opener) {
	ctx := context.Background()
	u := created(t, open(t, o, store.Options{}), definition("s"))
	trials, err := u.Ask(ctx, 2)
	must(t, err)
	tell(t, u, trials[0])
	tell(t, u, trials[0]) // the same again
	_, err = u.Tell(ctx, store.Report{Trial: 1, Numbers: map[string]float64{"loss": 99}})
	wantError(t, err, store.ErrConflict)
	_, err = u.Tell(ctx, store.Report{Trial: 1, Failure: store.FailedByProgram})
	wantError(t, err, store.ErrConflict)
	good := store.Report{Trial: 2, Numbers: value(trials[1])}
	_, err = u.TellAll(ctx, []store.Report{good, {Trial: 1, Numbers: map[string]float64{"loss": 99}}}) // all reports or none
	wantError(t, err, store.ErrConflict)
	if fault, ok := errors.AsType[*store.ReportError](err); !ok || fault.Index != 1 {
		t.Errorf("the error %v does not belong to the second report", err)
	}
	second, _, err := u.Trial(ctx, 2)
	must(t, err)
	equal(t, "the first of several reports with a fault", second.State, store.Pending)
	for _, number := range []int{7, 0, -2} {
		_, err = u.Tell(ctx, store.Report{Trial: number, Numbers: map[string]float64{"other": 1}})
		wantError(t, err, store.ErrNoTrial)
		_, err = u.Tell(ctx, store.Report{Trial: number, Failure: store.FailedByProgram})
		wantError(t, err, store.ErrNoTrial)
		_, err = u.ReportSteps(ctx, store.Attempt{Trial: number}, loop.Step{Step: 1, Value: 1})
		wantError(t, err, store.ErrNoTrial)
	}
	_, err = u.Tell(ctx, store.Report{Trial: 2, Numbers: map[string]float64{"other": 1}})
	wantError(t, err, loop.ErrNotFinite)
	_, err = u.Tell(ctx, store.Report{Trial: 2, Failure: store.TimedOut, Message: "bad \x00 bytes \xff"})
	must(t, err)
	_, err = u.Tell(ctx, store.Report{Trial: 2, Failure: store.FailedByProgram, Message: "another message"})
	must(t, err)
	for _, bad := range []store.Step{{Trial: 1, Name: "a\x00b"}, {Trial: 1, Name: "\xff"}, {Trial: 1, Name: "loss", Value: math.NaN()}, {Trial: 3, Name: "loss"}} {
		if u.AddSteps(ctx, bad) == nil {
			t.Errorf("step %+v is no error", bad)
		}
	}
	_, err = u.Tell(ctx, store.Report{Trial: 2, Failure: store.TimedOut, Key: "a\x00b"})
	equal(t, "whether a key with NUL is an error", err != nil, true)
	v, err := u.View(ctx)
	must(t, err)
	equal(t, "the failure", []any{v.Trials[1].State, v.Trials[1].Failure}, []any{store.Failed, store.TimedOut})
	equal(t, "the best", v.Best().Number, 1)
}

func keys(t *testing.T, o Opener) {
	ctx := context.Background()
	u := created(t, open(t, o, store.Options{}), definition("s"))
	point := map[string]any{"x": 0.5, "n": 3}
	a, err := u.Enqueue(ctx, "k", point)
	must(t, err)
	b, err := u.Enqueue(ctx, "k", point)
	must(t, err)
	equal(t, "the repeated reply", b, a)
	_, err = u.Enqueue(ctx, "other", point)
	must(t, err)
	v, err := u.View(ctx)
	must(t, err)
	equal(t, "the number of trials", len(v.Trials), 2)
	report := store.Report{Trial: 1, Numbers: map[string]float64{"loss": 1}, Key: "t"}
	_, err = u.Tell(ctx, report)
	must(t, err)
	report.Numbers = map[string]float64{"loss": 2}
	told, err := u.Tell(ctx, report)
	must(t, err)
	equal(t, "the repeated report", told.Numbers, map[string]float64{"loss": 1})
}

// keyedCreations repeats requests that create a study, at the same time.
func keyedCreations(t *testing.T, o Opener) {
	ctx := context.Background()
	stores := []*store.Store{open(t, o, store.Options{}), open(t, o, store.Options{})}
	for i := range 10 {
		d := definition(fmt.Sprintf("s%d", i))
		var all sync.WaitGroup
		errs := make([]error, 8)
		for j := range errs {
			all.Go(func() { _, errs[j] = stores[j%2].CreateOnce(ctx, "c", d) })
		}
		all.Wait()
		must(t, errors.Join(errs...))
		_, err := stores[0].CreateOnce(ctx, "d", d)
		wantError(t, err, store.ErrExists)
	}
}

// keyedAsks repeats requests that create a study and issue trials, also on another handle, at the same
// time, and after the results.
func keyedAsks(t *testing.T, o Opener) {
	ctx := context.Background()
	s, other := open(t, o, store.Options{}), open(t, o, store.Options{})
	d := definition("s")
	u, err := s.CreateOnce(ctx, "c", d)
	must(t, err)
	_, err = other.CreateOnce(ctx, "c", d)
	must(t, err)
	_, err = s.CreateOnce(ctx, "d", d)
	wantError(t, err, store.ErrExists)
	larger := definition("s")
	larger.Budget = d.Budget + 1
	_, err = other.CreateOnce(ctx, "c", larger)
	wantError(t, err, store.ErrKey)
	again, err := other.Study(ctx, "s")
	must(t, err)

	tokens := func(trials []store.Trial) map[int]string {
		all := map[int]string{}
		for _, t := range trials {
			all[t.Number] = t.Token
		}
		return all
	}
	var all sync.WaitGroup
	got := make([]map[int]string, 8)
	for i := range got {
		all.Go(func() {
			trials, err := []*store.Study{u, again}[i%2].AskOnce(ctx, store.AskRequest{Key: "k", N: 3, Owner: "w", Lease: time.Hour})
			if err != nil {
				t.Error(err)
			}
			got[i] = tokens(trials)
		})
	}
	all.Wait()
	equal(t, "the number of trials", len(got[0]), 3)
	for i := range got {
		equal(t, "a repeated answer", got[i], got[0])
	}
	_, err = again.AskOnce(ctx, store.AskRequest{Key: "k", N: 2, Owner: "w", Lease: time.Hour})
	wantError(t, err, store.ErrKey)
	_, err = again.Answer(ctx, store.AskRequest{Key: "k", N: 2})
	wantError(t, err, store.ErrKey)
	pending := 0
	v, err := u.View(ctx)
	must(t, err)
	for i := range v.Trials {
		if v.Trials[i].Running(v.Now) {
			pending++
		}
	}
	equal(t, "the number of trials that run", pending, 3)
	for number, token := range got[0] {
		_, err := u.Tell(ctx, store.Report{Trial: number, Token: token, Numbers: map[string]float64{"loss": float64(number)}})
		must(t, err)
	}
	trials, err := again.AskOnce(ctx, store.AskRequest{Key: "k", N: 3, Owner: "w", Lease: time.Hour})
	must(t, err)
	equal(t, "the answer after the results", tokens(trials), got[0])
	stored, err := again.Answer(ctx, store.AskRequest{Key: "k", N: 3})
	must(t, err)
	equal(t, "the stored answer", tokens(stored), got[0])
	stored, err = again.Answer(ctx, store.AskRequest{Key: "other", N: 3})
	must(t, err)
	equal(t, "the answer to another key", len(stored), 0)

	rest, err := u.AskOnce(ctx, store.AskRequest{Key: "rest", N: 20, Owner: "w", Lease: time.Hour})
	must(t, err)
	equal(t, "the rest of the budget", len(rest), 9)
	trials, err = again.AskOnce(ctx, store.AskRequest{Key: "rest", N: 20, Owner: "w", Lease: time.Hour})
	must(t, err)
	equal(t, "the repeated rest", tokens(trials), tokens(rest))
	_, err = u.AskOnce(ctx, store.AskRequest{Key: "none", N: 1, Owner: "w", Lease: time.Hour})
	wantError(t, err, store.ErrBudget)
	must(t, u.Withdraw(ctx, "rest"))
	_, err = again.AskOnce(ctx, store.AskRequest{Key: "rest", N: 20, Owner: "w", Lease: time.Hour})
	wantError(t, err, store.ErrKey)
	rest, err = u.AskOnce(ctx, store.AskRequest{N: 20, Owner: "w", Lease: time.Hour})
	must(t, err)
	equal(t, "the trials of the withdrawn ask", len(rest), 9)
	_, err = u.AskOnce(ctx, store.AskRequest{Key: "a\x00", N: 1, Owner: "w", Lease: time.Hour})
	if err == nil {
		t.Fatal("a key with NUL is accepted")
	}
	page, err := u.Page(ctx, 2, 4, func(t *store.Trial) bool { return t.State == store.Pending })
	must(t, err)
	equal(t, "the page", []any{len(page.Trials), page.Trials[0].Number, page.More}, []any{4, 4, true})
	one, _, err := u.Trial(ctx, 12)
	must(t, err)
	equal(t, "the last trial", one.Number, 12)
	_, _, err = u.Trial(ctx, 13)
	wantError(t, err, store.ErrNoTrial)
}

func enqueueAndAdd(t *testing.T, o Opener) {
	ctx := context.Background()
	u := created(t, open(t, o, store.Options{}), definition("s"))
	_, err := u.Enqueue(ctx, "", map[string]any{"x": 2, "n": 3})
	wantError(t, err, space.ErrPoint)
	_, err = u.Enqueue(ctx, "", map[string]any{"x": 0.25, "n": 3}, map[string]any{"x": 0.75, "n": 4})
	must(t, err)
	_, err = u.Add(ctx, "", store.Evaluated{Params: map[string]any{"x": 0.1, "n": 1}, Numbers: map[string]float64{"loss": 5}}, store.Evaluated{Params: map[string]any{"x": 0.2, "n": 1}, Failure: store.FailedByProgram})
	must(t, err)
	_, err = u.Add(ctx, "", store.Evaluated{Params: map[string]any{"x": 0.1, "n": 1}})
	wantError(t, err, loop.ErrNotFinite)
	trials, err := u.Ask(ctx, 3)
	must(t, err)
	equal(t, "the numbers", []int{trials[0].Number, trials[1].Number, trials[2].Number}, []int{1, 2, 5})
	points := make([]map[string]any, 10)
	for i := range points {
		points[i] = map[string]any{"x": float64(i) / 10, "n": 9}
	}
	_, err = u.Enqueue(ctx, "", points...) // 3 issued, 9 left
	wantError(t, err, store.ErrBudget)
	_, err = u.Enqueue(ctx, "", points[:9]...)
	must(t, err)
}

func budgetHolds(t *testing.T, o Opener) {
	ctx := context.Background()
	d := definition("s")
	d.Budget = 40
	d.Initial = 40 // points of the design cost no fit
	created(t, open(t, o, store.Options{}), d)
	const askers = 6
	var all sync.WaitGroup
	var mu sync.Mutex
	numbers, points := map[int]int{}, map[string]int{}
	faults := make(chan error, askers)
	for range askers {
		all.Go(func() {
			b, err := o()
			if err != nil {
				faults <- err
				return
			}
			s := store.New(b, store.Options{})
			defer s.Close()
			u, err := s.Study(ctx, "s")
			for err == nil {
				var trials []store.Trial
				if trials, err = u.Ask(ctx, 1); err != nil {
					break
				}
				mu.Lock()
				numbers[trials[0].Number]++
				points[string(trials[0].Params)]++
				mu.Unlock()
				_, err = u.Tell(ctx, store.Report{Trial: trials[0].Number, Token: trials[0].Token, Numbers: value(trials[0])})
			}
			if errors.Is(err, store.ErrBudget) {
				err = nil
			}
			faults <- err
		})
	}
	all.Wait()
	for range askers {
		must(t, <-faults)
	}
	want := map[int]int{}
	for n := range 40 {
		want[n+1] = 1
	}
	equal(t, "how often each number was issued", numbers, want)
	equal(t, "the number of different points", len(points), 40)
}

// complete runs a study to its end with workers that ask for one trial at a time.
func complete(t *testing.T, u *store.Study, workers int) []store.Trial {
	t.Helper()
	ctx := context.Background()
	var all sync.WaitGroup
	faults := make(chan error, workers)
	for range workers {
		all.Go(func() {
			for {
				trials, err := u.Ask(ctx, 1)
				if err == nil {
					_, err = u.Tell(ctx, store.Report{Trial: trials[0].Number, Token: trials[0].Token, Numbers: value(trials[0])})
				}
				if errors.Is(err, store.ErrBudget) {
					err = nil
					faults <- err
					return
				}
				if err != nil {
					faults <- err
					return
				}
			}
		})
	}
	all.Wait()
	for range workers {
		must(t, <-faults)
	}
	v, err := u.View(ctx)
	must(t, err)
	return v.Trials
}

func params(trials []store.Trial) []string {
	out := make([]string, len(trials))
	for i := range trials {
		out[i] = string(trials[i].Params)
	}
	return out
}

func rounds(t *testing.T, o Opener) {
	s := open(t, o, store.Options{})
	var want []string
	for _, workers := range []int{1, 3} {
		d := definition(fmt.Sprintf("s%d", workers))
		d.Batch = 3
		got := params(complete(t, created(t, s, d), workers))
		if want == nil {
			want = got
		}
		equal(t, fmt.Sprintf("points of %d workers", workers), got, want)
	}
}

// suggestions checks that a study makes the suggestions of a loop.Study if trials are claimed
// one at a time. It also checks that every fit can be replayed.
func suggestions(t *testing.T, o Opener) {
	ctx := context.Background()
	d := definition("s")
	b, err := o()
	must(t, err)
	u := created(t, store.New(b, store.Options{Version: "v1"}), d)
	trials := complete(t, u, 1)
	options, err := d.Method()
	must(t, err)
	sp, err := d.Space()
	must(t, err)
	reference, err := loop.New(sp, options)
	must(t, err)
	for i, trial := range trials {
		asked, err := reference.Ask(ctx, 1)
		must(t, err)
		want, err := json.Marshal(asked[0].Point)
		must(t, err)
		equal(t, fmt.Sprintf("point %d", i+1), string(trial.Params), string(want))
		must(t, reference.Tell(asked[0].ID, value(trial)["loss"]))
	}
	for _, trial := range trials {
		out, err := u.Replay(ctx, trial.Number)
		must(t, err)
		equal(t, "the replayed point", string(out), string(trial.Params))
	}
	must(t, b.Close())
}

// durations checks that a result is stored without a duration that is no number of seconds.
func durations(t *testing.T, o Opener) {
	ctx := context.Background()
	u := created(t, open(t, o, store.Options{}), definition("s"))
	trials, err := u.Ask(ctx, 4)
	must(t, err)
	for i, seconds := range []float64{2.5, math.NaN(), math.Inf(1), -1} {
		r := store.Report{Trial: trials[i].Number, Token: trials[i].Token, Numbers: value(trials[i]), Seconds: seconds}
		if i%2 == 1 {
			r.Key = fmt.Sprint("key ", i)
		}
		told, err := u.Tell(ctx, r)
		must(t, err)
		want := 0.0
		if i == 0 {
			want = seconds
		}
		equal(t, "the seconds", told.Seconds, want)
	}
}

func edits(t *testing.T, o Opener) {
	ctx := context.Background()
	u := created(t, open(t, o, store.Options{}), definition("s"))
	trials, err := u.Ask(ctx, 4)
	must(t, err)
	tell(t, u, trials...)
	fault := errors.New("fault")
	wantError(t, u.Edit(ctx, func(study.Definition) (*study.Definition, error) { return nil, fault }), fault)
	must(t, u.Edit(ctx, func(d study.Definition) (*study.Definition, error) {
		d.Parameters = []space.Parameter{space.Float("x", 0, 0.5), space.Int("n", 1, 9), space.Categorical("o", "a", "b")}
		d.Defaults = map[string]any{"o": "a"}
		return &d, nil
	}))
	v, err := u.View(ctx)
	must(t, err)
	unfit := 0
	for _, trial := range v.Trials {
		var p struct{ X float64 }
		must(t, json.Unmarshal(trial.Params, &p))
		if p.X > 0.5 {
			unfit++
		}
	}
	equal(t, "trials that do not fit", v.Unfit, unfit)
	next, err := u.Ask(ctx, 1)
	must(t, err)
	var p map[string]any
	must(t, json.Unmarshal(next[0].Params, &p))
	equal(t, "the parameters", slices.Sorted(maps.Keys(p)), []string{"n", "o", "x"})

	// Complete trials without a number of the new definition are no failures; with the old name they count.
	left := len(trials) - unfit
	for _, c := range []struct {
		objective       string
		unfit, complete int
	}{{"other", len(trials), 0}, {"loss", unfit, left}} {
		must(t, u.Edit(ctx, func(d study.Definition) (*study.Definition, error) {
			d.Objectives = []study.Objective{{Name: c.objective}}
			return &d, nil
		}))
		v, err := u.View(ctx)
		must(t, err)
		equal(t, "trials that do not fit", v.Unfit, c.unfit)
		_, _, h, err := u.History(ctx)
		must(t, err)
		complete := 0
		for _, trial := range h.Trials {
			if trial.State == loop.Complete {
				complete++
			} else if trial.State != loop.Pending {
				t.Errorf("trial %d of the history is %s", trial.ID, trial.State)
			}
		}
		equal(t, "complete trials", complete, c.complete)
	}
}

func events(t *testing.T, o Opener) {
	ctx := context.Background()
	u := created(t, open(t, o, store.Options{}), definition("s"))
	trials, err := u.Ask(ctx, 1)
	must(t, err)
	tell(t, u, trials...)
	all, err := u.Events(ctx, 0, 100)
	must(t, err)
	var kinds []store.EventKind
	for i, e := range all {
		kinds = append(kinds, e.Kind)
		equal(t, "the revision", e.Revision, int64(i+1))
	}
	equal(t, "the events", kinds, []store.EventKind{store.StudyCreated, store.TrialCreated, store.TrialIssued, store.TrialFinished})
	some, err := u.Events(ctx, 2, 1)
	must(t, err)
	equal(t, "events after the second", some, all[2:3])
}

func outputs(t *testing.T, o Opener) {
	ctx := context.Background()
	u := created(t, open(t, o, store.Options{}), definition("s"))
	trials, err := u.Ask(ctx, 4)
	must(t, err)
	long := strings.Repeat("a line of output\n", 1000)
	for i, output := range []string{"one\ntwo \n\n", "", long, strings.Repeat("é", store.MaxOutput)} {
		_, err := u.Tell(ctx, store.Report{Trial: trials[i].Number, Token: trials[i].Token, Numbers: value(trials[i]), Output: output})
		must(t, err)
	}
	for i, want := range []string{"one\ntwo", "", long[len(long)-4097 : len(long)-1], strings.Repeat("é", store.MaxOutput/2)} {
		told, _, err := u.Trial(ctx, i+1)
		must(t, err)
		got, err := u.Output(ctx, &told)
		must(t, err)
		equal(t, "the output", got, want)
	}
	waiting, err := u.Output(ctx, &store.Trial{Number: 5})
	must(t, err)
	equal(t, "the output of a trial without a result", waiting, "")
}

// snapshots restores a study under another name: nothing changes, and both continue alike.
func snapshots(t *testing.T, o Opener) {
	ctx := context.Background()
	s := open(t, o, store.Options{})
	u := created(t, s, definition("a"))
	for range 6 {
		trials, err := u.Ask(ctx, 1)
		must(t, err)
		must(t, u.AddSteps(ctx, store.Step{Trial: trials[0].Number, Attempt: 1, Step: 0.5, Name: "loss", Value: 3}))
		tell(t, u, trials...)
	}
	_, err := u.Add(ctx, "", store.Evaluated{Params: map[string]any{"x": 0.5, "n": 3}, Failure: store.TimedOut, Message: "slow"})
	must(t, err)
	_, err = u.Ask(ctx, 1)
	must(t, err)
	want, err := u.Snapshot(ctx)
	must(t, err)
	copied, err := s.Restore(ctx, "b", want)
	must(t, err)
	got, err := copied.Snapshot(ctx)
	must(t, err)
	got.Definition.Name = "a"
	equal(t, "the restored study", got, want)
	_, err = s.Restore(ctx, "b", want)
	wantError(t, err, store.ErrExists)

	trials, err := copied.Ask(ctx, 1) // the pending trial waits in the copy
	must(t, err)
	equal(t, "the pending trial", trials[0].Params, want.Trials[7].Params)
	for range 2 {
		first, err := u.Ask(ctx, 1)
		must(t, err)
		second, err := copied.Ask(ctx, 1)
		must(t, err)
		equal(t, "the suggestion of the restored study", second[0].Params, first[0].Params)
		tell(t, u, first...)
		tell(t, copied, second...)
	}
	list, err := s.List(ctx)
	must(t, err)
	equal(t, "the counts", []int{list[1].Trials, list[1].Finished}, []int{list[0].Trials, list[0].Finished})
}

// stops checks that processes share the steps of a study and one stopping rule.
func stops(t *testing.T, o Opener) {
	ctx := context.Background()
	s := open(t, o, store.Options{})
	d := definition("s")
	d.Stop = loop.Stop{Rule: loop.ASHA, Eta: 2, MaxSteps: 8}
	first := created(t, s, d)
	second, err := open(t, o, store.Options{}).Study(ctx, "s")
	must(t, err)
	trials, err := first.Ask(ctx, 3)
	must(t, err)
	report := func(u *store.Study, i int, steps ...loop.Step) store.State {
		t.Helper()
		got, err := u.ReportSteps(ctx, store.Attempt{Trial: trials[i].Number, Token: trials[i].Token}, steps...)
		must(t, err)
		return got.State
	}
	equal(t, "the first trial at a rung", report(first, 0, loop.Step{Step: 1, Value: 2}), store.Pending)
	equal(t, "a better trial", report(second, 1, loop.Step{Step: 1, Value: 1}, loop.Step{Step: 1, Value: 99}), store.Pending)
	equal(t, "a worse trial", report(second, 2, loop.Step{Step: 1, Value: math.NaN()}, loop.Step{Step: 2, Value: 0}), store.Stopped)
	equal(t, "a step after the stop", report(first, 2, loop.Step{Step: 3, Value: 0}), store.Stopped)
	_, err = first.Tell(ctx, store.Report{Trial: 3, Token: trials[2].Token, Numbers: map[string]float64{"loss": 0}})
	wantError(t, err, store.ErrConflict)
	lost, err := first.Heartbeat(ctx, store.Attempt{Trial: 3, Token: trials[2].Token})
	must(t, err)
	equal(t, "attempts that are lost", lost, []int{3})
	steps, err := second.Steps(ctx, 0)
	must(t, err)
	equal(t, "the steps", steps, []store.Step{
		{Trial: 1, Attempt: 1, Step: 1, Name: "loss", Value: 2}, {Trial: 2, Attempt: 1, Step: 1, Name: "loss", Value: 1}, {Trial: 3, Attempt: 1, Step: 1, Name: "loss", Value: loop.MaxValue},
	})
	all, err := second.Events(ctx, 0, 100)
	must(t, err)
	var decision loop.Decision
	must(t, json.Unmarshal([]byte(all[len(all)-1].Detail), &decision))
	equal(t, "the decision", decision, loop.Decision{Stop: true, Rule: loop.ASHA, Step: 1, Value: loop.MaxValue, Rung: 1, Rank: 3, Keep: 1, Of: 3})
	tell(t, first, trials[:2]...)
	_, err = first.ReportSteps(ctx, store.Attempt{Trial: 1}, loop.Step{Step: 9, Value: 1})
	wantError(t, err, store.ErrConflict)

	// Steps of a lost attempt do not count for the next one.
	next, err := first.Ask(ctx, 1)
	must(t, err)
	trials = append(trials, next...)
	equal(t, "the fourth trial", report(first, 3, loop.Step{Step: 1, Value: 0}), store.Pending)
	must(t, first.Release(ctx, store.Attempt{Trial: 4, Token: next[0].Token}))
	equal(t, "a step of an attempt that ended", report(second, 3, loop.Step{Step: 2, Value: 0}), store.Pending)
	trials[3] = store.Trial{Number: 4}
	again, err := second.Ask(ctx, 1)
	must(t, err)
	equal(t, "the attempt", again[0].Attempt, 2)
	equal(t, "the next attempt", report(first, 3, loop.Step{Step: 1, Value: 9}), store.Stopped)

	// A rule of the caller.
	next, err = first.Ask(ctx, 1)
	must(t, err)
	trials = append(trials, next...)
	held := store.Attempt{Trial: 5, Token: next[0].Token}
	if _, err = second.Stop(ctx, held, "flat"); err == nil {
		t.Error("a trial without steps was stopped")
	}
	equal(t, "the fifth trial", report(first, 4, loop.Step{Step: 2, Value: 0.5}, loop.Step{Step: 1, Value: 0}), store.Pending)
	for range 2 {
		stopped, err := second.Stop(ctx, held, "flat")
		must(t, err)
		equal(t, "the state", stopped.State, store.Stopped)
		equal(t, "the value", stopped.Numbers["loss"], 0.5)
		equal(t, "the message", stopped.Message, "step 2: flat")
	}
	all, err = second.Events(ctx, 0, 100)
	must(t, err)
	decision = loop.Decision{}
	must(t, json.Unmarshal([]byte(all[len(all)-1].Detail), &decision))
	equal(t, "the decision of the caller", decision, loop.Decision{Stop: true, Step: 2, Value: 0.5, Reason: "flat"})
}
