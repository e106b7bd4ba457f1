package chart

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

// Chart is a pair of axes with curves.
type Chart struct {
	Title, X, Y string
	LogX, LogY  bool // logarithmic axes, base 10
	Points      bool // mark every point of a curve
	EndBars     bool // with more than Crowd curves draw quartiles as bars beside the last points
	Bands       []Band
	DesignEnd   float64 // x of the vertical line at the end of the initial design; 0 for none
	Top         float64 // upper end of the y axis, which then starts at 0; 0 fits the axis to the curves
}

// Band is the curve of a method: median, and lower and upper quartile.
type Band struct {
	Method            string
	X, Median, Q1, Q3 []float64
}

// Add appends a point.
func (b *Band) Add(x, median, q1, q3 float64) {
	b.X, b.Median, b.Q1, b.Q3 = append(b.X, x), append(b.Median, median), append(b.Q1, q1), append(b.Q3, q3)
}

// Map replaces every y value by f(y).
func (b *Band) Map(f func(float64) float64) {
	for _, y := range [][]float64{b.Median, b.Q1, b.Q3} {
		for i := range y {
			y[i] = f(y[i])
		}
	}
}

// Crowd is the largest number of shaded bands in a chart: more would cover each
// other.
const Crowd = 4

// plot draws the chart; small selects the font size of a panel among several.
func (c *Chart) plot(styles map[string]Style, small bool) *plot.Plot {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = c.Title, c.X, c.Y
	p.Title.Padding = 2 * vg.Millimeter
	size := font.Length(10)
	if small {
		size = 8
	}
	for _, f := range []*font.Font{
		&p.Title.TextStyle.Font, &p.X.Label.TextStyle.Font, &p.Y.Label.TextStyle.Font, &p.X.Tick.Label.Font, &p.Y.Tick.Label.Font,
	} {
		*f = Font(size)
	}
	p.Title.TextStyle.Font.Size = size + 1
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = color.Gray{238}, color.Gray{225}
	p.Add(grid)

	for _, b := range c.Bands {
		if c.EndBars && len(c.Bands) > Crowd {
			p.Add(c.endBar(b, styles[b.Method])...)
		} else {
			p.Add(&plotter.Polygon{XYs: []plotter.XYs{c.outline(b)}, Color: faint(styles[b.Method].Color, len(c.Bands))})
		}
	}
	for _, b := range slices.Backward(c.Bands) { // the first curve on top
		s := styles[b.Method]
		p.Add(&plotter.Line{XYs: c.points(b, b.Median), LineStyle: s.Line()})
		if c.Points {
			p.Add(&plotter.Scatter{XYs: c.points(b, b.Median), GlyphStyle: s.glyph()})
		}
	}
	c.axes(p)
	return p
}

// axes sets ranges and ticks, and marks the end of the design.
func (c *Chart) axes(p *plot.Plot) {
	p.X.Tick.Marker = plot.TickerFunc(func(lo, _ float64) []plot.Tick { return Counts(lo, c.lastX()) })
	if c.LogX {
		p.X.Tick.Marker = plot.TickerFunc(Decades)
	} else {
		p.X.Min = 0
	}
	if c.LogY {
		p.Y.Tick.Marker = plot.TickerFunc(Decades)
	}
	if c.Top > 0 {
		p.Y.Min, p.Y.Max = 0, c.Top
	}
	if c.DesignEnd > 0 {
		p.Add(&plotter.Line{
			XYs:       plotter.XYs{{X: c.DesignEnd, Y: p.Y.Min}, {X: c.DesignEnd, Y: p.Y.Max}},
			LineStyle: endOfDesign,
		})
	}
}

var endOfDesign = draw.LineStyle{Color: color.Gray{120}, Width: 0.8, Dashes: []vg.Length{2, 3}}

// points returns the points of one line of a band in the coordinates of the axes.
func (c *Chart) points(b Band, y []float64) plotter.XYs {
	points := make(plotter.XYs, len(b.X))
	for i := range points {
		points[i].X, points[i].Y = b.X[i], y[i]
		if c.LogX {
			points[i].X = math.Log10(b.X[i])
		}
		if c.LogY {
			points[i].Y = math.Log10(y[i])
		}
	}
	return points
}

// lastX returns the largest x of the bands.
func (c *Chart) lastX() float64 {
	last := 0.0
	for _, b := range c.Bands {
		last = max(last, slices.Max(b.X))
	}
	return last
}

// endBar draws the last point of a band and its quartiles to the right of the
// curves. Bars of different methods stand side by side.
func (c *Chart) endBar(b Band, s Style) []plot.Plotter {
	last := len(b.X) - 1
	q1, median, q3 := c.points(b, b.Q1)[last], c.points(b, b.Median)[last], c.points(b, b.Q3)[last]
	x := b.X[last] * (1.03 + 0.032*float64(s.place))
	q1.X, median.X, q3.X = x, x, x
	return []plot.Plotter{
		&plotter.Line{XYs: plotter.XYs{q1, q3}, LineStyle: draw.LineStyle{Color: s.Color, Width: 1.2}},
		&plotter.Scatter{XYs: plotter.XYs{median}, GlyphStyle: s.glyph()},
	}
}

// outline returns the outline of a band.
func (c *Chart) outline(b Band) plotter.XYs {
	ring := c.points(b, b.Q3)
	for _, at := range slices.Backward(c.points(b, b.Q1)) {
		ring = append(ring, at)
	}
	return ring
}

// faint returns the colour of one of several overlapping bands.
func faint(c color.NRGBA, bands int) color.NRGBA {
	c.A = 45
	if bands > Crowd {
		c.A = 18
	}
	return c
}
