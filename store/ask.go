package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/functionspace/bo/internal/cpu"
	"github.com/functionspace/bo/internal/faults"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/study"
	"github.com/functionspace/bo/surrogate"
)

const (
	poll    = 10 * time.Millisecond // first interval between reads of the study while another process fits
	maxPoll = 250 * time.Millisecond
	looks   = 4                // reads of the study alone before its trials are read too, for ended leases
	waits   = 10 * time.Second // lifetime of the record of a waiting ask without renewal
)

// Ask issues n trials to the caller, each under a lease. It waits if another process
// computes the suggestions. Trials whose worker was lost come first, then enqueued
// trials, then new proposals. Ask returns fewer than n trials if the budget, the space or
// the present round of a study with batches has no more.
//
// If there is no trial to issue, the error wraps ErrBudget or ErrExhausted. An error of
// the surrogate ends the Ask and leaves the study unchanged.
func (u *Study) Ask(ctx context.Context, n int) ([]Trial, error) {
	return u.ask(ctx, "", n, Self(), u.store.opts.Lease)
}

// AskFor is Ask for a caller that outlives this process, such as a person. The trials are not
// tied to the process and need no heartbeats. They may be issued again after the lease; a
// lease of 0 does not end.
func (u *Study) AskFor(ctx context.Context, n int, owner string, lease time.Duration) ([]Trial, error) {
	return u.AskOnce(ctx, "", n, owner, lease)
}

// AskOnce is AskFor for a request that may be repeated: with key, a repeated call issues nothing and
// returns the trials, with their tokens, as the first call issued them. An error is not
// recorded.
func (u *Study) AskOnce(ctx context.Context, key string, n int, owner string, lease time.Duration) ([]Trial, error) {
	if lease <= 0 {
		lease = never
	}
	if err := checkText("the key", key); err != nil {
		return nil, named(u.name, err)
	}
	if err := checkText("the worker", owner); err != nil {
		return nil, named(u.name, err)
	}
	return u.ask(ctx, key, n, Owner{Name: owner}, lease)
}

const never = 100 * 365 * 24 * time.Hour

func (u *Study) ask(ctx context.Context, key string, n int, owner Owner, lease time.Duration) ([]Trial, error) {
	if n < 1 || n > loop.MaxPoints {
		return nil, fmt.Errorf("%w: %d trials to ask, want 1 to %d", loop.ErrOptions, n, loop.MaxPoints)
	}
	a := &asking{Study: u, ask: token(), key: key, owner: owner, lease: lease, want: n}
	return a.trials(ctx)
}

// asking is the state of one Ask.
type asking struct {
	*Study
	ask   string
	key   string // of a request that may be repeated
	owner Owner  // owner of the trials
	lease time.Duration
	want  int
	holds func() []Attempt // attempts of the run that asks; nil without a run
	got   []Trial
	keys  []string // of all claims
	// unsure reports that a claim may be stored though its transaction returned an error.
	unsure bool
	// recorded reports that the store may hold the record of the waiting ask.
	recorded bool
	// fitter and seen are the token of the fit lease and the revision at the last look.
	fitter string
	seen   int64
	first  []Trial // issued by an earlier request with the same key
}

// next is the step of an Ask that follows a read of the study.
type next int

const (
	done next = iota // the Ask has its trials
	wait             // another process must act first
	fit              // this process holds the fit lease
)

// trials returns the trials of the Ask.
func (a *asking) trials(ctx context.Context) ([]Trial, error) {
	trials, err := a.run(ctx)
	return trials, named(a.name, err)
}

func (a *asking) run(ctx context.Context) ([]Trial, error) {
	defer a.leave(ctx)
	pause := poll
	for {
		committed := a.committed.Wait()
		step, fitToken, count, err := a.look(ctx)
		if err == nil && step == fit {
			pause = poll
			if err = a.propose(ctx, fitToken, count); len(a.got) == a.want {
				step = done
			}
		}
		if len(a.got) > 0 && (errors.Is(err, ErrBudget) || errors.Is(err, ErrExhausted)) {
			step, err = done, a.settle(ctx)
		}
		switch {
		case err != nil:
			a.giveBack(ctx)
			return nil, err
		case a.first != nil:
			a.giveBack(ctx)
			return a.first, nil
		}
		switch step {
		case done:
			return a.got, nil
		case wait:
			for range looks {
				changed := false
				select {
				case <-ctx.Done():
					a.giveBack(ctx)
					return nil, ctx.Err()
				case <-committed:
					changed = true
				case <-time.After(pause):
					changed = a.changed(ctx)
				}
				if changed {
					break
				}
				pause = min(pause*5/4, maxPoll)
			}
		}
	}
}

// changed reports whether the study has changed since the last look: it reads one row and writes
// nothing. It reports true if the row cannot be read.
func (a *asking) changed(ctx context.Context) bool {
	changed := true
	_ = a.store.backend.View(ctx, func(tx Tx) error {
		row, err := tx.Study(a.name)
		changed = err != nil || row.Revision != a.seen || row.FitToken != a.fitter
		return err
	})
	return changed
}

// leave deletes the record of the waiting ask.
func (a *asking) leave(ctx context.Context) {
	if !a.recorded {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_ = a.update(ctx, func(tx Tx, row *Row, _ time.Time) error { return a.served(tx, row) })
}

// served deletes the record of the waiting ask, if there is one.
func (a *asking) served(tx Tx, row *Row) error {
	if !a.recorded {
		return nil
	}
	return tx.PutWaiting(row.ID, a.ask, 0, time.Time{})
}

// giveBack releases the trials and the fit lease of an Ask that fails. It leaves trials of a stored reply: a
// repeated request returns them, and may have done so already.
func (a *asking) giveBack(ctx context.Context) {
	if len(a.got) == 0 && !a.unsure {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	_ = a.update(ctx, func(tx Tx, row *Row, now time.Time) error {
		pending, err := tx.Trials(row.ID, Query{Pending: true})
		if err != nil {
			return err
		}
		replied, err := a.answer(tx, row)
		if err != nil {
			return err
		}
		if slices.Contains(a.keys, row.FitToken) {
			row.FitToken, row.FitOwner, row.FitLease = "", Owner{}, time.Time{}
		}
		var attempts []Attempt
		for _, t := range pending {
			own := slices.ContainsFunc(a.keys, func(key string) bool { return strings.HasPrefix(t.Token, key+"-") })
			if own && !slices.ContainsFunc(replied, func(f Trial) bool { return f.Token == t.Token }) {
				attempts = append(attempts, Attempt{t.Number, t.Token})
			}
		}
		return release(tx, row, now, attempts)
	})
}

// update runs f on the study in a transaction and writes the study.
func (u *Study) update(ctx context.Context, f func(tx Tx, row *Row, now time.Time) error) error {
	return u.store.backend.Update(ctx, func(tx Tx) error {
		row, err := tx.Study(u.name)
		if err != nil {
			return err
		}
		now, err := tx.Now()
		if err != nil {
			return err
		}
		if err := f(tx, row, now); err != nil {
			return err
		}
		return tx.PutStudy(row)
	})
}

// look reads the study, claims waiting trials and returns the next step. For fit it also returns the
// token of the fit lease and the number of proposals to compute.
func (a *asking) look(ctx context.Context) (step next, fitToken string, count int, err error) {
	key := token() // key of the claim: a repeated transaction gives the same trials
	a.keys = append(a.keys, key)
	cached := a.cache(ctx)
	var claimed []Trial
	var costs *costCopy
	over := 0 // trials of a budget that is used up
	err = a.update(ctx, func(tx Tx, row *Row, now time.Time) error {
		step, fitToken, count, claimed, over = wait, "", 0, nil, 0
		defer func() { a.seen, a.fitter = row.Revision, row.FitToken }()
		if answered, err := a.answered(tx, row); err != nil || answered {
			step = done
			return err
		}
		d, err := row.definition()
		if err != nil {
			return err
		}
		pending, err := a.pending(tx, row, now, a.holds)
		if err != nil {
			return err
		}
		c := &claim{tx: tx, row: row, now: now, owner: a.owner, key: key, lease: a.lease, cached: cached, before: row.Trials}
		if !slices.ContainsFunc(pending, func(t Trial) bool { return c.own(&t) }) {
			if costs, err = affordable(tx, row, d, pending, now, a.costs.Load()); err != nil {
				return err
			}
		}
		if claimed, err = c.take(pending, a.want-len(a.got)); err != nil {
			return err
		}
		missing := a.want - len(a.got) - len(claimed)
		left := d.Budget - row.Issued
		running := len(pending) - len(c.failed)
		switch {
		case missing == 0, (left <= 0 || d.Batch > 0) && len(a.got)+len(claimed) > 0:
			step = done
			return errors.Join(a.record(tx, row, claimed), a.served(tx, row))
		case left <= 0:
			over = row.Issued // an error would undo the changes of trials that are lost
			return nil
		}
		a.recorded = true
		if err := tx.PutWaiting(row.ID, a.ask, missing, now.Add(waits)); err != nil {
			return err
		}
		held := row.FitToken == key // by this look, in a transaction that was repeated
		if !held && (row.fitting(now) || d.Batch > 0 && running > 0) {
			return nil
		}
		waiting, err := tx.Waiting(row.ID, now)
		if err != nil {
			return err
		}
		if d.Batch > 0 {
			waiting = d.Batch
		}
		step, fitToken, count = fit, key, min(left, max(waiting, missing), loop.MaxPoints)
		row.FitToken, row.FitOwner, row.FitLease = key, Self(), now.Add(a.store.opts.FitLease)
		return nil
	})
	a.unsure = a.unsure || err != nil && ctx.Err() != nil
	if err == nil && over > 0 {
		err = fmt.Errorf("%w: all %d trials are issued (bo study edit %s --budget N raises the budget)", ErrBudget, over, a.name)
	}
	if err == nil {
		if costs != nil {
			a.costs.Store(costs)
		}
		a.got = append(a.got, claimed...)
		a.recorded = a.recorded && step != done
	}
	return step, fitToken, count, err
}

// pending returns the pending trials for a claim. It first renews leases of the attempts of a run that have ended, for
// example while the computer slept: the run must not take its own trials for lost.
func (u *Study) pending(tx Tx, row *Row, now time.Time, holds func() []Attempt) ([]Trial, error) {
	trials, err := tx.Trials(row.ID, Query{Pending: true})
	if err != nil || holds == nil {
		return trials, err
	}
	held := holds()
	var renewed []Trial
	for i := range trials {
		if t := &trials[i]; !t.Lease.After(now) && slices.Contains(held, Attempt{t.Number, t.Token}) {
			t.Lease = now.Add(u.store.opts.Lease)
			renewed = append(renewed, *t)
		}
	}
	return trials, tx.PutTrials(row.ID, renewed)
}

// claim issues pending trials.
type claim struct {
	tx     Tx
	row    *Row
	now    time.Time
	owner  Owner
	key    string
	lease  time.Duration
	cached cached
	before int // trials up to this number may be older than the definition
	failed []int
}

// own reports whether this claim has issued the running attempt at a trial.
func (c *claim) own(t *Trial) bool { return strings.HasPrefix(t.Token, c.key+"-") }

// take issues up to n of the pending trials that no worker runs. It fails the trials
// that have lost their last attempt, and trials that would be issued and are no points of the
// space since an edit.
func (c *claim) take(pending []Trial, n int) (taken []Trial, err error) {
	var changed []Trial
	var events []Event
	for _, t := range pending {
		if c.own(&t) { // issued by this claim, in a transaction that was repeated, maybe long ago
			t.Lease = later(t.Lease, c.now.Add(c.lease))
			taken = append(taken, t)
		}
	}
	if err := c.tx.PutTrials(c.row.ID, taken); err != nil {
		return nil, err
	}
	for _, t := range pending {
		if c.own(&t) || t.Running(c.now) || len(taken) >= n && t.Lease.IsZero() {
			continue
		}
		if !t.Lease.IsZero() {
			t.Lost++
			events = append(events, c.row.event(Event{Time: c.now, Kind: AttemptLost, Trial: t.Number, Attempt: t.Attempt, Detail: t.Owner.Name}))
			t.Lease, t.Token = time.Time{}, ""
		}
		switch {
		case t.Lost >= MaxLost:
			c.fail(&t, Lost, fmt.Sprintf("the workers of %d attempts were lost, the last one %s", t.Lost, t.Owner.Name), &events)
		case len(taken) < n:
			fits, err := c.adapt(&t)
			if err != nil {
				return nil, err
			}
			if !fits {
				c.fail(&t, Unfit, "the study was edited, and the parameters are no point of its space", &events)
				break
			}
			t.Attempt++
			t.Owner, t.Token, t.Lease, t.Started = c.owner, c.row.token(c.key, t.Number), c.now.Add(c.lease), c.now
			events = append(events, c.row.event(Event{Time: c.now, Kind: TrialIssued, Trial: t.Number, Attempt: t.Attempt, Detail: c.owner.Name}))
			t.Revision = c.row.Revision
			taken = append(taken, t)
		}
		t.Revision = c.row.Revision
		changed = append(changed, t)
	}
	if len(changed) == 0 {
		return taken, nil
	}
	return taken, putChanges(c.tx, c.row, changed, events)
}

// fail ends a pending trial.
func (c *claim) fail(t *Trial, kind Failure, message string, events *[]Event) {
	t.State, t.Failure, t.Message, t.Finished = Failed, kind, message, c.now
	e := c.row.event(Event{Time: c.now, Kind: TrialFinished, Trial: t.Number, Attempt: t.Attempt, Detail: string(Failed)})
	*events, t.Told = append(*events, e), e.Revision
	c.failed = append(c.failed, t.Number)
	c.row.Finished++
}

// adapt gives a trial the parameters of the present space: an edit may have added or removed
// some since. It returns false if they are no point of the space.
func (c *claim) adapt(t *Trial) (fits bool, err error) {
	if t.Number > c.before {
		return true, nil
	}
	if string(c.cached.text) != string(c.row.Definition) {
		p, err := c.row.parsed()
		if err != nil {
			return false, err
		}
		c.cached = cached{c.row.Definition, pointReader{space: p.space, defaults: p.definition.Defaults}}
	}
	p, err := c.cached.read.point(t.Params)
	if err != nil {
		return false, nil
	}
	if !maps.EqualFunc(p.Map(), c.cached.read.values, func(any, any) bool { return true }) {
		t.Params, err = json.Marshal(p)
	}
	return true, err
}

// propose computes proposals under the fit lease and stores them as waiting trials.
func (a *asking) propose(ctx context.Context, fitToken string, count int) (err error) {
	started := time.Now()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go a.keepFitting(ctx, cancel, fitToken)
	defer func() {
		defer a.committed.Send()
		if errors.Is(err, errFitLost) || errors.Is(context.Cause(ctx), errFitLost) {
			err = nil // another process took over, or the proposals are stored: read the study again
		}
		if err != nil {
			a.stopFitting(ctx, fitToken)
		}
	}()

	admitted, err := a.store.admit(ctx)
	if err != nil {
		return err
	}
	leave := sync.OnceFunc(admitted)
	defer leave()
	if err := a.refresh(ctx); err != nil { // with the results of the time before the admission
		return err
	}
	if err := a.mu.lock(ctx); err != nil {
		return err
	}
	row, history := a.row, loop.History{Trials: a.history(a.revision)}
	sp, options, batch, left := a.space, a.options, a.definition.Batch, a.definition.Budget-row.Issued
	objective := a.definition.Objective().Name
	a.mu.unlock()
	if err := a.addSteps(ctx, objective, history.Trials); err != nil {
		return err
	}
	if batch > 0 {
		count = min(max(batch, options.Initial-len(history.Trials)), left)
	}
	if err := a.warmStart(ctx, &row, &history); err != nil {
		return err
	}
	fitted := time.Now()
	out, err := loop.Propose(a.progress(ctx), sp, options, history, count)
	leave()
	if err != nil {
		return err
	}
	if a.store.opts.OnFit != nil && out.Fit != nil {
		a.store.opts.OnFit(*out.Fit, time.Since(fitted))
	}
	err = a.commit(ctx, fitToken, &row, out)
	if out.Fit != nil { // points of the design cost nothing
		a.pace.Suggested(time.Since(started), len(out.Points))
	}
	return err
}

// warmStart reads the warm start that the fit begins from.
func (a *asking) warmStart(ctx context.Context, row *Row, h *loop.History) error {
	if err := a.mu.lock(ctx); err != nil {
		return err
	}
	text, have := a.warm, row.Warm == a.warmFit && row.ID == a.warmStudy
	a.mu.unlock()
	switch {
	case row.Warm == 0:
		return nil
	case have:
		return json.Unmarshal(text, &h.Warm)
	}
	return a.store.backend.View(ctx, func(tx Tx) error {
		f, err := tx.Fit(row.ID, row.Warm)
		if err != nil || f == nil {
			return err
		}
		return json.Unmarshal(f.Warm, &h.Warm)
	})
}

// progress reports the progress of a fit to Options.OnProgress.
func (a *asking) progress(ctx context.Context) context.Context {
	if a.store.opts.OnProgress == nil {
		return ctx
	}
	return surrogate.WithProgress(ctx, a.store.opts.OnProgress)
}

var errFitLost = errors.New("another process has taken over the fit")

// commit stores proposals if the fit lease is still held and no trial was added since, and claims
// trials for this Ask. It releases the lease.
func (a *asking) commit(ctx context.Context, fitToken string, based *Row, out loop.Proposals) error {
	warm, err := json.Marshal(out.Warm)
	if err != nil {
		return err
	}
	cached := a.cache(ctx)
	var claimed []Trial
	served, warmFit := false, 0
	err = a.update(ctx, func(tx Tx, row *Row, now time.Time) error {
		claimed, served, warmFit = nil, false, 0
		if row.ID != based.ID {
			return errFitLost
		}
		pending, err := a.pending(tx, row, now, a.holds)
		if err != nil {
			return err
		}
		pending = slices.DeleteFunc(pending, func(t Trial) bool { return a.has(t.Number) })
		c := &claim{tx: tx, row: row, now: now, owner: a.owner, key: fitToken, lease: a.lease, cached: cached, before: based.Trials}
		if row.FitToken != fitToken {
			for _, t := range pending {
				if c.own(&t) { // issued by this commit, in a transaction that was repeated
					claimed = append(claimed, t)
				}
			}
			return errFitLost
		}
		row.FitToken, row.FitOwner, row.FitLease = "", Owner{}, time.Time{}
		if row.Trials != based.Trials || string(row.Definition) != string(based.Definition) {
			return nil // the proposals may repeat the new trials: the Ask reads the study again
		}
		trials, err := a.store.proposed(tx, row, based, out, warm)
		if err != nil {
			return err
		}
		if row.Warm == row.Fits {
			warmFit = row.Fits
		}
		if err := row.add(tx, now, trials); err != nil || a.want == 0 {
			return err
		}
		if answered, err := a.answered(tx, row); err != nil || answered {
			return err
		}
		missing := a.want - len(a.got)
		if claimed, err = c.take(append(pending, trials...), missing); err != nil || len(claimed) < missing {
			return err
		}
		served = true
		return errors.Join(a.record(tx, row, claimed), a.served(tx, row))
	})
	if err == nil || errors.Is(err, errFitLost) {
		a.got = append(a.got, claimed...)
	}
	a.unsure = a.unsure || err != nil && ctx.Err() != nil
	if err == nil && served {
		a.recorded = false
	}
	if err == nil && warmFit > 0 && a.mu.lock(ctx) == nil { // otherwise the next fit reads it
		a.warm, a.warmFit, a.warmStudy = warm, warmFit, based.ID
		a.mu.unlock()
	}
	return err
}

// has reports whether the Ask has a trial.
func (a *asking) has(number int) bool {
	return slices.ContainsFunc(a.got, func(t Trial) bool { return t.Number == number })
}

// proposed writes a fit and returns the trials of its proposals.
func (s *Store) proposed(tx Tx, row, based *Row, out loop.Proposals, warm json.RawMessage) ([]Trial, error) {
	row.Fits++
	f := &Fit{Number: row.Fits, Revision: based.Revision, Start: based.Warm, Version: s.opts.Version, Kernels: cpu.Best.String(), Trials: len(out.Points)}
	if out.Fit != nil && out.Warm != nil {
		f.Warm, row.Warm = warm, row.Fits
	}
	trials := make([]Trial, len(out.Points))
	for i, p := range out.Points {
		params, err := json.Marshal(p.Point)
		if err != nil {
			return nil, err
		}
		trials[i] = Trial{Params: params, Source: p.Source, Prediction: study.NewPrediction(p.Prediction), Warnings: p.Warnings, Fit: f.Number}
	}
	return trials, tx.PutFit(row.ID, f)
}

// add inserts new trials as they are, with numbers and revisions.
func (r *Row) add(tx Tx, now time.Time, trials []Trial) error {
	events := make([]Event, len(trials))
	for i := range trials {
		t := &trials[i]
		r.Trials++
		t.Number, t.Created = r.Trials, now
		events[i] = r.event(Event{Time: now, Kind: TrialCreated, Trial: t.Number, Detail: string(t.Source)})
		t.Asked, t.Revision = r.Revision, r.Revision
		if t.State == "" {
			t.State = Pending
		}
		if t.State != Pending {
			t.Told, t.Finished = r.Revision, now
		}
		if t.Source != loop.Added {
			r.Issued++
		}
	}
	return putChanges(tx, r, trials, events)
}

// keepFitting renews the fit lease until ctx ends, and cancels it if the lease is lost.
func (a *asking) keepFitting(ctx context.Context, cancel context.CancelCauseFunc, fitToken string) {
	lease := a.store.opts.FitLease
	renewed := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(lease / 4):
		}
		err := a.update(ctx, func(tx Tx, row *Row, now time.Time) error {
			if row.FitToken != fitToken {
				return errFitLost
			}
			row.FitLease = now.Add(lease)
			return nil
		})
		switch {
		case err == nil:
			renewed = time.Now()
		case errors.Is(err, errFitLost), time.Since(renewed) > lease:
			cancel(errFitLost)
			return
		}
	}
}

// stopFitting releases the fit lease.
func (u *Study) stopFitting(ctx context.Context, fitToken string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_ = u.update(ctx, func(_ Tx, row *Row, _ time.Time) error {
		if row.FitToken == fitToken {
			row.FitToken, row.FitOwner, row.FitLease = "", Owner{}, time.Time{}
		}
		return nil
	})
}

// Enqueue adds points to evaluate ahead of suggestions, as waiting trials. They count
// against the budget. With key, a repeated call adds nothing and returns the same trials.
// An error of several points wraps a space.Faults with the first ten wrong points and the number of the others.
func (u *Study) Enqueue(ctx context.Context, key string, points ...map[string]any) ([]Trial, error) {
	var added []Trial
	err := u.once(ctx, key, &added, func(tx Tx, row *Row, now time.Time) error {
		d, err := row.definition()
		if err != nil {
			return err
		}
		trials, err := trialsOf(d, "point", points, func(int) error { return nil })
		if err != nil {
			return err
		}
		if left := d.Budget - row.Issued; len(trials) > left {
			return fmt.Errorf("%w: %d of %d trials are issued, so %d more cannot be enqueued (bo study edit %s --budget N raises the budget)", ErrBudget, row.Issued, d.Budget, len(trials), u.name)
		}
		for i := range trials {
			trials[i].Source = loop.Enqueued
		}
		added = trials
		return row.add(tx, now, trials)
	})
	return added, named(u.name, err)
}

// trialsOf returns waiting trials at points of a study that check accepts. If there are several
// points, the error is a space.Faults with the first ten wrong points, each with the noun what and
// its number, and the number of the others.
func trialsOf(d *study.Definition, what string, points []map[string]any, check func(i int) error) ([]Trial, error) {
	s, err := d.Space()
	if err != nil {
		return nil, err
	}
	trials := make([]Trial, len(points))
	wrong := faults.List{What: what + "s"}
	for i, values := range points {
		p, err := s.PointOf(values)
		if err == nil {
			err = check(i)
		}
		switch {
		case err != nil && len(points) == 1:
			return nil, err
		case err != nil:
			wrong.Add(fmt.Errorf("%s %d of %d: %w", what, i+1, len(points), err))
			continue
		}
		if trials[i].Params, err = json.Marshal(p); err != nil {
			return nil, err
		}
	}
	if list := wrong.Errors(); list != nil {
		return nil, space.Faults(list)
	}
	return trials, nil
}

// once runs f once for a key. A repeated call returns the reply of the first call. Without a key, the reply
// serves a repeated transaction of this call only, and the next such request of this handle deletes it.
func (u *Study) once(ctx context.Context, key string, reply any, f func(tx Tx, row *Row, now time.Time) error) error {
	var spent []spentKey
	keyed := key != ""
	if !keyed {
		key = token()
		spent = u.spent.take()
	}
	if err := checkText("the key", key); err != nil {
		return err
	}
	own := spentKey{key: key}
	err := u.update(ctx, func(tx Tx, row *Row, now time.Time) error {
		own.study = row.ID
		stored, err := tx.Reply(row.ID, key)
		if err != nil {
			return err
		}
		if stored != nil {
			return json.Unmarshal(stored, reply)
		}
		if err := f(tx, row, now); err != nil {
			return err
		}
		for _, old := range spent {
			if old.study == row.ID {
				if err := tx.PutReply(row.ID, old.key, nil); err != nil {
					return err
				}
			}
		}
		text, err := json.Marshal(reply)
		if err != nil {
			return err
		}
		return tx.PutReply(row.ID, key, text)
	})
	switch {
	case keyed:
	case err != nil: // the transaction may be stored nevertheless
		u.spent.add(append(spent, own)...)
	default:
		u.spent.add(own)
	}
	return err
}

// spentKey is the key of a stored reply that serves no further request.
type spentKey struct {
	study int64
	key   string
}

// maxSpent bounds the keys that a handle keeps while its requests fail.
const maxSpent = 64

type spentKeys struct {
	mu   sync.Mutex
	keys []spentKey
}

// take returns the keys and removes them.
func (s *spentKeys) take() []spentKey {
	s.mu.Lock()
	defer s.mu.Unlock()
	keys := s.keys
	s.keys = nil
	return keys
}

func (s *spentKeys) add(keys ...spentKey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keys = append(s.keys, keys...)
	s.keys = s.keys[max(0, len(s.keys)-maxSpent):]
}
