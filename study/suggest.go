package study

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/functionspace/bo/internal/strictjson"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
)

// Request is a request for suggestions: one document with all data on which they depend.
// It is the input of bo suggest.
type Request struct {
	Version int         `json:"version"`
	Study   *Definition `json:"study"`
	Trials  []Told      `json:"trials,omitempty"`
	// N is the number of points to suggest, at most loop.MaxPoints; 0 is 1.
	N int `json:"n,omitempty"`
	// Warm is the warm start of an earlier response for the same study; it makes the fit
	// faster and may be left out.
	Warm json.RawMessage `json:"warm,omitempty"`
}

// Told is a trial of a Request.
type Told struct {
	// Trial is the number of the trial. Numbers ascend; 0 is the previous number plus 1.
	Trial  int            `json:"trial,omitempty"`
	Params map[string]any `json:"params"`
	// State is "complete", "failed" or "pending". "" is complete with a value, pending
	// without.
	State string `json:"state,omitempty"`
	// Value is the value of the objective. It may be in Numbers instead, under the name of the
	// objective.
	Value   *float64           `json:"value,omitempty"`
	Numbers map[string]float64 `json:"numbers,omitempty"`
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
}

// FitFacts describe the fit behind a suggestion.
type FitFacts struct {
	Observations    int                `json:"observations"`
	Hyperparameters map[string]float64 `json:"hyperparameters,omitempty"`
	LogTransformed  bool               `json:"log_transformed,omitempty"`
	Warnings        []string           `json:"warnings,omitempty"`
}

// ErrRequest is wrapped by errors about a request, except errors about its study.
var ErrRequest = errors.New("invalid request")

// maxRequest bounds the bytes of a Request.
const maxRequest = 256 << 20

// ParseRequest reads the JSON form of a Request. It is strict as Parse is.
func ParseRequest(text []byte) (*Request, error) {
	var raw struct {
		Version int             `json:"version"`
		Study   json.RawMessage `json:"study"`
		Trials  []Told          `json:"trials"`
		N       int             `json:"n"`
		Warm    json.RawMessage `json:"warm"`
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
	if raw.Study == nil {
		return nil, fmt.Errorf(`%w: "study" is missing`, ErrRequest)
	}
	d, err := Parse(raw.Study)
	if err != nil {
		return nil, err
	}
	if err := strictjson.Repeated(text); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRequest, err)
	}
	return &Request{Version: raw.Version, Study: d, Trials: raw.Trials, N: raw.N, Warm: raw.Warm}, nil
}

// Suggest answers a request. It is a pure function of the request: the same request gives
// the same points on the same version and instruction set. Errors wrap ErrRequest,
// ErrInvalid, loop.ErrExhausted or the error of the context, or come from the surrogate.
func Suggest(ctx context.Context, r *Request) (*Response, error) {
	s, options, h, err := r.history()
	if err != nil {
		return nil, err
	}
	n := max(1, r.N)
	if r.N < 0 || n > loop.MaxPoints {
		return nil, fmt.Errorf("%w: n is %d, want 1 to %d", ErrRequest, r.N, loop.MaxPoints)
	}
	out, err := loop.Propose(ctx, s, options, h, n)
	if err != nil {
		return nil, err
	}
	resp := &Response{Version: Version, Points: []Point{}, Exhausted: len(out.Points) < n}
	if out.Warm != nil {
		if resp.Warm, err = json.Marshal(out.Warm); err != nil {
			return nil, err
		}
	}
	for _, p := range out.Points {
		resp.Points = append(resp.Points, Point{Params: p.Point, Source: p.Source, Prediction: NewPrediction(p.Prediction), Warnings: p.Warnings})
	}
	if f := out.Fit; f != nil {
		resp.Fit = &FitFacts{Observations: f.Observations, LogTransformed: f.Warped, Warnings: f.Warnings, Hyperparameters: map[string]float64{}}
		for _, hyper := range f.Hypers {
			if !math.IsNaN(hyper.Value) && !math.IsInf(hyper.Value, 0) {
				resp.Fit.Hyperparameters[hyper.Name] = hyper.Value
			}
		}
	}
	return resp, nil
}

// history returns the arguments of loop.Propose.
func (r *Request) history() (s *space.Space, o loop.Options, h loop.History, err error) {
	if err = r.Study.Validate(); err != nil {
		return s, o, h, err
	}
	if s, err = r.Study.Space(); err != nil {
		return s, o, h, err
	}
	if o, err = r.Study.Method(); err != nil {
		return s, o, h, err
	}
	last, objective := 0, r.Study.Objective().Name
	for i := range r.Trials {
		t, err := r.Trials[i].trial(s, objective, last+1)
		if err != nil {
			return s, o, h, fmt.Errorf("%w: trial %d of %d: %w", ErrRequest, i+1, len(r.Trials), err)
		}
		if t.ID <= last {
			return s, o, h, fmt.Errorf("%w: trial %d of %d: its number %d is not above %d", ErrRequest, i+1, len(r.Trials), t.ID, last)
		}
		last = t.ID
		h.Trials = append(h.Trials, t)
	}
	if r.Warm != nil {
		var warm surrogate.State
		if err := json.Unmarshal(r.Warm, &warm); err != nil {
			return s, o, h, fmt.Errorf("%w: warm is not the warm start of a response", ErrRequest)
		}
		h.Warm = warm
	}
	return s, o, h, nil
}

func (t *Told) trial(s *space.Space, objective string, next int) (loop.Trial, error) {
	p, err := s.PointOf(t.Params)
	if err != nil {
		return loop.Trial{}, err
	}
	out := loop.Trial{ID: t.Trial, Point: p, Source: loop.Added}
	if out.ID == 0 {
		out.ID = next
	}
	value, given := t.Numbers[objective]
	if t.Value != nil {
		value, given = *t.Value, true
	}
	state := t.State
	if state == "" {
		state = string(loop.Pending)
		if given {
			state = string(loop.Complete)
		}
	}
	switch out.State = loop.State(state); out.State {
	case loop.Complete:
		if !given {
			return out, fmt.Errorf("complete without a value or a number named %q", objective)
		}
		out.Value = value
	case loop.Failed, loop.Pending:
	default:
		return out, fmt.Errorf("state is %q, want complete, failed or pending", t.State)
	}
	return out, nil
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
	return &Prediction{finite(p.Mean), finite(p.SD), finite(p.Acquisition)}
}

// ServeSuggest answers requests from r, one JSON document after the other, with one line of
// JSON each: a Response, or {"error": "…"}. A request that cannot be answered does not end
// the stream. A text that is not JSON ends it. ServeSuggest returns nil at the end of r.
func ServeSuggest(ctx context.Context, r io.Reader, w io.Writer) error {
	limited := &bounded{r: r}
	dec := json.NewDecoder(limited)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for {
		var text json.RawMessage
		limited.left = maxRequest
		if err := dec.Decode(&text); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return fmt.Errorf("%w: %w", ErrRequest, err)
		}
		resp, err := answer(ctx, text)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			err = enc.Encode(map[string]string{"error": err.Error()})
		} else {
			err = enc.Encode(resp)
		}
		if err != nil {
			return err
		}
	}
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

func answer(ctx context.Context, text []byte) (*Response, error) {
	r, err := ParseRequest(text)
	if err != nil {
		return nil, err
	}
	return Suggest(ctx, r)
}

// plain rewrites an error about the type of a value in the terms of the document instead of Go.
func plain(err error) error {
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		want := map[string]string{"int": "a whole number", "string": "text", "float64": "a number"}[e.Type.String()]
		if want == "" {
			want = "another type"
		}
		return fmt.Errorf("%s: %s found, want %s", e.Field, e.Value, want)
	}
	return err
}
