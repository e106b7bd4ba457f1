package plot

import (
	"fmt"
	"math"
	"slices"

	"github.com/functionspace/bo/insight"
	"github.com/functionspace/bo/loop"
)

// mostPredicted is the largest number of trials whose predictions are drawn.
const mostPredicted = 300

// History draws the values, with their standard errors, in the order of the trials. It also draws the best
// value so far and the predictions that were made before the evaluations. The axis of values is logarithmic if
// they are positive and span two decades. Values far on the bad side are marked at the edge.
func History(steps []insight.Step, o Options) *Figure {
	f := newFigure("optimisation history", o)
	o = f.options
	var values, used []float64
	designEnd := math.NaN()
	for i, s := range steps {
		if finite(float64(s.Value)) {
			values = append(values, float64(s.Value))
		}
		if s.Source == loop.Suggested && math.IsNaN(designEnd) && i > 0 {
			designEnd = float64(s.Trial) - 0.5
		}
	}
	limit := fence(values, o.Maximize)
	for _, v := range values {
		if !worse(v, limit, o.Maximize) {
			used = append(used, v)
		}
	}
	uncertain := slices.DeleteFunc(slices.Clone(steps), func(s insight.Step) bool {
		return !(s.StandardError > 0) || worse(float64(s.Value), limit, o.Maximize)
	})
	for _, s := range uncertain {
		used = append(used, float64(s.Value-s.StandardError), float64(s.Value+s.StandardError))
	}
	predicted := predictedSteps(steps)
	y := valueAxis(o.Objective, spansDecades(used), used...)
	if !y.log {
		y = valueAxis(o.Objective, false, append(clipTo(predicted, y), used...)...)
	}
	marked := sortSteps(steps, limit, o.Maximize)
	p := &panel{x: trialAxis(len(steps), lastTrial(steps)), y: y, strip: marked.strip()}
	p.draw = func(g *graph) {
		g.vertical(designEnd, g.theme.Muted, 0.8, 3, 3)
		g.bars(len(predicted), func(i int) (x, low, high float64) {
			s := predicted[i]
			return float64(s.Trial), float64(s.Predicted.Interval.Low), float64(s.Predicted.Interval.High)
		}, g.theme.Band50, 2)
		mean := g.points(len(predicted), func(i int) (x, y float64) { return float64(predicted[i].Trial), float64(predicted[i].Predicted.Mean) })
		g.marks(mean, plus, g.theme.Mean, 2)
		g.bars(len(uncertain), func(i int) (x, low, high float64) {
			s := uncertain[i]
			return float64(s.Trial), float64(s.Value - s.StandardError), float64(s.Value + s.StandardError)
		}, g.theme.Evaluation, 0.8)
		bx, by := staircase(steps)
		g.curve(len(bx), func(i int) (x, y float64) { return bx[i], by[i] }, g.theme.Incumbent, 1.6)
		marked.draw(g, o.Maximize)
	}
	f.rows = [][]cell{{one(p)}}
	f.legend = entries(f.theme, marked.used())
	if slices.ContainsFunc(steps, func(s insight.Step) bool { return s.Incumbent }) {
		f.legend = append(f.legend, lineEntry("best so far", f.theme.Incumbent))
	}
	if len(uncertain) > 0 {
		f.legend = append(f.legend, lineEntry("standard error", f.theme.Evaluation))
	}
	if len(predicted) > 0 {
		f.legend = append(f.legend, entry{label: "prediction before, with 95 % interval", shape: plus, color: f.theme.Mean, under: f.theme.Band50})
	}
	if !math.IsNaN(designEnd) {
		f.legend = append(f.legend, lineEntry("end of initial design", f.theme.Muted, 3, 3))
	}
	return f
}

// trialAxis returns the axis of n trials up to a number.
func trialAxis(n, last int) axis {
	a := axis{label: "trial", lo: 1, hi: float64(max(2, n, last)), integer: true}
	a.pad(0.02)
	a.format = func(v float64) string {
		if v < 1 {
			return ""
		}
		return fmt.Sprintf("%.0f", v)
	}
	return a
}

func lastTrial(steps []insight.Step) int {
	if len(steps) == 0 {
		return 0
	}
	return steps[len(steps)-1].Trial
}

// predictedSteps returns the steps with predictions, or none if there are too many to draw.
func predictedSteps(steps []insight.Step) []insight.Step {
	var out []insight.Step
	for _, s := range steps {
		if s.Predicted != nil && finite(float64(s.Predicted.Mean)) {
			out = append(out, s)
		}
	}
	if len(out) > mostPredicted {
		return nil
	}
	return out
}

// clipTo returns the ends of the intervals that extend an axis by at most half of its length.
func clipTo(steps []insight.Step, a axis) []float64 {
	lo, hi := a.lo-(a.hi-a.lo)/2, a.hi+(a.hi-a.lo)/2
	var out []float64
	for _, s := range steps {
		for _, v := range []float64{float64(s.Predicted.Interval.Low), float64(s.Predicted.Interval.High)} {
			if finite(v) {
				out = append(out, min(max(v, lo), hi))
			}
		}
	}
	return out
}

// spansDecades reports positive values over at least two decades.
func spansDecades(values []float64) bool {
	return len(values) > 0 && slices.Min(values) >= smallest && slices.Max(values) >= 100*slices.Min(values)
}

// fence returns the value beyond which bad values are marked at the edge of the axis: the outer
// fence of Tukey, three interquartile ranges beyond the quartile. If no value lies ten times as far from the
// quartile as the quartiles from each other, it is infinity on the bad side.
func fence(values []float64, maximize bool) float64 {
	bad := math.Inf(1)
	if maximize {
		bad = math.Inf(-1)
	}
	if len(values) < 8 || spansDecades(values) {
		return bad
	}
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	q1, q3 := sorted[len(sorted)/4], sorted[len(sorted)*3/4]
	width := q3 - q1
	switch {
	case width == 0:
		return bad
	case !maximize && sorted[len(sorted)-1] > q3+10*width:
		return q3 + 3*width
	case maximize && sorted[0] < q1-10*width:
		return q1 - 3*width
	}
	return bad
}

// worse reports whether a value is on the bad side of a limit.
func worse(v, limit float64, maximize bool) bool {
	if maximize {
		return v < limit
	}
	return v > limit
}

// staircase returns the best value as a line of steps.
func staircase(steps []insight.Step) (x, y []float64) {
	last := math.NaN()
	for _, s := range steps {
		b := float64(s.Best)
		if finite(last) && b != last {
			x, y = append(x, float64(s.Trial)), append(y, last)
		}
		x, y = append(x, float64(s.Trial)), append(y, b)
		last = b
	}
	return x, y
}

// marked are trials by role, with x and, if they have a value, y.
type marked struct {
	x, y    [roles][]float64
	missing [roles][]float64 // x of trials without a value
}

func (m *marked) add(r role, x, y float64) {
	if finite(y) {
		m.x[r], m.y[r] = append(m.x[r], x), append(m.y[r], y)
	} else {
		m.missing[r] = append(m.missing[r], x)
	}
}

func (m *marked) used() (used [roles]bool) {
	for r := range roles {
		used[r] = len(m.x[r])+len(m.missing[r]) > 0
	}
	return used
}

// strip returns the roles of trials without a value.
func (m *marked) strip() []role {
	var out []role
	for r := range roles {
		if len(m.missing[r]) > 0 {
			out = append(out, r)
		}
	}
	return out
}

// draw draws the marks; values beyond the axis are at its bad edge.
func (m *marked) draw(g *graph, maximize bool) {
	for r := range roles {
		g.markRole(r, g.points(len(m.x[r]), func(i int) (x, y float64) {
			if r == beyond {
				if maximize {
					return m.x[r][i], g.y.lo
				}
				return m.x[r][i], g.y.hi
			}
			return m.x[r][i], m.y[r][i]
		}))
		g.markRole(r, g.below(r, m.missing[r]))
	}
}

// sortSteps returns the trials by role.
func sortSteps(steps []insight.Step, limit float64, maximize bool) *marked {
	m := &marked{}
	for _, s := range steps {
		x, y := float64(s.Trial), float64(s.Value)
		r := roleOf(s.State)
		switch {
		case r == evaluation && worse(y, limit, maximize):
			r = beyond
		case s.Incumbent:
			r = incumbent
		case r == evaluation && !s.Feasible:
			r = infeasible
		}
		m.add(r, x, y)
	}
	return m
}

// Hypervolume draws the hypervolume of several objectives after each trial.
func Hypervolume(volumes []insight.Volume, o Options) *Figure {
	f := newFigure("hypervolume history", o)
	p, m := hypervolumePanel(volumes)
	f.rows = [][]cell{{one(p)}}
	f.legend = append([]entry{lineEntry("hypervolume", f.theme.Front)}, entries(f.theme, m.used())...)
	return f
}

func hypervolumePanel(volumes []insight.Volume) (*panel, *marked) {
	values, last := []float64{0}, 0
	m := &marked{}
	for _, v := range volumes {
		values, last = append(values, float64(v.Hypervolume)), v.Trial
		switch r := roleOf(v.State); {
		case r != evaluation:
			m.add(r, float64(v.Trial), math.NaN())
		case v.Improved:
			m.add(incumbent, float64(v.Trial), float64(v.Hypervolume))
		}
	}
	p := &panel{x: trialAxis(len(volumes), last), y: valueAxis("hypervolume", false, values...), strip: m.strip()}
	p.draw = func(g *graph) {
		var xs, ys []float64
		for i, v := range volumes {
			if i > 0 {
				xs, ys = append(xs, float64(v.Trial)), append(ys, float64(volumes[i-1].Hypervolume))
			}
			xs, ys = append(xs, float64(v.Trial)), append(ys, float64(v.Hypervolume))
		}
		g.curve(len(xs), func(i int) (x, y float64) { return xs[i], ys[i] }, g.theme.Front, 1.6)
		m.draw(g, false)
	}
	return p, m
}
