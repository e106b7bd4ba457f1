package plot

import (
	"image"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/functionspace/bo/internal/palette"
)

// panel is a pair of axes with its content.
type panel struct {
	title string
	x, y  axis
	strip []role // roles of trials without a value, which have a row each below the data
	bar   *axis  // of a map: the axis of the colours
	hideX bool   // no tick labels and no label along x: the panel below has them
	plain bool   // no horizontal grid, as for categories with bars
	bare  bool   // neither grid nor axes
	draw  func(g *graph)

	names  nameLabels // of an x axis of names, set by margins
	beside []string   // labels of a y axis of names, set by margins
}

// cell is a column of panels with common margins. Shares are their parts of the height.
type cell struct {
	panels []*panel
	shares []float64
	width  float64 // part of the width of the row; 0 is equal parts
}

// one returns a cell with one panel.
func one(p *panel) cell { return cell{panels: []*panel{p}, shares: []float64{1}} }

// graph is the area of the data of a panel. Values are mapped by the axes.
type graph struct {
	painter
	x, y  axis
	rows  []role    // of the strip of trials without a value, below the area
	strip vg.Length // height of the strip
}

// at returns the place of values. Values that a logarithmic axis cannot show are not finite there.
func (g *graph) at(x, y float64) vg.Point {
	return vg.Point{X: g.X(g.x.place(x)), Y: g.Y(g.y.place(y))}
}

// points returns the places of the points inside the area.
func (g *graph) points(n int, f func(i int) (x, y float64)) []vg.Point {
	var out []vg.Point
	for i := range n {
		if x, y := f(i); finite(x) && finite(y) {
			if p := g.at(x, y); g.inside(p) {
				out = append(out, p)
			}
		}
	}
	return out
}

// inside reports a point of the area, with a tolerance of rounding.
func (g *graph) inside(p vg.Point) bool {
	const d = 0.01
	return p.X >= g.Min.X-d && p.X <= g.Max.X+d && p.Y >= g.Min.Y-d && p.Y <= g.Max.Y+d
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// curve draws the line through values, clipped to the area. A value that is not finite ends a
// part of the line.
func (g *graph) curve(n int, f func(i int) (x, y float64), c color.Color, width vg.Length, dashes ...vg.Length) {
	var part []vg.Point
	flush := func() {
		for _, l := range g.ClipLinesXY(part) {
			g.line(l, c, width, dashes...)
		}
		part = nil
	}
	for i := range n {
		x, y := f(i)
		if p := g.at(x, y); finite(float64(p.X)) && finite(float64(p.Y)) {
			part = append(part, p)
		} else {
			flush()
		}
	}
	flush()
}

// band fills the area between two curves, clipped to the area.
func (g *graph) band(n int, f func(i int) (x, low, high float64), c color.Color) {
	var ring, back []vg.Point
	for i := range n {
		x, low, high := f(i)
		low = g.y.above(low)
		if !finite(g.y.place(low)) || !finite(g.y.place(high)) {
			continue
		}
		ring, back = append(ring, g.at(x, high)), append(back, g.at(x, low))
	}
	for i := len(back) - 1; i >= 0; i-- {
		ring = append(ring, back[i])
	}
	if ring = g.ClipPolygonXY(ring); len(ring) > 2 {
		g.FillPolygon(c, ring)
	}
}

// bars draws vertical intervals.
func (g *graph) bars(n int, f func(i int) (x, low, high float64), c color.Color, width vg.Length) {
	var path vg.Path
	for i := range n {
		x, low, high := f(i)
		a, b := g.at(x, g.y.above(low)), g.at(x, high)
		if !finite(float64(a.Y)) || !finite(float64(b.Y)) {
			continue
		}
		a.Y, b.Y = max(a.Y, g.Min.Y), min(b.Y, g.Max.Y)
		if a.Y < b.Y && a.X >= g.Min.X && a.X <= g.Max.X {
			path.Move(a)
			path.Line(b)
		}
	}
	if path != nil {
		g.SetLineStyle(draw.LineStyle{Color: c, Width: width})
		g.Stroke(path)
	}
}

// vertical draws a line at x over the height of the area.
func (g *graph) vertical(x float64, c color.Color, width vg.Length, dashes ...vg.Length) {
	at := g.X(g.x.place(x))
	if at >= g.Min.X && at <= g.Max.X {
		g.line([]vg.Point{{X: at, Y: g.Min.Y}, {X: at, Y: g.Max.Y}}, c, width, dashes...)
	}
}

// below returns the places of marks of a role in the strip of trials without a value.
func (g *graph) below(r role, xs []float64) []vg.Point {
	row := slices.Index(g.rows, r)
	if row < 0 {
		return nil
	}
	y := g.Min.Y - g.strip*(vg.Length(row)+0.5)/vg.Length(len(g.rows))
	var out []vg.Point
	for _, x := range xs {
		if at := g.X(g.x.place(x)); at >= g.Min.X && at <= g.Max.X {
			out = append(out, vg.Point{X: at, Y: y})
		}
	}
	return out
}

// stripHeight returns the height of the strip.
func (p *panel) stripHeight() vg.Length {
	if len(p.strip) == 0 {
		return 0
	}
	return 2 + 10*vg.Length(len(p.strip))
}

const (
	tickLength = vg.Length(3)
	barWidth   = vg.Length(9)
	gap        = vg.Length(10)  // between panels
	widest     = vg.Length(110) // of a tilted label of a category
)

// margins are the spaces around the area of a panel.
type margins struct{ left, right, bottom, top vg.Length }

// margins returns the space that the labels of a panel need if the panel has a size, in a cell of a
// height.
func (p *panel) margins(width, height, cell vg.Length) margins {
	m := margins{right: 8, bottom: tickLength + 2, top: 4}
	if p.bare {
		return margins{}
	}
	if p.y.names != nil {
		p.beside = abbreviate(p.y.names, tickSize, max(60, min(180, 0.3*width)))
	}
	for _, t := range p.y.ticks(height-50, tall) {
		m.left = max(m.left, widthOf(p.yLabel(t), tickSize))
	}
	m.left += tickLength + 4
	if p.y.label != "" {
		m.left += labelSize * lineSpacing
	}
	if p.title != "" {
		m.top += labelSize * lineSpacing
	}
	if p.bar != nil {
		m.right = gap + barWidth + 4
		most := vg.Length(0)
		for _, t := range p.bar.ticks(height-50, tall) {
			most = max(most, widthOf(t.label, tickSize))
		}
		m.right += most + tickLength
	}
	m.bottom += p.stripHeight()
	if !p.hideX {
		m.bottom += tickSize*1.2 + 2
		if p.x.names != nil {
			p.names = p.x.nameLabels(width-m.left-m.right, cell, m.left)
			m.bottom += p.names.height
		}
		if p.x.label != "" {
			m.bottom += labelSize * lineSpacing
		}
	}
	return m
}

// yLabel returns the label of a tick of the y axis.
func (p *panel) yLabel(t tick) string {
	if p.y.names != nil {
		return p.beside[int(t.at)]
	}
	return t.label
}

// tall and wide are the sizes of labels along a vertical and a horizontal axis.
func tall(string) vg.Length       { return tickSize * 1.25 }
func wide(label string) vg.Length { return widthOf(label, tickSize) + 9 }

// layout draws the panels of a picture in rows.
func (f *Figure) layout(p *painter, c draw.Canvas) {
	if len(f.rows) == 0 {
		return
	}
	height := (c.Max.Y - c.Min.Y - gap*vg.Length(len(f.rows)-1)) / vg.Length(len(f.rows))
	columns := 0
	for _, row := range f.rows {
		columns = max(columns, len(row))
	}
	free := c.Max.X - c.Min.X - gap*vg.Length(columns-1)
	common := make([]margins, columns) // of the columns
	for _, row := range f.rows {
		for k, cl := range row {
			for i, q := range cl.panels {
				m := q.margins(cl.of(free, columns), height*vg.Length(cl.shares[i]), height)
				common[k].left, common[k].right = max(common[k].left, m.left), max(common[k].right, m.right)
			}
		}
	}
	for i, row := range f.rows {
		top := c.Max.Y - vg.Length(i)*(height+gap)
		x := c.Min.X
		for k, cl := range row {
			width := cl.of(free, columns)
			cl.draw(p, vg.Rectangle{Min: vg.Point{X: x, Y: top - height}, Max: vg.Point{X: x + width, Y: top}}, common[k])
			x += width + gap
		}
	}
}

// of returns the width of a cell of a row of columns with a free width.
func (cl cell) of(free vg.Length, columns int) vg.Length {
	if cl.width > 0 {
		return free * vg.Length(cl.width)
	}
	return free / vg.Length(columns)
}

// draw draws the panels of a cell one below the other, with common left and right margins.
func (cl cell) draw(p *painter, r vg.Rectangle, common margins) {
	width, height := r.Max.X-r.Min.X, r.Max.Y-r.Min.Y
	all := make([]margins, len(cl.panels))
	used := vg.Length(0)
	for i, q := range cl.panels {
		all[i] = q.margins(width, height*vg.Length(cl.shares[i]), height)
		used += all[i].top + all[i].bottom
	}
	free := max(20, height-used)
	top := r.Max.Y
	for i, q := range cl.panels {
		m := all[i]
		area := vg.Rectangle{
			Min: vg.Point{X: r.Min.X + common.left, Y: top - m.top - free*vg.Length(cl.shares[i])},
			Max: vg.Point{X: r.Max.X - common.right, Y: top - m.top},
		}
		q.paint(p, area, r)
		top = area.Min.Y - m.bottom
	}
}

// paint draws a panel in its area; outer includes the margins.
func (p *panel) paint(on *painter, area, outer vg.Rectangle) {
	g := &graph{painter: painter{draw.Canvas{Canvas: on.Canvas, Rectangle: area}, on.theme, on.raster, on.missing}, x: p.x, y: p.y, rows: p.strip, strip: p.stripHeight()}
	if title := p.title; title != "" {
		if p.bar != nil {
			title += p.bar.relative()
		}
		g.text(shorten(title, labelSize, outer.Max.X-area.Min.X), area.Min.X, area.Max.Y+4, textStyle{size: labelSize})
	}
	if p.bare {
		p.draw(g)
		return
	}
	p.grid(g)
	p.draw(g)
	p.frame(g, outer)
	if p.bar != nil {
		p.colours(g)
	}
}

// grid draws the lines of the ticks.
func (p *panel) grid(g *graph) {
	if p.bar != nil {
		return
	}
	size := g.Max.Y - g.Min.Y
	if !p.plain {
		for _, t := range p.y.ticks(size, tall) {
			if t.label != "" {
				y := g.Y(p.y.place(t.at))
				g.line([]vg.Point{{X: g.Min.X, Y: y}, {X: g.Max.X, Y: y}}, g.theme.Grid, 0.6)
			}
		}
	}
	if p.x.names == nil {
		for _, t := range p.x.ticks(g.Max.X-g.Min.X, wide) {
			if t.label != "" {
				x := g.X(p.x.place(t.at))
				g.line([]vg.Point{{X: x, Y: g.Min.Y - g.strip}, {X: x, Y: g.Max.Y}}, g.theme.Grid, 0.6)
			}
		}
	}
}

// frame draws the axes with ticks and labels.
func (p *panel) frame(g *graph, outer vg.Rectangle) {
	ink := g.theme.Muted
	low := g.Min.Y - g.strip
	g.line([]vg.Point{{X: g.Min.X, Y: g.Max.Y}, {X: g.Min.X, Y: low}, {X: g.Max.X, Y: low}}, ink, 0.8)
	if g.strip > 0 {
		g.line([]vg.Point{{X: g.Min.X, Y: g.Min.Y}, {X: g.Max.X, Y: g.Min.Y}}, ink, 0.4, 1.5, 2)
	}
	for _, t := range p.y.ticks(g.Max.Y-g.Min.Y, tall) {
		y, length := g.Y(p.y.place(t.at)), tickLength
		if t.label == "" {
			length /= 2
		}
		g.line([]vg.Point{{X: g.Min.X - length, Y: y}, {X: g.Min.X, Y: y}}, ink, 0.6)
		g.text(p.yLabel(t), g.Min.X-tickLength-2, y, textStyle{size: tickSize, color: ink, x: draw.XRight, y: draw.YCenter})
	}
	if p.y.label != "" {
		height := g.Max.Y - g.Min.Y + g.strip
		name := p.y.label + p.y.relative()
		if widthOf(name, labelSize) > height+24 {
			name = cutMiddle(name, labelSize, height)
		}
		g.text(name, outer.Min.X+labelSize, (g.Max.Y+low)/2, textStyle{size: labelSize, x: draw.XCenter, rotation: math.Pi / 2})
	}
	p.frameX(g, low)
}

func (p *panel) frameX(g *graph, low vg.Length) {
	ink := g.theme.Muted
	length := g.Max.X - g.Min.X
	extent, below := wide, tickSize*1.2+tickLength
	if p.x.names != nil && !p.hideX {
		extent, below = p.names.extent, below+p.names.height
	}
	for _, t := range p.x.ticks(length, extent) {
		x, size := g.X(p.x.place(t.at)), tickLength
		if t.label == "" {
			size /= 2
		}
		g.line([]vg.Point{{X: x, Y: low - size}, {X: x, Y: low}}, ink, 0.6)
		style := textStyle{size: tickSize, color: ink, x: draw.XCenter, y: draw.YTop}
		switch {
		case p.hideX:
		case p.x.names != nil && p.names.angle > 0:
			style.x, style.y, style.rotation = draw.XRight, draw.YCenter, p.names.angle
			g.text(p.names.of(t.at), x+3*vg.Length(math.Cos(p.names.angle)), low-tickLength-4, style)
		default:
			g.text(t.label, x, low-tickLength-2, style)
		}
	}
	if !p.hideX && p.x.label != "" {
		g.text(cutMiddle(p.x.label+p.x.relative(), labelSize, length+20), (g.Min.X+g.Max.X)/2, low-below-3, textStyle{size: labelSize, x: draw.XCenter, y: draw.YTop})
	}
}

// colours draws the scale of the colours of a map.
func (p *panel) colours(g *graph) {
	const n = 128
	picture := image.NewNRGBA(image.Rect(0, 0, 1, n))
	for i := range n {
		picture.SetNRGBA(0, i, palette.Sequential(1-(float64(i)+0.5)/n))
	}
	left := g.Max.X + gap
	bar := vg.Rectangle{Min: vg.Point{X: left, Y: g.Min.Y}, Max: vg.Point{X: left + barWidth, Y: g.Max.Y}}
	g.DrawImage(bar, picture)
	for _, t := range p.bar.ticks(g.Max.Y-g.Min.Y, tall) {
		y := g.Y(p.bar.place(t.at))
		size := tickLength
		if t.label == "" {
			size /= 2
		}
		g.line([]vg.Point{{X: bar.Max.X, Y: y}, {X: bar.Max.X + size, Y: y}}, g.theme.Muted, 0.6)
		g.text(t.label, bar.Max.X+tickLength+2, y, textStyle{size: tickSize, color: g.theme.Muted, y: draw.YCenter})
	}
}
