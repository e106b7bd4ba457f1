package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/functionspace/bo/insight"
	"github.com/functionspace/bo/insight/plot"
	"github.com/functionspace/bo/internal/figures"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/study"
	"github.com/functionspace/bo/surrogate"
)

// shownRows is the largest number of finished trials to which bo study show fits gp without --all.
const shownRows = 500

// quickRows is the largest number of finished trials of a study for which bo study show fits other surrogate
// models without --all. It takes about a second of two processors. With others the fits and their five folds take
// longer.
var quickRows = map[string]int{
	"svgp": 200, "ibnn": 200, "rff": 200, "laplace": 100, "map": 100, "dkl": 60, "auto": 20, "gwi-svgp": 50, "gwi-net": 40, "fsp-laplace": 30, "ensemble": 20,
}

// shownModel is the part of bo study show that needs a fit. It depends on the study alone, and not on the time
// that a fit takes.
type shownModel struct {
	Recommended *recommended `json:"recommended,omitempty"`
	// Regret is an estimate of the regret, with --all.
	Regret *study.Regret `json:"regret_estimate,omitempty"`
	// Front is the Pareto front of the posterior means of several objectives.
	Front       []study.FrontEstimate `json:"front,omitempty"`
	Objectives  []*shownObjective     `json:"objectives"`
	Constraints []*shownObjective     `json:"constraints,omitempty"` // outcome constraints, without importance
	Next        *shownNext            `json:"next,omitempty"`
	Warnings    []string              `json:"warnings,omitempty"`
	LeftOut     []string              `json:"left_out,omitempty"` // parts that are not computed

	Reason string `json:"reason,omitempty"` // why parts are left out

	measured  bool // whether the numbers of the recommended trial meet the requirements
	scaleless bool // as insight.Scaleless

	all   bool
	slow  bool     // parts are left out because of their costs
	goals []string // names of several objectives
}

// shownObjective describes the model of one objective or outcome constraint.
type shownObjective struct {
	Name        string            `json:"name"`
	Calibration *shownCalibration `json:"calibration,omitempty"`
	Importance  []insight.Effect  `json:"importance,omitempty"`
	// Unimportant is the reason why there is no importance.
	Unimportant string `json:"no_importance,omitempty"`

	constrained bool // the space has constraints on parameters, which importance ignores
}

// shownCalibration is the verdict of bo check.
type shownCalibration struct {
	Verdict  insight.Verdict   `json:"verdict"`
	Summary  string            `json:"summary"`
	Findings []insight.Finding `json:"findings"`
}

// shownNext is the point that is evaluated next.
type shownNext struct {
	Trial   int             `json:"trial,omitempty"` // of a waiting trial
	Params  json.RawMessage `json:"params,omitempty"`
	Source  loop.Source     `json:"source,omitempty"`
	Reasons []string        `json:"reasons"`

	point space.Point
}

// The parts of shownModel, for LeftOut.
const (
	partRecommended = "recommendation"
	partCalibration = "calibration"
	partNext        = "next point"
	partReasons     = "reasons for the next point"
	partImportance  = "importance"
)

// showModel fits the surrogate model and returns its description. Without all it fits gp to at most
// shownRows finished trials, and other models only to the numbers of trials of quickRows.
func showModel(e *env, u *store.Study, v *store.View, all bool) (*shownModel, error) {
	limit := maxInspected
	if !all {
		limit = shownRows
	}
	in, err := newInspection(e.ctx, u, limit)
	if err != nil {
		return nil, err
	}
	m := &shownModel{Objectives: []*shownObjective{}, all: all}
	if in.options.Several() {
		m.goals = in.objectives()
	}
	for _, text := range []string{in.conflicts(), in.broken()} {
		if text != "" {
			m.Warnings = append(m.Warnings, text)
		}
	}
	ctx := e.ctx
	if all {
		var stop func()
		ctx, stop = watch(ctx, e.stderr, in.finished)
		defer stop()
	}
	err = heed(e.ctx, func() error { return m.describe(ctx, in, v) })
	return m, cmp.Or(e.ctx.Err(), err)
}

// describe fits the models and computes all parts.
func (m *shownModel) describe(ctx context.Context, in *inspection, v *store.View) error {
	next := waiting(v)
	model := v.Definition.SurrogateName()
	var views []*loop.View
	var err error
	switch {
	case in.complete == 0:
		for _, name := range in.objectives() {
			name = cmp.Or(name, v.Definition.Objective().Name)
			m.Objectives = append(m.Objectives, &shownObjective{Name: name, Calibration: &shownCalibration{insight.TooFew, insight.Unchecked(0).Summary, []insight.Finding{}}})
		}
	case !m.all && model != "gp" && in.finished > quickRows[model]:
		m.slow = true
		m.leaveOut(next, fmt.Sprintf("fits of %s to %s take longer than a second", model, count(in.finished, "trial")))
		return nil
	default:
		if views, err = in.views(ctx); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			m.leaveOut(next, "the fit failed: "+oneLine(err.Error()))
			return nil
		}
	}
	// The proposal and the description of the fits take about the same time.
	var group sync.WaitGroup
	var failed error
	if next == nil {
		group.Go(func() {
			defer func() {
				if fault := recover(); fault != nil {
					failed = internalError(fault)
				}
			}()
			next, failed = m.propose(ctx, in, v, views)
		})
	}
	if views != nil {
		err = m.fits(ctx, in, v, views)
	}
	if views != nil && m.all && m.goals == nil && len(in.options.Require) == 0 && !m.scaleless && err == nil {
		var r loop.Regret
		if r, err = loop.EstimateRegret(ctx, in.space, in.options, in.history, v.Definition.End.RegretProbability()); err == nil {
			m.Regret = v.Definition.NewRegret(r)
		} else if errors.Is(err, loop.ErrEqualValues) {
			err = nil
		}
	}
	group.Wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		m.leaveOutParts("the fit failed: "+oneLine(err.Error()), partCalibration, partImportance)
	}
	if failed != nil {
		m.leaveOutParts("the suggestion failed: "+oneLine(failed.Error()), partNext, partReasons)
	}
	return m.explain(next, views)
}

// leaveOutParts adds parts that are left out, and the reason of the first ones.
func (m *shownModel) leaveOutParts(reason string, parts ...string) {
	m.LeftOut, m.Reason = append(m.LeftOut, parts...), cmp.Or(m.Reason, reason)
}

// leaveOut sets the reason why parts are left out. A waiting trial is shown without its reasons.
func (m *shownModel) leaveOut(next *shownNext, reason string) {
	if next == nil {
		m.leaveOutParts(reason, partRecommended, partCalibration, partNext, partReasons, partImportance)
		return
	}
	m.leaveOutParts(reason, partRecommended, partCalibration, partReasons, partImportance)
	next.Reasons = append(next.Reasons, insight.SourceReason(next.Source)...)
	m.Next = next
}

// fits describes the fits.
func (m *shownModel) fits(ctx context.Context, in *inspection, v *store.View, views []*loop.View) error {
	if text := in.bounded(); text != "" {
		if !m.all && in.limit < maxInspected {
			text += fmt.Sprintf("; --all uses up to %d", maxInspected)
		}
		m.Warnings = append(m.Warnings, text)
	}
	m.Warnings = addNew(m.Warnings, views[0].Fit.Warnings...)
	if err := m.recommend(views[0], in.options); err != nil {
		return err
	}
	best := onFront(v)
	if t := v.Best(); t != nil && best == nil {
		best = map[int]bool{t.Number: true}
	}
	for _, view := range views {
		c, err := insight.LeaveOneOut(ctx, view)
		if err != nil {
			return err
		}
		h := c.Health
		o := &shownObjective{Name: cmp.Or(view.Objective, v.Definition.Objective().Name), Calibration: &shownCalibration{h.Verdict, h.Summary, h.Findings}}
		if view.Requirement != nil {
			o.Name = view.Requirement.String()
			m.Constraints = append(m.Constraints, o)
		}
		for _, p := range c.Outliers {
			if best[p.Trial] {
				m.Warnings = append(m.Warnings, fmt.Sprintf("best trials, %s: %s", o.Name, outlierText(p)))
			}
		}
		if view.Requirement != nil {
			continue
		}
		if o.Unimportant = insight.Unimportant(view); o.Unimportant == "" {
			if o.Importance, err = insight.Importance(ctx, view, m.importance(view, len(views))); err != nil {
				return err
			}
			o.constrained = len(view.Space.Constraints()) > 0
		}
		m.Objectives = append(m.Objectives, o)
	}
	return nil
}

// importance returns the settings of the importance of one of n views. Without --all the number of points keeps the
// time within a fraction of a second.
func (m *shownModel) importance(v *loop.View, n int) insight.ImportanceOptions {
	if m.all {
		return insight.ImportanceOptions{}
	}
	const (
		least    = 256
		products = 3e8 // rows · points · coordinates
	)
	points := 512
	if _, ok := v.Posterior.(surrogate.MeanPredictor); ok {
		points = 4096
	}
	for points > least && float64(len(v.Space.Parameters())+2)*float64(points)*float64(len(v.Data.Y))*float64(v.Space.Dim()*n) > products {
		points /= 2
	}
	return insight.ImportanceOptions{Points: points, Paths: -1}
}

// recommend adds the trial with the best posterior mean, or the Pareto front of the posterior means.
func (m *shownModel) recommend(v *loop.View, o loop.Options) error {
	if m.goals != nil {
		m.Front = study.NewFront(v.RecommendFront(), o).Model
		return nil
	}
	best := insight.Incumbent(v)
	t := slices.IndexFunc(v.Trials, func(t loop.Trial) bool { return t.ID == best.Trial })
	if v.Trials[t].Outside {
		return nil
	}
	params, err := json.Marshal(best.Point)
	m.Recommended = &recommended{Trial: best.Trial, Params: params, Mean: float64(best.Prediction.Mean), SD: float64(best.Prediction.SD), Feasible: (*float64)(best.Feasible)}
	m.measured, m.scaleless = o.Feasible(&v.Trials[t]), insight.Scaleless(v)
	return err
}

// waiting returns the first waiting trial, nil if there is none.
func waiting(v *store.View) *shownNext {
	for i := range v.Trials {
		t := &v.Trials[i]
		if t.State == store.Pending && !t.Running(v.Now) {
			return &shownNext{Trial: t.Number, Params: t.Params, Source: t.Source, Reasons: []string{}, point: v.Points[i]}
		}
	}
	return nil
}

// propose returns the next proposal, by the fit of the views if there is one.
func (m *shownModel) propose(ctx context.Context, in *inspection, v *store.View, views []*loop.View) (*shownNext, error) {
	if in.space.CheckGiven(nil) != nil {
		return &shownNext{Reasons: []string{"There is none: a suggestion needs the given values (bo ask --given)."}}, nil
	}
	var p loop.Proposals
	var err error
	if views == nil {
		p, err = loop.Propose(ctx, in.space, in.options, in.history, 1)
	} else {
		p, err = views[0].Propose(ctx, 1)
	}
	if errors.Is(err, loop.ErrExhausted) {
		return &shownNext{Reasons: []string{"There is none: every point of the space has been tried."}}, nil
	}
	if err != nil {
		return nil, err
	}
	point := p.Points[0].Point
	next := &shownNext{Source: p.Points[0].Source, Reasons: []string{}, point: point}
	if next.Params, err = json.Marshal(point); err != nil {
		return nil, err
	}
	if p.Points[0].Local {
		next.Reasons = append(next.Reasons, "The model of the trials near the best one chose it (--local).")
	}
	if in.bounded() != "" {
		equal := func(q space.Point) bool { return q.Space() != nil && q.Key() == point.Key() }
		fitted := slices.ContainsFunc(in.history.Trials, func(t loop.Trial) bool { return equal(t.Point) })
		if !fitted && slices.ContainsFunc(v.Points, equal) {
			return nil, fmt.Errorf("it repeats a trial that the fit leaves out: bo ask fits all %d finished trials", in.finished)
		}
		next.Reasons = append(next.Reasons, fmt.Sprintf("bo ask may choose another point, because it fits all %d finished trials.", in.finished))
	}
	return next, nil
}

// explain adds the next point and its reasons, from the views of all models.
func (m *shownModel) explain(next *shownNext, views []*loop.View) error {
	if next == nil {
		return nil
	}
	m.Next = next
	next.Reasons = append(next.Reasons, insight.SourceReason(next.Source)...)
	if next.point.Space() == nil {
		return nil
	}
	text, err := insight.Explain(views, next.point)
	next.Reasons = append(next.Reasons, text...)
	return err
}

// printRecommended writes the recommendation.
func (m *shownModel) printRecommended(row func(name, format string, args ...any)) {
	if r := m.Recommended; r != nil {
		feasible := ""
		if r.Feasible != nil {
			if feasible = fmt.Sprintf(", feasible with probability %.2g", *r.Feasible); !m.measured {
				feasible += ", but its measured numbers are infeasible"
			}
		}
		predicted := figures.Mean(r.Mean, r.SD)
		if m.scaleless {
			predicted = short(r.Mean)
		}
		row("recommended", "trial %d  predicted %s%s", r.Trial, predicted, feasible)
	}
	if m.Regret != nil {
		row("estimate", "%s", regretText(m.Regret))
	}
	const most = 5
	for i, e := range m.Front {
		name := ""
		if i == 0 {
			name = "recommended"
			row(name, "%s, the front of the posterior means:", count(len(m.Front), "trial"))
		}
		if i == most {
			row("", "and %d more: add --json", len(m.Front)-most)
			break
		}
		text := fmt.Sprintf("trial %d", e.Trial)
		for _, g := range m.goals {
			text += "  " + g + " " + figures.Mean(e.Mean[g], e.SD[g])
		}
		row("", "%s", text)
	}
}

// print writes the importance, the calibration, the warnings and the next point.
func (m *shownModel) print(row func(name, format string, args ...any), bars bool, width int) {
	for _, o := range m.Objectives {
		title := "importance"
		if o.Unimportant != "" {
			row(title, "%s", o.Unimportant)
		} else if len(m.goals) > 0 && o.Importance != nil {
			row(title, "of the parameters for %s", o.Name)
			title = ""
		}
		for i, line := range importanceLines(o.Importance, bars, width) {
			row([]string{title, ""}[min(i, 1)], "%s", line)
		}
		if o.constrained {
			row("", "%s", plot.Constrained)
		}
	}
	for _, o := range slices.Concat(m.Objectives, m.Constraints) {
		if c := o.Calibration; c != nil {
			text := c.Summary
			if len(m.Objectives)+len(m.Constraints) > 1 {
				text = o.Name + ": " + text
			}
			if c.Verdict == insight.Miscalibrated {
				text += " bo check has the details."
			}
			row("calibration", "%s", text)
		}
	}
	for i, w := range m.Warnings {
		row([]string{"warnings", ""}[min(i, 1)], "%s", w)
	}
	m.printNext(row)
	if len(m.LeftOut) > 0 {
		text := strings.Join(m.LeftOut, ", ") + ": " + m.Reason
		if m.slow {
			text += ". Add --all."
		}
		row("left out", "%s", text)
	}
}

func (m *shownModel) printNext(row func(name, format string, args ...any)) {
	n := m.Next
	if n == nil {
		return
	}
	if n.Params != nil {
		text := paramsText(n.Params)
		if n.Trial > 0 {
			text = fmt.Sprintf("trial %d  %s", n.Trial, text)
		}
		row("next", "%s", text)
	}
	for i, r := range n.Reasons {
		name := ""
		if i == 0 {
			name = "because"
			if n.Params == nil {
				name = "next"
			}
		}
		row(name, "%s", r)
	}
}

// importanceLines describes the effects of the most important parameters, with bars on a terminal.
func importanceLines(effects []insight.Effect, bars bool, width int) []string {
	const most = 8
	longest := 0
	for _, e := range effects[:min(most, len(effects))] {
		longest = max(longest, min(24, len([]rune(e.Parameter))))
	}
	var lines []string
	for i, e := range effects {
		if i == most {
			lines = append(lines, fmt.Sprintf("and %s more", count(len(effects)-most, "parameter")))
			break
		}
		name := clip(e.Parameter, 24)
		line := name + strings.Repeat(" ", longest-len([]rune(name)))
		if math.IsNaN(float64(e.Total)) {
			lines = append(lines, line+"  "+e.Undefined())
			continue
		}
		line += fmt.Sprintf("  %.2f", float64(e.Total))
		if bars {
			most := max(10, min(40, width-13-longest-6-12))
			line += "  " + plot.Bar(float64(e.Total), most, true)
		}
		if e.Direction == insight.Increases || e.Direction == insight.Decreases {
			line += "  " + string(e.Direction)
		}
		lines = append(lines, line)
	}
	return lines
}
