package report

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/functionspace/bo/insight"
	"github.com/functionspace/bo/internal/figures"
	"github.com/functionspace/bo/internal/plaintext"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/study"
)

// Bounds of a report.
const (
	// MaxTrials is the largest number of finished trials in pictures and in the table. Of more, as
	// many are chosen as insight.Sample does.
	MaxTrials = 2000
	// MaxFitted is the largest number of finished trials of a fit, chosen in the same way.
	MaxFitted = 1000
	// MaxMapped is the largest number of parameters of maps.
	MaxMapped = 8

	maxCurves = 150
	maxSteps  = 100 // of a curve
	maxNote   = 300 // characters
)

// Options configures a report. The zero value is the default.
type Options struct {
	// Maps are the names of 2 to MaxMapped parameters of which every pair has a map. Nil is the four
	// most important ones, and fewer with several objectives.
	Maps []string
}

// Report is the data of a report. Numbers are rounded to six digits, and to four in maps, or to as many as
// resolve their differences.
type Report struct {
	Study   Study          `json:"study"`
	Summary []Line         `json:"summary"`
	Axes    []insight.Axis `json:"axes"` // of the parameters, without fixed ones
	Trials  []Trial        `json:"trials"`
	// Best is the best trial, as loop.Options.Best defines it; 0 without one, or with several objectives.
	Best       int              `json:"best,omitempty"`
	References []insight.Number `json:"references,omitempty"` // reference point of several objectives
	Models     []Model          `json:"models"`               // one per objective; empty without a fit
	Next       *Next            `json:"next,omitempty"`
	Timeline   Timeline         `json:"timeline"`
	Curves     []Curve          `json:"curves"`
	Notes      []string         `json:"notes"` // limits of the report, and warnings
}

// Study describes the study.
type Study struct {
	Name       string      `json:"name"`
	Created    time.Time   `json:"created"`
	Made       time.Time   `json:"made"` // time of the report
	Budget     int         `json:"budget"`
	Surrogate  string      `json:"surrogate"`
	Objectives []loop.Goal `json:"objectives"`
	Require    []string    `json:"require,omitempty"`
	Constrain  []string    `json:"constraints,omitempty"`
}

// Line is a line of the summary.
type Line struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// Trial is a trial. The entries of Params belong to the axes, and the entries of Values to the objectives.
type Trial struct {
	ID     int              `json:"id"`
	State  loop.State       `json:"state"`
	Source loop.Source      `json:"source"`
	Params []any            `json:"params"` // nil for an inactive parameter
	Values []insight.Number `json:"values"` // null unless complete
	// Feasible reports whether a complete trial meets the requirements; nil without requirements.
	Feasible *bool                     `json:"feasible,omitempty"`
	Numbers  map[string]insight.Number `json:"numbers,omitempty"` // other reported numbers
	Seconds  insight.Number            `json:"seconds,omitempty"`
	Note     string                    `json:"note,omitempty"` // reason of a failure, or a note on the numbers

	// Best is the best value up to this trial, and Incumbent reports that the trial improved it.
	Best      *insight.Number `json:"best,omitempty"`
	Incumbent bool            `json:"incumbent,omitempty"`
	// Predicted is the prediction before the evaluation: mean, or median after a log transform, and ends of the central 95 % interval.
	Predicted []insight.Number `json:"predicted,omitempty"`
	Front     bool             `json:"front,omitempty"` // on the Pareto front
	// Hypervolume is the hypervolume after this trial, of several objectives.
	Hypervolume *insight.Number `json:"hypervolume,omitempty"`
}

// Timeline is the work of the workers, in seconds after Start.
type Timeline struct {
	Start time.Time      `json:"start,omitzero"`
	End   float64        `json:"end"`
	Busy  insight.Number `json:"busy"`
	Lanes []Lane         `json:"lanes"`
}

// Lane is the work of one worker.
type Lane struct {
	Worker string         `json:"worker"`
	Busy   insight.Number `json:"busy"`
	Spans  []Span         `json:"spans"`
}

// Span is an evaluation.
type Span struct {
	Trial int            `json:"trial"`
	From  insight.Number `json:"from"`
	To    insight.Number `json:"to"`
	State loop.State     `json:"state"`
}

// Curve holds the values that a trial reported while it ran.
type Curve struct {
	Trial int                 `json:"trial"`
	Steps [][2]insight.Number `json:"steps"` // step and value
}

// builder holds a report in the making.
type builder struct {
	*Report
	ctx        context.Context
	options    Options
	view       *store.View
	space      *space.Space
	method     loop.Options
	history    []loop.Trial // all that fit the space
	spans      []insight.Span
	sample     []loop.Trial          // of the fits
	objectives []string              // names
	params     []string              // names of the axes
	ends       map[string][2]float64 // least and largest value by objective
	complete   int
	brief      bool // leave out all numbers but the objectives
}

// Build computes the report of a study. If no trial is complete, or a fit fails, it has no models. Build costs
// the fits of all objectives and two of their folds, predictions at some thousands of points, and
// insight.Importance. The error wraps insight.ErrArgument for a name in o.Maps, or comes from the store or the
// context.
func Build(ctx context.Context, u *store.Study, o Options) (*Report, error) {
	r, err := Read(ctx, u)
	if err != nil {
		return nil, err
	}
	b := newBuilder(ctx, u.Name(), r, o)
	if err := b.checkMaps(); err != nil {
		return nil, err
	}
	b.addTrials()
	if err := b.addModels(); err != nil {
		return nil, err
	}
	b.finish()
	return b.Report, nil
}

// BuildRecords is Build without models and without the next point: the parts that need no fit.
func BuildRecords(ctx context.Context, u *store.Study) (*Report, error) {
	r, err := Read(ctx, u)
	if err != nil {
		return nil, err
	}
	b := newBuilder(ctx, u.Name(), r, Options{})
	b.addTrials()
	b.finish()
	return b.Report, nil
}

// BuildHistory returns the study and the trials without parameters and other numbers: the data of the
// picture of the history. It reads brief trials.
func BuildHistory(ctx context.Context, u *store.Study) (*Report, error) {
	r, err := readBrief(ctx, u)
	if err != nil {
		return nil, err
	}
	b := newBuilder(ctx, u.Name(), r, Options{})
	b.Axes, b.params, b.brief = []insight.Axis{}, nil, true
	b.addTrials()
	return b.Report, nil
}

// newBuilder returns a builder with a description of the study.
func newBuilder(ctx context.Context, name string, r *Records, o Options) *builder {
	b := &builder{
		Report: &Report{Models: []Model{}, Curves: []Curve{}, Notes: []string{}, Axes: []insight.Axis{}, Timeline: Timeline{Lanes: []Lane{}}},
		ctx:    ctx, options: o, view: r.View, space: r.Space, method: r.Options, history: r.Trials, spans: r.Spans,
	}
	b.study(name)
	for _, a := range insight.ParallelCoordinates(&loop.View{Space: r.Space}).Axes {
		b.Axes, b.params = append(b.Axes, a), append(b.params, a.Name)
	}
	return b
}

// finish adds the parts that follow the models.
func (b *builder) finish() {
	b.addTimeline()
	b.addCurves()
	b.addNotes()
	b.summarize()
}

func (b *builder) study(name string) {
	d := b.view.Definition
	b.Study = Study{
		Name: name, Created: b.view.Created, Made: b.view.Now, Budget: d.Budget,
		Surrogate: d.SurrogateName(), Require: d.Require, Constrain: d.Constraints,
	}
	for _, g := range d.Goals() {
		b.objectives = append(b.objectives, g.Name)
		b.Study.Objectives = append(b.Study.Objectives, loop.Goal{Name: g.Name, Maximize: g.Goal == study.Maximize, NoiseFree: g.NoiseFree, StandardError: g.StandardError, Reference: g.Reference})
	}
	b.ends = map[string][2]float64{}
	for i := range b.history {
		t := &b.history[i]
		if t.State != loop.Complete {
			continue
		}
		b.complete++
		for _, name := range b.objectives {
			v, e := t.Numbers[name], b.ends[name]
			if b.complete == 1 {
				e = [2]float64{v, v}
			}
			b.ends[name] = [2]float64{min(e[0], v), max(e[1], v)}
		}
	}
}

// resolve returns a number of digits, at least least, that resolves the differences of the values of an
// objective.
func (b *builder) resolve(least int, objective string) int {
	return figures.Resolve(least, b.ends[objective][0], b.ends[objective][1])
}

// checkMaps returns an error for names in Options.Maps that are not names of axes.
func (b *builder) checkMaps() error {
	names := b.options.Maps
	if len(names) == 1 || len(names) > MaxMapped {
		return fmt.Errorf("%w: the number of parameters of maps is %d, want 2 to %d", insight.ErrArgument, len(names), MaxMapped)
	}
	for i, name := range names {
		if !slices.Contains(b.params, name) {
			return fmt.Errorf("%w: there is no parameter %q with more than one value; the names are %s", insight.ErrArgument, name, quoted(b.params))
		}
		if slices.Contains(names[:i], name) {
			return fmt.Errorf("%w: parameter %q is given twice", insight.ErrArgument, name)
		}
	}
	return nil
}

// addTrials adds at most MaxTrials finished trials, the pending ones and all incumbents.
func (b *builder) addTrials() {
	keep := map[int]bool{}
	for _, t := range insight.Sample(b.history, b.method, MaxTrials) {
		keep[t.ID] = true
	}
	steps := insight.History(b.history, b.method)
	volumes := map[int]insight.Volume{}
	for _, x := range insight.HypervolumeHistory(b.history, b.method) {
		volumes[x.Trial] = x
	}
	onFront := map[int]bool{}
	if b.method.Several() {
		front := insight.ParetoFront(b.history, b.method)
		for _, p := range front.Points {
			onFront[p.Trial] = p.Front
		}
		for _, name := range b.objectives {
			if r, ok := front.Reference[name]; ok {
				b.References = append(b.References, digits(r, b.resolve(6, name)))
			}
		}
	}
	if i := b.method.Best(b.history); i >= 0 {
		b.Best = b.history[i].ID
		keep[b.Best] = true
	}
	b.Trials = []Trial{}
	for i := range b.history {
		t := &b.history[i]
		if !keep[t.ID] && !steps[i].Incumbent && !onFront[t.ID] {
			continue
		}
		out := b.trial(t)
		if !b.method.Several() {
			if best := steps[i].Best; !math.IsNaN(float64(best)) {
				out.Best = new(digits(float64(best), b.resolve(6, b.objectives[0])))
			}
			out.Incumbent = steps[i].Incumbent
		}
		if x, ok := volumes[t.ID]; ok && t.State != loop.Pending {
			out.Hypervolume = new(digits(float64(x.Hypervolume), 6))
		}
		out.Front = onFront[t.ID]
		b.Trials = append(b.Trials, out)
	}
}

// trial returns a trial without its place in the history.
func (b *builder) trial(t *loop.Trial) Trial {
	stored := &b.view.Trials[t.ID-1]
	out := Trial{
		ID: t.ID, State: t.State, Source: t.Source, Params: b.values(t.Point), Values: []insight.Number{},
		Seconds: digits(stored.Seconds, 4), Note: plaintext.Clip(stored.Message, maxNote),
	}
	for _, name := range b.objectives {
		value := math.NaN()
		if t.State == loop.Complete {
			value = t.Numbers[name]
		}
		out.Values = append(out.Values, digits(value, b.resolve(6, name)))
	}
	if t.State == loop.Complete && len(b.method.Require) > 0 {
		out.Feasible = new(b.method.Feasible(t))
	}
	for _, name := range slices.Sorted(maps.Keys(stored.Numbers)) {
		if !b.brief && !slices.Contains(b.objectives, name) {
			if out.Numbers == nil {
				out.Numbers = map[string]insight.Number{}
			}
			out.Numbers[name] = digits(stored.Numbers[name], 6)
		}
	}
	if p := stored.Prediction; p != nil && p.Mean != nil && p.SD != nil && !b.method.Several() {
		n := b.resolve(5, b.objectives[0])
		low, high := (&loop.Prediction{Mean: *p.Mean, SD: *p.SD, Interval: p.Interval}).Interval95()
		out.Predicted = []insight.Number{digits(*p.Mean, n), digits(low, n), digits(high, n)}
	}
	return out
}

// values returns the values of the axes at a point.
func (b *builder) values(p space.Point) []any {
	out := make([]any, len(b.params))
	for i, name := range b.params {
		out[i] = rounded(p.Value(name), b.Axes[i])
	}
	return out
}

// addTimeline adds the evaluations of the trials of the report. The shares of the time in which workers are busy count
// all evaluations.
func (b *builder) addTimeline() {
	shown := map[int]bool{}
	for i := range b.Trials {
		shown[b.Trials[i].ID] = true
	}
	t := insight.Workers(b.spans, b.view.Now)
	b.Timeline = Timeline{Start: t.Start, End: t.End.Sub(t.Start).Seconds(), Busy: digits(t.Busy, 3), Lanes: []Lane{}}
	for _, l := range t.Lanes {
		lane := Lane{Worker: l.Worker, Busy: digits(l.Busy, 3), Spans: []Span{}}
		for _, s := range l.Spans {
			if !shown[s.Trial] {
				continue
			}
			end := s.Finished
			if end.IsZero() {
				end = t.End
			}
			lane.Spans = append(lane.Spans, Span{s.Trial, digits(s.Started.Sub(t.Start).Seconds(), 7), digits(end.Sub(t.Start).Seconds(), 7), s.State})
		}
		b.Timeline.Lanes = append(b.Timeline.Lanes, lane)
	}
}

// addCurves adds the curves of at most maxCurves trials: the last ones, and the best.
func (b *builder) addCurves() {
	curves := insight.Curves(b.history, b.method)
	if n := len(curves); n > maxCurves {
		b.Notes = append(b.Notes, fmt.Sprintf("Learning curves are of the last %d of %d trials with steps, and of the best trial.", maxCurves, n))
	}
	for _, curve := range insight.LatestCurves(curves, maxCurves) {
		c := Curve{Trial: curve.Trial}
		n := len(curve.Points)
		for k, p := range curve.Points {
			// Of more than maxSteps steps, equally spaced ones and the last.
			if n > maxSteps && k < n-1 && k*maxSteps/n == (k+1)*maxSteps/n {
				continue
			}
			c.Steps = append(c.Steps, [2]insight.Number{digits(p.Step, 7), digits(float64(p.Value), 5)})
		}
		b.Curves = append(b.Curves, c)
	}
}

// addNotes adds the limits of the report.
func (b *builder) addNotes() {
	left := b.view.LeftOut()
	if n := b.view.Unfit - left; n > 0 {
		b.Notes = append(b.Notes, fmt.Sprintf("Trials that violate the present constraints count in fits and are never the best: %d.", n))
	}
	if n := left; n > 0 {
		b.Notes = append(b.Notes, fmt.Sprintf("Trials that do not fit the present definition of the study are left out: %d.", n))
	}
	finished, shown := 0, 0
	for i := range b.history {
		if b.history[i].State != loop.Pending {
			finished++
		}
	}
	for i := range b.Trials {
		if b.Trials[i].State != loop.Pending {
			shown++
		}
	}
	if finished > MaxFitted {
		b.Notes = append(b.Notes, fmt.Sprintf("The surrogate model is fitted to %d of %d finished trials, equally spaced in their order, with the best.", MaxFitted, finished))
	}
	if finished > MaxTrials {
		b.Notes = append(b.Notes, fmt.Sprintf("Pictures and the table have %d of %d finished trials, equally spaced in their order, with all incumbents. The command bo trials prints all.", shown, finished))
	}
	if b.method.NoiseFree {
		if c := loop.Conflicts(b.history); len(c) > 0 {
			b.Notes = append(b.Notes, fmt.Sprintf("%v, but the objective is declared exact.", c[0]))
		}
	}
}

// digits returns x rounded to n significant digits.
func digits(x float64, n int) insight.Number {
	y, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', n, 64), 64)
	if err != nil {
		return insight.Number(x)
	}
	return insight.Number(y)
}

// rounded returns a value of a parameter; the value of a float is rounded to six digits, or as many as
// resolve its range.
func rounded(v any, a insight.Axis) any {
	if x, ok := v.(float64); ok && a.Kind == space.KindFloat {
		return digits(x, figures.Resolve(6, a.Min, a.Max))
	}
	return v
}

// quoted lists names.
func quoted(names []string) string {
	text, _ := json.Marshal(names) // strings have a JSON form
	return string(text[1 : len(text)-1])
}
