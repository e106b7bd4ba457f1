package report

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/functionspace/bo/insight"
	"github.com/functionspace/bo/internal/figures"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/surrogate"
)

const (
	slicePoints    = 61
	averagedPoints = 31
	mapPoints      = 41
	maxMapped      = 60 // categories of a parameter of a map that is not asked for
)

// Model is the surrogate model of one objective.
type Model struct {
	Objective   string           `json:"objective"`
	Incumbent   Incumbent        `json:"incumbent"`
	Slices      []Slice          `json:"slices"`                // through the incumbent
	NextSlices  []Slice          `json:"next_slices,omitempty"` // through the next point
	Averaged    []Slice          `json:"averaged"`              // over the other parameters, without acquisition function
	Maps        []Map            `json:"maps"`
	Importance  []insight.Effect `json:"importance"`
	Calibration Calibration      `json:"calibration"`

	scaleless bool // as insight.Scaleless
}

// Incumbent is the trial of insight.Incumbent.
type Incumbent struct {
	Trial  int            `json:"trial"`
	Params []any          `json:"params"`
	Value  insight.Number `json:"value"`
	Mean   insight.Number `json:"mean"`
	SD     insight.Number `json:"sd"`
}

// Slice is the prediction along one parameter, as insight.Slice, by columns.
type Slice struct {
	Axis        int              `json:"axis"` // index among the axes
	At          any              `json:"at"`
	X           []any            `json:"x"`
	Mean        []insight.Number `json:"mean"`
	Low50       []insight.Number `json:"low50"`
	High50      []insight.Number `json:"high50"`
	Low95       []insight.Number `json:"low95"`
	High95      []insight.Number `json:"high95"`
	Acquisition []insight.Number `json:"acquisition"`
	Infeasible  []int            `json:"infeasible,omitempty"` // indices of points that violate a constraint
	Moved       bool             `json:"moved,omitempty"`      // the other parameters change to meet the constraints
	// Distances are the distances of trials to the slice by trial; nil if it is averaged.
	Distances map[int]insight.Number `json:"distances,omitempty"`
}

// Map is the prediction over two parameters, as insight.Surface. The matrices have a row per Y.
type Map struct {
	X           int                `json:"x"` // indices among the axes
	Y           int                `json:"y"`
	Xs          []any              `json:"xs"`
	Ys          []any              `json:"ys"`
	At          [2]any             `json:"at"`
	Mean        [][]insight.Number `json:"mean"`
	SD          [][]insight.Number `json:"sd"`
	Acquisition [][]insight.Number `json:"acquisition"`
	Probability [][]insight.Number `json:"probability,omitempty"`
	Infeasible  [][2]int           `json:"infeasible,omitempty"` // row and column
	Moved       bool               `json:"moved,omitempty"`      // the other parameters change to meet the constraints
}

// Calibration compares the trials with predictions from the other trials.
type Calibration struct {
	Verdict     insight.Verdict    `json:"verdict"`
	Summary     string             `json:"summary"`
	Tested      string             `json:"tested"` // predictions that the verdict tests
	Findings    []insight.Finding  `json:"findings"`
	Method      string             `json:"method"`
	Coverage    []insight.Coverage `json:"coverage"`
	Predictions []Prediction       `json:"predictions"`
}

// Prediction is the prediction of a complete trial from the other trials.
type Prediction struct {
	Trial int            `json:"trial"`
	Value insight.Number `json:"value"`
	Mean  insight.Number `json:"mean"`
	Low   insight.Number `json:"low"` // of the central 95 % interval
	High  insight.Number `json:"high"`
	PIT   insight.Number `json:"pit"`
}

// Next is the point that is evaluated next.
type Next struct {
	Trial   int         `json:"trial,omitempty"` // of a waiting trial
	Params  []any       `json:"params"`
	Source  loop.Source `json:"source"`
	Reasons []string    `json:"reasons"`

	point space.Point
}

// addModels adds the models of all objectives and the next point. A fit that fails is a note.
func (b *builder) addModels() error {
	b.sample = insight.Sample(b.history, b.method, MaxFitted)
	var views []*loop.View // of the objectives, then of the outcome constraints
	var fault error
	if b.complete > 0 {
		if views, fault = loop.InspectAll(b.ctx, b.space, b.method, loop.History{Trials: b.sample}); b.ctx.Err() != nil {
			return b.ctx.Err()
		}
	}
	if err := b.addNext(views); err != nil || b.complete == 0 {
		return err
	}
	for i, name := range b.objectives {
		var m *Model
		if fault == nil {
			m, fault = b.model(views[i], name)
		}
		if b.ctx.Err() != nil {
			return b.ctx.Err()
		}
		if fault != nil {
			b.Models = []Model{}
			b.Notes = append(b.Notes, fmt.Sprintf("The surrogate model is left out, because the fit failed: %v", fault))
			return nil
		}
		for _, w := range views[i].Fit.Warnings {
			if w = "The fit warns: " + w; !slices.Contains(b.Notes, w) {
				b.Notes = append(b.Notes, w)
			}
		}
		b.Models = append(b.Models, *m)
	}
	if err := b.addMaps(views[:len(b.objectives)]); err != nil {
		return err
	}
	if b.Next == nil {
		return nil
	}
	reasons, err := insight.Explain(views, b.Next.point)
	if err != nil {
		return err
	}
	b.Next.Reasons = append(b.Next.Reasons, reasons...)
	return nil
}

// model returns the data of a fit.
func (b *builder) model(v *loop.View, name string) (*Model, error) {
	best, precise := insight.Incumbent(v), b.resolve(6, name)
	m := &Model{Objective: name, Maps: []Map{}, scaleless: insight.Scaleless(v), Incumbent: Incumbent{
		best.Trial, b.values(best.Point), digits(float64(best.Value), precise), digits(float64(best.Prediction.Mean), precise), digits(float64(best.Prediction.SD), 3),
	}}
	var err error
	if m.Slices, err = b.slices(v, insight.SliceOptions{Points: slicePoints}); err != nil {
		return nil, err
	}
	if b.Next != nil {
		if m.NextSlices, err = b.slices(v, insight.SliceOptions{Points: slicePoints, At: b.Next.point}); err != nil {
			return nil, err
		}
	}
	if m.Averaged, err = b.slices(v, insight.SliceOptions{Points: averagedPoints, Average: averaged(len(v.Rows), len(b.params))}); err != nil {
		return nil, err
	}
	if m.Importance, err = insight.Importance(b.ctx, v, insight.ImportanceOptions{}); err != nil {
		return nil, err
	}
	for i := range m.Importance {
		e := &m.Importance[i]
		for _, x := range []*insight.Number{&e.First, &e.Total, &e.FirstInterval.Low, &e.FirstInterval.High, &e.TotalInterval.Low, &e.TotalInterval.High, &e.Correlation} {
			*x = digits(float64(*x), 4)
		}
	}
	if m.Calibration, err = b.calibration(v); err != nil {
		return nil, err
	}
	return m, nil
}

// name returns the name of the objective of a view.
func (b *builder) name(v *loop.View) string { return cmp.Or(v.Objective, b.objectives[0]) }

// averaged returns the number of points over which slices of d parameters are averaged with n
// observations: 64, or fewer with which a slice costs a second or less.
func averaged(n, d int) int {
	const operations = 4e9
	return int(min(64, max(16, operations/(float64(n)*float64(n)*averagedPoints*float64(max(1, d))))))
}

// addMaps adds the maps of all models, of the same pairs of parameters.
func (b *builder) addMaps(views []*loop.View) error {
	names := b.mapped(views)
	for k, v := range views {
		for j := range names {
			for i := range j {
				if err := b.ctx.Err(); err != nil {
					return err
				}
				if err := b.addMap(&b.Models[k], v, names[i], names[j]); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// mapped returns the names of the parameters of maps: by the largest importance for any objective, among the
// parameters that are active at the incumbents of all objectives if there are two.
func (b *builder) mapped(views []*loop.View) []string {
	if len(b.options.Maps) > 0 {
		return b.options.Maps
	}
	largest := map[string]float64{}
	for _, m := range b.Models {
		for _, e := range m.Importance {
			if t := float64(e.Total); !math.IsNaN(t) {
				largest[e.Parameter] = max(largest[e.Parameter], t)
			}
		}
	}
	var names []string
	for i, name := range b.params {
		if len(b.Axes[i].Ticks) <= maxMapped {
			names = append(names, name)
		}
	}
	inactive := func(name string) bool {
		return slices.ContainsFunc(b.Models[:len(views)], func(m Model) bool { return m.Incumbent.Params[slices.Index(b.params, name)] == nil })
	}
	if active := slices.DeleteFunc(slices.Clone(names), inactive); len(active) >= 2 {
		names = active
	}
	slices.SortStableFunc(names, func(x, y string) int { return cmp.Compare(largest[y], largest[x]) })
	n := 4
	if len(b.objectives) > 2 {
		n = 3
	}
	if len(b.objectives) > 4 {
		n = 2
	}
	return names[:min(n, len(names))]
}

func (b *builder) slices(v *loop.View, o insight.SliceOptions) ([]Slice, error) {
	all, err := insight.Slices(v, o)
	if err != nil {
		return nil, err
	}
	var out []Slice
	n := b.resolve(5, b.name(v))
	for _, s := range all {
		c := Slice{Axis: slices.Index(b.params, s.Axis.Name), At: rounded(s.At, s.Axis), Moved: s.Moved}
		for k, p := range s.Points {
			c.X = append(c.X, rounded(p.X, s.Axis))
			c.Mean = append(c.Mean, digits(float64(p.Mean), n))
			c.Low50 = append(c.Low50, digits(float64(p.P50.Low), n))
			c.High50 = append(c.High50, digits(float64(p.P50.High), n))
			c.Low95 = append(c.Low95, digits(float64(p.P95.Low), n))
			c.High95 = append(c.High95, digits(float64(p.P95.High), n))
			c.Acquisition = append(c.Acquisition, digits(float64(p.Acquisition), 4))
			if !p.Feasible {
				c.Infeasible = append(c.Infeasible, k)
			}
		}
		for _, t := range s.Trials {
			if o.Average > 0 {
				break
			}
			if c.Distances == nil {
				c.Distances = map[int]insight.Number{}
			}
			c.Distances[t.Trial] = digits(t.Distance, 2)
		}
		out = append(out, c)
	}
	return out, nil
}

func (b *builder) addMap(m *Model, v *loop.View, x, y string) error {
	s, err := insight.Map(v, x, y, mapPoints)
	if err != nil {
		return err
	}
	out := Map{
		X: slices.Index(b.params, x), Y: slices.Index(b.params, y), At: [2]any{rounded(s.At[0], s.X), rounded(s.At[1], s.Y)}, Moved: s.Moved,
		Mean: coarse(s.Mean, b.resolve(4, b.name(v))), SD: coarse(s.SD, 4), Acquisition: coarse(s.Acquisition, 4), Probability: coarse(s.Probability, 4),
	}
	for _, x := range s.Xs {
		out.Xs = append(out.Xs, rounded(x, s.X))
	}
	for _, y := range s.Ys {
		out.Ys = append(out.Ys, rounded(y, s.Y))
	}
	for j := range s.Feasible {
		for i, ok := range s.Feasible[j] {
			if !ok {
				out.Infeasible = append(out.Infeasible, [2]int{j, i})
			}
		}
	}
	m.Maps = append(m.Maps, out)
	return nil
}

// coarse returns a matrix with n digits.
func coarse(m [][]insight.Number, n int) [][]insight.Number {
	for _, row := range m {
		for i := range row {
			row[i] = digits(float64(row[i]), n)
		}
	}
	return m
}

func (b *builder) calibration(v *loop.View) (Calibration, error) {
	c, err := insight.LeaveOneOut(b.ctx, v)
	if err != nil {
		return Calibration{}, err
	}
	tested := "predictions of each fifth of the trials from the other trials"
	if _, ok := v.Posterior.(surrogate.Whitener); ok {
		tested = "predictions one step ahead, in the order of the trials"
	}
	out := Calibration{
		Verdict: c.Health.Verdict, Summary: c.Health.Summary, Tested: tested, Findings: c.Health.Findings, Method: c.Method,
		Coverage: []insight.Coverage{}, Predictions: []Prediction{},
	}
	for _, x := range c.Coverage {
		x.Observed = digits(float64(x.Observed), 3)
		out.Coverage = append(out.Coverage, x)
	}
	n := b.resolve(5, b.name(v))
	for _, p := range c.Predictions {
		out.Predictions = append(out.Predictions, Prediction{
			p.Trial, digits(float64(p.Value), n), digits(float64(p.Mean), n), digits(float64(p.P95.Low), n), digits(float64(p.P95.High), n), digits(float64(p.PIT), 4),
		})
	}
	return out, nil
}

// addNext adds the first waiting trial, or a proposal, from the fit of the views if there are any. A fit that
// fails is a note.
func (b *builder) addNext(views []*loop.View) error {
	for i := range b.view.Trials {
		t := &b.view.Trials[i]
		if t.State == store.Pending && !t.Running(b.view.Now) && b.view.Points[i].Space() != nil {
			b.Next = &Next{Trial: t.Number, Source: t.Source, point: b.view.Points[i]}
			break
		}
	}
	if b.Next == nil && b.space.CheckGiven(nil) != nil {
		b.Notes = append(b.Notes, "There is no next point, because a suggestion needs the given values: see bo ask --given.")
		return nil
	}
	if b.Next == nil {
		p, err := b.propose(views)
		switch {
		case b.ctx.Err() != nil:
			return b.ctx.Err()
		case errors.Is(err, loop.ErrExhausted):
			b.Notes = append(b.Notes, "There is no next point: every point of the space has been tried.")
			return nil
		case err != nil:
			b.Notes = append(b.Notes, fmt.Sprintf("There is no next point, because the fit failed: %v", err))
			return nil
		}
		b.Next = &Next{Source: p.Points[0].Source, point: p.Points[0].Point}
	}
	b.Next.Params, b.Next.Reasons = b.values(b.Next.point), append([]string{}, insight.SourceReason(b.Next.Source)...)
	return nil
}

// propose returns one proposal.
func (b *builder) propose(views []*loop.View) (loop.Proposals, error) {
	if len(views) == 0 {
		return loop.Propose(b.ctx, b.space, b.method, loop.History{Trials: b.sample}, 1)
	}
	return views[0].Propose(b.ctx, 1)
}

// summarize writes the summary.
func (b *builder) summarize() {
	b.summarizeTrials()
	for _, m := range b.Models {
		suffix := ""
		if len(b.Models) > 1 {
			suffix = " of " + m.Objective
		} else if !math.IsNaN(float64(m.Incumbent.Mean)) && !b.view.Outside(m.Incumbent.Trial-1) {
			predicted := figures.Mean(float64(m.Incumbent.Mean), float64(m.Incumbent.SD))
			if m.scaleless {
				predicted = figures.Format(float64(m.Incumbent.Mean), 6)
			}
			b.line("Recommended", "trial %d, predicted %s", m.Incumbent.Trial, predicted)
		}
		b.line("Calibration"+suffix, "%s", m.Calibration.Summary)
	}
	if b.Next != nil {
		text := b.point(b.Next.point)
		if b.Next.Trial > 0 {
			text = fmt.Sprintf("trial %d: %s", b.Next.Trial, text)
		}
		b.line("Next point", "%s", text)
	}
}

// line adds a line to the summary.
func (b *builder) line(name, format string, args ...any) {
	b.Summary = append(b.Summary, Line{name, fmt.Sprintf(format, args...)})
}

// summarizeTrials writes the part of the summary that needs no model.
func (b *builder) summarizeTrials() {
	var goals []string
	for _, g := range b.Study.Objectives {
		word := "minimise "
		if g.Maximize {
			word = "maximise "
		}
		goals = append(goals, word+g.Name)
	}
	b.line("Objective", "%s", strings.Join(append(goals, b.Study.Require...), ", "))
	b.line("Trials", "%s; the budget is %d", b.counts(), b.Study.Budget)
	if b.method.Several() {
		n := 0
		for _, t := range b.Trials {
			if t.Front {
				n++
			}
		}
		b.line("Pareto front", "%d of %d trials", n, len(b.history))
		return
	}
	if i := b.method.Best(b.history); i >= 0 {
		t := &b.history[i]
		b.line("Best", "%.*g in trial %d: %s", b.resolve(6, b.objectives[0]), t.Value, t.ID, b.point(t.Point))
		if !b.method.Feasible(t) {
			b.line("", "No trial meets %s.", strings.Join(b.Study.Require, " and "))
		}
	}
}

// counts writes the number of trials, in all and by state.
func (b *builder) counts() string {
	counts, infeasible := map[loop.State]int{}, 0
	for i := range b.history {
		t := &b.history[i]
		if counts[t.State]++; t.State == loop.Complete && !b.method.Feasible(t) {
			infeasible++
		}
	}
	text, separator := fmt.Sprint(len(b.history)), ": "
	for _, s := range []loop.State{loop.Complete, loop.Failed, loop.Stopped, loop.Lost, loop.Pending} {
		if counts[s] > 0 {
			text += fmt.Sprintf("%s%d %s", separator, counts[s], s)
			if s == loop.Complete && infeasible > 0 {
				text += fmt.Sprintf(" (%d infeasible)", infeasible)
			}
			separator = ", "
		}
	}
	return text
}

// point writes the active parameters of a point.
func (b *builder) point(p space.Point) string {
	var parts []string
	for i, name := range b.params {
		if v := p.Value(name); v != nil {
			text := fmt.Sprint(v)
			if x, ok := v.(float64); ok {
				text = fmt.Sprintf("%.*g", figures.Resolve(6, b.Axes[i].Min, b.Axes[i].Max), x)
			}
			parts = append(parts, name+" = "+text)
		}
	}
	return strings.Join(parts, ", ")
}
