package plot

import (
	"fmt"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/functionspace/bo/insight"
)

// MaxEffects is the largest number of parameters whose importance is drawn.
const MaxEffects = 40

// Constrained is the remark on the importance of a space with constraints on parameters.
const Constrained = "Numbers of points that violate a constraint on parameters change in proportion to meet it, where that is possible."

// Importance draws the total and first-order Sobol indices with their intervals, and the direction
// of each effect.
func Importance(effects []insight.Effect, o Options) *Figure {
	f := newFigure("importance of the parameters", o)
	shown := effects[:min(len(effects), MaxEffects)]
	if rest := len(effects) - len(shown); rest > 0 {
		f.subtitle = fmt.Sprintf("%d less important parameters are left out.", rest)
	}
	n := len(shown)
	p := &panel{x: axis{label: "part of the variance of " + f.options.Objective, lo: 0, hi: 1}, plain: true}
	intervals := false
	p.y = axis{lo: -0.5, hi: float64(max(1, n)) - 0.5}
	for i := range shown { // the first is on top
		e := shown[n-1-i]
		p.y.names = append(p.y.names, e.Parameter)
		for _, v := range []insight.Number{e.Total, e.TotalInterval.High, e.FirstInterval.High} {
			if finite(float64(v)) {
				p.x.hi = max(p.x.hi, float64(v))
			}
		}
		intervals = intervals || finite(float64(e.TotalInterval.Low))
	}
	if intervals && f.subtitle == "" {
		f.subtitle = "Bars: the posterior mean. Intervals: draws of the posterior, which also vary where the mean is flat."
	}
	if o.Constrained {
		f.subtitle = strings.TrimSpace(f.subtitle + " " + Constrained)
	}
	p.x.hi *= 1.02
	p.draw = func(g *graph) {
		height := min(26, 0.72*(g.Max.Y-g.Min.Y)/vg.Length(max(1, n)))
		for i := range shown {
			drawEffect(g, &shown[i], f.options.Objective, g.Y(p.y.place(float64(n-1-i))), height)
		}
	}
	f.rows = [][]cell{{one(p)}}
	t := f.theme
	f.legend = []entry{bandEntry("total effect, with interactions", t.Band50), bandEntry("effect of the parameter alone", t.Mean)}
	if intervals {
		f.legend = append(f.legend, lineEntry("90 % interval", t.Evaluation))
	}
	f.height = max(defaultHeight, 150+24*n)
	return f
}

func drawEffect(g *graph, e *insight.Effect, objective string, y, height vg.Length) {
	if !finite(float64(e.Total)) || !finite(float64(e.First)) {
		g.text(e.Undefined(), g.Min.X+6, y, textStyle{size: tickSize, color: g.theme.Muted, y: draw.YCenter})
		return
	}
	x := func(v float64) vg.Length { return g.X(min(1, max(0, g.x.place(v)))) }
	g.box(g.Min.X, y-height/2, x(float64(e.Total)), y+height/2, g.theme.Band50)
	g.box(g.Min.X, y-height/4, x(float64(e.First)), y+height/4, g.theme.Mean)
	end := x(float64(e.Total))
	for k, interval := range []insight.Interval{e.TotalInterval, e.FirstInterval} {
		if !finite(float64(interval.Low)) {
			continue
		}
		at := y + []vg.Length{0.375, 0}[k]*height
		lo, hi := x(float64(interval.Low)), x(float64(interval.High))
		g.line([]vg.Point{{X: lo, Y: at}, {X: hi, Y: at}}, g.theme.Evaluation, 1)
		for _, v := range []vg.Length{lo, hi} {
			g.line([]vg.Point{{X: v, Y: at - 2}, {X: v, Y: at + 2}}, g.theme.Evaluation, 1)
		}
		end = max(end, hi)
	}
	words := map[insight.Direction]string{
		insight.Increases: "increases " + objective, insight.Decreases: "decreases " + objective, insight.Mixed: "no single direction",
	}[e.Direction]
	if words == "" || height < 6 || !finite(float64(e.Correlation)) { // categories have no order
		return
	}
	style := textStyle{size: tickSize, color: g.theme.Muted, y: draw.YCenter}
	if width := widthOf(words, tickSize); end+6+width > g.Max.X {
		if x(float64(e.First))+10+width > x(float64(e.Total)) {
			return // no room beside the bar and none in it
		}
		style.x, style.color = draw.XRight, g.theme.Text
		g.text(words, x(float64(e.Total))-5, y-height/2+height/4-height/8, style)
		return
	}
	g.text(words, end+6, y, style)
}
