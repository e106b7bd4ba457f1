package loop

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
)

// Ask returns n trials to evaluate; the caller later passes each to Tell or Fail.
// Interrupted trials come first, with their IDs. The points of new trials come
// from Propose for the study's trials and queue. Suggestions are conditioned on
// pending trials, so Ask may be called again before their results are recorded.
//
// Ask returns fewer than n trials if a noise-free objective on a finite space has
// no more points; if there is none, the error wraps ErrExhausted. The other errors
// come from Propose. On an error the study is unchanged.
//
// Calls of Ask run one after another. A call that waits for another returns when its context ends.
// Other methods may run at the same time as Ask. If one of them makes the result
// invalid, such as an Add of a proposed point to a noise-free study, Ask computes
// it again.
func (s *Study) Ask(ctx context.Context, n int) ([]Trial, error) { return s.AskGiven(ctx, n, nil) }

// AskGiven is Ask for trials with given values of some parameters, such as the humidity of the day or the batch of a powder:
// the context of a suggestion. The other parameters are suggested for these values. Fits use the trials of all contexts.
// Interrupted trials, enqueued points and Options.First with other values wait for another Ask.
//
// The error wraps space.ErrPoint for values that are invalid, that no point of the space has, or that lack a parameter that
// is Given.
func (s *Study) AskGiven(ctx context.Context, n int, given map[string]any) ([]Trial, error) {
	if err := checkCount("trials to ask", n); err != nil {
		return nil, err
	}
	if s.space == nil {
		return nil, errNoSpace
	}
	if err := s.lockAsk(ctx); err != nil {
		return nil, err
	}
	defer s.unlockAsk()
	if err := s.space.CheckGiven(given); err != nil {
		return nil, err
	}
	domain, err := slice(s.space, given)
	if err != nil {
		return nil, err
	}
	start := time.Now()
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		asked, err := s.ask(ctx, n, given, domain, start)
		if errors.Is(err, errOutdated) {
			continue
		}
		for _, trial := range asked {
			s.emit(Event{Kind: TrialAsked, Trial: trial})
		}
		return asked, err
	}
}

// errNoSpace is the error of methods of the zero Study.
var errNoSpace = fmt.Errorf("%w: the study has no space: New or Resume makes a study", ErrOptions)

// lockAsk waits until no other Ask runs. It returns the error of ctx if ctx ends first.
func (s *Study) lockAsk(ctx context.Context) error {
	select {
	case s.asking <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// unlockAsk ends the Ask that lockAsk began.
func (s *Study) unlockAsk() { <-s.asking }

// errOutdated reports that the study changed in a way that invalidates proposals.
var errOutdated = errors.New("loop: the study changed")

// ask makes one attempt at Ask. It returns errOutdated if the attempt is invalid.
func (s *Study) ask(ctx context.Context, n int, given map[string]any, domain *space.Space, start time.Time) ([]Trial, error) {
	if asked := s.askReady(n, given, start); asked != nil {
		return asked, nil
	}
	h, idle := s.askable(n, domain)
	h.Given = given
	var p Proposals
	var ready []Proposal
	if n > len(idle) {
		var err error
		p, err = s.propose(ctx, h, max(n-len(idle), s.readyPoints(h, idle)))
		if err != nil && !(errors.Is(err, ErrExhausted) && len(idle) > 0) {
			return nil, err
		}
	}
	seconds := time.Since(start).Seconds() / float64(max(1, len(p.Points)))
	if k := n - len(idle); len(p.Points) > k {
		p.Points, ready = p.Points[:k], p.Points[k:]
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	if s.outdated(h, idle, p) {
		return nil, errOutdated
	}
	s.ready = nil
	if len(s.trials) == len(h.Trials) {
		s.ready, s.readyAt = ready, len(s.trials)+len(p.Points)
	}
	pending, names := h.pending(), slices.Sorted(maps.Keys(given))
	var asked []Trial
	for _, id := range idle {
		delete(s.idle, id)
		asked = append(asked, s.trials[id-1].clone())
	}
	for _, q := range p.Points {
		t := trialOf(len(s.trials)+1, q, pending, seconds)
		t.Given = names
		s.trials = append(s.trials, t)
		asked = append(asked, t.clone())
		if q.Source == Enqueued && !s.opts.NoiseFree {
			key := q.Point.Key()
			k := slices.IndexFunc(s.queue, func(p space.Point) bool { return p.Key() == key })
			s.queue = slices.Delete(s.queue, k, k+1)
		}
	}
	if s.opts.NoiseFree {
		s.queue = untried(s.queue, s.trials)
	}
	if len(p.Points) > 0 {
		s.warm = p.Warm
	}
	return asked, nil
}

// readyPoints returns the number of points that an Ask computes for itself and the next ones: the rest of the initial design.
// A computation costs O(n) after n trials. It is 0 where the points may depend on the ID of the next trial, on the queue
// or on given values.
func (s *Study) readyPoints(h History, idle []int) int {
	if len(idle)+len(h.Queue)+len(h.Given)+len(s.opts.Optimum) > 0 || s.space.Restricted() || s.space.Count() < 1<<40 {
		return 0
	}
	return min(s.opts.Initial-len(h.Trials), MaxPoints)
}

// askReady returns n trials at the points that an earlier Ask computed, nil if there are fewer or if the study has other
// trials or a queue since.
func (s *Study) askReady(n int, given map[string]any, start time.Time) []Trial {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.ready) < n || len(s.trials) != s.readyAt || len(s.idle)+len(s.queue)+len(given) > 0 {
		return nil
	}
	pending := History{Trials: s.trials}.pending()
	asked := make([]Trial, n)
	for i, q := range s.ready[:n] {
		t := trialOf(len(s.trials)+1, q, pending, time.Since(start).Seconds()/float64(n))
		s.trials = append(s.trials, t)
		asked[i] = t.clone()
	}
	s.ready, s.readyAt = s.ready[n:], len(s.trials)
	return asked
}

// trialOf returns the trial of a proposal that was chosen with pending trials.
func trialOf(id int, q Proposal, pending []int, seconds float64) Trial {
	return Trial{
		ID: id, Point: q.Point, Source: q.Source, State: Pending,
		Prediction: q.Prediction, Warnings: q.Warnings, Pending: slices.Clone(pending), SuggestSeconds: seconds,
	}
}

// askable returns the history and the IDs of the first n idle trials in domain, or of all.
func (s *Study) askable(n int, domain *space.Space) (h History, idle []int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	idle = slices.Sorted(maps.Keys(s.idle))
	idle = slices.DeleteFunc(idle, func(id int) bool { return !domain.Contains(s.trials[id-1].Point) })
	return s.history(), idle[:min(n, len(idle))]
}

// outdated reports whether the study changed after h in a way that invalidates p: an
// idle trial was finished, or a noise-free study has a new trial at a proposed point.
// The caller holds s.mu.
func (s *Study) outdated(h History, idle []int, p Proposals) bool {
	for _, id := range idle {
		if !s.idle[id] {
			return true
		}
	}
	added := keys(s.trials[len(h.Trials):])
	return s.opts.NoiseFree && slices.ContainsFunc(p.Points, func(q Proposal) bool { return added[q.Point.Key()] })
}

// propose is Propose for the study, with events.
func (s *Study) propose(ctx context.Context, h History, n int) (Proposals, error) {
	var seconds float64
	start := time.Now()
	p, err := Propose(s.observed(ctx, h, &seconds), s.space, s.opts, h, n)
	if p.Fit != nil {
		s.pace.Suggested(time.Since(start), n)
	}
	s.emitFit(p.Fit, seconds)
	return p, err
}

// observed returns a context that turns the progress of Propose and Recommend into
// events and writes the duration of the fit to seconds. Progress is also passed to
// the function that ctx carries.
func (s *Study) observed(ctx context.Context, h History, seconds *float64) context.Context {
	var start time.Time
	return surrogate.WithProgress(ctx, func(p surrogate.Progress) {
		surrogate.Report(ctx, p)
		switch {
		case p.Phase != phaseSurrogate:
			s.emit(Event{Kind: Working, Progress: p})
		case p.Done == 0:
			start = time.Now()
			s.emit(Event{Kind: FitStarted, Observations: h.finished()})
		default:
			*seconds = time.Since(start).Seconds()
		}
	})
}

// emitFit reports a finished fit; f is nil if there was none.
func (s *Study) emitFit(f *Fit, seconds float64) {
	if f != nil {
		s.emit(Event{Kind: FitFinished, Observations: f.Observations, Seconds: seconds, Hypers: f.Hypers, Warped: f.Warped, Selection: f.Selection, Warnings: f.Warnings})
	}
}
