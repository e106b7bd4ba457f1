package loop

import (
	"context"
	"sync"
)

// asynchronous evaluates trials until budget trials are evaluated, workers at a time. It asks
// for the rest of the initial design together, then for one trial after another. It asks ahead:
// while all workers evaluate, the next trial is chosen with the running trials pending.
func (s *Study) asynchronous(ctx context.Context, f Evaluation, budget, workers int) error {
	var all sync.WaitGroup
	defer all.Wait()
	running, ended := 0, make(chan struct{}, workers) // never blocks: at most workers run
	wait := func() { <-ended; running-- }
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
		trials, err := s.Ask(ctx, min(left, s.together()))
		if err != nil {
			return err
		}
		for _, t := range trials {
			if running == workers {
				wait()
			}
			running++
			all.Go(func() {
				defer func() { ended <- struct{}{} }()
				s.evaluateOne(ctx, f, t)
			})
		}
	}
}

// together returns the number of trials to ask for at once: interrupted trials, the rest of the
// initial design, or one.
func (s *Study) together() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(1, len(s.idle), s.opts.Initial-len(s.trials))
}
