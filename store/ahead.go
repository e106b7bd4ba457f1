package store

import (
	"context"
	"time"
)

// lookAhead proposes the next trials while all workers of a run evaluate, so that a worker that
// becomes free does not wait for a fit. Trials that run are pending for the proposals. It proposes nothing if a
// proposal is fast in comparison to an evaluation, or if the study has batches. It also proposes nothing if no
// other trial of the study runs: the next suggestion then depends on all earlier results.
func (r *run) lookAhead(ctx context.Context) {
	a := &asking{Study: r.Study, ask: token(), owner: Self()}
	for {
		var f fitLease
		select {
		case <-ctx.Done():
			return
		case f = <-r.leased:
		case <-r.busy:
			// An error here meets the next Ask too, which returns it.
			f, _ = a.spare(ctx)
		}
		switch {
		case f.count > 0 && r.ended() != nil:
			a.stopFitting(ctx, f.token)
		case f.count > 0:
			_ = a.propose(ctx, f.token, f.count)
		}
	}
}

// fitLease is the token of a fit lease and the number of trials to propose under it.
type fitLease struct {
	token string
	count int
}

// passLease passes a fit lease to lookAhead, or releases it if lookAhead has another one.
func (r *run) passLease(ctx context.Context, f fitLease) {
	select {
	case r.leased <- f:
	default:
		r.stopFitting(ctx, f.token)
	}
}

// returnLease releases a fit lease that lookAhead did not receive before it ended.
func (r *run) returnLease(ctx context.Context) {
	select {
	case f := <-r.leased:
		r.stopFitting(ctx, f.token)
	default:
	}
}

// spare takes the fit lease if fewer trials wait for a worker than should and no process fits.
// It returns a count of 0 without the lease.
func (a *asking) spare(ctx context.Context) (f fitLease, err error) {
	if a.pace.Ahead(2) == 0 { // saves the transaction
		return f, nil
	}
	err = a.store.view(ctx, func(tx Tx) error {
		row, err := tx.Study(a.name)
		if err != nil {
			return err
		}
		now, err := tx.Now()
		if err != nil {
			return err
		}
		f.count, err = a.lacking(tx, row, "", now)
		return err
	})
	if err != nil || f.count <= 0 {
		return fitLease{}, err
	}
	f.token = token()
	err = a.update(ctx, func(tx Tx, row *Row, now time.Time) (err error) {
		f.count, err = a.leaseToFit(tx, row, f.token, now)
		return err
	})
	return f, err
}

// leaseToFit takes the fit lease under a token if trials should be proposed ahead, and returns their
// number.
func (u *Study) leaseToFit(tx Tx, row *Row, token string, now time.Time) (int, error) {
	n, err := u.lacking(tx, row, token, now)
	if err == nil && n > 0 {
		row.FitToken, row.FitOwner, row.FitLease = token, Self(), now.Add(u.store.opts.FitLease)
	}
	return n, err
}

// lacking returns the number of trials to propose ahead. It is at most 0 if none should be, or if a fit lease
// with another token is held.
func (u *Study) lacking(tx Tx, row *Row, token string, now time.Time) (int, error) {
	d, err := row.definition()
	if err != nil {
		return 0, err
	}
	left := d.Budget - row.Issued
	if left <= 0 || d.Batch > 0 || row.FitToken != token && row.fitting(now) {
		return 0, nil
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
	return min(left, u.pace.Ahead(running)-(len(pending)-running)), err
}
