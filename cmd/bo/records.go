package main

import (
	"context"
	"math"
	"time"

	"github.com/functionspace/bo/insight"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/store"
)

// records are the trials of a study that fit its space, with their predictions, steps and times.
type records struct {
	space   *space.Space
	options loop.Options
	trials  []loop.Trial
	spans   []insight.Span
	now     time.Time // time of the store's clock
}

// readRecords reads all trials of a study.
func readRecords(ctx context.Context, u *store.Study) (*records, error) {
	v, err := u.View(ctx)
	if err != nil {
		return nil, err
	}
	sp, o, h, err := u.History(ctx)
	if err != nil {
		return nil, err
	}
	steps, err := u.Steps(ctx, 0)
	if err != nil {
		return nil, err
	}
	r := &records{space: sp, options: o, trials: h.Trials, now: v.Now}
	index := make(map[int]*loop.Trial, len(r.trials))
	for i := range r.trials {
		t := &r.trials[i]
		index[t.ID] = t
		stored := &v.Trials[t.ID-1]
		if p := stored.Prediction; p != nil && p.Mean != nil && p.SD != nil {
			t.Prediction = &loop.Prediction{Mean: *p.Mean, SD: *p.SD}
		}
		waits := stored.State == store.Pending && !stored.Running(v.Now)
		if t.Source != loop.Added && stored.Owner.Name != "" && !waits {
			r.spans = append(r.spans, insight.Span{Trial: t.ID, Worker: stored.Owner.Name, State: t.State, Started: stored.Started, Finished: stored.Finished})
		}
	}
	name := v.Definition.Objective().Name
	for _, s := range steps {
		t := index[s.Trial]
		if t == nil || s.Name != name || s.Attempt != 0 && s.Attempt != v.Trials[s.Trial-1].Attempt {
			continue
		}
		if math.Abs(s.Value) >= loop.MaxValue {
			s.Value = math.NaN()
		}
		t.Steps = append(t.Steps, loop.Step{Step: s.Step, Value: s.Value})
	}
	return r, nil
}

// unfitted returns the records as a view without a fit, of one objective; name is "" if it is the
// only one.
func (r *records) unfitted(name string) *loop.View {
	v := &loop.View{Space: r.space, Options: r.options, Trials: r.trials, Objective: name}
	for _, g := range r.options.Objectives {
		if g.Name != name {
			continue
		}
		v.Options.Objectives, v.Options.Maximize, v.Options.NoiseFree = nil, g.Maximize, g.NoiseFree
		v.Trials = make([]loop.Trial, len(r.trials))
		for i, t := range r.trials {
			t.Prediction = nil // of the first objective
			if t.State == loop.Complete {
				t.Value = t.Numbers[name]
			}
			v.Trials[i] = t
		}
	}
	return v
}
