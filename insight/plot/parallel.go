package plot

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/functionspace/bo/insight"
	"github.com/functionspace/bo/internal/palette"
	"github.com/functionspace/bo/loop"
)

// MaxLines is the largest number of lines in parallel coordinates. Of more trials the best half of
// MaxLines and equally spaced others are drawn.
const MaxLines = 600

// Parallel draws every trial as a line over the parameters and the objective. The colour of a
// line is its rank. A trial that lacks a value, because a parameter is inactive or the trial has no
// result, passes below the axis.
func Parallel(p insight.Parallel, o Options) *Figure {
	f := newFigure("parallel coordinates", o)
	o = f.options
	lines := slices.Clone(p.Lines)
	slices.SortStableFunc(lines, func(a, b insight.ParallelLine) int { // the best last, trials without a rank first
		return cmp.Compare(rankOr(b), rankOr(a))
	})
	if n := len(lines); n > MaxLines {
		best := lines[n-MaxLines/2:]
		var rest []insight.ParallelLine
		for k := range MaxLines / 2 {
			rest = append(rest, lines[k*(n-MaxLines/2)/(MaxLines/2)])
		}
		lines = append(rest, best...)
		f.subtitle = fmt.Sprintf("%d of %d trials: the best %d and others equally spaced in their order of rank.", MaxLines, n, MaxLines/2)
	}
	d := &parallel{lines: lines, maximize: o.Maximize}
	for _, a := range p.Axes {
		d.axes = append(d.axes, parameterAxis(a))
	}
	var values []float64
	for _, l := range p.Lines {
		values = append(values, float64(l.Value))
		d.states[roleOf(l.State)] = true
	}
	finiteValues := slices.DeleteFunc(values, func(v float64) bool { return !finite(v) })
	d.axes = append(d.axes, valueAxis(o.Objective, spansDecades(finiteValues), finiteValues...))
	f.rows = [][]cell{{one(&panel{title: "", draw: d.draw, bare: true})}}
	f.legend = d.legend(f.theme)
	return f
}

// rankOr returns the rank of a line; a trial without one comes before the worst.
func rankOr(l insight.ParallelLine) float64 {
	if r := float64(l.Rank); finite(r) {
		return r
	}
	return 2
}

// parallel is the content of the panel.
type parallel struct {
	axes     []axis
	lines    []insight.ParallelLine
	states   [roles]bool
	maximize bool
}

// rankColour returns the colour of a rank from 0, the best, to 1. The best contrasts with the
// background most.
func rankColour(rank float64, t palette.Theme) color.NRGBA {
	if t == palette.Dark {
		return palette.Sequential(1 - 0.85*rank)
	}
	return palette.Sequential(0.9 * rank)
}

func (d *parallel) legend(t palette.Theme) []entry {
	out := []entry{lineEntry("best", rankColour(0, t)), lineEntry("median", rankColour(0.5, t)), lineEntry("worst", rankColour(1, t))}
	for _, r := range []role{failure, pending, stopped} {
		if d.states[r] {
			e := r.look(t)
			e.shape, e.line, e.dashes = noMark, true, []vg.Length{3, 2}
			out = append(out, e)
		}
	}
	return out
}

// side is the room for labels beside the first and the last axis.
const side = vg.Length(52)

func (d *parallel) draw(g *graph) {
	const head, foot = vg.Length(14), vg.Length(22)
	left, right := g.Min.X+side, g.Max.X-side
	top := g.Max.Y - head
	x := func(k int) vg.Length {
		if len(d.axes) == 1 {
			return (left + right) / 2
		}
		return left + (right-left)*vg.Length(k)/vg.Length(len(d.axes)-1)
	}
	bottom := g.Min.Y + foot
	y := func(t float64) vg.Length { return bottom + (top-bottom)*vg.Length(min(1, max(0, t))) }
	low := g.Min.Y + 6
	width := min(1.4, max(0.5, 60/vg.Length(max(1, len(d.lines)))))
	for _, l := range d.lines {
		var points []vg.Point
		for k := range d.axes {
			v := float64(l.Value)
			if k < len(d.axes)-1 {
				v = d.axes[k].number(l.Values[k])
			}
			at := vg.Point{X: x(k), Y: low}
			if t := d.axes[k].place(v); finite(t) {
				at.Y = y(t)
			}
			points = append(points, at)
		}
		if r := roleOf(l.State); r != evaluation {
			g.line(points, r.look(g.theme).color, 0.9, 3, 2)
			continue
		}
		w := width
		if l.Rank == 0 {
			w = 2
		}
		g.line(points, rankColour(math.Max(0, float64(l.Rank)), g.theme), w)
	}
	room := (right - left) / vg.Length(max(1, len(d.axes)-1))
	for k := range d.axes {
		d.axis(g, k, x(k), y, room, low)
	}
}

// axis draws the k-th axis with its name and ticks.
func (d *parallel) axis(g *graph, k int, x vg.Length, y func(float64) vg.Length, room, low vg.Length) {
	a := &d.axes[k]
	g.line([]vg.Point{{X: x, Y: y(0)}, {X: x, Y: y(1)}}, g.theme.Muted, 1)
	if d.missing(k) {
		g.line([]vg.Point{{X: x - 4, Y: low}, {X: x + 4, Y: low}}, g.theme.Muted, 1)
		text := "inactive"
		if k == len(d.axes)-1 {
			text = "no value"
		}
		g.text(text, x+7, low, textStyle{size: tickSize, color: g.theme.Muted, y: draw.YCenter})
	}
	size, align := tickSize, draw.XCenter
	name := shorten(a.label, size, room-4)
	half := widthOf(name, size) / 2
	at := x
	if at-half < g.Min.X {
		at, align = g.Min.X, draw.XLeft
	} else if at+half > g.Max.X {
		at, align = g.Max.X, draw.XRight
	}
	g.text(name, at, y(1)+5, textStyle{size: size, x: align})
	for _, t := range a.ticks(y(1)-y(0), func(string) vg.Length { return tickSize * 2.4 }) {
		if t.label == "" {
			continue
		}
		label := shorten(t.label, tickSize, min(room-8, side-8))
		w := widthOf(label, tickSize)
		left := x + 4
		if k == 0 && len(d.axes) > 1 {
			left = x - 4 - w
		}
		ground := g.theme.Background
		ground.A = 205
		middle := y(a.place(t.at))
		g.line([]vg.Point{{X: x - 2.5, Y: middle}, {X: x + 2.5, Y: middle}}, g.theme.Muted, 1)
		g.box(left-1, middle-tickSize*0.6, left+w+1, middle+tickSize*0.6, ground)
		g.text(label, left, middle, textStyle{size: tickSize, y: draw.YCenter})
	}
}

// missing reports whether a line has no value on the k-th axis.
func (d *parallel) missing(k int) bool {
	return slices.ContainsFunc(d.lines, func(l insight.ParallelLine) bool {
		if k == len(d.axes)-1 {
			return l.State != loop.Complete
		}
		return l.Values[k] == nil
	})
}
