package plot

import (
	"fmt"
	"image/color"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/functionspace/bo/insight"
)

// MaxSlices is the largest number of slices of a picture.
const MaxSlices = 12

// Slices draws the prediction along each parameter with intervals of 50 and 95 %, the trials, and
// the acquisition function below. Trials far from the slice are pale. Of more than MaxSlices slices
// those along which the mean varies most are drawn.
func Slices(all []insight.Slice, o Options) *Figure {
	f := newFigure("slices of the surrogate model", o)
	shown := Influential(all, MaxSlices)
	if rest := len(all) - len(shown); rest > 0 {
		f.subtitle = fmt.Sprintf("The mean varies less along the other %d parameters.", rest)
	}
	var used [roles]bool
	acquisition := slices.ContainsFunc(shown, func(s insight.Slice) bool { return acquired(&s) })
	where := "The other parameters have their values at the incumbent; evaluations far from there are pale."
	if slices.ContainsFunc(shown, func(s insight.Slice) bool { return s.Moved }) {
		where = "The other parameters have their values at the incumbent, or change in proportion to meet a constraint; evaluations far from there are pale."
	}
	if !acquisition {
		where = "The prediction is averaged over the other parameters."
	}
	f.subtitle = strings.TrimSpace(where + " " + f.subtitle)
	columns, h := columnsOf(len(shown)), newHeights(shown, f.options)
	for i := range shown {
		label := ""
		if i%columns == 0 {
			f.rows = append(f.rows, nil)
			label = f.options.Objective
		}
		c, marks := sliceCell(&shown[i], h, label)
		row := &f.rows[len(f.rows)-1]
		*row = append(*row, c)
		for r := range roles {
			used[r] = used[r] || marks[r]
		}
	}
	if len(f.rows) > 1 {
		f.height = 110 + 270*len(f.rows)
	}
	t := f.theme
	f.legend = append(f.legend, lineEntry("posterior mean", t.Mean), bandEntry("50 % interval", t.Band50), bandEntry("95 % interval", t.Band95))
	f.legend = append(f.legend, entries(t, used)...)
	if slices.ContainsFunc(shown, violates) {
		f.legend = append(f.legend, bandEntry("violates a constraint", mix(t.Infeasible, t.Background, 0.3)))
	}
	if acquisition {
		f.legend = append(f.legend, lineEntry("value at the incumbent", t.Incumbent, 4, 2), lineEntry("acquisition function", t.Acquisition))
	}
	return f
}

// violates reports whether a part of a slice violates a constraint on parameters.
func violates(s insight.Slice) bool {
	return slices.ContainsFunc(s.Points, func(p insight.SlicePoint) bool { return !p.Feasible })
}

// columnsOf returns the number of columns for n panels.
func columnsOf(n int) int {
	switch {
	case n <= 3:
		return max(1, n)
	case n == 4:
		return 2
	}
	return 3
}

// Influential returns the at most n slices along which the mean varies most, in their order.
func Influential(all []insight.Slice, n int) []insight.Slice {
	if len(all) <= n {
		return all
	}
	index := make([]int, len(all))
	for i := range index {
		index[i] = i
	}
	slices.SortStableFunc(index, func(a, b int) int {
		x, y := spread(&all[a]), spread(&all[b])
		switch {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return 0
	})
	index = index[:n]
	slices.Sort(index)
	out := make([]insight.Slice, n)
	for i, k := range index {
		out[i] = all[k]
	}
	return out
}

// spread returns the range of the mean.
func spread(s *insight.Slice) float64 {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, p := range s.Points {
		lo, hi = min(lo, float64(p.Mean)), max(hi, float64(p.Mean))
	}
	return hi - lo
}

// heights is the axis of values that all slices of a picture share.
type heights struct {
	axis
	limit    float64 // values beyond it are at the edge
	maximize bool
}

// newHeights returns the axis of all bands and values.
func newHeights(all []insight.Slice, o Options) heights {
	var values []float64
	for i := range all {
		for _, b := range all[i].Points {
			values = append(values, float64(b.P95.Low), float64(b.P95.High))
		}
		for _, t := range all[i].Trials {
			values = append(values, float64(t.Y))
		}
	}
	values = slices.DeleteFunc(values, func(v float64) bool { return !finite(v) })
	h := heights{limit: fence(values, o.Maximize), maximize: o.Maximize}
	inside := slices.DeleteFunc(values, func(v float64) bool { return worse(v, h.limit, o.Maximize) })
	h.axis = valueAxis("", spansDecades(inside), inside...)
	return h
}

// sliceCell returns the panels of one slice and the roles of its trials. The first of a row has
// labels of the values.
func sliceCell(s *insight.Slice, h heights, label string) (cell, [roles]bool) {
	p := &panel{x: parameterAxis(s.Axis), y: h.axis}
	p.y.label = label
	m := &marked{}
	var distance []float64 // of the evaluations, relative to the largest
	averaged := !acquired(s) && len(s.Points) > 0
	farthest := 1e-12
	for _, t := range s.Trials {
		farthest = max(farthest, t.Distance)
	}
	for _, t := range s.Trials {
		r := roleOf(t.State)
		switch {
		case r == evaluation && worse(float64(t.Y), h.limit, h.maximize):
			r = beyond
		case r == evaluation && t.Distance == 0 && fmt.Sprint(t.X) == fmt.Sprint(s.At):
			r = incumbent
		case r == evaluation && !t.Feasible:
			r = infeasible
		}
		x := p.x.number(t.X)
		if p.x.discrete() && r != incumbent { // side by side
			x += 0.5 * (math.Mod(float64(len(m.x[r])+len(m.missing[r]))*0.618034, 1) - 0.5)
		}
		m.add(r, x, float64(t.Y))
		if r == evaluation && finite(float64(t.Y)) {
			if averaged {
				t.Distance = 0
			}
			distance = append(distance, t.Distance/farthest)
		}
	}
	p.strip = m.strip()
	p.draw = func(g *graph) { drawSlice(g, s, m, distance, h.maximize) }
	if averaged || len(s.Points) == 0 {
		return one(p), m.used()
	}
	acquisition := acquisitionsOf(s)
	slices.Sort(acquisition)
	q := &panel{x: p.x, y: valueAxis("", false, robust(acquisition)...)}
	if label != "" {
		q.y.label = "acquisition"
	}
	p.hideX = true
	q.draw = func(g *graph) { drawAcquisition(g, s) }
	return cell{panels: []*panel{p, q}, shares: []float64{0.76, 0.24}}, m.used()
}

// acquired reports whether a slice has an acquisition function.
func acquired(s *insight.Slice) bool {
	return slices.ContainsFunc(s.Points, func(b insight.SlicePoint) bool { return finite(float64(b.Acquisition)) })
}

func acquisitionsOf(s *insight.Slice) []float64 {
	out := make([]float64, len(s.Points))
	for i, b := range s.Points {
		out[i] = float64(b.Acquisition)
	}
	return out
}

// discrete reports an axis of names, or of few whole numbers, which has no values between.
func (a *axis) discrete() bool { return a.names != nil || a.integer && !a.log && a.hi-a.lo <= 12 }

// drawSlice draws the bands, the trials and the line at the incumbent.
func drawSlice(g *graph, s *insight.Slice, m *marked, distance []float64, maximize bool) {
	x := func(i int) float64 { return g.x.number(s.Points[i].X) }
	n := len(s.Points)
	if n == 0 {
		g.text("inactive at the incumbent", g.Min.X+4, g.Max.Y-4, textStyle{size: tickSize, color: g.theme.Muted, y: draw.YTop})
	}
	if at := g.x.number(s.At); finite(at) && acquired(s) {
		g.vertical(at, g.theme.Incumbent, 1, 4, 2)
	}
	wide := func(i int) (x0, low, high float64) {
		return x(i), float64(s.Points[i].P95.Low), float64(s.Points[i].P95.High)
	}
	narrow := func(i int) (x0, low, high float64) {
		return x(i), float64(s.Points[i].P50.Low), float64(s.Points[i].P50.High)
	}
	mean := func(i int) (float64, float64) { return x(i), float64(s.Points[i].Mean) }
	if g.x.discrete() {
		width := min(22, 0.6*(g.Max.X-g.Min.X)/vg.Length(max(1, n)))
		g.boxes(n, wide, g.theme.Band95, width)
		g.boxes(n, narrow, g.theme.Band50, width)
		g.boxes(n, func(i int) (x0, low, high float64) { x0, y := mean(i); return x0, y, y }, g.theme.Mean, width)
	} else {
		g.band(n, wide, g.theme.Band95)
		g.band(n, narrow, g.theme.Band50)
		g.curve(n, mean, g.theme.Mean, 1.6)
	}
	shade(g, s)
	// Pale marks first, near ones on top.
	at := m.x[evaluation]
	for level := range fades {
		var near []vg.Point
		for i := range at {
			if int(min(fades-1, (1-distance[i])*fades)) == level {
				if p := g.at(at[i], m.y[evaluation][i]); g.inside(p) {
					near = append(near, p)
				}
			}
		}
		c := mix(g.theme.Evaluation, g.theme.Background, 0.35+0.65*float64(level)/(fades-1))
		g.marks(near, dot, c, 2.4)
	}
	rest := *m
	rest.x[evaluation], rest.y[evaluation] = nil, nil
	rest.draw(g, maximize)
}

// fades is the number of shades of evaluations by distance from the slice.
const fades = 4

// mix returns a share of one colour and the rest of another.
func mix(a, b color.NRGBA, share float64) color.NRGBA {
	part := func(x, y uint8) uint8 { return uint8(math.Round(share*float64(x) + (1-share)*float64(y))) }
	return color.NRGBA{part(a.R, b.R), part(a.G, b.G), part(a.B, b.B), 255}
}

// boxes draws intervals as boxes, or as lines of a length of 0.
func (g *graph) boxes(n int, f func(i int) (x, low, high float64), c color.NRGBA, width vg.Length) {
	for i := range n {
		x, low, high := f(i)
		a, b := g.at(x, g.y.above(low)), g.at(x, high)
		if !finite(float64(a.Y)) || !finite(float64(b.Y)) || !finite(float64(a.X)) {
			continue
		}
		a.Y, b.Y = max(a.Y, g.Min.Y), min(b.Y, g.Max.Y)
		if a.Y == b.Y {
			a.Y, b.Y = a.Y-0.8, b.Y+0.8
		}
		if a.Y < b.Y {
			g.box(a.X-width/2, a.Y, a.X+width/2, b.Y, c)
		}
	}
}

// shade covers the parts of a slice that violate the constraints on parameters.
func shade(g *graph, s *insight.Slice) {
	for i, p := range s.Points {
		if p.Feasible {
			continue
		}
		x := g.x.number(p.X)
		lo, hi := x, x
		if i > 0 {
			lo = (x + g.x.number(s.Points[i-1].X)) / 2
		}
		if i+1 < len(s.Points) {
			hi = (x + g.x.number(s.Points[i+1].X)) / 2
		}
		c := g.theme.Infeasible
		c.A = 70
		g.box(max(g.Min.X, g.X(g.x.place(lo))), g.Min.Y, min(g.Max.X, g.X(g.x.place(hi))), g.Max.Y, c)
	}
}

func drawAcquisition(g *graph, s *insight.Slice) {
	f := func(i int) (x, y float64) { return g.x.number(s.Points[i].X), float64(s.Points[i].Acquisition) }
	if at := g.x.number(s.At); finite(at) {
		g.vertical(at, g.theme.Incumbent, 1, 4, 2)
	}
	if g.x.discrete() {
		width := min(22, 0.6*(g.Max.X-g.Min.X)/vg.Length(max(1, len(s.Points))))
		g.boxes(len(s.Points), func(i int) (x, low, high float64) { x, y := f(i); return x, y, y }, g.theme.Acquisition, width)
		return
	}
	g.curve(len(s.Points), f, g.theme.Acquisition, 1.4)
}
