package plot

import (
	"cmp"
	"fmt"
	"slices"

	"gonum.org/v1/plot/vg"

	"github.com/functionspace/bo/insight"
	"github.com/functionspace/bo/loop"
)

// Pareto draws the complete trials in the plane of two objectives, with the front, the reference point and the
// dominated area. The hypervolume is beside it. Three and four objectives have a panel for each pair; of more
// objectives the first four are drawn.
func Pareto(front insight.Front, volumes []insight.Volume, o Options) *Figure {
	f := newFigure("Pareto front", o)
	goals := front.Objectives
	var panels []*panel
	for i := range min(4, len(goals)) {
		for j := i + 1; j < min(4, len(goals)); j++ {
			panels = append(panels, pairPanel(front, goals[i], goals[j], len(goals) == 2))
		}
	}
	if len(volumes) > 0 {
		f.subtitle = fmt.Sprintf("The hypervolume is %s.", number(float64(volumes[len(volumes)-1].Hypervolume)))
	}
	if len(goals) > 4 {
		f.subtitle += fmt.Sprintf(" The first four of %d objectives are shown.", len(goals))
	}
	t := f.theme
	onFront := entry{label: "Pareto front", shape: diamond, color: t.Front, line: len(goals) == 2}
	f.legend = []entry{onFront}
	var used [roles]bool
	for _, p := range front.Points {
		used[infeasible] = used[infeasible] || !p.Feasible
		used[evaluation] = used[evaluation] || p.Feasible && !p.Front
	}
	f.legend = append(f.legend, entries(t, used)...)
	for i := range f.legend {
		if f.legend[i].label == "evaluation" {
			f.legend[i].label = "dominated"
		}
	}
	if front.Reference != nil {
		f.legend = append(f.legend, entry{label: "reference point", shape: plus, color: t.Failure})
	}
	if len(goals) == 2 && len(volumes) > 0 {
		f.legend = append(f.legend, bandEntry("hypervolume", mix(t.Front, t.Background, 0.16)))
		v, m := hypervolumePanel(volumes)
		v.title = "hypervolume by trial"
		v.y.label = ""
		f.legend = append(f.legend, entriesWithout(entries(t, m.used()), "incumbent")...)
		f.rows = [][]cell{{
			{panels: panels, shares: []float64{1}, width: 0.6},
			{panels: []*panel{v}, shares: []float64{1}, width: 0.4},
		}}
		return f
	}
	columns := columnsOf(len(panels))
	for i, p := range panels {
		if i%columns == 0 {
			f.rows = append(f.rows, nil)
		}
		f.rows[len(f.rows)-1] = append(f.rows[len(f.rows)-1], one(p))
	}
	if len(f.rows) > 1 {
		f.height = 600
	}
	return f
}

// entriesWithout leaves out an entry by its label.
func entriesWithout(all []entry, label string) []entry {
	return slices.DeleteFunc(all, func(e entry) bool { return e.label == label })
}

// goalLabel names an objective and its better direction.
func goalLabel(g loop.Goal) string {
	if g.Maximize {
		return g.Name + " (larger is better)"
	}
	return g.Name + " (smaller is better)"
}

// pairPanel draws two objectives. The area is drawn if there are no others.
func pairPanel(front insight.Front, a, b loop.Goal, area bool) *panel {
	var xs, ys []float64
	m := &marked{}
	var fx, fy []float64
	for _, p := range front.Points {
		x, y := p.Values[a.Name], p.Values[b.Name]
		xs, ys = append(xs, x), append(ys, y)
		switch {
		case p.Front:
			fx, fy = append(fx, x), append(fy, y)
		case p.Feasible:
			m.add(evaluation, x, y)
		default:
			m.add(infeasible, x, y)
		}
	}
	rx, okX := front.Reference[a.Name]
	ry, okY := front.Reference[b.Name]
	if okX && okY {
		xs, ys = append(xs, rx), append(ys, ry)
	}
	p := &panel{
		x: valueAxis(goalLabel(a), spansDecades(xs), xs...),
		y: valueAxis(goalLabel(b), spansDecades(ys), ys...),
	}
	p.draw = func(g *graph) {
		if area {
			drawFront(g, fx, fy, a, b, rx, ry)
		}
		m.draw(g, false)
		g.marks(g.points(len(fx), func(i int) (x, y float64) { return fx[i], fy[i] }), diamond, g.theme.Front, 3)
		if okX && okY {
			g.marks(g.points(1, func(int) (x, y float64) { return rx, ry }), plus, g.theme.Failure, 5)
		}
	}
	return p
}

// drawFront draws the staircase of the front and the area between it and the reference point.
func drawFront(g *graph, fx, fy []float64, a, b loop.Goal, rx, ry float64) {
	if len(fx) == 0 {
		return
	}
	index := make([]int, len(fx))
	for i := range index {
		index[i] = i
	}
	sign := func(goal loop.Goal) float64 {
		if goal.Maximize {
			return -1
		}
		return 1
	}
	slices.SortFunc(index, func(i, j int) int { // from the best x to the worst
		return cmp.Or(cmp.Compare(sign(a)*fx[i], sign(a)*fx[j]), cmp.Compare(sign(b)*fy[j], sign(b)*fy[i]))
	})
	better := func(v, limit float64, goal loop.Goal) bool { return sign(goal)*v <= sign(goal)*limit }
	var xs, ys []float64
	last := ry
	for _, i := range index {
		if !better(fx[i], rx, a) || !better(fy[i], ry, b) {
			continue
		}
		xs, ys = append(xs, fx[i], fx[i]), append(ys, last, fy[i])
		last = fy[i]
	}
	xs, ys = append(xs, rx), append(ys, last)
	ring := []vg.Point{g.at(rx, ry)}
	for i := range xs {
		ring = append(ring, g.at(xs[i], ys[i]))
	}
	if ring = g.ClipPolygonXY(ring); len(ring) > 2 {
		g.FillPolygon(mix(g.theme.Front, g.theme.Background, 0.16), ring)
	}
	if len(xs) > 2 {
		g.curve(len(xs)-2, func(i int) (x, y float64) { return xs[i+1], ys[i+1] }, g.theme.Front, 1.4)
	}
}
