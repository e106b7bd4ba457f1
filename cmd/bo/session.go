package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/functionspace/bo/catalog"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
)

// A session is one execution of bo run: a study, the files it is saved in, and its progress.
type session struct {
	*runCmd
	e         *env
	target    *target
	args      []argument // arguments that the state stores
	study     *loop.Study
	resumed   bool
	writeRows func(io.Writer, *space.Space, []loop.Trial) error // writer of the file of --trials
	bar       *progress

	ctx  context.Context // ends with the cause of a file that cannot be written
	stop context.CancelCauseFunc
}

// open starts the study, or resumes it from --state, and writes its files for the first time.
func (s *session) open(m *catalog.Method) error {
	o := loop.Options{
		Surrogate: m.Surrogate, Acquisition: m.Acquisition, Maximizer: m.Maximizer, Batch: s.Batch, Seed: s.Seed,
		Maximize: s.Maximize, NoiseFree: s.NoiseFree || s.target.noiseFree, Warp: s.Warp, OnEvent: s.handle,
	}
	if s.Initial != nil {
		o.Initial = *s.Initial
	}
	s.ctx, s.stop = context.WithCancelCause(s.e.ctx)
	s.args = s.arguments(s.target, m)
	for _, path := range []string{s.State, s.Trials} {
		if path != "" {
			removeStale(path)
		}
	}
	var err error
	if s.study, s.resumed, err = openStudy(s.State, s.args, s.target, o); err != nil {
		return err
	}
	trials := s.study.Trials()
	if s.Trials != "" {
		if err := ownTrials(s.Trials, s.target.space, trials); err != nil {
			return err
		}
	}
	if err := s.save(); err != nil {
		return err
	}
	done := finishedTrials(trials)
	switch {
	case s.resumed && done < s.Budget:
		fmt.Fprintf(s.e.stderr, "%s: resumed after %d of %d trials\n", s.State, done, s.Budget)
	case s.resumed:
		fmt.Fprintf(s.e.stderr, "%s: complete, %d trials for --budget %d\n", s.State, done, s.Budget)
	}
	out := s.e.stderr
	if s.Quiet {
		out = io.Discard
	}
	s.bar = newProgress(out, s.Budget, done)
	return nil
}

// save writes the files of --state and --trials.
func (s *session) save() error {
	if s.State != "" {
		if err := saveStudy(s.State, s.args, s.study); err != nil {
			return err
		}
	}
	if s.Trials != "" {
		return writeFile(s.Trials, func(w io.Writer) error { return s.writeRows(w, s.study.Space(), s.study.Trials()) })
	}
	return nil
}

// handle saves the study when a trial begins or ends, and reports the event.
func (s *session) handle(ev loop.Event) {
	switch ev.Kind {
	case loop.TrialAsked, loop.TrialFinished, loop.TrialFailed:
		if err := s.save(); err != nil {
			s.stop(err)
		}
	}
	if s.bar == nil {
		return
	}
	if best, ok := s.study.Best(); ok {
		s.bar.handle(ev, &best)
	} else {
		s.bar.handle(ev, nil)
	}
}

// search runs the study to its budget. If the run does not end in time after an interrupt, the
// result holds the trials so far.
func (s *session) search() (loop.Result, error) {
	finished := make(chan loop.Result, 1)
	err := heed(s.ctx, func() error {
		r, err := s.study.Run(s.ctx, s.target.evaluate, s.Budget, s.Workers)
		finished <- r
		return err
	})
	select {
	case r := <-finished:
		return r, err
	default:
		best, _ := s.study.Best()
		return loop.Result{Best: best, Trials: s.study.Trials()}, err
	}
}

// run searches and prints the result.
func (s *session) run() error {
	defer s.stop(nil)
	started := time.Now()
	result, err := s.search()
	s.bar.close()
	if cause := context.Cause(s.ctx); err != nil && cause != nil && !errors.Is(cause, context.Canceled) {
		return cause // the files cannot be written
	}
	interrupted := s.e.ctx.Err() != nil
	if result.Best.State != loop.Complete {
		if interrupted {
			fmt.Fprintln(s.e.stderr, "bo: interrupted before any trial had a value")
			return errInterrupted
		}
		return err
	}
	if err := s.print(s.e.stdout, s.target, result, time.Since(started).Seconds(), s.bar.spent); err != nil {
		return err
	}
	if interrupted {
		fmt.Fprintf(s.e.stderr, "bo: interrupted after %d of %d trials\n", finishedTrials(result.Trials), s.Budget)
		return errInterrupted
	}
	return err
}

func finishedTrials(trials []loop.Trial) int {
	n := 0
	for _, t := range trials {
		if t.State != loop.Pending {
			n++
		}
	}
	return n
}
