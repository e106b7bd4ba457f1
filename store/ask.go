package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/functionspace/bo/loop"
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
// The caller calls Heartbeat more often than once per Options.Lease until it has told the result. Without
// heartbeats an evaluation that takes longer loses its attempt, also in a process that goes on: the
// next Ask issues the trial again. Run sends heartbeats, and AskFor needs none.
//
// If there is no trial to issue, the error wraps ErrBudget or ErrExhausted. An error of
// the surrogate ends the Ask and leaves the study unchanged.
func (u *Study) Ask(ctx context.Context, n int) ([]Trial, error) {
	return u.ask(ctx, AskRequest{N: n}, Self(), u.store.opts.Lease)
}

// AskFor is Ask for a caller that outlives this process, such as a person. The trials are not
// tied to the process and need no heartbeats. They may be issued again after the lease; a
// lease of 0 does not end.
func (u *Study) AskFor(ctx context.Context, n int, owner string, lease time.Duration) ([]Trial, error) {
	return u.AskOnce(ctx, AskRequest{N: n, Owner: owner, Lease: lease})
}

// AskRequest is a request for trials.
type AskRequest struct {
	N int
	// Key makes a request that may be repeated: a repeated call with the key issues nothing and returns the trials, with
	// their tokens, as the first call issued them. An error is not recorded.
	Key string
	// Given are values of some parameters that the trials have, such as the humidity of the day. Other trials keep
	// waiting. A study with batches takes none, because the trials of a batch are chosen together.
	Given map[string]any
	Owner string        // name of the owner of the trials
	Lease time.Duration // time after which a trial may be issued again; 0 does not end
}

// AskOnce is AskFor for a request with more fields. The error wraps ErrKey if the first call with the key had
// another N or other values in Given. It wraps space.ErrPoint if the values in Given are invalid, no point of
// the space has them, or they lack a parameter that is Given.
func (u *Study) AskOnce(ctx context.Context, r AskRequest) ([]Trial, error) {
	lease := r.Lease
	if lease <= 0 {
		lease = never
	}
	if err := checkText("the key", r.Key); err != nil {
		return nil, named(u.name, err)
	}
	if err := checkText("the worker", r.Owner); err != nil {
		return nil, named(u.name, err)
	}
	return u.ask(ctx, r, Owner{Name: r.Owner}, lease)
}

const never = 100 * 365 * 24 * time.Hour

func (u *Study) ask(ctx context.Context, r AskRequest, owner Owner, lease time.Duration) ([]Trial, error) {
	if r.N < 1 || r.N > loop.MaxPoints {
		return nil, fmt.Errorf("%w: %d trials to ask, want 1 to %d", loop.ErrOptions, r.N, loop.MaxPoints)
	}
	given, err := u.given(ctx, r.Given)
	if err != nil {
		return nil, named(u.name, err)
	}
	a := &asking{Study: u, ask: token(), key: r.Key, given: given, owner: owner, lease: lease, want: r.N}
	return a.trials(ctx)
}

// asking is the state of one Ask.
type asking struct {
	*Study
	ask   string
	key   string // of a request that may be repeated
	given given  // values that the trials have; the zero given is none
	owner Owner  // owner of the trials
	lease time.Duration
	want  int
	holds func() []Attempt // attempts of the run that asks; nil without a run
	got   []Trial
	keys  []string // of all claims
	// unsure reports that a claim may be stored though its transaction returned an error.
	unsure bool
	again  string // key of the last claim if its transaction returned an error: the next claim repeats it
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
	_ = a.store.view(ctx, func(tx Tx) error {
		row, err := tx.Study(a.name)
		changed = err != nil || row.Revision != a.seen || row.FitToken != a.fitter
		return err
	})
	return changed
}

// attempts returns the attempts that the Ask has.
func (a *asking) attempts() []Attempt {
	held := make([]Attempt, len(a.got))
	for i, t := range a.got {
		held[i] = Attempt{t.Number, t.Token}
	}
	return held
}

// keep extends the leases of the trials that the Ask has, if half of one is over. An Ask of several trials may wait
// for the last one for longer than a lease.
func (a *asking) keep(tx Tx, row *Row, now time.Time) error {
	until := now.Add(a.lease)
	if !slices.ContainsFunc(a.got, func(t Trial) bool { return t.Lease.Before(now.Add(a.lease / 2)) }) {
		return nil
	}
	for i := range a.got {
		a.got[i].Lease = later(a.got[i].Lease, until)
	}
	return prolong(tx, row, a.attempts(), until)
}

// prolong extends the leases of attempts.
func prolong(tx Tx, row *Row, attempts []Attempt, until time.Time) error {
	return eachHeld(tx, row, attempts, func(t *Trial) { t.Lease = later(t.Lease, until) }, func(Attempt) {})
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
		if err != nil && !errors.Is(err, ErrKey) { // the trials of another request have other tokens
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
	key := cmp.Or(a.again, token()) // key of the claim: a repeated transaction gives the same trials
	a.again, a.keys = key, append(a.keys, key)
	cached := a.cache(ctx)
	var claimed []Trial
	var costs *costCopy
	var over error // ErrBudget, which would undo the changes of lost trials as an error of the transaction
	err = a.update(ctx, func(tx Tx, row *Row, now time.Time) error {
		step, fitToken, count, claimed, over = wait, "", 0, nil, nil
		before := row.Revision
		defer func() { a.seen, a.fitter = row.Revision, row.FitToken }()
		if answered, err := a.answered(tx, row); err != nil || answered {
			step = done
			return err
		}
		p, err := row.parsed()
		if err != nil {
			return err
		}
		if err := p.space.CheckGiven(a.given.values); err != nil {
			return err
		}
		d := p.definition
		if err := a.keep(tx, row, now); err != nil {
			return err
		}
		pending, err := a.pending(tx, row, now, a.holds)
		if err != nil {
			return err
		}
		c := &claim{tx: tx, row: row, now: now, owner: a.owner, key: key, lease: a.lease, given: a.given, cached: cached, before: row.Trials}
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
			over = fmt.Errorf("%w: %d trials count against the budget of %d (bo study edit %s --budget N raises the budget)", ErrBudget, row.Issued, d.Budget, a.name)
			return nil
		}
		if tx, ok := tx.(Transient); ok && len(claimed) == 0 && row.Revision == before {
			tx.Transient() // if a crash undoes it, at worst a fit is repeated, or a trial is issued again
		}
		if a.given.text == nil { // proposals for other asks have other values
			a.recorded = true
			if err := tx.PutWaiting(row.ID, a.ask, missing, now.Add(waits)); err != nil {
				return err
			}
		}
		held := row.FitToken == key // by this look, in a transaction that was repeated
		if !held && (row.fitting(now) || d.Batch > 0 && running > 0) {
			return nil
		}
		waiting := d.Batch
		if d.Batch == 0 && a.given.text == nil {
			if waiting, err = tx.Waiting(row.ID, now); err != nil {
				return err
			}
		}
		step, fitToken, count = fit, key, min(left, max(waiting, missing), loop.MaxPoints)
		row.FitToken, row.FitOwner, row.FitLease = key, Self(), now.Add(a.store.opts.FitLease)
		return nil
	})
	a.unsure = a.unsure || err != nil && ctx.Err() != nil
	if err == nil {
		a.again = ""
	}
	if err == nil {
		err = over
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
