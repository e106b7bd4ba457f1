package store

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/functionspace/bo/internal/cpu"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/study"
	"github.com/functionspace/bo/surrogate"
)

// propose computes proposals under the fit lease and stores them as waiting trials.
func (a *asking) propose(ctx context.Context, fitToken string, count int) (err error) {
	started := time.Now()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go a.keepFitting(ctx, cancel, fitToken, a.attempts())
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
	row, history := a.row, loop.History{Trials: a.history(a.revision), Given: a.given.values}
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
	return a.store.view(ctx, func(tx Tx) error {
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
		if err := a.keep(tx, row, now); err != nil {
			return err
		}
		pending, err := a.pending(tx, row, now, a.holds)
		if err != nil {
			return err
		}
		pending = slices.DeleteFunc(pending, func(t Trial) bool { return a.has(t.Number) })
		c := &claim{tx: tx, row: row, now: now, owner: a.owner, key: fitToken, lease: a.lease, given: a.given, cached: cached, before: based.Trials}
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
		trials, err := a.store.proposed(tx, row, based, out, warm, a.given.text)
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
	} else {
		a.again = fitToken
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
func (s *Store) proposed(tx Tx, row, based *Row, out loop.Proposals, warm, given json.RawMessage) ([]Trial, error) {
	row.Fits++
	f := &Fit{Number: row.Fits, Revision: based.Revision, Start: based.Warm, Version: s.opts.Version, Kernels: cpu.Best.String(), Trials: len(out.Points), Given: given}
	if out.Fit != nil && out.Warm != nil {
		corrected, err := since(tx, row, TrialCorrected, based.Revision) // during the fit, which used the former result
		if err != nil {
			return nil, err
		}
		if f.Warm = warm; !corrected {
			row.Warm = row.Fits
		}
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

// keepFitting renews the fit lease, and the leases of the attempts that the Ask holds, until ctx ends. It cancels ctx
// if the fit lease is lost.
func (a *asking) keepFitting(ctx context.Context, cancel context.CancelCauseFunc, fitToken string, held []Attempt) {
	lease := a.store.opts.FitLease
	every := lease / 4
	if len(held) > 0 {
		every = min(every, max(a.lease/4, poll))
	}
	renewed := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(every):
		}
		err := a.update(ctx, func(tx Tx, row *Row, now time.Time) error {
			if row.FitToken != fitToken {
				return errFitLost
			}
			row.FitLease = now.Add(lease)
			return prolong(tx, row, held, now.Add(a.lease))
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
