package plot

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/functionspace/bo/insight"
)

// mostIntervals is the largest number of predictions whose intervals are drawn.
const mostIntervals = 400

// Calibration draws the values of the trials against predictions from the other trials with intervals of 95 %.
// It also draws a probability plot and the coverage of intervals. The verdict is below the title.
func Calibration(c *insight.Calibration, o Options) *Figure {
	f := newFigure("calibration of the surrogate model", o)
	if c.Health != nil {
		f.subtitle = c.Health.Summary
	}
	pairs := make([]Pair, len(c.Predictions))
	for i, p := range c.Predictions {
		pairs[i] = Pair{float64(p.Value), float64(p.Mean), float64(p.P95.Low), float64(p.P95.High), float64(p.PIT)}
	}
	what := "predicted from the other trials"
	f.comparison(pairs, c.Coverage, f.options.Objective, what)
	return f
}

// Pair is a target and its prediction.
type Pair struct {
	Target    float64
	Mean      float64
	Low, High float64 // central interval of 95 %, with the noise
	// PIT is the predicted probability of a smaller target.
	PIT float64
}

// Predictions draws targets against predictions with intervals of 95 %, a probability plot and the
// coverage of intervals, of held-out data.
func Predictions(pairs []Pair, coverage []insight.Coverage, o Options) *Figure {
	f := newFigure("predictions of held-out data", o)
	f.comparison(pairs, coverage, f.options.Objective, "predicted")
	return f
}

// comparison sets the three panels.
func (f *Figure) comparison(pairs []Pair, coverage []insight.Coverage, objective, what string) {
	f.rows = [][]cell{{
		{panels: []*panel{comparisonPanel(pairs, objective, what)}, shares: []float64{1}, width: 0.58},
		{panels: []*panel{probabilityPanel(pairs), coveragePanel(coverage)}, shares: []float64{0.58, 0.42}, width: 0.42},
	}}
	t := f.theme
	f.legend = []entry{
		evaluation.look(t), lineEntry("95 % interval", t.Band50), lineEntry("calibrated", t.Incumbent, 4, 2),
		bandEntry("95 % band of calibrated models, pointwise", t.Grid),
	}
	f.legend[0].label = "observed against predicted"
}

func comparisonPanel(pairs []Pair, objective, what string) *panel {
	var values, ends []float64
	for _, p := range pairs {
		values, ends = append(values, p.Target, p.Mean), append(ends, p.Low, p.High)
	}
	a := valueAxis("", spansDecades(values), values...)
	if !a.log { // intervals may extend the axes by half
		lo, hi := a.lo-(a.hi-a.lo)/2, a.hi+(a.hi-a.lo)/2
		for _, v := range ends {
			if finite(v) {
				values = append(values, min(max(v, lo), hi))
			}
		}
		a = valueAxis("", false, values...)
	}
	p := &panel{x: a, y: a}
	p.x.label, p.y.label = objective+", "+what, objective+", observed"
	p.draw = func(g *graph) {
		g.curve(2, func(i int) (x, y float64) { v := []float64{a.lo, a.hi}[i]; return v, v }, g.theme.Incumbent, 1.2, 4, 2)
		if len(pairs) <= mostIntervals {
			g.spans(pairs)
		}
		g.markRole(evaluation, g.points(len(pairs), func(i int) (x, y float64) { return pairs[i].Mean, pairs[i].Target }))
	}
	return p
}

// spans draws the intervals of the predictions, which lie along x.
func (g *graph) spans(pairs []Pair) {
	var path vg.Path
	for _, p := range pairs {
		a, b := g.at(g.x.above(p.Low), p.Target), g.at(p.High, p.Target)
		if !finite(float64(a.X)) || !finite(float64(b.X)) || !g.inside(vg.Point{X: g.Min.X, Y: a.Y}) {
			continue
		}
		a.X, b.X = max(a.X, g.Min.X), min(b.X, g.Max.X)
		path.Move(a)
		path.Line(b)
	}
	if path != nil {
		g.SetLineStyle(draw.LineStyle{Color: g.theme.Band50, Width: 1.4})
		g.Stroke(path)
	}
}

// probabilityPanel compares the sorted probability integral transforms with uniform quantiles.
// The k-th of n has a beta distribution under a calibrated model; its 95 % interval is shaded, by the
// normal approximation.
func probabilityPanel(pairs []Pair) *panel {
	var pit []float64
	for _, p := range pairs {
		if finite(p.PIT) {
			pit = append(pit, p.PIT)
		}
	}
	slices.Sort(pit)
	unit := axis{lo: 0, hi: 1}
	p := &panel{x: unit, y: unit}
	p.x.label, p.y.label = "uniform quantile", "predicted probability"
	n := len(pit)
	p.draw = func(g *graph) {
		const steps = 50
		g.band(steps+1, func(i int) (x, low, high float64) {
			x = float64(i) / steps
			d := 1.96 * math.Sqrt(x*(1-x)/float64(max(1, n)+2))
			return x, max(0, x-d), min(1, x+d)
		}, g.theme.Grid)
		g.curve(2, func(i int) (x, y float64) { return float64(i), float64(i) }, g.theme.Incumbent, 1.2, 4, 2)
		g.markRole(evaluation, g.points(n, func(i int) (x, y float64) { return (float64(i) + 0.5) / float64(n), pit[i] }))
	}
	return p
}

// coveragePanel draws observed coverages as bars with the nominal ones.
func coveragePanel(coverage []insight.Coverage) *panel {
	percent := func(v float64) string { return fmt.Sprintf("%.0f %%", 100*v) }
	p := &panel{x: axis{label: "nominal coverage of intervals", lo: -0.5, hi: float64(max(1, len(coverage))) - 0.5, names: []string{}}, y: axis{label: "observed", lo: 0, hi: 1.16, format: func(v float64) string {
		if v > 1.01 {
			return ""
		}
		return percent(v)
	}}}
	sorted := slices.Clone(coverage)
	slices.SortFunc(sorted, func(a, b insight.Coverage) int { return cmp.Compare(a.Nominal, b.Nominal) })
	for _, c := range sorted {
		p.x.names = append(p.x.names, percent(c.Nominal))
	}
	p.draw = func(g *graph) {
		width := min(34, 0.6*(g.Max.X-g.Min.X)/vg.Length(max(1, len(sorted))))
		for i, c := range sorted {
			at := g.at(float64(i), float64(c.Observed))
			if !finite(float64(at.Y)) {
				continue
			}
			g.box(at.X-width/2, g.Min.Y, at.X+width/2, at.Y, g.theme.Band50)
			nominal := g.Y(g.y.place(c.Nominal))
			g.line([]vg.Point{{X: at.X - width*0.65, Y: nominal}, {X: at.X + width*0.65, Y: nominal}}, g.theme.Incumbent, 1.4, 4, 2)
			g.text(percent(float64(c.Observed)), at.X, max(at.Y, nominal)+3, textStyle{size: tickSize, x: draw.XCenter})
		}
	}
	return p
}
