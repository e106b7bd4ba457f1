package study

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
)

// ServeSuggest answers requests from r, one JSON document after the other, with one line of
// JSON each: a Response, or {"error": "…", "kind": "…"}. A request without a study continues
// the previous answered one: the study, the trials and the warm start of its response stay. The trials of the
// request are added, or replace the trials of the same number. A request that cannot be answered changes
// nothing and does not end the stream; a text that is not JSON ends it. ServeSuggest returns nil at the end of
// r.
//
// The kind of an error is "study" for an invalid study, and "request" for another invalid request. It is
// "exhausted" if every point of the space has a trial, and "no-value" if no trial has a value. Otherwise it is
// "failed".
func ServeSuggest(ctx context.Context, r io.Reader, w io.Writer) error {
	limited := &bounded{r: r}
	dec := json.NewDecoder(limited)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	current := &state{}
	for {
		var text json.RawMessage
		limited.left = maxRequest
		if err := dec.Decode(&text); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return fmt.Errorf("%w: %w", ErrRequest, err)
		}
		var resp *Response
		next := current
		request, err := parseRequest(text)
		if err == nil {
			resp, next, err = current.answer(ctx, request)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			err = enc.Encode(map[string]string{"error": oneLine.Replace(err.Error()), "kind": kind(err)})
		} else {
			current = next
			err = enc.Encode(resp)
		}
		if err != nil {
			return err
		}
	}
}

// oneLine joins the lines of a message and drops the prefix of package loop.
var oneLine = strings.NewReplacer("\n", "; ", "loop: ", "")

// kind returns the kind of an error of ServeSuggest.
func kind(err error) string {
	for _, k := range []struct {
		is   error
		name string
	}{{ErrInvalid, "study"}, {ErrRequest, "request"}, {loop.ErrExhausted, "exhausted"}, {loop.ErrNoValue, "no-value"}, {loop.ErrUntried, "no-value"}} {
		if errors.Is(err, k.is) {
			return k.name
		}
	}
	return "failed"
}

// bounded is a Reader that fails after left bytes.
type bounded struct {
	r    io.Reader
	left int
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, fmt.Errorf("longer than %d MiB", maxRequest>>20)
	}
	n, err := b.r.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

// state holds the data of the answered requests of a stream. It is immutable.
type state struct {
	definition *Definition
	space      *space.Space // nil before the first request
	options    loop.Options
	history    loop.History
	earlier    int // number of earlier evaluations, which have the first numbers
}

// answer returns the response to r and the state after it.
func (s *state) answer(ctx context.Context, r *Request) (*Response, *state, error) {
	s, err := s.with(r)
	if err != nil {
		return nil, nil, err
	}
	resp := &Response{Version: Version, Points: []Point{}}
	switch r.Action {
	case "", ActionSuggest:
		err = s.propose(ctx, r, resp)
	case ActionCheck:
		var checked *loop.Study
		if checked, err = loop.New(s.space, s.options); err == nil {
			resp.Initial, resp.Require = checked.Options().Initial, s.options.Require
			resp.End = s.definition.End.Limits()
		}
	case ActionRecommend:
		err = s.recommend(ctx, resp)
	case ActionPareto:
		err = s.pareto(resp)
	case ActionReport:
		err = s.report(r.Report, resp)
	case ActionComplete:
		for _, p := range s.history.Queue {
			resp.Points = append(resp.Points, Point{Params: p, Source: loop.Enqueued})
		}
	default:
		err = fmt.Errorf("%w: action is %q, want %s, %s, %s, %s, %s or %s", ErrRequest, r.Action, ActionSuggest, ActionCheck, ActionRecommend, ActionPareto, ActionReport, ActionComplete)
	}
	if err != nil {
		return nil, nil, err
	}
	s.history.Queue, s.history.Given = nil, nil
	return resp, s, nil
}

// with returns the state with the data of a request.
func (s *state) with(r *Request) (*state, error) {
	next := *s
	if r.Study != nil {
		next = state{definition: r.Study}
		err := r.Study.Validate()
		if err != nil {
			return nil, err
		}
		if next.space, err = r.Study.Space(); err != nil {
			return nil, err
		}
		if next.options, err = r.Study.Method(); err != nil {
			return nil, err
		}
		if err := next.addEarlier(); err != nil {
			return nil, err
		}
	}
	if next.space == nil {
		return nil, errNoStudy
	}
	if err := next.add(r.Trials); err != nil {
		return nil, err
	}
	for i, values := range r.Queue {
		point := next.space.PointOf
		if r.Action == ActionComplete {
			point = func(values map[string]any) (space.Point, error) {
				return next.definition.Complete(next.space, values, len(next.history.Trials)+i)
			}
		}
		p, err := point(values)
		if err != nil {
			return nil, fmt.Errorf("%w: queued point %d of %d: %w", ErrRequest, i+1, len(r.Queue), err)
		}
		next.history.Queue = append(next.history.Queue, p)
	}
	if len(r.Given) > 0 {
		switch r.Action {
		case "", ActionSuggest, ActionRecommend:
		default:
			return nil, fmt.Errorf("%w: given is for the actions %s and %s, not %s", ErrRequest, ActionSuggest, ActionRecommend, r.Action)
		}
		if _, err := next.space.Slice(r.Given); err != nil {
			return nil, fmt.Errorf("%w: given: %w", ErrRequest, err)
		}
		next.history.Given = r.Given
	}
	if r.Warm != nil {
		next.history.Warm = surrogate.State{}
		if err := json.Unmarshal(r.Warm, &next.history.Warm); err != nil {
			return nil, fmt.Errorf("%w: warm is not the warm start of a response", ErrRequest)
		}
	}
	return &next, nil
}

// addEarlier adds the earlier evaluations of the definition that are points of the space or violate its constraints
// alone. They have the numbers from 1.
func (s *state) addEarlier() error {
	for i := range s.definition.Earlier.Trials {
		t, err := s.definition.EarlierTrial(s.space, i)
		if err != nil {
			return err
		}
		if t.Point.Space() != nil {
			s.history.Trials = append(s.history.Trials, loop.Trial{
				ID: i + 1, Point: t.Point, Outside: t.Outside, Source: loop.Added,
				State: t.State, Value: t.Numbers[s.definition.Objective().Name], Numbers: t.Numbers,
			})
		}
	}
	s.earlier = len(s.definition.Earlier.Trials)
	return nil
}

// add adds told trials to the history, or replaces the trials of the same number.
func (s *state) add(told []Told) error {
	held := len(s.history.Trials)
	trials := slices.Clone(s.history.Trials)
	last := s.earlier
	if held > 0 {
		last = max(last, trials[held-1].ID)
	}
	for i := range told {
		t := &told[i]
		at, replaces := slices.BinarySearchFunc(trials[:held], t.Trial, func(t loop.Trial, id int) int { return cmp.Compare(t.ID, id) })
		var known loop.Trial
		if replaces {
			known = trials[at]
		}
		trial, err := t.trial(s.space, s.definition, known)
		if err == nil && trial.State == loop.Complete {
			err = s.options.CheckOutcome(loop.Outcome{Value: trial.Value, Numbers: trial.Numbers})
		}
		if err == nil && trial.ID == 0 {
			trial.ID = last + 1
		}
		if err == nil && trial.ID > 0 && trial.ID <= s.earlier {
			err = fmt.Errorf("its number %d belongs to an evaluation of study.earlier, which has %d", trial.ID, s.earlier)
		}
		if err == nil && !replaces && trial.ID <= last {
			err = fmt.Errorf("its number %d is not above %d", trial.ID, last)
		}
		if err != nil {
			return fmt.Errorf("%w: trial %d of %d: %w", ErrRequest, i+1, len(told), err)
		}
		if replaces {
			trials[at] = trial
			continue
		}
		last = trial.ID
		trials = append(trials, trial)
	}
	s.history.Trials = trials
	return nil
}

// trial returns the trial at its Params, or at the known point if they are left out, with the
// known steps and its own.
func (t *Told) trial(s *space.Space, d *Definition, known loop.Trial) (loop.Trial, error) {
	p := known.Point
	if t.Params != nil || p.Space() == nil {
		var err error
		if p, err = s.PointOf(t.Params); err != nil {
			return loop.Trial{}, err
		}
	}
	out := loop.Trial{ID: t.Trial, Point: p, Source: loop.Added, Steps: known.Steps}
	for _, step := range t.Steps {
		if err := record(&out, step, d.Objective()); err != nil {
			return out, err
		}
	}
	var err error
	out.State, out.Value, out.Numbers, err = t.outcome(d)
	return out, err
}

// propose adds suggestions to a response.
func (s *state) propose(ctx context.Context, r *Request, resp *Response) error {
	n := max(1, r.N)
	if r.N < 0 || n > loop.MaxPoints {
		return fmt.Errorf("%w: n is %d, want 1 to %d", ErrRequest, r.N, loop.MaxPoints)
	}
	if err := s.space.CheckGiven(s.history.Given); err != nil {
		return fmt.Errorf("%w: given: %w", ErrRequest, err)
	}
	out, err := loop.Propose(ctx, s.space, s.options, s.history, n)
	if err != nil {
		return err
	}
	resp.Exhausted = len(out.Points) < n
	if s.history.Warm = out.Warm; out.Warm != nil {
		if resp.Warm, err = json.Marshal(out.Warm); err != nil {
			return err
		}
	}
	for _, p := range out.Points {
		resp.Points = append(resp.Points, Point{Params: p.Point, Source: p.Source, Prediction: NewPrediction(p.Prediction), Warnings: p.Warnings})
	}
	if rule := s.definition.End; rule.Regret > 0 && out.Fit != nil {
		estimate, err := loop.EstimateRegret(ctx, s.space, s.options, s.history, rule.RegretProbability())
		if err != nil {
			return err
		}
		resp.Regret = s.definition.NewRegret(estimate)
	}
	if f := out.Fit; f != nil {
		resp.Fit = &FitFacts{Observations: f.Observations, LogTransformed: f.Warped, Selection: f.Selection, Warnings: f.Warnings, Hyperparameters: map[string]float64{}}
		for _, hyper := range f.Hypers {
			if !math.IsNaN(hyper.Value) && !math.IsInf(hyper.Value, 0) {
				resp.Fit.Hyperparameters[hyper.Name] = hyper.Value
			}
		}
	}
	return nil
}

// recommend adds the recommendation to a response.
func (s *state) recommend(ctx context.Context, resp *Response) error {
	if s.options.Several() {
		if s.history.Given != nil {
			return fmt.Errorf("%w: there are %d objectives, and no single settings are the best", ErrRequest, len(s.options.Objectives))
		}
		r, err := loop.RecommendFront(ctx, s.space, s.options, s.history)
		if err != nil {
			return err
		}
		resp.Front = NewFront(r, s.options)
		return nil
	}
	estimate := func(e loop.Estimate) Estimate {
		out := Estimate{Trial: e.Trial.ID, Mean: e.Mean, SD: e.SD}
		if len(s.options.Require) > 0 {
			out.Feasible = &e.Feasible
		}
		return out
	}
	if s.history.Given != nil {
		r, err := loop.RecommendGiven(ctx, s.space, s.options, s.history)
		if err != nil {
			return err
		}
		resp.Recommendation = &Recommendation{Given: GivenEstimate{r.Point, estimate(r.Estimate)}}
		return nil
	}
	r, err := loop.Recommend(ctx, s.space, s.options, s.history)
	if err != nil {
		return err
	}
	resp.Recommendation = &Recommendation{Observed: estimate(r.Observed), Model: estimate(r.Model)}
	return nil
}
