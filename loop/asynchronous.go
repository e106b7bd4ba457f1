package loop

import (
	"context"
	"sync"
	"time"
)

// asynchronous evaluates trials until budget trials are evaluated, workers at a time. It asks
// for the rest of the initial design together, then for one trial after another. If a suggestion takes long in
// comparison to an evaluation, it prepares suggestions while all workers evaluate. The running trials and the
// earlier prepared ones are then pending.
func (s *Study) asynchronous(ctx context.Context, e evaluator, budget, workers int) error {
	var all sync.WaitGroup
	defer all.Wait()
	running, ended := 0, make(chan struct{}, workers) // never blocks: at most workers run
	wait := func() { <-ended; running-- }
	var ahead []prepared
	for {
		for len(ended) > 0 {
			wait()
		}
		left := budget - s.evaluated() - running
		switch {
		case left <= 0 && running == 0:
			return nil
		case left <= 0:
			wait() // its trial may be interrupted, or count as evaluated and as running
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if running == workers {
			if len(ahead) < min(left, s.pace.Ahead(workers)) {
				if p, err := s.prepare(ctx, ahead); err == nil { // Ask meets an error too
					ahead = append(ahead, p)
					continue
				}
			}
			wait()
			continue
		}
		trials := s.issue(ctx, &ahead)
		if trials == nil {
			var err error
			if trials, err = s.Ask(ctx, min(left, s.together())); err != nil {
				return err
			}
		}
		for _, t := range trials {
			if running == workers {
				wait()
			}
			running++
			all.Go(func() {
				defer func() { ended <- struct{}{} }()
				start := time.Now()
				s.evaluateOne(ctx, e, t)
				s.pace.Evaluated(time.Since(start))
			})
		}
	}
}

// together returns the number of trials to ask for at once: interrupted trials, the rest of the
// initial design, or one. It is at most MaxPoints.
func (s *Study) together() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return min(max(1, len(s.idle), s.opts.Initial-len(s.trials)), MaxPoints)
}

// prepared is a trial that is chosen before a worker is free. The study does not contain it, so a
// run that ends leaves nothing behind.
type prepared struct {
	trial Trial
	p     Proposals
}

// prepare proposes the trial that follows the trials of the study and the prepared ones, which are
// pending.
func (s *Study) prepare(ctx context.Context, ahead []prepared) (prepared, error) {
	start := time.Now()
	h, _ := s.askable(0, s.space)
	for _, a := range ahead {
		h.Trials = append(h.Trials, a.trial)
		h.Warm = a.p.Warm
	}
	p, err := s.propose(ctx, h, 1)
	if err != nil {
		return prepared{}, err
	}
	return prepared{trialOf(len(h.Trials)+1, p.Points[0], h.pending(), time.Since(start).Seconds()), p}, nil
}

// issue adds the first prepared trial to the study and returns it. It drops all prepared trials and
// returns nil if the study has other new trials, interrupted trials or enqueued points. It also returns
// nil if ctx ends while another Ask runs.
func (s *Study) issue(ctx context.Context, ahead *[]prepared) []Trial {
	if len(*ahead) == 0 {
		return nil
	}
	if s.lockAsk(ctx) != nil {
		return nil
	}
	defer s.unlockAsk()
	next := (*ahead)[0]
	s.mu.Lock()
	ok := next.trial.ID == len(s.trials)+1 && len(s.idle) == 0 && len(s.queue) == 0
	if ok {
		s.trials = append(s.trials, next.trial)
		s.warm = next.p.Warm
	}
	s.mu.Unlock()
	if !ok {
		*ahead = nil
		return nil
	}
	*ahead = (*ahead)[1:]
	t := next.trial.clone()
	s.emit(Event{Kind: TrialAsked, Trial: t})
	return []Trial{t}
}
