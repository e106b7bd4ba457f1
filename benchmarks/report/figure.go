package report

import (
	"bytes"
	"image/color"
	"os"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

const (
	plotWidth   = 16 * vg.Centimeter // of a single chart
	plotHeight  = 10 * vg.Centimeter
	pairWidth   = 11 * vg.Centimeter // of one of two
	pairHeight  = 8 * vg.Centimeter
	panelWidth  = 8 * vg.Centimeter // of one of more
	panelHeight = 6.2 * vg.Centimeter
	columns     = 3
	gap         = 3 * vg.Millimeter
	aboveLegend = 6 * vg.Millimeter
	plotDPI     = 160
)

// figure has charts side by side and one legend on their right.
type figure struct {
	charts  []*chart
	methods []string // in the order of the legend, which leaves out those in no chart
}

// size is that of the charts, and how many stand across and down.
func (f *figure) size() (width, height vg.Length, across, down int) {
	n := len(f.charts)
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

// styles are those of the methods in the charts.
func (f *figure) styles() map[string]style {
	styles := map[string]style{}
	for k, method := range f.methods {
		styles[method] = styleOf(k)
	}
	return styles
}

// legend names the methods in the charts.
func (f *figure) legend() plot.Legend {
	l := plot.NewLegend()
	l.Top, l.Left = true, true
	l.Padding, l.ThumbnailWidth = 1.5*vg.Millimeter, 8*vg.Millimeter
	l.TextStyle.Font = typeface(10)
	styles := f.styles()
	for _, method := range f.methods {
		if slices.ContainsFunc(f.charts, func(c *chart) bool {
			return slices.ContainsFunc(c.bands, func(b band) bool { return b.method == method })
		}) {
			l.Add(brief(method), thumbnail{styles[method].line()})
		}
	}
	if slices.ContainsFunc(f.charts, func(c *chart) bool { return c.mark > 0 }) {
		l.Add("end of design", thumbnail{endOfDesign})
	}
	return l
}

// brief cuts what is too long for a legend.
func brief(name string) string {
	if r := []rune(name); len(r) > 32 {
		return string(r[:31]) + "…"
	}
	return name
}

// thumbnail is a line in a legend.
type thumbnail struct{ draw.LineStyle }

// Thumbnail implements plot.Thumbnailer.
func (t thumbnail) Thumbnail(c *draw.Canvas) {
	y := c.Center().Y
	c.StrokeLine2(t.LineStyle, c.Min.X, y, c.Max.X, y)
}

// write draws the figure to a file, of the kind that its name ends in.
func (f *figure) write(path string) error {
	legend := f.legend()
	width, height, _, _ := f.size()
	beside := legend.Rectangle(draw.Canvas{}).Size()
	width, height = width+beside.X+2*gap, max(height, beside.Y+aboveLegend+2*gap)
	var text bytes.Buffer
	var err error
	if strings.HasSuffix(path, ".svg") {
		c := vgsvg.New(width, height)
		f.draw(draw.New(c), legend)
		_, err = c.WriteTo(&text)
	} else {
		c := vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(plotDPI))}
		f.draw(draw.New(c), legend)
		_, err = c.WriteTo(&text)
	}
	if err != nil {
		return err
	}
	// Where the font is not installed another without serifs stands in for it.
	out := bytes.ReplaceAll(text.Bytes(), []byte("font-family:Liberation Sans;"), []byte("font-family:Liberation Sans,Arimo,Arial,Helvetica,sans-serif;"))
	return os.WriteFile(path, out, 0o644)
}

func (f *figure) draw(c draw.Canvas, legend plot.Legend) {
	c.SetColor(color.White)
	c.Fill(c.Rectangle.Path())
	c = draw.Crop(c, gap, -gap, gap, -gap)
	width, _, across, down := f.size()
	plots := make([][]*plot.Plot, down)
	for i := range plots {
		plots[i] = make([]*plot.Plot, across)
		for j := range plots[i] {
			if k := i*across + j; k < len(f.charts) {
				plots[i][j] = f.charts[k].plot(f.styles(), len(f.charts) > 2)
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
