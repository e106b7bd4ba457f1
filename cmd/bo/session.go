package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/study"
	"github.com/functionspace/bo/surrogate"
)

// session is one execution of bo run: a study, in a store or in memory, and its progress.
type session struct {
	*runCmd
	e          *env
	definition *study.Definition
	notes      []string // of the table of earlier evaluations
	target     *target
	kept       bool // in a store
	store      *store.Store
	study      *store.Study
	writeRows  func(io.Writer, *store.View) error // writer of the file of --trials
	bar        *progress
	events     *eventLog  // nil without --events
	constant   sync.Once  // guards the warning about a constant objective
	files      sync.Mutex // held while the study is read and its files are written, and guards the fields below
	estimate   *study.Regret
	next       time.Time   // before which the file of --trials is not written again
	late       *time.Timer // writes it then
	over       bool        // the run has ended
	latest     *store.View // the last one that was read

	ctx   context.Context // ends with the cause of a file that cannot be written
	stop  context.CancelCauseFunc
	reads context.Context // of the study, for its files and the result: outlives ctx for a moment
}

// memoryStudy is the name of a study that is not kept.
const memoryStudy = "run"

// define makes the definition from the file and the flags, and the target.
func (s *session) define() (err error) {
	if s.Trials != "" {
		if s.writeRows, err = trialWriter(s.Trials); err != nil {
			return err
		}
	}
	if s.definition, err = s.base(); err != nil {
		return err
	}
	if err := s.apply(s.definition); err != nil {
		return err
	}
	if s.Earlier != "" {
		var faults []error
		s.definition.Earlier = study.Earlier{File: s.Earlier}
		if s.notes, faults = readEarlier(s.definition, "."); faults != nil {
			return usagef("--%w", space.Faults(faults))
		}
	}
	if !s.Quiet {
		s.e.printNotes(s.notes)
	}
	s.kept = s.Study != "" || s.File != ""
	if s.Store == "" && s.File != "" {
		s.Store = filepath.Join(filepath.Dir(s.File), defaultStore)
	}
	if s.definition.Name = cmp.Or(s.Study, s.definition.Name); s.definition.Name == "" {
		s.definition.Name = memoryStudy
		if s.File != "" {
			s.definition.Name = strings.TrimSuffix(filepath.Base(s.File), filepath.Ext(s.File))
		}
	}
	if err := s.definition.Validate(); err != nil {
		if s.File == "" { // the flags are at fault, not a study
			err = errors.New(strings.TrimPrefix(err.Error(), study.ErrInvalid.Error()+": "))
		}
		return usageError{err}
	}
	s.target, err = s.objective(s.definition)
	return err
}

// base returns the definition that the flags change: the study file, the stored study if --study is alone, or
// an empty definition. A stored study must have a built-in objective. Programs come from the file or a flag
// alone: a user who can write to a store must not choose the programs that run on this machine.
func (s *session) base() (d *study.Definition, err error) {
	switch {
	case s.File != "":
		d, s.notes, err = s.readFile()
		return d, err
	case !s.storedAlone():
		return &study.Definition{Version: study.Version}, nil
	}
	err = s.withStudy(s.e.ctx, s.Study, func(u *store.Study) error {
		stored, _, err := u.Definition(s.e.ctx)
		switch {
		case err != nil:
			return err
		case stored.Command != "":
			return usagef("study %s runs a program: give its study file, or --command", s.Study)
		case stored.Builtin == "":
			return usagef("study %s has no program: give --command, or use bo ask and bo tell", s.Study)
		}
		text, err := json.Marshal(stored)
		if err != nil {
			return err
		}
		d, err = study.Parse(text) // a copy: package store shares its definitions
		return err
	})
	return d, err
}

// limit makes the contexts of the run. Reads end a moment after an interrupt, because a store that is not
// reached answers late.
func (s *session) limit() {
	s.ctx, s.stop = context.WithCancelCause(s.e.ctx)
	reads, cancel := context.WithCancel(context.WithoutCancel(s.ctx))
	context.AfterFunc(s.e.ctx, func() { time.AfterFunc(2*patience, cancel) })
	s.reads = reads
}

// open creates the study, or opens the stored study.
func (s *session) open() (err error) {
	s.limit()
	options := store.Options{Version: version(), OnProgress: s.working, OnFit: s.fitted}
	if !s.kept {
		s.store = store.New(store.NewMemory(), options)
		if s.study, err = s.store.Create(s.ctx, s.definition); err == nil {
			s.hint()
		}
		return err
	}
	if s.store, err = s.storeFlags.openWith(s.ctx, true, options); err != nil {
		return err
	}
	s.study, err = s.store.Create(s.ctx, s.definition)
	switch {
	case err == nil:
		s.hint()
	case errors.Is(err, store.ErrExists):
		if s.study, err = s.joined(); err == nil {
			_, err = s.study.AddEarlier(s.ctx, s.definition)
		}
	}
	return err
}

// hint prints the hints of a new study.
func (s *session) hint() {
	if !s.Quiet {
		s.e.printHints(s.definition)
	}
}

// joined opens the stored study and compares its definition.
func (s *session) joined() (*store.Study, error) {
	u, err := s.store.Study(s.ctx, s.definition.Name)
	if err != nil {
		return nil, err
	}
	stored, _, err := u.Definition(s.ctx)
	if err != nil {
		return nil, err
	}
	differ, err := s.differences(stored)
	if err != nil {
		return nil, err
	}
	if len(differ) > 0 {
		return nil, usagef("study %s is stored with %s: bo study edit changes it, or give the study another name", s.definition.Name, strings.Join(differ, "; "))
	}
	s.definition.Budget = stored.Budget
	return u, nil
}

// differences names each key in which the definition differs from the stored definition. It
// does not compare workers, timeout, shell and failures, which may differ between processes, and
// earlier evaluations, of which new ones are added. A
// definition without a budget takes the stored budget.
func (s *session) differences(stored *study.Definition) ([]string, error) {
	keys := func(d study.Definition) (map[string]json.RawMessage, error) {
		d.Workers, d.Timeout, d.Shell, d.Failures, d.Earlier = 0, 0, false, "", study.Earlier{}
		d.Objectives = d.Goals()
		var text bytes.Buffer
		if err := printJSON(&text, d); err != nil {
			return nil, err
		}
		var all map[string]json.RawMessage
		return all, json.Unmarshal(text.Bytes(), &all)
	}
	given, err := keys(*s.definition)
	if err != nil {
		return nil, err
	}
	had, err := keys(*stored)
	if err != nil {
		return nil, err
	}
	if s.definition.Budget == 0 {
		given["budget"] = had["budget"]
	}
	all := maps.Clone(had)
	maps.Copy(all, given)
	var differ []string
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if string(given[key]) != string(had[key]) {
			differ = append(differ, fmt.Sprintf("%s %s, here it is %s", key, excerpt(had[key]), excerpt(given[key])))
		}
	}
	return differ, nil
}

// excerpt returns the start of a JSON value, for a message.
func excerpt(text json.RawMessage) string {
	if text == nil {
		return "not stated"
	}
	return clip(string(text), 60)
}

// prepare compares and writes the file of --trials and starts the progress.
func (s *session) prepare() error {
	var old []byte // read before the study: another process may add trials
	if s.Trials != "" {
		removeStale(s.Trials)
		var err error
		if old, err = readRegular(s.Trials); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	v, err := s.study.Brief(s.ctx)
	if err != nil {
		return err
	}
	if s.Trials != "" {
		if err := s.ownTrials(old, v); err != nil {
			return err
		}
		if err := s.writeTrials(v); err != nil {
			return err
		}
	}
	if s.Events != "" {
		if s.events, err = openEvents(s.Events, s.e.stdout); err != nil {
			return err
		}
		if err := s.events.follow(s.ctx, s.study, v); err != nil {
			return err
		}
	}
	done, budget := finishedTrials(v), v.Definition.Budget+addedTrials(v)
	switch {
	case len(v.Trials) > 0 && done < budget:
		fmt.Fprintf(s.e.stderr, "study %s: %d of %d trials are finished\n", s.definition.Name, done, budget)
	case len(v.Trials) > 0:
		fmt.Fprintf(s.e.stderr, "study %s: all %d trials are finished\n", s.definition.Name, done)
	}
	warnUnfit(s.e, v, "definition of the study")
	s.latest = v
	out := s.e.stderr
	if s.Quiet {
		out = io.Discard
	}
	s.bar = newProgress(out, budget, done)
	return nil
}

func (s *session) close() {
	_ = s.events.close()
	if s.store != nil {
		_ = s.store.Close()
	}
	if s.stop != nil {
		s.stop(nil)
	}
}

// writeTrials writes the file of --trials.
func (s *session) writeTrials(v *store.View) error {
	if s.Trials == "" {
		return nil
	}
	begun := time.Now()
	err := writeFile(s.Trials, func(w io.Writer) error { return s.writeRows(w, v) })
	s.next = time.Now().Add(writePause * time.Since(begun))
	return err
}

// writePause is the pause between two writes of the file of --trials, as a multiple of the duration of a write. Every write
// has all trials.
const writePause = 10

// tooSoon reports whether the file of --trials was just written. It is then written later. The caller holds s.files.
func (s *session) tooSoon() bool {
	wait := time.Until(s.next)
	if s.Trials == "" || s.over || wait <= 0 {
		return false
	}
	if s.late == nil {
		s.late = time.AfterFunc(wait, func() {
			s.files.Lock()
			defer s.files.Unlock()
			if s.late = nil; !s.over {
				s.read()
			}
		})
	}
	return true
}

// working reports the progress of a fit or a suggestion.
func (s *session) working(p surrogate.Progress) {
	if s.bar == nil {
		return
	}
	if p.Phase == "surrogate" && p.Done == 0 {
		s.bar.handle(loop.Event{Kind: loop.FitStarted}, nil)
		return
	}
	s.bar.handle(loop.Event{Kind: loop.Working, Progress: p}, nil)
}

// fitted ends the phase of a fit.
func (s *session) fitted(loop.Fit, time.Duration) {
	if s.bar != nil {
		s.bar.handle(loop.Event{Kind: loop.TrialAsked}, nil)
	}
}

// warn prints a warning of the run.
func (s *session) warn(text string) {
	s.bar.handle(loop.Event{Kind: loop.Warned, Warnings: []string{text}}, nil)
}

// started reports that an evaluation begins.
func (s *session) started(t store.Trial) {
	e := loop.Event{Kind: loop.TrialAsked, Trial: loop.Trial{ID: t.Number, Warnings: t.Warnings}}
	s.bar.handle(e, nil)
	e.Kind = loop.TrialStarted
	s.bar.handle(e, nil)
	s.files.Lock()
	defer s.files.Unlock()
	s.writeEvents()
}

// ended reports a stored result.
func (s *session) ended(t store.Trial) {
	v := s.changed()
	if v == nil {
		return
	}
	o := v.Definition.Objective()
	e := loop.Event{Kind: loop.TrialFinished, Trial: loop.Trial{ID: t.Number, Value: t.Numbers[o.Name], Error: t.Message, EvaluateSeconds: t.Seconds}}
	if t.Number <= len(v.Points) {
		e.Trial.Point = v.Points[t.Number-1]
	}
	switch t.State {
	case store.Complete:
	case store.Stopped:
		e.Kind = loop.TrialStopped
	default:
		e.Kind = loop.TrialFailed
	}
	if text := unreadText(&t, v.Definition); text != "" {
		s.warn(text)
	}
	s.warnConstant(v)
	if best := v.Best(); best != nil {
		e.Improved = best.Number == t.Number
		s.bar.report(e, resultText(&t, v.Definition), &loop.Trial{Value: best.Numbers[o.Name]})
		return
	}
	s.bar.report(e, resultText(&t, v.Definition), nil)
}

// retried warns that the store does not answer.
func (s *session) retried(err error) {
	s.bar.handle(loop.Event{Kind: loop.Warned, Warnings: []string{oneLine(err.Error()) + "; trying again"}}, nil)
}

// warnConstant warns once if the values at the first five points are equal.
func (s *session) warnConstant(v *store.View) {
	const enough = 5
	name, value := v.Definition.Objective().Name, 0.0
	points := map[string]bool{}
	for i := range v.Trials {
		t := &v.Trials[i]
		if t.State != store.Complete {
			continue
		}
		if len(points) > 0 && t.Numbers[name] != value {
			return
		}
		points[string(t.Params)], value = true, t.Numbers[name]
	}
	if n := len(points); n >= enough {
		s.constant.Do(func() {
			s.warn(fmt.Sprintf("the values at the first %d points are all %s, so the search has no direction: check what the program prints", n, short(value)))
		})
	}
}

// estimated records an estimate of the regret.
func (s *session) estimated(r loop.Regret) {
	s.files.Lock()
	defer s.files.Unlock()
	d := *s.definition
	d.End.Regret = cmp.Or(s.runCmd.Regret, d.End.Regret)
	s.estimate = d.NewRegret(r)
}

// changed reads the study and writes its files. A file that cannot be written ends the run.
func (s *session) changed() *store.View {
	s.files.Lock() // an older view must not replace the file of a newer view
	defer s.files.Unlock()
	return s.read()
}

// read is changed for a caller that holds s.files.
func (s *session) read() *store.View {
	v, err := s.study.Brief(s.reads)
	if err == nil {
		s.latest = v
	}
	if err == nil && !s.tooSoon() {
		err = s.writeTrials(v)
	}
	if err != nil {
		s.stop(err)
		return nil
	}
	if !s.writeEvents() {
		return nil
	}
	return v
}

// writeEvents writes the file of --events. It reports false if that fails, which ends the run. The caller holds s.files.
func (s *session) writeEvents() bool {
	if s.events == nil {
		return true
	}
	err := s.events.write(s.reads)
	if err != nil {
		s.stop(err)
	}
	return err == nil
}

// end writes the files for the last time. It returns the cause of a file that cannot be written.
func (s *session) end() error {
	s.files.Lock()
	defer s.files.Unlock()
	s.over = true
	if s.read() == nil {
		return context.Cause(s.ctx)
	}
	return nil
}

// run searches and prints the result.
func (s *session) run() error {
	begun := time.Now()
	interrupted, err := s.search()
	v, viewErr := s.lastView(interrupted)
	if viewErr != nil {
		s.bar.close()
		return cmp.Or(err, viewErr)
	}
	out := s.result(v, time.Since(begun).Seconds())
	out.Interrupted = interrupted
	s.files.Lock()
	out.Estimate = s.estimate
	s.files.Unlock()
	switch kind := endKind(err); kind {
	case "target", "time", "cost", "regret", "exhausted":
		if out.Stopped, err = endText(err, s.definition), nil; kind == "exhausted" {
			s.warn(out.Stopped)
		}
	}
	valued := out.Trials > out.Failed+out.StoppedN
	if err == nil && valued {
		s.recommend(out)
		s.warnConflicts(out)
	}
	s.bar.close()
	if cause := context.Cause(s.ctx); err != nil && cause != nil && !errors.Is(cause, context.Canceled) {
		err = cause // a file cannot be written or no program started: the results are still printed
	}
	if !valued {
		return s.nothing(v, out, err)
	}
	if err := s.print(s.e.stdout, out); err != nil {
		return err
	}
	if interrupted {
		fmt.Fprintf(s.e.stderr, "bo: interrupted after %d of %d trials%s\n", out.Trials, v.Definition.Budget, s.continued())
		return errInterrupted
	}
	return err
}

// search evaluates trials until the run ends, and writes the files for the last time. It reports whether an interrupt
// ended the run.
func (s *session) search() (interrupted bool, err error) {
	err = heed(s.ctx, func() error {
		return s.study.Run(s.ctx, s.target.evaluate, store.RunOptions{
			Workers: s.definition.Workers, Target: s.Target, Time: s.Time, MaxFailures: s.MaxFailures,
			Cost: s.Cost, Regret: s.runCmd.Regret, Probability: s.Probability, OnRegret: s.estimated,
			OnStart: s.started, OnEnd: s.ended, OnRetry: s.retried,
		})
	})
	interrupted = s.e.ctx.Err() != nil
	if loses(err) && interrupted { // otherwise err is printed at the end
		fmt.Fprintf(s.e.stderr, "bo: %s\n", oneLine(err.Error()))
	}
	if fault := s.end(); fault != nil && !interrupted {
		err = fault // also at an expected end
	}
	return interrupted, err
}

// lastView returns the study at the end of the run. After an interrupt, it is the last one that was read if the store
// does not answer.
func (s *session) lastView(interrupted bool) (*store.View, error) {
	s.files.Lock()
	latest := s.latest
	s.files.Unlock()
	v, err := s.study.View(s.reads)
	if err != nil && interrupted {
		s.warn("the store does not answer: the result is the last one that was read")
		return latest, nil
	}
	return v, err
}

// nothing returns the error of a run without a value.
func (s *session) nothing(v *store.View, out *runResult, err error) error {
	if out.Interrupted {
		fmt.Fprintf(s.e.stderr, "bo: interrupted before any trial had a value%s\n", s.continued())
		return errInterrupted
	}
	if err != nil {
		return err
	}
	if finishedTrials(v) == 0 {
		return fmt.Errorf("%w: no trial has ended: %s", loop.ErrNoValue, out.Stopped)
	}
	if out.StoppedN > 0 {
		return fmt.Errorf("%w: of %s, %d failed and %d were stopped early%s", loop.ErrNoValue, count(out.Trials, "trial"), out.Failed, out.StoppedN, bestStopped(v))
	}
	message := ""
	for _, t := range v.Trials {
		if t.State != store.Pending {
			message = t.Message
		}
	}
	return fmt.Errorf("%w: all %d evaluations failed, the last one with: %s", loop.ErrNoValue, finishedTrials(v), message)
}

// continued is the end of the message of an interrupt: a stored study can be resumed.
func (s *session) continued() string {
	if !s.kept {
		return ""
	}
	return continues(s.definition.Name)
}

// bestStopped names the stopped trial with the best value at its last step; "" without a usable value.
func bestStopped(v *store.View) string {
	o := v.Definition.Objective()
	trial, best := 0, 0.0
	for _, t := range v.Trials {
		value := t.Numbers[o.Name]
		if t.State != store.Stopped || !(math.Abs(value) < loop.MaxValue) {
			continue
		}
		if trial == 0 || o.Goal == study.Maximize && value > best || o.Goal != study.Maximize && value < best {
			trial, best = t.Number, value
		}
	}
	if trial == 0 {
		return ""
	}
	return fmt.Sprintf("; trial %d had the best last value of the stopped ones, %s", trial, short(best))
}

// recommend adds the trial with the best posterior mean. Without a fit there is none.
func (s *session) recommend(out *runResult) {
	sp, options, history, err := s.study.History(s.ctx)
	if err != nil {
		return
	}
	if options.Several() {
		r, err := loop.RecommendFront(surrogate.WithProgress(s.ctx, s.working), sp, options, history)
		if err == nil && s.ctx.Err() == nil && out.Pareto != nil {
			out.Pareto.Model = study.NewFront(r, options).Model
		}
		return
	}
	r, err := loop.Recommend(surrogate.WithProgress(s.ctx, s.working), sp, options, history)
	if err != nil || s.ctx.Err() != nil {
		return
	}
	if model, err := newRecommended(&r.Model, &options); err == nil {
		out.Recommended = model
	}
}

// warnConflicts warns about trials that contradict a noise-free objective.
func (s *session) warnConflicts(out *runResult) {
	text, err := conflictWarning(s.ctx, s.study)
	if err != nil || text == "" {
		return
	}
	out.Warnings = append(out.Warnings, text)
	s.warn(text)
}

func finishedTrials(v *store.View) int {
	n := 0
	for i := range v.Trials {
		if v.Trials[i].State != store.Pending {
			n++
		}
	}
	return n
}

// addedTrials returns the number of trials that do not count against the budget.
func addedTrials(v *store.View) int {
	n := 0
	for i := range v.Trials {
		if v.Trials[i].Source == loop.Added {
			n++
		}
	}
	return n
}
