package plot

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/functionspace/bo/insight"
	"github.com/functionspace/bo/internal/palette"
	"github.com/functionspace/bo/loop"
)

// MaxLines is the largest number of lines in parallel coordinates. Of more trials the best half of
// MaxLines and equally spaced others are drawn.
const MaxLines = 600

// Parallel draws every trial as a line over the parameters and the objectives. The colour of a
// line is its rank; infeasible trials are dashed and have none. A trial that lacks a value, because a parameter is inactive or the trial has no
// result, passes below the axis. Of more parameters than have room those are drawn that
// insight.Parallel.Strongest selects.
func Parallel(p insight.Parallel, o Options) *Figure {
	f := newFigure("parallel coordinates", o)
	lines := slices.Clone(p.Lines)
	slices.SortStableFunc(lines, func(a, b insight.ParallelLine) int { // the first best trial last, trials without a rank first
		return cmp.Or(cmp.Compare(rankOr(b), rankOr(a)), cmp.Compare(b.Trial, a.Trial))
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
	d := &parallel{lines: lines, several: p.Objectives != nil}
	results := resultAxes(p, f.options.Objective)
	d.shown = p.Strongest(max(1, f.mostAxes()-len(results)))
	if rest := len(p.Axes) - len(d.shown); rest > 0 {
		f.subtitle = strings.TrimSpace(f.subtitle + fmt.Sprintf(" %d of %d parameters: those that separate good from bad trials best.", len(d.shown), len(p.Axes)))
	}
	for _, k := range d.shown {
		d.axes = append(d.axes, parameterAxis(p.Axes[k]))
	}
	d.axes = append(d.axes, results...)
	for _, l := range p.Lines {
		d.states[lineRole(&l)] = true
	}
	f.rows = [][]cell{{one(&panel{title: "", draw: d.draw, bare: true})}}
	f.legend = d.legend(f.theme)
	return f
}

// resultAxes returns the axis of the only objective, which has a name, or the axes of several.
func resultAxes(p insight.Parallel, name string) []axis {
	if p.Objectives == nil {
		var values []float64
		for _, l := range p.Lines {
			values = append(values, float64(l.Value))
		}
		return []axis{resultAxis(name, values)}
	}
	var out []axis
	for k, g := range p.Objectives {
		var values []float64
		for _, l := range p.Lines {
			values = append(values, float64(l.Numbers[k]))
		}
		out = append(out, resultAxis(g.Name, values))
	}
	return out
}

func resultAxis(name string, values []float64) axis {
	values = slices.DeleteFunc(values, func(v float64) bool { return !finite(v) })
	return valueAxis(name, spansDecades(values), values...)
}

// side is the room for labels beside the first and the last axis, and nearest the least distance of axes.
const side, nearest = vg.Length(52), vg.Length(42)

// mostAxes returns the number of axes that have room.
func (f *Figure) mostAxes() int {
	width, _, err := f.size()
	if err != nil {
		return 2
	}
	return 1 + max(1, int((width-2*margin-2*side)/nearest))
}

// rankOr returns the rank of a line; a trial without one comes before the worst.
func rankOr(l insight.ParallelLine) float64 {
	if r := float64(l.Rank); finite(r) {
		return r
	}
	return 2
}

// lineRole returns the role of a line.
func lineRole(l *insight.ParallelLine) role {
	if l.State == loop.Complete && !l.Feasible {
		return infeasible
	}
	return roleOf(l.State)
}

// parallel is the content of the panel.
type parallel struct {
	axes    []axis // of the shown parameters and of the objectives
	shown   []int  // indices of the parameters
	lines   []insight.ParallelLine
	states  [roles]bool
	several bool // objectives
}

// value returns the place of a trial on the k-th axis, NaN without a value.
func (d *parallel) value(l *insight.ParallelLine, k int) float64 {
	a := &d.axes[k]
	switch {
	case k < len(d.shown):
		return a.place(a.number(l.Values[d.shown[k]]))
	case d.several:
		return a.place(float64(l.Numbers[k-len(d.shown)]))
	}
	return a.place(float64(l.Value))
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
	var out []entry
	if d.states[evaluation] {
		out = []entry{lineEntry("best", rankColour(0, t)), lineEntry("median", rankColour(0.5, t)), lineEntry("worst", rankColour(1, t))}
		if d.several {
			out[0].label, out[2].label = "Pareto front", "dominated by most"
		}
	}
	for _, r := range []role{infeasible, failure, lost, pending, stopped} {
		if d.states[r] {
			e := r.look(t)
			e.shape, e.line, e.dashes = noMark, true, []vg.Length{3, 2}
			out = append(out, e)
		}
	}
	return out
}

func (d *parallel) draw(g *graph) {
	const foot = vg.Length(22)
	left, right := g.Min.X+side, g.Max.X-side
	room := (right - left) / vg.Length(max(1, len(d.axes)-1))
	x := func(k int) vg.Length {
		if len(d.axes) == 1 {
			return (left + right) / 2
		}
		return left + room*vg.Length(k)
	}
	top := g.Max.Y - d.heads(g, x, room)
	bottom := g.Min.Y + foot
	y := func(t float64) vg.Length { return bottom + (top-bottom)*vg.Length(min(1, max(0, t))) }
	low := g.Min.Y + 6
	width := min(1.4, max(0.5, 60/vg.Length(max(1, len(d.lines)))))
	for i := range d.lines {
		l := &d.lines[i]
		var points []vg.Point
		for k := range d.axes {
			at := vg.Point{X: x(k), Y: low}
			if t := d.value(l, k); finite(t) {
				at.Y = y(t)
			}
			points = append(points, at)
		}
		if r := lineRole(l); r != evaluation {
			g.line(points, r.look(g.theme).color, 0.9, 3, 2)
			continue
		}
		w := width
		if i == len(d.lines)-1 && !d.several {
			w = 2
		}
		g.line(points, rankColour(math.Max(0, float64(l.Rank)), g.theme), w)
	}
	for k := range d.axes {
		d.axis(g, k, x(k), y, room, low)
	}
}

// heads draws the names of the axes at the top and returns their height. Names that are wider than the
// distance of two axes are tilted.
func (d *parallel) heads(g *graph, x func(int) vg.Length, room vg.Length) vg.Length {
	var names []string
	crowded := false
	for k := range d.axes {
		names = append(names, d.axes[k].label+d.axes[k].relative())
		w := widthOf(names[k], tickSize)
		crowded = crowded || w > min(room, 2*(x(k)-g.Min.X), 2*(g.Max.X-x(k)))-4
	}
	if !crowded {
		for k, name := range names {
			g.text(name, x(k), g.Max.Y-tickSize, textStyle{size: tickSize, x: draw.XCenter})
		}
		return tickSize + 5
	}
	cos, sin := vg.Length(math.Cos(tilt)), vg.Length(math.Sin(tilt))
	names = abbreviate(names, tickSize, min(widest, (g.Max.Y-g.Min.Y)/3/sin))
	for k := range names {
		names[k] = shorten(names[k], tickSize, (g.Max.X-x(k))/cos)
	}
	height := longest(names)*sin + tickSize
	for k, name := range names {
		g.text(name, x(k), g.Max.Y-height+5, textStyle{size: tickSize, rotation: tilt})
	}
	return height
}

// axis draws the k-th axis with its ticks.
func (d *parallel) axis(g *graph, k int, x vg.Length, y func(float64) vg.Length, room, low vg.Length) {
	a := &d.axes[k]
	g.line([]vg.Point{{X: x, Y: y(0)}, {X: x, Y: y(1)}}, g.theme.Muted, 1)
	if d.missing(k) {
		g.line([]vg.Point{{X: x - 4, Y: low}, {X: x + 4, Y: low}}, g.theme.Muted, 1)
		text := "inactive"
		if k >= len(d.shown) {
			text = "no value"
		}
		g.text(text, x+7, low, textStyle{size: tickSize, color: g.theme.Muted, y: draw.YCenter})
	}
	names := abbreviate(a.names, tickSize, min(room, side)-8)
	for _, t := range a.ticks(y(1)-y(0), func(string) vg.Length { return tickSize * 2.4 }) {
		if t.label == "" {
			continue
		}
		label := t.label
		if names != nil {
			label = names[int(t.at)]
		}
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
	for i := range d.lines {
		if l := &d.lines[i]; k < len(d.shown) && l.Values[d.shown[k]] == nil || k >= len(d.shown) && l.State != loop.Complete {
			return true
		}
	}
	return false
}
