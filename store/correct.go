package store

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/study"
)

// result is the result of a trial before a correction, as the detail of the event.
type result struct {
	State   State              `json:"state"`
	Numbers map[string]float64 `json:"numbers,omitempty"`
	Failure Failure            `json:"failure,omitempty"`
	Message string             `json:"message,omitempty"`
	Told    int64              `json:"told"`
	Params  json.RawMessage    `json:"params,omitempty"` // if the correction moved the trial
}

// correct replaces the result of a finished trial. If point is not nil, the trial moves there. An event records
// the earlier result and point. The next fit begins without a warm start, because the earlier result affected
// the hyperparameters.
func (r *Report) correct(tx Tx, row *Row, now time.Time, d *study.Definition, t *Trial, point json.RawMessage) (Trial, error) {
	former := *t
	if point != nil {
		t.Params, t.Prediction = point, nil
	}
	if err := r.elsewhere(d, t.Params); err != nil {
		return Trial{}, err
	}
	if r.Failure == "" {
		numbers := maps.Clone(t.Numbers)
		if numbers == nil {
			numbers = map[string]float64{}
		}
		maps.Copy(numbers, r.Numbers)
		var err error
		if numbers, err = usable(numbers, d.Declared()); err == nil {
			err = checkErrors(numbers, d)
		}
		if err != nil {
			return Trial{}, fmt.Errorf("trial %d: %w", r.Trial, err)
		}
		if err := d.Unreported(numbers); err != nil {
			return Trial{}, fmt.Errorf("%w: trial %d: %w", loop.ErrNotFinite, r.Trial, err)
		}
		note := r.Message
		if note == "" && t.State == Complete {
			note = t.Message
		}
		if point == nil && t.State == Complete && t.Message == note && maps.Equal(numbers, t.Numbers) {
			return *t, nil
		}
		t.State, t.Numbers, t.Message = Complete, numbers, note
	} else {
		if point == nil && t.Failure == r.Failure && t.Message == r.Message && maps.Equal(r.Numbers, t.Numbers) {
			return *t, nil
		}
		t.State, t.Numbers, t.Message = Failed, r.Numbers, r.Message
	}
	t.Failure = r.Failure
	e, err := row.corrected(now, &former, point != nil)
	if err != nil {
		return Trial{}, err
	}
	t.Revision, row.Warm = e.Revision, 0
	return *t, putChanges(tx, row, []Trial{*t}, []Event{e})
}

// corrected returns the event of a changed result, with the earlier result, and the earlier point if the trial
// moved.
func (r *Row) corrected(now time.Time, former *Trial, moved bool) (Event, error) {
	was := result{State: former.State, Numbers: former.Numbers, Failure: former.Failure, Message: former.Message, Told: former.Told}
	if moved {
		was.Params = former.Params
	}
	detail, err := json.Marshal(was)
	return r.event(Event{Time: now, Kind: TrialCorrected, Trial: former.Number, Attempt: former.Attempt, Detail: string(detail)}), err
}

// Moved reports whether a trial was evaluated at other values than suggested. It reads the events of the study since
// the trial was created.
func (u *Study) Moved(ctx context.Context, t *Trial) (bool, error) {
	changes, err := u.changes(ctx, t.Asked)
	return slices.ContainsFunc(changes, func(c change) bool { return c.trial == t.Number && c.former.Params != nil }), err
}

// change is a correction or a move of a trial, with what it replaced.
type change struct {
	trial  int
	moved  bool // and only moved: former has Params alone
	former result
}

// changes returns the corrections and moves after a revision, in their order.
func (u *Study) changes(ctx context.Context, revision int64) ([]change, error) {
	var out []change
	feed := u.Feed(revision)
	const page = 1000
	for {
		events, err := feed.Next(ctx, page)
		if err != nil {
			return nil, err
		}
		for _, e := range events {
			c := change{trial: e.Trial, moved: e.Kind == TrialMoved}
			switch e.Kind {
			case TrialMoved:
				c.former.Params = json.RawMessage(e.Detail)
			case TrialCorrected:
				if err := json.Unmarshal([]byte(e.Detail), &c.former); err != nil {
					return nil, named(u.name, fmt.Errorf("the detail of event %d is not the former result of trial %d: %w", e.Revision, e.Trial, err))
				}
			default:
				continue
			}
			out = append(out, c)
		}
		if len(events) < page {
			return out, nil
		}
	}
}

// undo gives the trials the results and points that they had at a revision, before later corrections. It returns the
// indices of the changed trials. An imported history may name trials that the study does not have.
func (u *Study) undo(ctx context.Context, trials []Trial, revision int64) ([]int, error) {
	changes, err := u.changes(ctx, revision)
	if err != nil {
		return nil, err
	}
	var changed []int
	for _, c := range slices.Backward(changes) {
		if c.trial < 1 || c.trial > len(trials) {
			continue
		}
		t, former := &trials[c.trial-1], &c.former
		if !c.moved {
			t.State, t.Numbers, t.Failure, t.Message, t.Told = former.State, former.Numbers, former.Failure, former.Message, former.Told
		}
		if former.Params != nil {
			t.Params = former.Params
		}
		changed = append(changed, c.trial-1)
	}
	return changed, nil
}
