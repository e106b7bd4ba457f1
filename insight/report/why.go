package report

import (
	"context"
	"fmt"

	"github.com/functionspace/bo/insight"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/store"
)

// Why returns sentences that explain why a trial was proposed, by models of the results that were stored
// before the trial. Trials that had no result then are pending. At most MaxFitted finished trials are
// fitted, as insight.Sample chooses them. It costs a fit per
// objective and outcome constraint. The error wraps
// store.ErrNoTrial, or comes from the store, the fit or the context.
func Why(ctx context.Context, u *store.Study, number int) ([]string, error) {
	r, err := readBrief(ctx, u)
	if err != nil {
		return nil, err
	}
	v := r.View
	if number < 1 || number > len(v.Trials) {
		return nil, fmt.Errorf("study %s: %w: %d, the last one is %d", u.Name(), store.ErrNoTrial, number, len(v.Trials))
	}
	b := newBuilder(ctx, u.Name(), r, Options{})
	trial, point := &v.Trials[number-1], v.Points[number-1]
	out := insight.SourceReason(trial.Source)
	if trial.Source == loop.Added {
		return out, nil
	}
	if point.Space() == nil {
		return append(out, "The trial does not fit the present definition of the study."), nil
	}
	moved, err := u.Moved(ctx, trial)
	if err != nil {
		return nil, err
	}
	if moved {
		return append(out, "It was evaluated at other values than suggested, so there are no reasons for its point."), nil
	}
	complete := b.before(trial)
	if complete == 0 {
		return append(out, "No trial was complete when it was proposed."), nil
	}
	views, err := loop.InspectAll(ctx, b.space, b.method, loop.History{Trials: b.sample})
	if err != nil {
		return nil, err
	}
	reasons, err := insight.Explain(views, point)
	if err != nil {
		return nil, err
	}
	out = append(out, fmt.Sprintf("The sentences below come from a fit to the %d complete trials at the time of the proposal.", complete))
	if finished := len(b.sample); finished < len(b.history) {
		out = append(out, fmt.Sprintf("The fit has %d of %d trials, equally spaced in their order, with the best.", finished, len(b.history)))
	}
	return append(out, reasons...), nil
}

// before leaves in the history of b the trials before a trial, and returns the number of complete ones. They
// are as they were when the trial was proposed, but with corrected results.
func (b *builder) before(trial *store.Trial) (complete int) {
	var known []loop.Trial
	for _, t := range b.history {
		if t.ID >= trial.Number {
			break
		}
		if told := b.view.Trials[t.ID-1].Told; told == 0 || told > trial.Asked {
			if t.Outside { // it has no place among the pending trials of the present space
				continue
			}
			t = loop.Trial{ID: t.ID, Point: t.Point, Source: t.Source, State: loop.Pending}
		}
		if t.State == loop.Complete {
			complete++
		}
		known = append(known, t)
	}
	b.history = known
	b.sample = insight.Sample(known, b.method, MaxFitted)
	return complete
}
