package loop

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/functionspace/bo/space"
)

// Objective evaluates a point. An error, a panic and a value that is not finite
// make a failed trial. If ctx is cancelled it should return soon, with the
// context's error; the trial is then interrupted, not failed.
type Objective func(ctx context.Context, p space.Point) (float64, error)

// Result is what a Run found.
type Result struct {
	// Best is the trial with the best observed value; its State is empty if no
	// trial has a value.
	Best Trial
	// Recommendation is that of Study.Recommend. After a cancelled run it is
	// made of observed values alone, as for a noise-free objective.
	Recommendation Recommendation
	// Incumbents is how Best came about; see Study.Incumbents.
	Incumbents []Trial
	Trials     []Trial
	// Warnings are those of the run and of all its trials, each once.
	Warnings []string
}

// Minimize optimises f over s from the start: New and Run with o.Budget
// evaluations, o.Workers of them at a time. With o.Maximize it maximises.
func Minimize(ctx context.Context, f Objective, s *space.Space, o Options) (Result, error) {
	study, err := New(s, o)
	if err != nil {
		return Result{}, err
	}
	return study.Run(ctx, f, study.opts.Budget, study.opts.Workers)
}

// Run asks and evaluates trials until the study has budget trials that were
// evaluated, those that failed included and those of Add not: a resumed study
// is run with the budget it began with. Trials interrupted earlier come first,
// then what is left of the initial design, then rounds of Options.Batch
// suggestions. Up to workers evaluations (at least one) of a round run at once;
// each is told when it returns, and the next round begins when all have
// returned.
//
// When ctx is cancelled the evaluations under way see it through their own
// context, and Run returns after they have: what they returned with a value is
// told, the rest stays pending and is asked first by the next Run, or after
// Resume. The Result is valid beside any error: the context's, ErrNoValue if
// every evaluation failed, or an error of the surrogate. An exhausted space
// ends the run early with a warning.
func (s *Study) Run(ctx context.Context, f Objective, budget, workers int) (Result, error) {
	if budget < 1 {
		return Result{}, fmt.Errorf("%w: budget is %d, want at least 1", ErrOptions, budget)
	}
	if !s.running.TryLock() {
		return Result{}, ErrRunning
	}
	defer s.running.Unlock()
	workers = max(1, workers)
	var warnings []string
	warn := func(w string) {
		warnings = append(warnings, w)
		s.emit(Event{Kind: Warned, Warnings: []string{w}})
	}
	if workers > s.opts.Batch {
		warn(fmt.Sprintf("%d workers, but suggestions come in batches of %d: the others idle after the initial design", workers, s.opts.Batch))
	}
	err := s.rounds(ctx, f, budget, workers)
	if errors.Is(err, ErrExhausted) {
		warn(err.Error())
		err = nil
	}
	r := s.result(ctx, warn)
	for _, t := range r.Trials {
		warnings = append(warnings, t.Warnings...)
	}
	for _, w := range warnings {
		if !slices.Contains(r.Warnings, w) {
			r.Warnings = append(r.Warnings, w)
		}
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return r, fmt.Errorf("stopped after %d of %d evaluations: %w", s.evaluated(), budget, err)
	}
	if r.Best.State != Complete {
		return r, fmt.Errorf("%w: all %d evaluations failed, the last one with: %s", ErrNoValue, s.evaluated(), lastError(r.Trials))
	}
	return r, nil
}

func (s *Study) rounds(ctx context.Context, f Objective, budget, workers int) error {
	for {
		n := s.round(budget)
		if n == 0 {
			return nil
		}
		trials, err := s.Ask(ctx, n)
		if err != nil {
			return err
		}
		s.evaluate(ctx, f, trials, workers)
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

// round returns the size of the next round. A round that was interrupted is
// finished before another begins, so a resumed study suggests as if it had
// never stopped.
func (s *Study) round(budget int) int {
	left := budget - s.evaluated()
	s.mu.Lock()
	defer s.mu.Unlock()
	idle := 0
	for i := range s.records {
		if s.records[i].idle {
			idle++
		}
	}
	n := idle
	if n == 0 {
		n = max(s.opts.Batch, s.opts.Initial-len(s.records))
	}
	return max(0, min(n, left))
}

// evaluated is the number of trials that were asked and finished.
func (s *Study) evaluated() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for i := range s.records {
		if r := &s.records[i]; r.Source != Added && finished(r.State) {
			n++
		}
	}
	return n
}

// evaluate evaluates the trials, up to workers at a time, and returns when all
// have been told or interrupted.
func (s *Study) evaluate(ctx context.Context, f Objective, trials []Trial, workers int) {
	slots := make(chan struct{}, workers)
	var all sync.WaitGroup
	for _, t := range trials {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			s.evaluateOne(ctx, f, t)
		})
	}
	all.Wait()
}

// evaluateOne evaluates and tells a trial. The outcome is recorded in a deferred
// call, so that neither a panic nor runtime.Goexit loses the trial.
func (s *Study) evaluateOne(ctx context.Context, f Objective, t Trial) {
	if ctx.Err() != nil {
		s.interrupt(t.ID)
		return
	}
	s.emit(Event{Kind: TrialStarted, Trial: t})
	start := time.Now()
	var value float64
	err := errors.New("the objective ended its goroutine")
	panicked := true
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
		seconds := time.Since(start).Seconds()
		if err == nil {
			err = checkValue(value)
		}
		switch {
		case err == nil:
			err = s.tell(t.ID, value, seconds)
		case ctx.Err() != nil && !panicked:
			s.interrupt(t.ID)
			err = nil
		default:
			err = s.fail(t.ID, err.Error(), seconds)
		}
		// The objective may have told its trial itself.
		if err != nil && !errors.Is(err, ErrFinished) {
			panic("loop: " + err.Error())
		}
	}()
	value, err = f(ctx, t.Point)
	panicked = false
}

func (s *Study) interrupt(id int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := &s.records[id-1]; r.State == Pending {
		r.idle = true
	}
}

func (s *Study) result(ctx context.Context, warn func(string)) Result {
	r := Result{Trials: s.Trials(), Incumbents: s.Incumbents()}
	if len(r.Incumbents) == 0 {
		return r
	}
	r.Best = r.Incumbents[len(r.Incumbents)-1]
	observed := Estimate{Trial: r.Best, Mean: r.Best.Value}
	r.Recommendation = Recommendation{observed, observed}
	rec, err := s.Recommend(ctx)
	switch {
	case err == nil:
		r.Recommendation = rec
	case ctx.Err() == nil:
		warn("no recommendation by the surrogate: " + err.Error())
	}
	return r
}

func lastError(trials []Trial) string {
	for _, t := range slices.Backward(trials) {
		if t.State == Failed {
			return t.Error
		}
	}
	return ""
}
