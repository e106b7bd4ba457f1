package chart

import (
	"image/color"
	"image/png"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

const (
	plotWidth   = 16 * vg.Centimeter // width of a single chart
	plotHeight  = 10 * vg.Centimeter
	pairWidth   = 11 * vg.Centimeter // width of one of two charts
	pairHeight  = 8 * vg.Centimeter
	panelWidth  = 8 * vg.Centimeter // width of one of three or more charts
	panelHeight = 6.2 * vg.Centimeter
	columns     = 3
	gap         = 3 * vg.Millimeter
	aboveLegend = 6 * vg.Millimeter
	plotDPI     = 160
)

// Figure has charts side by side and one legend to their right.
type Figure struct {
	Charts  []*Chart
	Methods []string // in the order of the legend, which omits methods without a curve
}

// size returns the size of the charts together, and their numbers across and down.
func (f *Figure) size() (width, height vg.Length, across, down int) {
	n := len(f.Charts)
	across = min(n, columns)
	if n == 4 {
		across = 2
	}
	down = (n + across - 1) / across
	switch n {
	case 1:
		return plotWidth, plotHeight, across, down
	case 2:
		return 2 * pairWidth, pairHeight, across, down
	}
	return panelWidth * vg.Length(across), panelHeight * vg.Length(down), across, down
}

func (f *Figure) styles() map[string]Style {
	styles := map[string]Style{}
	for k, method := range f.Methods {
		styles[method] = StyleOf(k)
	}
	return styles
}

func (f *Figure) legend() plot.Legend {
	l := plot.NewLegend()
	l.Top, l.Left = true, true
	l.Padding, l.ThumbnailWidth = 1.5*vg.Millimeter, 9*vg.Millimeter
	l.TextStyle.Font = Font(10)
	styles := f.styles()
	for _, method := range f.Methods {
		if slices.ContainsFunc(f.Charts, func(c *Chart) bool {
			return slices.ContainsFunc(c.Bands, func(b Band) bool { return b.Method == method })
		}) {
			s := styles[method]
			l.Add(shorten(method), thumbnail{s.Line(), s.glyph()})
		}
	}
	if slices.ContainsFunc(f.Charts, func(c *Chart) bool { return c.DesignEnd > 0 }) {
		l.Add("end of design", thumbnail{LineStyle: endOfDesign})
	}
	return l
}

// shorten cuts a name that is too long for a legend.
func shorten(name string) string {
	if r := []rune(name); len(r) > 32 {
		return string(r[:31]) + "…"
	}
	return name
}

// thumbnail is the line and the marker of a legend entry.
type thumbnail struct {
	draw.LineStyle
	draw.GlyphStyle
}

// Thumbnail implements plot.Thumbnailer.
func (t thumbnail) Thumbnail(c *draw.Canvas) {
	y := c.Center().Y
	c.StrokeLine2(t.LineStyle, c.Min.X, y, c.Max.X, y)
	if t.Shape != nil {
		c.DrawGlyph(t.GlyphStyle, c.Center())
	}
}

// Write draws the figure to a file, as SVG if its name ends in .svg, else as PNG.
func (f *Figure) Write(path string) error {
	legend := f.legend()
	width, height, _, _ := f.size()
	beside := legend.Rectangle(draw.Canvas{}).Size()
	width, height = width+beside.X+2*gap, max(height, beside.Y+aboveLegend+2*gap)
	return Write(path, width, height, plotDPI, func(c draw.Canvas) { f.draw(c, legend) }, png.Encode)
}

func (f *Figure) draw(c draw.Canvas, legend plot.Legend) {
	c.SetColor(color.White)
	c.Fill(c.Rectangle.Path())
	c = draw.Crop(c, gap, -gap, gap, -gap)
	width, _, across, down := f.size()
	plots := make([][]*plot.Plot, down)
	for i := range plots {
		plots[i] = make([]*plot.Plot, across)
		for j := range plots[i] {
			if k := i*across + j; k < len(f.Charts) {
				plots[i][j] = f.Charts[k].plot(f.styles(), len(f.Charts) > 2)
			}
		}
	}
	tiles := draw.Tiles{Rows: down, Cols: across, PadX: gap, PadY: gap}
	canvases := plot.Align(plots, tiles, draw.Crop(c, 0, width-c.Size().X-2*gap, 0, 0))
	for i := range plots {
		for j, p := range plots[i] {
			if p != nil {
				p.Draw(canvases[i][j])
			}
		}
	}
	legend.Draw(draw.Crop(c, width-gap, 0, 0, -aboveLegend))
}
