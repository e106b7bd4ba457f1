package store

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

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
	given  given // values that issued trials have
	cached cached
	before int // trials up to this number may be older than the definition
	failed []int
}

// own reports whether this claim has issued the running attempt at a trial.
func (c *claim) own(t *Trial) bool { return strings.HasPrefix(t.Token, c.key+"-") }

// take issues up to n of the pending trials that no worker runs and that have the given values. It fails the
// trials that have lost their last attempt. It also fails the trials that would be issued and are no points of
// the space since an edit.
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
		if c.own(&t) || t.Running(c.now) {
			continue
		}
		issue := len(taken) < n && c.given.suit(&t)
		if !issue && t.Lease.IsZero() {
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
		case issue:
			fits, err := c.adapt(&t)
			if err != nil {
				return nil, err
			}
			if !fits {
				c.fail(&t, Unfit, "the study was edited, and the parameters are no point of its space", &events)
				break
			}
			t.Attempt++
			t.Owner, t.Token, t.Lease, t.Started = c.owner, c.row.token(c.key, &t), c.now.Add(c.lease), c.now
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
