package loop

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/functionspace/bo/acquisition"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
)

// Ask returns n trials to evaluate, each to be told or failed later. Trials
// that were interrupted come first, under the IDs they had. Trials that are
// pending enter the suggestion as such, so Ask may be called again before they
// are told.
//
// Fewer than n trials come back if a finite space of a noise-free objective has
// no more points; if there is none, the error wraps ErrExhausted. On an error
// the study is unchanged. A surrogate that fails numerically is no error: the
// design gives the point, and the trial carries a warning.
func (s *Study) Ask(ctx context.Context, n int) ([]Trial, error) {
	if n < 1 {
		return nil, fmt.Errorf("%w: asked for %d trials", ErrOptions, n)
	}
	s.asking.Lock()
	defer s.asking.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	start := time.Now()
	s.mu.Lock()
	t := s.snapshot()
	s.mu.Unlock()

	var again []int
	for i := range t.records {
		if t.records[i].idle && len(again) < n {
			again = append(again, i)
		}
	}
	fresh, warm, err := s.choose(ctx, &t, n-len(again))
	if err != nil {
		return nil, err
	}
	if len(again)+len(fresh) == 0 {
		return nil, fmt.Errorf("%w: %d trials", ErrExhausted, len(t.records))
	}
	seconds := time.Since(start).Seconds()

	s.mu.Lock()
	asked := make([]Trial, 0, len(again)+len(fresh))
	for _, i := range again {
		// It may have been told since the snapshot.
		if r := &s.records[i]; r.idle {
			r.idle = false
			asked = append(asked, r.public())
		}
	}
	for _, r := range fresh {
		r.ID, r.State, r.SuggestSeconds = len(s.records)+1, Pending, seconds/float64(len(fresh))
		r.x = s.space.Encode(r.Point)
		s.records = append(s.records, r)
		asked = append(asked, r.public())
		if r.Source == Enqueued {
			s.queue = s.queue[1:]
		}
	}
	if warm != nil {
		s.warm = warm
	}
	s.mu.Unlock()
	for _, trial := range asked {
		s.emit(Event{Kind: TrialAsked, Trial: trial})
	}
	return asked, nil
}

// choose makes n new trials, or as many as there are points for, and returns
// the state of the fit they came from, if any.
func (s *Study) choose(ctx context.Context, t *snapshot, n int) (fresh []record, warm surrogate.State, err error) {
	for _, p := range t.queue[:min(n, len(t.queue))] {
		fresh = append(fresh, record{Trial: Trial{Point: p, Source: Enqueued}})
	}
	seen := t.seen()
	n -= len(fresh)
	if s.opts.NoiseFree {
		n = min(n, s.unseen(seen))
	}
	byDesign := s.opts.Initial - len(t.records) - len(fresh)
	if t.count(Complete) == 0 {
		byDesign = n
	}
	if byDesign = min(n, byDesign); byDesign > 0 {
		fresh = append(fresh, s.byDesign(byDesign, t, seen)...)
		n -= byDesign
	}
	if n <= 0 {
		return fresh, nil, nil
	}
	suggested, warm, err := s.suggest(ctx, t, fresh, n, seen)
	switch {
	case ctx.Err() != nil:
		return nil, nil, ctx.Err()
	case errors.Is(err, surrogate.ErrNotPositiveDefinite), errors.Is(err, errMean):
		suggested = s.byDesign(n, t, seen)
		for i := range suggested {
			suggested[i].Warnings = []string{"point of the design instead of a suggestion: " + err.Error()}
		}
	case err != nil:
		return nil, nil, err
	}
	return append(fresh, suggested...), warm, nil
}

func (s *Study) byDesign(n int, t *snapshot, seen map[string]bool) []record {
	records := make([]record, n)
	for i, p := range s.design(n, t.next(), seen) {
		records[i] = record{Trial: Trial{Point: p, Source: Design}}
	}
	return records
}

// suggest lets the acquisition function choose n points; fresh are trials of
// the same Ask, which count as pending.
func (s *Study) suggest(ctx context.Context, t *snapshot, fresh []record, n int, seen map[string]bool) ([]record, surrogate.State, error) {
	f, err := s.fit(ctx, t, random.New(s.opts.Seed, "fit", t.next()))
	if err != nil {
		return nil, nil, err
	}
	pending := snapshot{records: slices.Concat(t.records, fresh)}
	for i := range fresh {
		r := &pending.records[len(t.records)+i]
		r.State, r.x = Pending, s.space.Encode(r.Point)
		seen[r.key()] = true
	}
	p := acquisition.Problem{
		Posterior: f.Posterior,
		Best:      f.incumbent(s.opts.NoiseFree),
		Observed:  t.points(finished),
		Pending:   pending.points(func(s State) bool { return s == Pending }),
	}
	found, err := acquisition.Suggest(s.withProgress(ctx), s.opts.Acquisition, p, s.space, n, s.opts.Maximizer, random.New(s.opts.Seed, "suggest", t.next()))
	if err != nil {
		return nil, nil, err
	}
	records := make([]record, len(found))
	for i, c := range found {
		trial := Trial{Point: s.space.Decode(c.X), Source: Suggested, Warnings: slices.Concat(f.Warnings(), c.Warnings)}
		mean, sd := f.warp.user(c.Mean, c.SD)
		trial.Prediction = &Prediction{Mean: s.opts.sign() * mean, SD: sd, Acquisition: c.Value}
		if s.repeated(trial.Point, seen) {
			trial.Point = s.design(1, t.next()+i, seen)[0]
			trial.Source, trial.Prediction = Design, nil
			trial.Warnings = append(trial.Warnings, "point of the design instead of a suggestion that was asked before")
		}
		seen[trial.Point.Key()] = true
		records[i] = record{Trial: trial}
	}
	return records, f.warm, nil
}

// repeated reports whether p was asked before although it need not be: in a
// finite space that has other points, or of a noise-free objective.
func (s *Study) repeated(p space.Point, seen map[string]bool) bool {
	if !seen[p.Key()] || s.unseen(seen) <= 0 {
		return false
	}
	_, finite := s.space.Size()
	return finite || s.opts.NoiseFree
}
