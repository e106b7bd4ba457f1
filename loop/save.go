package loop

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/functionspace/bo/acquisition"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
)

const (
	stateFormat  = "bo-study"
	stateVersion = 1
)

// saved is the JSON form of a study.
type saved struct {
	Format  string            `json:"format"`
	Version int               `json:"version"`
	Space   json.RawMessage   `json:"space"`
	Options savedOptions      `json:"options"`
	Trials  []savedTrial      `json:"trials"`
	Queue   []json.RawMessage `json:"queue,omitempty"`
	Warm    surrogate.State   `json:"warm,omitempty"`
}

// savedOptions are the options on which suggestions depend. The surrogate model and
// the acquisition function are represented by their types.
type savedOptions struct {
	Surrogate     string        `json:"surrogate"`
	Acquisition   string        `json:"acquisition"`
	Initial       int           `json:"initial"`
	Design        InitialDesign `json:"design"`
	Batch         int           `json:"batch"`
	Warp          Warp          `json:"warp"`
	Local         Local         `json:"local"`
	Seed          uint64        `json:"seed"`
	Maximize      bool          `json:"maximize"`
	NoiseFree     bool          `json:"noise_free"`
	NoiseSD       float64       `json:"noise_sd,omitempty"`
	StandardError string        `json:"standard_error,omitempty"`
	Objectives    []Goal        `json:"objectives,omitempty"`
	Require       []Requirement `json:"require,omitempty"`

	Optimum   map[string]Belief `json:"optimum,omitempty"`
	PriorMean string            `json:"prior_mean,omitempty"`
	First     []map[string]any  `json:"first,omitempty"`

	Maximizer acquisition.MaximizeOptions `json:"maximizer"`
}

type savedTrial struct {
	ID              int                `json:"id"`
	Params          json.RawMessage    `json:"params"`
	Source          Source             `json:"source"`
	State           State              `json:"state"`
	Value           *float64           `json:"value,omitempty"`
	Numbers         map[string]float64 `json:"numbers,omitempty"`
	Steps           []savedStep        `json:"steps,omitempty"` // unless pending
	Error           string             `json:"error,omitempty"`
	Prediction      *savedPrediction   `json:"prediction,omitempty"`
	Warnings        []string           `json:"warnings,omitempty"`
	Pending         []int              `json:"pending,omitempty"`
	Given           []string           `json:"given,omitempty"`
	SuggestSeconds  float64            `json:"suggest_s"`
	EvaluateSeconds float64            `json:"evaluate_s"`
}

// savedStep omits a value that is NaN.
type savedStep struct {
	Step  float64  `json:"step"`
	Value *float64 `json:"value,omitempty"`
}

// savedPrediction omits numbers that are not finite; Resume reads them as NaN.
type savedPrediction struct {
	Mean        *float64 `json:"mean,omitempty"`
	SD          *float64 `json:"sd,omitempty"`
	Acquisition *float64 `json:"acquisition,omitempty"`

	Interval  [2]float64           `json:"interval,omitzero"`
	Selection *surrogate.Selection `json:"selection,omitempty"`
}

// Save writes the whole study as JSON. It may be called at any time, also from
// OnEvent, and writes a consistent state. A study resumed from that state makes the
// same suggestions.
func (s *Study) Save(w io.Writer) error {
	s.mu.Lock()
	h := s.history()
	s.mu.Unlock()
	v := saved{Format: stateFormat, Version: stateVersion, Options: s.opts.saved(), Trials: make([]savedTrial, len(h.Trials)), Warm: h.Warm}
	var err error
	if v.Space, err = json.Marshal(s.space); err != nil {
		return err
	}
	for i := range h.Trials {
		if v.Trials[i], err = h.Trials[i].saved(); err != nil {
			return err
		}
	}
	for _, p := range h.Queue {
		b, err := json.Marshal(p)
		if err != nil {
			return err
		}
		v.Queue = append(v.Queue, b)
	}
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = w.Write(append(b, '\n'))
	return err
}

// Resume reads a study that Save wrote. Pending trials count as interrupted: Ask
// returns them first, and Tell and Fail accept them.
//
// The options on which suggestions depend must equal the saved options, else the
// error wraps ErrMismatch and names every difference. The surrogate model and the
// acquisition function are compared by type. The error for a damaged file, or for a
// file of a newer version, wraps ErrState. ResumeIn reads a study whose space has conditions
// or constraints.
func Resume(r io.Reader, o Options) (*Study, error) {
	return resume(r, o, func(text []byte) (*space.Space, error) {
		return space.ParseWith(text, func(condition string, _ []space.Parameter) (space.Condition, error) {
			return space.Condition{}, fmt.Errorf("%q is text without a function: use ResumeIn with the space of the study", condition)
		})
	})
}

// ResumeIn is Resume with the space of the study, because a file does not hold the functions
// of conditions and constraints. If the space differs from the saved one, the error wraps
// ErrMismatch.
func ResumeIn(r io.Reader, sp *space.Space, o Options) (*Study, error) {
	return resume(r, o, func(text []byte) (*space.Space, error) {
		given, err := json.Marshal(sp)
		if err == nil && !equalJSON(given, text) {
			err = fmt.Errorf("%w: the space is %s, saved %s", ErrMismatch, given, text)
		}
		return sp, err
	})
}

// resume is Resume with the function that returns the space with the given JSON form.
func resume(r io.Reader, o Options, spaceOf func(text []byte) (*space.Space, error)) (*Study, error) {
	b, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	v, err := decode(b)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrState, err)
	}
	sp, err := spaceOf(v.Space)
	if errors.Is(err, ErrMismatch) {
		return nil, err
	} else if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrState, err)
	}
	s, err := New(sp, o)
	if err != nil {
		return nil, err
	}
	if err := v.Options.compare(s.opts.saved()); err != nil {
		return nil, err
	}
	s.warm = v.Warm
	for i := range v.Trials {
		t, err := v.Trials[i].trial(sp, &s.opts, i+1)
		if err != nil {
			return nil, fmt.Errorf("%w: trial %d: %w", ErrState, i+1, err)
		}
		s.trials = append(s.trials, t)
		if t.State == Pending {
			s.idle[t.ID] = true
		}
	}
	for i, raw := range v.Queue {
		p, err := sp.ParsePoint(raw)
		if err != nil {
			return nil, fmt.Errorf("%w: queued point %d: %w", ErrState, i+1, err)
		}
		s.queue = append(s.queue, p)
	}
	return s, nil
}

// decode reads the JSON form. It checks the version first, so that a newer file is
// not reported as a damaged one.
func decode(b []byte) (*saved, error) {
	var head struct {
		Format  string `json:"format"`
		Version int    `json:"version"`
	}
	if err := json.Unmarshal(b, &head); err != nil {
		return nil, err
	}
	switch {
	case head.Format != stateFormat:
		return nil, fmt.Errorf("format is %q, want %q", head.Format, stateFormat)
	case head.Version > stateVersion:
		return nil, fmt.Errorf("version %d is newer than %d, the newest that this program reads", head.Version, stateVersion)
	case head.Version < 1:
		return nil, fmt.Errorf("version is %d, want 1 to %d", head.Version, stateVersion)
	}
	v := &saved{}
	if err := json.Unmarshal(b, v); err != nil {
		return nil, err
	}
	if v.Options.Initial < 1 || v.Options.Batch < 1 {
		return nil, fmt.Errorf("initial is %d and batch %d, want at least 1", v.Options.Initial, v.Options.Batch)
	}
	return v, nil
}

// saved returns the saved form of o, which has no zero values.
func (o *Options) saved() savedOptions {
	return savedOptions{
		Surrogate:     typeName(o.Surrogate),
		Acquisition:   typeName(o.Acquisition),
		Initial:       o.Initial,
		Design:        o.Design,
		Batch:         max(1, o.Batch), // 0 and 1 differ in the use of workers only
		Warp:          o.Warp,
		Local:         o.Local,
		Seed:          o.Seed,
		Maximize:      o.Maximize,
		NoiseFree:     o.NoiseFree,
		NoiseSD:       o.NoiseSD,
		StandardError: o.StandardError,
		Objectives:    o.Objectives,
		Require:       o.Require,
		Optimum:       o.Optimum,
		PriorMean:     o.PriorMean.name(),
		First:         o.First,
		Maximizer:     o.Maximizer,
	}
}

// typeName returns the type of v, or the type that v points to.
func typeName(v any) string { return strings.TrimPrefix(fmt.Sprintf("%T", v), "*") }

// compare returns an error that names every option that differs.
func (o savedOptions) compare(given savedOptions) error {
	var faults []string
	text := func(v any) string {
		if v == "" || v == "null" {
			return "none"
		}
		return fmt.Sprint(v)
	}
	differ := func(name string, saved, given any) {
		if saved != given {
			faults = append(faults, fmt.Sprintf("%s is %s, saved %s", name, text(given), text(saved)))
		}
	}
	differ("surrogate", o.Surrogate, given.Surrogate)
	differ("acquisition", o.Acquisition, given.Acquisition)
	differ("initial", o.Initial, given.Initial)
	differ("design", o.Design, given.Design)
	differ("batch", o.Batch, given.Batch)
	differ("warp", cmp.Or(o.Warp, given.Warp), given.Warp) // older files have none
	differ("local", cmp.Or(o.Local, given.Local), given.Local)
	differ("maximizer", jsonText(cmp.Or(o.Maximizer, given.Maximizer)), jsonText(given.Maximizer))
	differ("seed", o.Seed, given.Seed)
	differ("maximize", o.Maximize, given.Maximize)
	differ("noise-free", o.NoiseFree, given.NoiseFree)
	differ("noise sd", o.NoiseSD, given.NoiseSD)
	differ("standard error", o.StandardError, given.StandardError)
	differ("objectives", jsonText(o.Objectives), jsonText(given.Objectives))
	differ("require", jsonText(o.Require), jsonText(given.Require))
	differ("optimum", jsonText(o.Optimum), jsonText(given.Optimum))
	differ("prior mean", o.PriorMean, given.PriorMean)
	differ("first", jsonText(o.First), jsonText(given.First))
	if faults != nil {
		return fmt.Errorf("%w: %s", ErrMismatch, strings.Join(faults, "; "))
	}
	return nil
}

// jsonText returns the JSON form of v, null for an empty list or map.
func jsonText(v any) string {
	text, _ := json.Marshal(v)
	if s := string(text); s != "[]" && s != "{}" {
		return s
	}
	return "null"
}

// equalJSON reports whether two JSON texts have equal values. Space, the order of keys and the form of
// numbers do not count.
func equalJSON(a, b []byte) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

// saved returns the saved form of t.
func (t *Trial) saved() (savedTrial, error) {
	params, err := json.Marshal(t.Point)
	if err != nil {
		return savedTrial{}, err
	}
	out := savedTrial{
		ID: t.ID, Params: params, Source: t.Source, State: t.State, Error: t.Error, Numbers: t.Numbers,
		Warnings: t.Warnings, Pending: t.Pending, Given: t.Given, SuggestSeconds: t.SuggestSeconds, EvaluateSeconds: t.EvaluateSeconds,
	}
	if t.State == Complete {
		out.Value = &t.Value
	}
	for _, s := range t.Steps {
		if t.State != Pending {
			out.Steps = append(out.Steps, savedStep{s.Step, finite(s.Value)})
		}
	}
	if p := t.Prediction; p != nil {
		out.Prediction = &savedPrediction{finite(p.Mean), finite(p.SD), finite(p.Acquisition), p.Interval, p.Selection}
	}
	return out, nil
}

// trial returns the trial of ID id, or an error if t is damaged.
func (t *savedTrial) trial(sp *space.Space, o *Options, id int) (Trial, error) {
	p, err := sp.ParsePoint(t.Params)
	if err != nil {
		return Trial{}, err
	}
	out := Trial{
		ID: id, Point: p, Source: t.Source, State: t.State, Error: t.Error, Numbers: usable(t.Numbers),
		Warnings: t.Warnings, Pending: t.Pending, Given: t.Given, SuggestSeconds: t.SuggestSeconds, EvaluateSeconds: t.EvaluateSeconds,
	}
	switch t.Source {
	case Added, First, Enqueued, Design, Suggested:
	default:
		return Trial{}, fmt.Errorf("source is %q, want %s, %s, %s, %s or %s", t.Source, Added, First, Enqueued, Design, Suggested)
	}
	switch {
	case t.ID != id:
		return Trial{}, fmt.Errorf("id is %d, want %d", t.ID, id)
	case !slices.Contains([]State{Pending, Complete, Failed, Stopped, Lost}, t.State):
		return Trial{}, fmt.Errorf("state is %q, want %s, %s, %s, %s or %s", t.State, Pending, Complete, Failed, Stopped, Lost)
	case t.State == Stopped && len(t.Steps) == 0:
		return Trial{}, errors.New("a stopped trial needs steps")
	case (t.Value != nil) != (t.State == Complete):
		return Trial{}, errors.New("a complete trial needs a value, and no other trial has one")
	case t.Value != nil:
		if err := o.CheckOutcome(Outcome{*t.Value, t.Numbers}); err != nil {
			return Trial{}, err
		}
		out.Value = *t.Value
	}
	for _, s := range t.Steps {
		out.Steps = append(out.Steps, Step{s.Step, orNaN(s.Value)})
	}
	if out.State == Stopped {
		out.Value = LastStep(out.Steps).Value
	}
	if q := t.Prediction; q != nil {
		out.Prediction = &Prediction{orNaN(q.Mean), orNaN(q.SD), orNaN(q.Acquisition), q.Interval, q.Selection}
	}
	return out, nil
}

// finite returns v as a pointer, nil if v is not finite.
func finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// orNaN returns *v, NaN if v is nil.
func orNaN(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}
