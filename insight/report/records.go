package report

import (
	"context"
	"math"

	"github.com/functionspace/bo/insight"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/store"
)

// Records are the trials of a study as package insight takes them.
type Records struct {
	Space   *space.Space
	Options loop.Options
	// Trials are the trials that fit the space, with their predictions and the steps of the first
	// objective in the last attempt.
	Trials []loop.Trial
	Spans  []insight.Span // evaluations by workers
	View   *store.View    // the whole study, with at least the trials of Trials
}

// Read returns the records of a study.
func Read(ctx context.Context, u *store.Study) (*Records, error) {
	sp, o, h, err := u.History(ctx)
	if err != nil {
		return nil, err
	}
	v, err := u.View(ctx) // after History, so that it has all of its trials
	if err != nil {
		return nil, err
	}
	steps, err := u.Steps(ctx, 0)
	if err != nil {
		return nil, err
	}
	r := &Records{Space: sp, Options: o, Trials: h.Trials, View: v}
	index := make(map[int]*loop.Trial, len(r.Trials))
	for i := range r.Trials {
		t := &r.Trials[i]
		t.Steps = nil // History has them for some trials only
		index[t.ID] = t
		stored := &v.Trials[t.ID-1]
		if p := stored.Prediction; p != nil && p.Mean != nil && p.SD != nil {
			t.Prediction = &loop.Prediction{Mean: *p.Mean, SD: *p.SD, Interval: p.Interval}
		}
		waits := stored.State == store.Pending && !stored.Running(v.Now)
		if t.Source != loop.Added && stored.Owner.Name != "" && !waits {
			r.Spans = append(r.Spans, insight.Span{Trial: t.ID, Worker: stored.Owner.Name, State: t.State, Started: stored.Started, Finished: stored.Finished})
		}
	}
	name := v.Definition.Objective().Name
	for _, s := range steps {
		t := index[s.Trial]
		if t == nil || s.Name != name || s.Attempt != 0 && s.Attempt != v.Trials[s.Trial-1].Attempt {
			continue
		}
		if !s.Usable() {
			s.Value = math.NaN()
		}
		t.Steps = append(t.Steps, loop.Step{Step: s.Step, Value: s.Value})
	}
	return r, nil
}

// readBrief returns the brief trials of a study, without predictions, spans and steps.
func readBrief(ctx context.Context, u *store.Study) (*Records, error) {
	sp, o, h, err := u.History(ctx)
	if err != nil {
		return nil, err
	}
	v, err := u.Brief(ctx) // after History, so that it has all of its trials
	if err != nil {
		return nil, err
	}
	return &Records{Space: sp, Options: o, Trials: h.Trials, View: v}, nil
}
