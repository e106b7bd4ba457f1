package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/functionspace/bo/insight"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/store"
)

const (
	// showTime is the time after which bo study show prints the parts that are ready.
	showTime = 700 * time.Millisecond
	// maxShown is the largest number of finished trials for which bo study show fits the surrogate
	// model without --all. A fit to more rarely ends within showTime.
	maxShown = 700
)

// shownModel is the part of bo study show that needs a fit.
type shownModel struct {
	Recommended *recommended      `json:"recommended,omitempty"`
	Objectives  []*shownObjective `json:"objectives"`
	Next        *shownNext        `json:"next,omitempty"`
	Warnings    []string          `json:"warnings,omitempty"`
	LeftOut     []string          `json:"left_out,omitempty"` // parts that are not ready

	Reason string `json:"reason,omitempty"` // why parts are left out

	all bool
}

// shownObjective describes the model of one objective.
type shownObjective struct {
	Name        string            `json:"name"`
	Calibration *shownCalibration `json:"calibration,omitempty"`
	Importance  []insight.Effect  `json:"importance,omitempty"`
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

// modelShower computes the parts of a shownModel in their order of value to the reader.
type modelShower struct {
	in     *inspection
	brief  *store.View
	name   string // of a single objective
	all    bool
	ready  chan func(*shownModel)
	next   chan *shownNext // closed without a value after an error
	failed chan error
}

// showModel returns the parts that are ready within limit, or all parts.
func showModel(e *env, u *store.Study, v *store.View, all bool, limit time.Duration) (*shownModel, error) {
	if n := finishedTrials(v); !all && n > maxShown {
		return &shownModel{
			Objectives: []*shownObjective{}, LeftOut: []string{partRecommended, partCalibration, partNext, partReasons, partImportance},
			Reason: fmt.Sprintf("with %d finished trials it takes longer than a second", n),
		}, nil
	}
	in, err := newInspection(e.ctx, u)
	if err != nil {
		return nil, err
	}
	s := &modelShower{
		in: in, brief: v, name: v.Definition.Objective().Name, all: all,
		ready: make(chan func(*shownModel)), next: make(chan *shownNext, 1), failed: make(chan error, 2),
	}
	m := &shownModel{Objectives: []*shownObjective{}, all: s.all, LeftOut: []string{partNext}}
	if in.complete > 0 {
		m.LeftOut = []string{partRecommended, partCalibration, partNext, partReasons, partImportance}
	}
	if text := in.conflicts(); text != "" {
		m.Warnings = append(m.Warnings, text)
	}
	if text := in.bounded(); text != "" && s.all {
		m.Warnings = append(m.Warnings, text)
	}
	ctx, cancel := context.WithCancel(e.ctx)
	defer cancel()
	var late <-chan time.Time
	if s.all {
		var stop func()
		ctx, stop = watch(ctx, e.stderr, in.finished)
		defer stop()
	} else {
		timer := time.NewTimer(limit)
		defer timer.Stop()
		late = timer.C
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.work(ctx)
	}()
	for {
		select {
		case add := <-s.ready:
			add(m)
		case <-done:
			select {
			case err := <-s.failed:
				if e.ctx.Err() != nil {
					return nil, e.ctx.Err()
				}
				m.Reason = "the fit failed: " + oneLine(err.Error())
				return m, nil
			default:
				return m, e.ctx.Err()
			}
		case <-late:
			m.Reason = "they take longer than a second"
			return m, nil
		case <-e.ctx.Done():
			return nil, e.ctx.Err()
		}
	}
}

// work computes the parts. The proposal is computed beside the fit for display.
func (s *modelShower) work(ctx context.Context) {
	defer func() {
		if fault := recover(); fault != nil {
			s.failed <- internalError(fault)
		}
	}()
	go s.propose(ctx)
	if s.in.complete == 0 {
		s.send(ctx, func(m *shownModel) {
			for _, name := range s.in.objectives() {
				m.objective(s.named(name)).Calibration = &shownCalibration{insight.TooFew, insight.Unchecked(0).Summary, []insight.Finding{}}
			}
		})
		s.explainNext(ctx, nil)
		return
	}
	var views []*loop.View
	for _, name := range s.in.objectives() {
		v, err := s.in.view(ctx, name)
		if err != nil {
			s.failed <- err
			return
		}
		views = append(views, v)
		if err := s.calibrate(ctx, v, name); err != nil {
			s.failed <- err
			return
		}
	}
	s.send(ctx, func(m *shownModel) { m.done(partCalibration) })
	s.explainNext(ctx, views)
	o := insight.ImportanceOptions{Points: 512, Paths: -1}
	if s.all {
		o = insight.ImportanceOptions{}
	}
	for _, v := range views {
		effects, err := insight.Importance(ctx, v, o)
		if err != nil {
			s.failed <- err
			return
		}
		s.send(ctx, func(m *shownModel) { m.objective(s.named(v.Objective)).Importance = effects })
	}
	s.send(ctx, func(m *shownModel) { m.done(partImportance) })
}

func (s *modelShower) named(objective string) string {
	if objective == "" {
		return s.name
	}
	return objective
}

func (s *modelShower) send(ctx context.Context, add func(*shownModel)) {
	select {
	case s.ready <- add:
	case <-ctx.Done():
	}
}

// objective returns the entry of an objective, which it adds if there is none.
func (m *shownModel) objective(name string) *shownObjective {
	i := slices.IndexFunc(m.Objectives, func(o *shownObjective) bool { return o.Name == name })
	if i < 0 {
		i = len(m.Objectives)
		m.Objectives = append(m.Objectives, &shownObjective{Name: name})
	}
	return m.Objectives[i]
}

// done removes a part from LeftOut.
func (m *shownModel) done(part string) {
	m.LeftOut = slices.DeleteFunc(m.LeftOut, func(p string) bool { return p == part })
}

// calibrate adds the recommendation, the warnings and the verdict of a fit.
func (s *modelShower) calibrate(ctx context.Context, v *loop.View, name string) error {
	best := insight.Incumbent(v)
	params, err := json.Marshal(best.Point)
	if err != nil {
		return err
	}
	r := &recommended{Trial: best.Trial, Params: params, Mean: float64(best.Prediction.Mean), SD: float64(best.Prediction.SD)}
	s.send(ctx, func(m *shownModel) {
		for _, w := range v.Fit.Warnings {
			if !slices.Contains(m.Warnings, w) {
				m.Warnings = append(m.Warnings, w)
			}
		}
		if name == "" {
			m.Recommended = r
		}
		m.done(partRecommended)
	})
	h, err := insight.Check(ctx, v)
	if err != nil {
		return err
	}
	s.send(ctx, func(m *shownModel) {
		m.objective(s.named(name)).Calibration = &shownCalibration{h.Verdict, h.Summary, h.Findings}
	})
	return nil
}

// propose determines the next point: the first waiting trial, or a proposal.
func (s *modelShower) propose(ctx context.Context) {
	defer close(s.next)
	defer func() {
		if fault := recover(); fault != nil {
			s.failed <- internalError(fault)
		}
	}()
	for i := range s.brief.Trials {
		t := &s.brief.Trials[i]
		if t.State == store.Pending && !t.Running(s.brief.Now) {
			s.next <- &shownNext{Trial: t.Number, Params: t.Params, Source: t.Source, point: s.brief.Points[i]}
			return
		}
	}
	p, err := loop.Propose(ctx, s.in.space, s.in.options, s.in.history, 1)
	switch {
	case errors.Is(err, loop.ErrExhausted):
		s.next <- &shownNext{Reasons: []string{"There is none: every point of the space has been tried."}}
	case err != nil:
		s.failed <- err
	default:
		point := p.Points[0].Point
		params, err := json.Marshal(point)
		if err != nil {
			s.failed <- err
			return
		}
		next := &shownNext{Params: params, Source: p.Points[0].Source, point: point}
		if p.Points[0].Local {
			next.Reasons = []string{"The model of the trials near the best one chose it (--local)."}
		}
		s.next <- next
	}
}

// explainNext adds the next point and its reasons, from the views of all objectives.
func (s *modelShower) explainNext(ctx context.Context, views []*loop.View) {
	n, ok := <-s.next
	if !ok {
		return
	}
	if text := sourceText(n); text != "" {
		n.Reasons = append(n.Reasons, text)
	}
	s.send(ctx, func(m *shownModel) { m.Next = n; m.done(partNext) })
	reasons := slices.Clone(n.Reasons)
	if n.point.Space() != nil {
		text, err := insight.Explain(views, n.point)
		if err != nil {
			s.failed <- err
			return
		}
		reasons = append(reasons, text...)
	}
	s.send(ctx, func(m *shownModel) {
		next := *n
		next.Reasons = reasons
		m.Next = &next
		m.done(partReasons)
	})
}

// sourceText explains a point that the acquisition function did not choose.
func sourceText(n *shownNext) string {
	switch n.Source {
	case loop.Design:
		return "It is a point of the initial design."
	case loop.First:
		return "It is a point to try first, from the definition of the study."
	case loop.Enqueued:
		return "It was enqueued."
	}
	return ""
}

// printRecommended writes the recommendation.
func (m *shownModel) printRecommended(row func(name, format string, args ...any)) {
	if r := m.Recommended; r != nil {
		row("recommended", "trial %d  predicted %s ± %s", r.Trial, short(r.Mean), shorter(r.SD))
	}
}

// print writes the importance, the calibration, the warnings and the next point.
func (m *shownModel) print(row func(name, format string, args ...any), bars bool, width int) {
	for _, o := range m.Objectives {
		suffix := ""
		if len(m.Objectives) > 1 {
			suffix = o.Name + ": "
		}
		if o.Importance != nil {
			if suffix != "" {
				row("importance", "of the parameters for %s", o.Name)
			}
			for i, line := range importanceLines(o.Importance, bars, width) {
				row([]string{"importance", ""}[min(i+len(suffix), 1)], "%s", line)
			}
		}
		if c := o.Calibration; c != nil {
			text := c.Summary
			if c.Verdict == insight.Miscalibrated {
				text += " bo check has the details."
			}
			row("calibration", "%s%s", suffix, text)
		}
	}
	for i, w := range m.Warnings {
		row([]string{"warnings", ""}[min(i, 1)], "%s", w)
	}
	if n := m.Next; n != nil {
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
	if len(m.LeftOut) > 0 {
		text := strings.Join(m.LeftOut, ", ") + ": " + m.Reason
		if !m.all {
			text += ". Add --all."
		}
		row("left out", "%s", text)
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
			lines = append(lines, line+"  undefined: the prediction is constant")
			continue
		}
		line += fmt.Sprintf("  %.2f", float64(e.Total))
		if bars {
			most := max(10, min(40, width-13-longest-6-12))
			line += "  " + bar(float64(e.Total), most)
		}
		if e.Direction == insight.Increases || e.Direction == insight.Decreases {
			line += "  " + string(e.Direction)
		}
		lines = append(lines, line)
	}
	return lines
}

// bar returns a bar of at most width columns, padded by blanks, for a part between 0 and 1.
func bar(part float64, width int) string {
	const eighths = " ▏▎▍▌▋▊▉"
	n := int(min(1, max(0, part))*float64(8*width) + 0.5)
	text := strings.Repeat("█", n/8)
	if n%8 > 0 {
		text += string([]rune(eighths)[n%8])
	}
	return text + strings.Repeat(" ", width-len([]rune(text)))
}

// shorter writes a number with two digits.
func shorter(x float64) string { return fmt.Sprintf("%.2g", x) }
