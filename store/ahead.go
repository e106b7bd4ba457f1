package store

import (
	"context"
	"time"
)

// lookAhead proposes the next trials while all workers of a run evaluate, so that a worker that
// becomes free does not wait for a fit. Trials that run are pending for the proposals. A run
// with one worker and a study with batches propose nothing ahead: their suggestions depend on
// all earlier results.
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
		// An error is dropped: the next Ask has the same error and returns it.
		fitToken, count, err := a.spare(ctx, r.pace.ahead(r.opts.Workers))
		if err == nil && count > 0 {
			begun := time.Now()
			if a.propose(ctx, fitToken, count) == nil {
				r.pace.proposed(time.Since(begun))
			}
		}
	}
}

// spare takes the fit lease if fewer than n trials wait for a worker and no process fits. It
// returns the number of trials to propose, 0 without the lease.
func (a *asking) spare(ctx context.Context, n int) (fitToken string, count int, err error) {
	key := token()
	err = a.update(ctx, func(tx Tx, row *Row, now time.Time) error {
		count = 0
		d, err := row.definition()
		if err != nil {
			return err
		}
		left := d.Budget - row.Issued
		if left <= 0 || row.FitToken != key && row.fitting(now) {
			return nil
		}
		pending, err := tx.Trials(row.ID, Query{Pending: true})
		if err != nil {
			return err
		}
		spare := min(n, left)
		for i := range pending {
			if !pending[i].Running(now) {
				spare--
			}
		}
		if spare <= 0 {
			return nil
		}
		count = spare
		row.FitToken, row.FitOwner, row.FitLease = key, Self(), now.Add(a.store.opts.FitLease)
		return nil
	})
	return key, count, err
}
