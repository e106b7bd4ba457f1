package store

import (
	"context"
	"time"
)

// lookAhead proposes the next trials while all workers of a run evaluate, so that a worker that
// becomes free does not wait for a fit. Trials that run are pending for the proposals. It
// proposes nothing if a proposal is fast in comparison to an evaluation, if the study has
// batches, or if no other trial of the study runs: the next suggestion then depends on all
// earlier results.
func (r *run) lookAhead(ctx context.Context) {
	a := &asking{Study: r.Study, ask: token(), owner: Self()}
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.busy:
		}
		if r.ended() != nil {
			return
		}
		// An error here meets the next Ask too, which returns it.
		if fitToken, count, err := a.spare(ctx); err == nil && count > 0 {
			_ = a.propose(ctx, fitToken, count)
		}
	}
}

// spare takes the fit lease if fewer trials wait for a worker than should and no process fits.
// It returns the number of trials to propose, 0 without the lease.
func (a *asking) spare(ctx context.Context) (fitToken string, count int, err error) {
	if a.pace.Ahead(2) == 0 {
		return "", 0, nil
	}
	key := token()
	lacking := func(tx Tx, row *Row, now time.Time) (int, error) {
		d, err := row.definition()
		left := 0
		if err == nil {
			left = d.Budget - row.Issued
		}
		if left <= 0 || d.Batch > 0 || row.FitToken != key && row.fitting(now) {
			return 0, err
		}
		pending, err := tx.Trials(row.ID, Query{Pending: true})
		running := 0
		for i := range pending {
			if pending[i].Running(now) {
				running++
			}
		}
		if running < 2 {
			return 0, err
		}
		return min(left, a.pace.Ahead(running)-(len(pending)-running)), err
	}
	err = a.store.backend.View(ctx, func(tx Tx) error {
		row, err := tx.Study(a.name)
		if err != nil {
			return err
		}
		now, err := tx.Now()
		if err != nil {
			return err
		}
		count, err = lacking(tx, row, now)
		return err
	})
	if err != nil || count <= 0 {
		return "", 0, err
	}
	err = a.update(ctx, func(tx Tx, row *Row, now time.Time) (err error) {
		if count, err = lacking(tx, row, now); err == nil && count > 0 {
			row.FitToken, row.FitOwner, row.FitLease = key, Self(), now.Add(a.store.opts.FitLease)
		}
		return err
	})
	if err != nil && ctx.Err() != nil {
		a.stopFitting(ctx, key) // the transaction may be committed
	}
	return key, count, err
}
