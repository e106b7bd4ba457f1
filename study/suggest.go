package study

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/functionspace/bo/internal/strictjson"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
)

// Request is a request for suggestions: one document with all data on which they depend.
// It is the input of bo suggest. In a stream of requests, a request without a study
// continues the previous request; see ServeSuggest.
type Request struct {
	Version int         `json:"version"`
	Study   *Definition `json:"study"`
	Trials  []Told      `json:"trials,omitempty"`
	// Queue holds points to suggest ahead of the initial design, in this order; for ActionComplete points
	// to complete.
	Queue []map[string]any `json:"queue,omitempty"`
	// N is the number of points to suggest, at most loop.MaxPoints; 0 is 1.
	N int `json:"n,omitempty"`
	// Given are values that the points of ActionSuggest have, by parameter. With ActionRecommend the trials are
	// compared by their predictions with these values.
	Given map[string]any `json:"given,omitempty"`
	// Action is one of the actions below. "" is ActionSuggest.
	Action string `json:"action,omitempty"`
	// Report holds the new steps of ActionReport.
	Report *Steps `json:"report,omitempty"`
	// Warm is the warm start of an earlier response for the same study; it makes the fit
	// faster and may be left out.
	Warm json.RawMessage `json:"warm,omitempty"`
}

// The actions of a Request.
const (
	ActionSuggest   = "suggest"
	ActionCheck     = "check"     // validate the request
	ActionRecommend = "recommend" // name the best trials
	ActionPareto    = "pareto"    // name the trials of the Pareto front
	ActionReport    = "report"    // record steps of a pending trial and decide whether it is stopped
	ActionComplete  = "complete"  // answer the points of the queue, with random values for parameters that are left out
)

// Told is a trial of a Request.
type Told struct {
	// Trial is the number of the trial. Numbers ascend; 0 is the previous number plus 1.
	Trial int `json:"trial,omitempty"`
	// Params may be left out for a trial of an earlier request.
	Params map[string]any `json:"params,omitempty"`
	// State is "complete", "failed", "stopped", "pending" or "lost". A lost trial was not evaluated, for a
	// reason that has nothing to do with the point. "" is complete with a value, pending without.
	State string `json:"state,omitempty"`
	// Value is the value of the objective. It may be in Numbers instead, under the name of the
	// objective. In JSON it may be null only beside Numbers or a State.
	Value   *float64           `json:"value,omitempty"`
	Numbers map[string]float64 `json:"numbers,omitempty"`
	// Steps are added to the steps of the trial in earlier requests.
	Steps []Step `json:"steps,omitempty"`
}

// Step is a value of the first objective that a trial reported while it ran.
type Step struct {
	Step float64 `json:"step"`
	// Value is nil for a value that is not finite, the worst one.
	Value *float64 `json:"value"`
}

// Steps are new steps of a trial, in the order in which it reported them.
type Steps struct {
	Trial int    `json:"trial"`
	Steps []Step `json:"steps"`
}

// Response is the answer to a Request.
type Response struct {
	Version int     `json:"version"`
	Points  []Point `json:"points"`
	// Warm is the warm start of the next request, opaque to the caller.
	Warm json.RawMessage `json:"warm,omitempty"`
	Fit  *FitFacts       `json:"fit,omitempty"`
	// Exhausted reports that there are fewer points than requested, because every other
	// point of a finite space has a trial.
	Exhausted bool `json:"exhausted,omitempty"`
	// Initial is the number of trials of the initial design, and Require are the outcome
	// constraints: parts of the answer to ActionCheck.
	Initial int                `json:"initial,omitempty"`
	Require []loop.Requirement `json:"require,omitempty"`
	// End are the limits of End as numbers: part of the answer to ActionCheck.
	End *Limits `json:"end,omitempty"`
	// Regret is the estimated regret, if the study states end.regret and a surrogate model was
	// fitted.
	Regret *Regret `json:"regret,omitempty"`
	// Recommendation is the answer to ActionRecommend.
	Recommendation *Recommendation `json:"recommendation,omitempty"`
	// Pareto is the answer to ActionPareto.
	Pareto *Pareto `json:"pareto,omitempty"`
	// Decision is the answer to ActionReport.
	Decision *Decision `json:"decision,omitempty"`
	// Front is the answer to ActionRecommend of several objectives.
	Front *Front `json:"front,omitempty"`
}

// Recommendation names the trial with the best observed value and the trial with the best
// posterior mean, as loop.Recommendation. The answer to a Request with Given has Given alone.
type Recommendation struct {
	Observed Estimate      `json:"observed,omitzero"`
	Model    Estimate      `json:"model,omitzero"`
	Given    GivenEstimate `json:"given,omitzero"`
}

// GivenEstimate is an estimate at a point with given values, as loop.GivenEstimate.
type GivenEstimate struct {
	Params space.Point `json:"params"`
	Estimate
}

// Estimate is a trial with the posterior mean and standard deviation of the objective.
type Estimate struct {
	Trial int     `json:"trial"`
	Mean  float64 `json:"mean"`
	SD    float64 `json:"sd"`
	// Feasible is the probability that the requirements are met; absent without requirements.
	Feasible *float64 `json:"feasible,omitempty"`
}

// Pareto is the Pareto front of several objectives, as loop.Pareto.
type Pareto struct {
	Front       []int              `json:"front"` // numbers of trials
	Reference   map[string]float64 `json:"reference,omitempty"`
	Hypervolume []float64          `json:"hypervolume,omitempty"` // after each finished trial
}

// Decision reports whether a trial is stopped, and the grounds if it is.
type Decision struct {
	Stop   bool   `json:"stop"`
	Reason string `json:"reason,omitempty"`
}

// Regret is the stored form of loop.Regret, with the answer of the rule of the study.
type Regret struct {
	Trial       int     `json:"trial"` // the recommended trial
	Bound       float64 `json:"bound"`
	Probability float64 `json:"probability"`
	Mean        float64 `json:"mean"`
	End         bool    `json:"end"` // Bound is at most End.Regret
}

// NewRegret returns the stored form of an estimate.
func (d *Definition) NewRegret(r loop.Regret) *Regret {
	return &Regret{r.Trial, r.Bound, r.Probability, r.Mean, r.Bound <= d.End.Regret}
}

// Front has the Pareto front of the observed values and of the posterior means.
type Front struct {
	Observed []int           `json:"observed"` // trials
	Model    []FrontEstimate `json:"model"`
	// Reference is the reference point, and Hypervolume the volume of the observed front after each
	// finished trial; absent with more than four objectives.
	Reference   map[string]float64 `json:"reference,omitempty"`
	Hypervolume []float64          `json:"hypervolume,omitempty"`
}

// FrontEstimate is a trial with the posterior means and standard deviations of the objectives.
type FrontEstimate struct {
	Trial int                `json:"trial"`
	Mean  map[string]float64 `json:"mean"`
	SD    map[string]float64 `json:"sd"`
	// Feasible is the probability that the requirements are met; absent without requirements.
	Feasible *float64 `json:"feasible,omitempty"`
}

// NewFront describes a recommendation of a study with options o.
func NewFront(r loop.FrontRecommendation, o loop.Options) *Front {
	named := func(values []float64) map[string]float64 {
		m := map[string]float64{}
		for j, v := range values {
			m[o.Objectives[j].Name] = v
		}
		return m
	}
	f := &Front{Observed: []int{}, Model: []FrontEstimate{}, Reference: named(r.Observed.Reference), Hypervolume: r.Observed.Hypervolume}
	for _, t := range r.Observed.Front {
		f.Observed = append(f.Observed, t.ID)
	}
	for _, e := range r.Model {
		out := FrontEstimate{Trial: e.Trial.ID, Mean: named(e.Mean), SD: named(e.SD)}
		if len(o.Require) > 0 {
			out.Feasible = &e.Feasible
		}
		f.Model = append(f.Model, out)
	}
	return f
}

// Point is a suggestion.
type Point struct {
	Params     space.Point `json:"params"`
	Source     loop.Source `json:"source"`
	Prediction *Prediction `json:"prediction,omitempty"`
	Warnings   []string    `json:"warnings,omitempty"`
}

// Prediction is a prediction of the objective at a point, in the user's units. A number that is
// not finite is left out.
type Prediction struct {
	Mean        *float64 `json:"mean,omitempty"`
	SD          *float64 `json:"sd,omitempty"`
	Acquisition *float64 `json:"acquisition,omitempty"`
	// Interval is the central 95 % interval of a fit to log transformed values, as loop.Prediction has it.
	Interval [2]float64 `json:"interval,omitzero"`
	// Selection is the model that the surrogate auto selected, with the evidence.
	Selection *surrogate.Selection `json:"selection,omitempty"`
}

// FitFacts describe the fit behind a suggestion.
type FitFacts struct {
	Observations    int                `json:"observations"`
	Hyperparameters map[string]float64 `json:"hyperparameters,omitempty"`
	LogTransformed  bool               `json:"log_transformed,omitempty"`
	// Selection is the model that the surrogate auto selected, with the evidence.
	Selection *surrogate.Selection `json:"selection,omitempty"`
	Warnings  []string             `json:"warnings,omitempty"`
}

// ErrRequest is wrapped by errors about a request, except errors about its study.
var ErrRequest = errors.New("invalid request")

// maxRequest bounds the bytes of a Request.
const maxRequest = 256 << 20

// ParseRequest reads the JSON form of a Request. It is strict as Parse is.
func ParseRequest(text []byte) (*Request, error) {
	r, err := parseRequest(text)
	if err == nil && r.Study == nil {
		return nil, errNoStudy
	}
	return r, err
}

var errNoStudy = fmt.Errorf(`%w: "study" is missing`, ErrRequest)

// parseRequest is ParseRequest for a request that may continue another request.
func parseRequest(text []byte) (*Request, error) {
	var raw struct {
		Request
		Study json.RawMessage `json:"study"`
	}
	raw.Version = Version
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&raw); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRequest, plain(err))
	}
	if dec.More() {
		return nil, fmt.Errorf("%w: text after the object", ErrRequest)
	}
	if raw.Version != Version {
		return nil, fmt.Errorf("%w: version is %d, want %d", ErrRequest, raw.Version, Version)
	}
	r := &raw.Request
	if raw.Study != nil {
		var err error
		if r.Study, err = Parse(raw.Study); err != nil {
			return nil, err
		}
	}
	if err := strictjson.Repeated(text); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRequest, err)
	}
	if bytes.Contains(text, []byte("null")) {
		var list struct{ Trials []json.RawMessage }
		_ = json.Unmarshal(text, &list)
		for i, told := range list.Trials {
			if err := checkNulls(told); err != nil {
				return nil, fmt.Errorf("%w: trial %d of %d: %w", ErrRequest, i+1, len(list.Trials), err)
			}
		}
	}
	return r, nil
}

// checkNulls returns an error if a number in the JSON form of a Told is null, which encoding/json reads as 0.
// It also returns one if the value is null in a trial without numbers and a state: the trial would be pending.
// JavaScript writes null for NaN.
func checkNulls(told []byte) error {
	var t struct {
		State   string
		Value   json.RawMessage
		Numbers map[string]*float64
	}
	_ = json.Unmarshal(told, &t)
	if string(t.Value) == "null" && t.State == "" && t.Numbers == nil {
		return errors.New("value is null, want a number, or state pending or failed")
	}
	for _, name := range slices.Sorted(maps.Keys(t.Numbers)) {
		if t.Numbers[name] == nil {
			return fmt.Errorf("%s is null, want a number", name)
		}
	}
	return nil
}

// Suggest answers a request that has a study. It is a pure function of the request: the same
// request gives the same answer on the same version and instruction set. Errors wrap
// ErrRequest, ErrInvalid, loop.ErrExhausted, loop.ErrNoValue or the error of the context, or
// come from the surrogate.
func Suggest(ctx context.Context, r *Request) (*Response, error) {
	resp, _, err := (&state{}).answer(ctx, r)
	return resp, err
}

// NewPrediction returns the stored form of a prediction, nil for nil.
func NewPrediction(p *loop.Prediction) *Prediction {
	if p == nil {
		return nil
	}
	finite := func(v float64) *float64 {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil
		}
		return &v
	}
	return &Prediction{finite(p.Mean), finite(p.SD), finite(p.Acquisition), p.Interval, p.Selection}
}

// plain rewrites an error about the type of a value in the terms of the document instead of Go.
func plain(err error) error {
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		want := map[string]string{"int": "a whole number", "string": "text", "float64": "a number"}[e.Type.String()]
		if want == "" {
			want = "another type"
		}
		return fmt.Errorf("%s: %s found, want %s", strings.TrimPrefix(e.Field, "Request."), e.Value, want)
	}
	return err
}
