package figures

import (
	"image"
	"image/color"
	imagedraw "image/draw"
	"image/png"
	"io"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/functionspace/bo/benchmarks/pages/internal/chart"
	"github.com/functionspace/bo/surrogate"
)

const (
	width     = 25 * vg.Centimeter
	rowHeight = 5.6 * vg.Centimeter
	gap       = 3 * vg.Millimeter
	dpi       = 130
	top       = 3.4 // upper end of the vertical axis
	bandShade = 0.17
)

var (
	ink   = chart.StyleOf(0).Color       // the surrogate
	grey  = color.NRGBA{80, 80, 80, 255} // the exact process
	point = chart.StyleOf(1).Color       // the data
)

// save writes the picture of a surrogate: the exact processes above its posteriors,
// or, for a surrogate without a kernel, its one posterior and the exact processes in
// a row.
func save(path, name string, exact, shown []curve) error {
	var rows [][]*plot.Plot
	panels := make([]*plot.Plot, len(exact))
	for k, p := range Priors() {
		panels[k] = panel(p.Title+" prior, exact", exact[k], nil, grey)
	}
	switch {
	case name == "gp":
		rows = [][]*plot.Plot{panels}
	case len(shown) == len(exact):
		own := make([]*plot.Plot, len(shown))
		for k, p := range Priors() {
			own[k] = panel(p.Title+" prior, "+name, shown[k], &exact[k], ink)
		}
		rows = [][]*plot.Plot{panels, own}
	default:
		rows = [][]*plot.Plot{append([]*plot.Plot{panel(name, shown[0], nil, ink)}, panels...)}
	}
	height := vg.Length(len(rows)) * rowHeight
	tiles := draw.Tiles{Rows: len(rows), Cols: len(rows[0]), PadX: gap, PadY: gap, PadTop: gap, PadBottom: gap, PadLeft: gap, PadRight: gap}
	paint := func(c draw.Canvas) {
		for i, row := range plot.Align(rows, tiles, c) {
			for j, cell := range row {
				rows[i][j].Draw(cell)
			}
		}
	}
	return chart.Write(path, width, height, dpi, paint, encode)
}

// shades is the number of steps of the PNG palette from white to each colour.
const shades = 14

// encode writes a picture as PNG with a small palette: a tenth of the bytes without
// a visible difference.
func encode(w io.Writer, picture image.Image) error {
	colours := color.Palette{color.White}
	hues := []color.NRGBA{grey, {A: 255}, ink, point}
	for k := range len(spectrumKernels) * len(spectrumLengthscales) { // the lines of the studies
		hues = append(hues, chart.StyleOf(k).Color)
	}
	for _, c := range hues {
		for k := range shades {
			colours = append(colours, blend(c, float64(k+1)/shades))
		}
	}
	for _, c := range []color.NRGBA{ink, grey} {
		colours = append(colours, blend(c, bandShade))
	}
	small := image.NewPaletted(picture.Bounds(), colours)
	imagedraw.Draw(small, small.Bounds(), picture, picture.Bounds().Min, imagedraw.Src)
	return (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(w, small)
}

// frame is the grid and the data of a panel, and its vertical axis.
type frame struct {
	x           []float64
	data        plotter.XYs
	bottom, top float64
}

// standardFrame has the grid and the data of seed 1.
func standardFrame() frame { return frameOf(Data(1)) }

// frameOf has the grid and data of one input.
func frameOf(d surrogate.Dataset) frame {
	return frame{mat.Col(nil, 0, grid()), observed(d), -top, top}
}

// observed returns data of one input as points.
func observed(d surrogate.Dataset) plotter.XYs {
	at := make(plotter.XYs, len(d.Y))
	for i, y := range d.Y {
		at[i] = plotter.XY{X: d.X.At(i, 0), Y: y}
	}
	return at
}

// panel draws a posterior: its mean, two standard deviations about the mean,
// functions drawn from it, and the data of seed 1. Dashed lines show mean and band of
// the other posterior.
func panel(title string, c curve, other *curve, hue color.NRGBA) *plot.Plot {
	p := standardFrame().panel(title, c, other, hue)
	p.X.Tick.Marker = plot.ConstantTicks{{Value: -2, Label: "-2"}, {Value: -1, Label: "-1"}, {Value: 0, Label: "0"}, {Value: 1, Label: "1"}, {Value: 2, Label: "2"}}
	p.Y.Tick.Marker = plot.ConstantTicks{{Value: -3, Label: "-3"}, {Value: -2}, {Value: -1}, {Value: 0, Label: "0"}, {Value: 1}, {Value: 2}, {Value: 3, Label: "3"}}
	return p
}

// panel draws a posterior on the grid of the frame.
func (f frame) panel(title string, c curve, other *curve, hue color.NRGBA) *plot.Plot {
	p := plot.New()
	p.Title.Text = title
	p.Title.Padding = 1.5 * vg.Millimeter
	p.X.Tick.Label.Font, p.Y.Tick.Label.Font = chart.Font(8), chart.Font(8)
	p.Title.TextStyle.Font = chart.Font(9.5)

	add := func(v plotter.XYs, style draw.LineStyle) { p.Add(&plotter.Line{XYs: v, LineStyle: style}) }
	if c.mean != nil {
		band := f.line(c, 2)
		for _, at := range slices.Backward(f.line(c, -2)) {
			band = append(band, at)
		}
		for i, at := range band { // lines are clipped, areas are not
			band[i].Y = min(max(at.Y, f.bottom), f.top)
		}
		p.Add(&plotter.Polygon{XYs: []plotter.XYs{band}, Color: blend(hue, bandShade)})
	}
	for _, path := range c.paths {
		add(f.points(path), draw.LineStyle{Color: blend(hue, 0.6), Width: 0.6})
	}
	p.Add(&plotter.Scatter{XYs: f.data, GlyphStyle: draw.GlyphStyle{Color: point, Radius: 1.8, Shape: draw.CircleGlyph{}}})
	if c.mean != nil {
		add(f.line(c, 0), draw.LineStyle{Color: hue, Width: 1.5})
	}
	if other != nil {
		for _, k := range []float64{-2, 0, 2} {
			add(f.line(*other, k), draw.LineStyle{Color: grey, Width: 0.8, Dashes: []vg.Length{3, 2}})
		}
	}
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = f.x[0], f.x[len(f.x)-1], f.bottom, f.top
	return p
}

// blend mixes a share of a colour with white.
func blend(c color.NRGBA, share float64) color.NRGBA {
	mix := func(v uint8) uint8 { return uint8(255 - share*(255-float64(v))) }
	return color.NRGBA{mix(c.R), mix(c.G), mix(c.B), 255}
}

// line returns mean + k standard deviations.
func (f frame) line(c curve, k float64) plotter.XYs {
	v := make([]float64, len(c.mean))
	for i := range v {
		v[i] = c.mean[i] + k*c.sd[i]
	}
	return f.points(v)
}

// points pairs values with the points of the grid.
func (f frame) points(v []float64) plotter.XYs {
	out := make(plotter.XYs, len(v))
	for i, v := range v {
		out[i] = plotter.XY{X: f.x[i], Y: v}
	}
	return out
}
