package plot

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"html"
	"image"
	"image/png"
	"io"
	"maps"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/functionspace/bo/internal/palette"
)

// Options configures a picture. The zero value is the default.
type Options struct {
	Title     string // heading, such as the name of the study
	Objective string // name of the objective; empty is "value"
	Maximize  bool   // larger values are better
	// Width and Height are the size in pixels of a screen, 96 to an inch; 200 to 10,000. 0 is 800
	// and 500; a picture of many panels is then higher. A PNG has twice as many pixels.
	Width, Height int
	Dark          bool // a dark background
	// Constrained is whether the space has constraints on parameters, which Importance remarks.
	Constrained bool
}

const (
	defaultWidth, defaultHeight = 800, 500
	pixel                       = vg.Length(0.75) // in points
	dpi                         = 192
)

// ErrSize reports a width or height outside its range.
var ErrSize = errors.New("plot: width and height are 200 to 10,000 pixels")

// Figure is a picture.
type Figure struct {
	options  Options
	theme    palette.Theme
	subtitle string   // sentences below the title
	alt      string   // kind of the picture, for readers who do not see it
	legend   []entry  // may be empty
	rows     [][]cell // the panels
	height   int      // of the default size; 0 is 500
}

// newFigure returns a picture without panels.
func newFigure(kind string, o Options) *Figure {
	f := &Figure{options: o, theme: palette.Light, alt: kind}
	if o.Dark {
		f.theme = palette.Dark
	}
	f.options.Objective = cmp.Or(o.Objective, "value")
	return f
}

// size returns the size in points.
func (f *Figure) size() (width, height vg.Length, err error) {
	w, h := cmp.Or(f.options.Width, defaultWidth), cmp.Or(f.options.Height, f.height, defaultHeight)
	if min(w, h) < 200 || max(w, h) > 10_000 {
		return 0, 0, fmt.Errorf("%w: got %d and %d", ErrSize, w, h)
	}
	return vg.Length(w) * pixel, vg.Length(h) * pixel, nil
}

// SVG writes the picture as SVG. Text is text, in Liberation Sans or a similar font.
func (f *Figure) SVG(w io.Writer) error {
	width, height, err := f.size()
	if err != nil {
		return err
	}
	c := vgsvg.New(width, height)
	f.draw(&painter{Canvas: draw.New(c), theme: f.theme})
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return err
	}
	text := bytes.ReplaceAll(b.Bytes(), []byte("font-family:Liberation Sans;"), []byte("font-family:Liberation Sans,Arimo,Arial,Helvetica,sans-serif;"))
	if at := bytes.Index(text, []byte("<svg ")); at >= 0 {
		end := at + bytes.IndexByte(text[at:], '>') + 1
		title := fmt.Sprintf("\n<title>%s</title>\n<desc>%s</desc>", html.EscapeString(writable(f.heading())), html.EscapeString(writable(f.description())))
		text = append(append(append(bytes.Clone(text[:end-1]), " role=\"img\">"...), title...), text[end:]...)
	}
	_, err = w.Write(text)
	return err
}

// Missing returns the characters of the picture that the font of PNG lacks, in the order of their
// codes. PNG draws squares in their place. SVG writes them as text, for which viewers select a font.
func (f *Figure) Missing() string {
	width, height, err := f.size()
	if err != nil {
		return ""
	}
	p := &painter{Canvas: draw.New(vgsvg.New(width, height)), theme: f.theme, missing: map[rune]bool{}}
	f.draw(p)
	return string(slices.Sorted(maps.Keys(p.missing)))
}

// PNG writes the picture as PNG, with four pixels for each pixel of Options. Missing returns the
// characters that it cannot draw.
func (f *Figure) PNG(w io.Writer) error {
	pixels, err := f.image()
	if err != nil {
		return err
	}
	return png.Encode(w, pixels)
}

// image returns the pixels of PNG.
func (f *Figure) image() (image.Image, error) {
	width, height, err := f.size()
	if err != nil {
		return nil, err
	}
	c := vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(dpi))
	f.draw(&painter{Canvas: draw.New(c), theme: f.theme, raster: true})
	return c.Image(), nil
}

// heading returns the title and the kind of the picture.
func (f *Figure) heading() string {
	if f.options.Title == "" {
		return f.alt
	}
	return f.options.Title + ": " + f.alt
}

// description lists the panels and the legend in words.
func (f *Figure) description() string {
	var b bytes.Buffer
	if f.subtitle != "" {
		fmt.Fprintf(&b, "%s ", f.subtitle)
	}
	for _, row := range f.rows {
		for _, c := range row {
			for _, p := range c.panels {
				fmt.Fprintf(&b, "%s over %s. ", cmp.Or(p.y.label, p.title), cmp.Or(p.x.label, "trials"))
			}
		}
	}
	for i, e := range f.legend {
		b.WriteString([]string{"Marks: ", ", "}[min(i, 1)] + e.label)
	}
	return b.String()
}

const (
	margin      = vg.Length(12)
	titleSize   = vg.Length(12)
	labelSize   = vg.Length(9.5)
	tickSize    = vg.Length(8.5)
	lineSpacing = vg.Length(1.35)
)

// draw paints the whole picture.
func (f *Figure) draw(p *painter) {
	c := p.Canvas
	p.SetColor(f.theme.Background)
	p.Fill(c.Rectangle.Path())
	inner := draw.Crop(c, margin, -margin, margin, -margin)
	top := inner.Max.Y
	width := inner.Max.X - inner.Min.X
	for _, line := range wrap(f.heading(), titleSize, width) {
		p.text(line, inner.Min.X, top, textStyle{size: titleSize, color: f.theme.Text, y: draw.YTop})
		top -= titleSize * lineSpacing
	}
	if f.subtitle != "" {
		for _, line := range wrap(f.subtitle, labelSize, width) {
			p.text(line, inner.Min.X, top, textStyle{size: labelSize, color: f.theme.Muted, y: draw.YTop})
			top -= labelSize * lineSpacing
		}
	}
	if len(f.legend) > 0 {
		top = p.legend(f.legend, inner.Min.X, top-3, width)
	}
	inner.Max.Y = top - 6
	f.layout(p, inner)
}
