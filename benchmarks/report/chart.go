package report

import (
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// chart is a pair of axes with bands.
type chart struct {
	title, x, y string
	logX, logY  bool // logarithms to base 10 are drawn
	points      bool // mark the points of the lines
	ends        bool // in a crowd the quartiles stand beside the last point only
	bands       []band
	mark        float64 // x of the end of the initial design, 0 for none
	top         float64 // of the y axis, which then begins at 0; 0 for as far as the bands go
}

// band is a line with its quartiles.
type band struct {
	method            string
	x, median, q1, q3 []float64
}

func (b *band) add(x, median, q1, q3 float64) {
	b.x, b.median, b.q1, b.q3 = append(b.x, x), append(b.median, median), append(b.q1, q1), append(b.q3, q3)
}

// each replaces every value of y.
func (b *band) each(f func(float64) float64) {
	for _, y := range [][]float64{b.median, b.q1, b.q3} {
		for i := range y {
			y[i] = f(y[i])
		}
	}
}

// crowd is the number of bands beyond which they hide each other.
const crowd = 4

// style is how a method looks in all charts of a figure.
type style struct {
	place  int
	color  color.NRGBA
	dashes []vg.Length
}

// palette has colours that people with any colour vision tell apart (Okabe and Ito
// 2008, "Color universal design"), the palest left out. Lines beyond them are
// dashed, then dotted.
var palette = []color.NRGBA{
	{0, 114, 178, 255}, {213, 94, 0, 255}, {0, 158, 115, 255}, {204, 121, 167, 255}, {86, 180, 233, 255}, {230, 159, 0, 255}, {70, 70, 70, 255},
}

var dashes = [][]vg.Length{nil, {6, 2.5}, {1.5, 2}}

func styleOf(place int) style {
	return style{place, palette[place%len(palette)], dashes[place/len(palette)%len(dashes)]}
}

func (s style) line() draw.LineStyle {
	return draw.LineStyle{Color: s.color, Width: 1.5, Dashes: s.dashes}
}

// plot draws the chart; small is for one of several panels.
func (c *chart) plot(styles map[string]style, small bool) *plot.Plot {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = c.title, c.x, c.y
	p.Title.Padding = 2 * vg.Millimeter
	size := font.Length(10)
	if small {
		size = 8
	}
	for _, f := range []*font.Font{
		&p.Title.TextStyle.Font, &p.X.Label.TextStyle.Font, &p.Y.Label.TextStyle.Font, &p.X.Tick.Label.Font, &p.Y.Tick.Label.Font,
	} {
		*f = typeface(size)
	}
	p.Title.TextStyle.Font.Size = size + 1
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = color.Gray{238}, color.Gray{225}
	p.Add(grid)

	if c.ends && len(c.bands) > crowd {
		for _, b := range c.bands {
			p.Add(c.end(b, styles[b.method])...)
		}
	} else {
		for _, b := range c.bands {
			p.Add(&plotter.Polygon{XYs: []plotter.XYs{c.ring(b)}, Color: faint(styles[b.method].color, len(c.bands))})
		}
	}
	for _, b := range slices.Backward(c.bands) { // the first on top
		s := styles[b.method]
		p.Add(&plotter.Line{XYs: c.line(b, b.median), LineStyle: s.line()})
		if c.points {
			p.Add(&plotter.Scatter{XYs: c.line(b, b.median), GlyphStyle: draw.GlyphStyle{Color: s.color, Radius: 2, Shape: draw.CircleGlyph{}}})
		}
	}
	p.X.Tick.Marker = plot.TickerFunc(func(lo, _ float64) []plot.Tick { return counts(lo, c.last()) })
	if c.logX {
		p.X.Tick.Marker = plot.TickerFunc(decades)
	} else {
		p.X.Min = 0
	}
	if c.logY {
		p.Y.Tick.Marker = plot.TickerFunc(decades)
	}
	if c.top > 0 {
		p.Y.Min, p.Y.Max = 0, c.top
	}
	if c.mark > 0 {
		p.Add(&plotter.Line{
			XYs:       plotter.XYs{{X: c.mark, Y: p.Y.Min}, {X: c.mark, Y: p.Y.Max}},
			LineStyle: endOfDesign,
		})
	}
	return p
}

var endOfDesign = draw.LineStyle{Color: color.Gray{120}, Width: 0.8, Dashes: []vg.Length{2, 3}}

func typeface(size font.Length) font.Font {
	return font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
}

// line returns the points of one line of a band as they are drawn.
func (c *chart) line(b band, y []float64) plotter.XYs {
	points := make(plotter.XYs, len(b.x))
	for i := range points {
		points[i].X, points[i].Y = b.x[i], y[i]
		if c.logX {
			points[i].X = math.Log10(b.x[i])
		}
		if c.logY {
			points[i].Y = math.Log10(y[i])
		}
	}
	return points
}

// last is the largest x of the bands.
func (c *chart) last() float64 {
	last := 0.0
	for _, b := range c.bands {
		last = max(last, slices.Max(b.x))
	}
	return last
}

// end is the last point of a band and its quartiles, drawn on the right of the
// lines.
func (c *chart) end(b band, s style) []plot.Plotter {
	last := len(b.x) - 1
	q1, median, q3 := c.line(b, b.q1)[last], c.line(b, b.median)[last], c.line(b, b.q3)[last]
	x := b.x[last] * (1.03 + 0.02*float64(s.place))
	q1.X, median.X, q3.X = x, x, x
	var dot draw.GlyphDrawer = draw.CircleGlyph{}
	if s.dashes != nil {
		dot = draw.PyramidGlyph{}
	}
	return []plot.Plotter{
		&plotter.Line{XYs: plotter.XYs{q1, q3}, LineStyle: draw.LineStyle{Color: s.color, Width: 1.2}},
		&plotter.Scatter{XYs: plotter.XYs{median}, GlyphStyle: draw.GlyphStyle{Color: s.color, Radius: 2, Shape: dot}},
	}
}

// ring is the outline of a band.
func (c *chart) ring(b band) plotter.XYs {
	ring := c.line(b, b.q3)
	for _, at := range slices.Backward(c.line(b, b.q1)) {
		ring = append(ring, at)
	}
	return ring
}

// faint is the colour of one of so many bands.
func faint(c color.NRGBA, bands int) color.NRGBA {
	c.A = 45
	if bands > crowd {
		c.A = 18
	}
	return c
}
