package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/study"
	"github.com/functionspace/bo/surrogate"
)

// fill sets the conditions that are not set.
func (o *RunOptions) fill(e *study.End) {
	o.Time = cmp.Or(o.Time, e.Time.Value())
	o.MaxFailures = cmp.Or(o.MaxFailures, e.MaxFailures)
	o.Cost = cmp.Or(o.Cost, e.Cost)
	o.Regret = cmp.Or(o.Regret, e.Regret)
	o.Probability = cmp.Or(o.Probability, e.Probability, study.DefaultProbability)
	if o.Target == nil {
		o.Target = e.Target
	}
}

// Ended returns the reason for which the definition's End issues no further trial: an error that
// wraps ErrTarget, ErrFailures or ErrCost, or nil. End.Time and End.Regret are conditions of a Run. The second error comes
// from the store or the context.
func (u *Study) Ended(ctx context.Context) (reason, err error) {
	if err := u.refresh(ctx); err != nil {
		return nil, err
	}
	if err := u.mu.lock(ctx); err != nil {
		return nil, named(u.name, err)
	}
	defer u.mu.unlock()
	end := &u.definition.End
	if name, limit, err := end.CostLimit(); err == nil && name != "" {
		if spent, finished := costOf(u.trials, name); spent >= limit {
			return named(u.name, fmt.Errorf("%w: %s is %.4g of %.4g after %d trials", ErrCost, name, spent, limit, finished)), nil
		}
	}
	return named(u.name, u.conclusion(end.Target, end.MaxFailures)), nil
}

// conclusion returns ErrTarget if a trial is at least as good as the target, or ErrFailures if too
// many trials have failed. The caller holds u.mu.
func (u *Study) conclusion(target *float64, maxFailures int) error {
	o := u.definition.Objective()
	if target != nil {
		if best := best(u.trials, u.points, u.definition); best != nil && u.definition.Feasible(best.Numbers) {
			if value := best.Numbers[o.Name]; reaches(o, *target, value) {
				return fmt.Errorf("%w: trial %d has %s %v", ErrTarget, best.Number, o.Name, value)
			}
		}
	}
	if maxFailures <= 0 {
		return nil
	}
	failed, finished, message := 0, 0, ""
	for i := range u.trials {
		t := &u.trials[i]
		if !counted(t) {
			continue
		}
		finished++
		if t.State == Failed && t.Failure != Unfit {
			failed, message = failed+1, t.Message
		}
	}
	if failed > maxFailures {
		return fmt.Errorf("%w: %d of %d, the last one: %s", ErrFailures, failed, finished, message)
	}
	return nil
}

// reaches reports whether a value of an objective is at least as good as a target.
func reaches(o study.Objective, target, value float64) bool {
	if o.Goal == study.Maximize {
		return value >= target
	}
	return value <= target
}

// costOf returns the sum of a number over the finished trials that count against the budget, and
// their number.
func costOf(trials []Trial, name string) (spent float64, finished int) {
	for i := range trials {
		if t := &trials[i]; counted(t) {
			spent, finished = spent+t.Numbers[name], finished+1
		}
	}
	return spent, finished
}

// counted reports whether a trial is finished and counts against the budget.
func counted(t *Trial) bool { return t.Source != loop.Added && t.State != Pending }

// costCopy is a copy of a number of the finished trials that count against the budget. It is immutable.
type costCopy struct {
	study    int64
	name     string // of the number
	revision int64
	costs    []float64 // of each trial; NaN of trials that do not count
}

// update returns c, which may be nil, with the changes since its transaction. As with stepCopy, the caller keeps the
// result only once the transaction is committed.
func (c *costCopy) update(tx Tx, row *Row, name string) (*costCopy, error) {
	if c == nil || row.ID != c.study || name != c.name {
		c = &costCopy{study: row.ID, name: name}
	}
	if c.revision == row.Revision {
		return c, nil
	}
	changed, err := tx.Trials(row.ID, Query{Since: c.revision, Brief: true})
	if err != nil {
		return nil, err
	}
	next := &costCopy{c.study, name, row.Revision, slices.Clone(c.costs)}
	for i := range changed {
		t := &changed[i]
		for len(next.costs) < t.Number {
			next.costs = append(next.costs, math.NaN())
		}
		next.costs[t.Number-1] = math.NaN()
		if counted(t) {
			next.costs[t.Number-1] = t.Numbers[name]
		}
	}
	return next, nil
}

// sum returns the results of costOf.
func (c *costCopy) sum() (spent float64, finished int) {
	for _, cost := range c.costs {
		if !math.IsNaN(cost) {
			spent, finished = spent+cost, finished+1
		}
	}
	return spent, finished
}

// affordable returns ErrBudget if the cost of a study is used up. The running trials count at the mean cost of
// the finished ones. It takes the pending trials, and a copy of the costs that it returns with the changes
// since.
func affordable(tx Tx, row *Row, d *study.Definition, pending []Trial, now time.Time, c *costCopy) (*costCopy, error) {
	name, limit, err := d.End.CostLimit()
	if err != nil || name == "" {
		return c, err
	}
	if c, err = c.update(tx, row, name); err != nil {
		return nil, err
	}
	spent, finished := c.sum()
	if spent >= limit {
		return c, fmt.Errorf("%w: %s is %.4g of %.4g after %d trials", ErrBudget, name, spent, limit, finished)
	}
	if running := expected(pending, now, spent, finished); spent+running >= limit {
		return c, fmt.Errorf("%w: %s is %.4g of %.4g after %d trials, and %.4g is expected of running ones", ErrBudget, name, spent, limit, finished, running)
	}
	return c, nil
}

// expected returns the expected cost of the running trials: the mean cost of the finished ones.
func expected(trials []Trial, now time.Time, spent float64, finished int) float64 {
	if finished == 0 {
		return 0
	}
	running := 0
	for i := range trials {
		if trials[i].Running(now) {
			running++
		}
	}
	return float64(running) * spent / float64(finished)
}

// checkCost returns ErrCost if the cost is used up. It waits a moment, and reports true, if the
// expected cost of the running trials uses it up.
func (r *run) checkCost(ctx context.Context) (wait bool, err error) {
	name, limit, err := (&study.End{Cost: r.opts.Cost}).CostLimit()
	if err != nil || name == "" {
		return false, err
	}
	if err := r.mu.lock(ctx); err != nil {
		return false, err
	}
	err = r.reread(ctx, r.whole, true) // with leases that heartbeats have extended
	spent, finished := costOf(r.trials, name)
	running := expected(r.trials, r.now, spent, finished)
	r.mu.unlock()
	if err != nil {
		return false, err
	}
	if spent >= limit {
		return false, fmt.Errorf("%w: %s is %.4g of %.4g after %d trials", ErrCost, name, spent, limit, finished)
	}
	if spent+running < limit {
		return false, nil
	}
	select {
	case <-ctx.Done():
		return false, context.Cause(ctx)
	case <-time.After(maxPoll):
		return true, nil
	}
}

const (
	estimateEvery = 4 // new values between two estimates of the regret
	patience      = 2 // estimates in a row that end a run
)

// checkRegret returns ErrRegret if the estimated regret is small enough. One worker makes an
// estimate; the others go on meanwhile. A fit that fails ends nothing.
func (r *run) checkRegret(ctx context.Context) error {
	if r.opts.Regret == 0 || !r.estimating.TryLock() {
		return nil
	}
	defer r.estimating.Unlock()
	sp, o, h, err := r.History(ctx)
	if err != nil {
		return err
	}
	complete, finished := 0, 0
	for i := range h.Trials {
		switch h.Trials[i].State {
		case loop.Pending:
		case loop.Complete:
			complete++
			fallthrough
		default:
			finished++
		}
	}
	if complete == 0 || r.estimated > 0 && complete < r.estimated+estimateEvery || finished < o.Initial {
		return nil
	}
	r.estimated = complete
	e, err := loop.EstimateRegret(ctx, sp, o, h, r.opts.Probability)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, surrogate.ErrNotPositiveDefinite), errors.Is(err, loop.ErrEqualValues):
		return nil
	case err != nil:
		return err
	}
	if r.opts.OnRegret != nil {
		r.opts.OnRegret(e)
	}
	if r.small++; !(e.Bound <= r.opts.Regret) {
		r.small = 0
	}
	if r.small < patience {
		return nil
	}
	return fmt.Errorf("%w: trial %d is at most %.3g from the optimum with probability %v, by the surrogate model", ErrRegret, e.Trial, e.Bound, e.Probability)
}
