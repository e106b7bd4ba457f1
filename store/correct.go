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

// correct replaces the result of a finished trial, and its parameters by point unless it is nil, and records the former
// result in an event. The next fit begins without a warm start, because the former result may have spoilt the
// hyperparameters.
func (r *Report) correct(tx Tx, row *Row, now time.Time, d *study.Definition, t *Trial, point json.RawMessage) (Trial, error) {
	former := *t
	if point != nil {
		t.Params, t.Prediction = point, nil
	}
	if err := r.elsewhere(d, t); err != nil {
		return Trial{}, err
	}
	if r.Failure == "" {
		numbers := maps.Clone(t.Numbers)
		if numbers == nil {
			numbers = map[string]float64{}
		}
		maps.Copy(numbers, r.Numbers)
		var err error
		if numbers, err = usable(numbers, d.Declared()); err != nil {
			return Trial{}, fmt.Errorf("trial %d: %w", r.Trial, err)
		}
		if err := d.Unreported(numbers); err != nil {
			return Trial{}, fmt.Errorf("%w: trial %d: %w", loop.ErrNotFinite, r.Trial, err)
		}
		if point == nil && t.State == Complete && maps.Equal(numbers, t.Numbers) {
			return *t, nil
		}
		t.State, t.Numbers = Complete, numbers
	} else {
		if point == nil && t.Failure == r.Failure && t.Message == r.Message && maps.Equal(r.Numbers, t.Numbers) {
			return *t, nil
		}
		t.State, t.Numbers = Failed, r.Numbers
	}
	t.Failure, t.Message = r.Failure, r.Message
	e, err := row.corrected(now, &former, point != nil)
	if err != nil {
		return Trial{}, err
	}
	t.Revision, row.Warm = e.Revision, 0
	return *t, putChanges(tx, row, []Trial{*t}, []Event{e})
}

// corrected returns the event of a trial whose result, and point if it moved, were the former ones.
func (r *Row) corrected(now time.Time, former *Trial, moved bool) (Event, error) {
	was := result{State: former.State, Numbers: former.Numbers, Failure: former.Failure, Message: former.Message, Told: former.Told}
	if moved {
		was.Params = former.Params
	}
	detail, err := json.Marshal(was)
	return r.event(Event{Time: now, Kind: TrialCorrected, Trial: former.Number, Attempt: former.Attempt, Detail: string(detail)}), err
}

// Moved reports whether a trial was evaluated at other values than suggested. It reads the events of the study from
// the creation of the trial to its last change.
func (u *Study) Moved(ctx context.Context, t *Trial) (bool, error) {
	feed := u.Feed(t.Asked)
	const page = 1000
	for {
		events, err := feed.Next(ctx, page)
		if err != nil {
			return false, err
		}
		for _, e := range events {
			var former result
			switch {
			case e.Revision > t.Revision:
				return false, nil
			case e.Trial != t.Number:
			case e.Kind == TrialMoved, e.Kind == TrialCorrected && json.Unmarshal([]byte(e.Detail), &former) == nil && former.Params != nil:
				return true, nil
			}
		}
		if len(events) < page {
			return false, nil
		}
	}
}

// undo gives the trials the results and points that they had at a revision, before later corrections. It returns the
// indices of the changed trials.
func (u *Study) undo(ctx context.Context, trials []Trial, revision int64) ([]int, error) {
	var changed []int
	var later []Event
	feed := u.Feed(revision)
	const page = 1000
	for {
		events, err := feed.Next(ctx, page)
		if err != nil {
			return nil, err
		}
		for _, e := range events {
			if (e.Kind == TrialCorrected || e.Kind == TrialMoved) && e.Trial >= 1 && e.Trial <= len(trials) {
				later = append(later, e)
			}
		}
		if len(events) < page {
			break
		}
	}
	for _, e := range slices.Backward(later) {
		t := &trials[e.Trial-1]
		changed = append(changed, e.Trial-1)
		if e.Kind == TrialMoved {
			t.Params = json.RawMessage(e.Detail)
			continue
		}
		var former result
		if err := json.Unmarshal([]byte(e.Detail), &former); err != nil {
			return nil, named(u.name, fmt.Errorf("the event of revision %d is no correction: %w", e.Revision, err))
		}
		t.State, t.Numbers, t.Failure, t.Message, t.Told = former.State, former.Numbers, former.Failure, former.Message, former.Told
		if former.Params != nil {
			t.Params = former.Params
		}
	}
	return changed, nil
}
