package plot

import (
	"image/color"
	"math"
	"slices"
	"strings"
	"sync"
	"unicode"

	"codeberg.org/go-fonts/liberation/liberationsansregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/font/sfnt"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/functionspace/bo/internal/palette"
)

// painter draws primitives on a canvas.
type painter struct {
	draw.Canvas
	theme   palette.Theme
	raster  bool          // characters that the font lacks are drawn as squares
	missing map[rune]bool // collects the characters that the font lacks; may be nil
}

// sans is the font of all text.
var sans = sync.OnceValue(func() text.Plain {
	face, err := opentype.Parse(liberationsansregular.TTF)
	if err != nil {
		panic("plot: the font cannot be parsed: " + err.Error())
	}
	return text.Plain{Fonts: font.NewCache(font.Collection{{Font: font.Font{Typeface: "Liberation", Variant: "Sans"}, Face: face}})}
})

// textStyle is the size and position of text. The zero alignment is left and at the baseline.
type textStyle struct {
	size     vg.Length
	color    color.Color
	x        draw.XAlignment
	y        draw.YAlignment
	rotation float64 // in radians
}

func (s textStyle) style() text.Style {
	return text.Style{
		Color: s.color, Font: font.Font{Typeface: "Liberation", Variant: "Sans", Size: s.size},
		XAlign: s.x, YAlign: s.y, Rotation: s.rotation, Handler: sans(),
	}
}

// text draws one line of text at a point.
func (p *painter) text(s string, x, y vg.Length, t textStyle) {
	if t.color == nil {
		t.color = p.theme.Text
	}
	if t.y == draw.YCenter && t.rotation == 0 { // the middle of digits, without room for descenders
		y += t.size * 0.08
	}
	shift := widthOf(s, t.size) * vg.Length(t.x)
	at := vg.Point{X: x + shift*vg.Length(math.Cos(t.rotation)), Y: y + shift*vg.Length(math.Sin(t.rotation))}
	t.x = draw.XLeft
	s = strings.Map(func(r rune) rune {
		if known(r) {
			return r
		}
		if p.missing != nil {
			p.missing[r] = true
		}
		if p.raster {
			return '□'
		}
		return r
	}, writable(s))
	p.FillText(t.style(), at, s)
}

// writable replaces characters that XML does not have by squares.
func writable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\ufffe' || r == '\uffff' {
			return '□'
		}
		return r
	}, s)
}

// known reports whether the font has a character.
func known(r rune) bool {
	if r >= ' ' && r <= '~' {
		return true
	}
	var b sfnt.Buffer
	index, err := sans().Fonts.Lookup(textStyle{size: 1}.style().Font, 1).Face.GlyphIndex(&b, r)
	return err == nil && index != 0
}

// widthOf returns the width of one line of text. A character that the font lacks counts as a square.
func widthOf(s string, size vg.Length) vg.Length {
	var drawn []rune
	squares := 0
	for _, r := range s {
		if known(r) {
			drawn = append(drawn, r)
		} else {
			squares++
		}
	}
	return textStyle{size: size}.style().Width(string(drawn)) + vg.Length(squares)*size
}

// wrap breaks text into lines of at most a width. A single long word is cut.
func wrap(s string, size, width vg.Length) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(s) {
		longer := strings.TrimSpace(line + " " + word)
		if line != "" && widthOf(longer, size) > width {
			lines, line = append(lines, line), word
		} else {
			line = longer
		}
	}
	lines = append(lines, line)
	for i := range lines {
		lines[i] = shorten(lines[i], size, width)
	}
	return lines
}

// line strokes the line through points.
func (p *painter) line(points []vg.Point, c color.Color, width vg.Length, dashes ...vg.Length) {
	if len(points) > 1 {
		p.StrokeLines(draw.LineStyle{Color: c, Width: width, Dashes: dashes}, points)
	}
}

// box fills a rectangle.
func (p *painter) box(x0, y0, x1, y1 vg.Length, c color.Color) {
	p.SetColor(c)
	p.Fill(vg.Rectangle{Min: vg.Point{X: min(x0, x1), Y: min(y0, y1)}, Max: vg.Point{X: max(x0, x1), Y: max(y0, y1)}}.Path())
}

// shape is the shape of a mark.
type shape int

const (
	dot shape = iota
	cross
	ring
	square
	triangle
	diamond
	plus
	noMark
)

// crowd is the number of marks of one kind above which they have no outline.
const crowd = 2000

// marks draws marks of one shape. Marks have a thin outline in the colour of the background, so that
// overlapping marks stay visible, unless there are too many.
func (p *painter) marks(points []vg.Point, s shape, c color.Color, radius vg.Length) {
	if s == noMark {
		return
	}
	filled := s == dot || s == diamond || s == square
	if len(points) <= crowd {
		width := vg.Length(1.4)
		if !filled {
			width = 2.8
		}
		p.strokeMarks(points, s, p.theme.Background, radius+0.4, width)
	}
	if !filled {
		p.strokeMarks(points, s, c, radius, 1.4)
		return
	}
	p.SetColor(c)
	for some := range slices.Chunk(points, together) {
		p.Fill(outlines(some, s, radius))
	}
}

// together is the number of marks of a path. The time of the rasteriser grows faster than the
// length of a path.
const together = 64

func (p *painter) strokeMarks(points []vg.Point, s shape, c color.Color, radius, width vg.Length) {
	p.SetLineStyle(draw.LineStyle{Color: c, Width: width})
	for some := range slices.Chunk(points, together) {
		p.Stroke(outlines(some, s, radius))
	}
}

// outlines returns the path of marks.
func outlines(points []vg.Point, s shape, radius vg.Length) vg.Path {
	var path vg.Path
	for _, at := range points {
		outline(&path, at, s, radius)
	}
	return path
}

// outline appends the outline of a shape.
func outline(path *vg.Path, at vg.Point, s shape, r vg.Length) {
	move := func(x, y vg.Length) { path.Move(vg.Point{X: at.X + x, Y: at.Y + y}) }
	line := func(x, y vg.Length) { path.Line(vg.Point{X: at.X + x, Y: at.Y + y}) }
	switch s {
	case dot, ring:
		move(r, 0)
		path.Arc(at, r, 0, 2*math.Pi)
		path.Close()
	case cross:
		d := r * 0.9
		move(-d, -d)
		line(d, d)
		move(-d, d)
		line(d, -d)
	case plus:
		move(-r, 0)
		line(r, 0)
		move(0, -r)
		line(0, r)
	case square:
		d := r * 0.85
		move(-d, -d)
		line(d, -d)
		line(d, d)
		line(-d, d)
		path.Close()
	case diamond:
		d := r * 1.35
		move(0, d)
		line(d, 0)
		line(0, -d)
		line(-d, 0)
		path.Close()
	case triangle:
		move(0, r*1.1)
		line(r, -r*0.8)
		line(-r, -r*0.8)
		path.Close()
	}
}

// entry is an entry of a legend: a mark, a line, or both, or a band.
type entry struct {
	label  string
	shape  shape
	color  color.NRGBA
	line   bool
	dashes []vg.Length
	band   bool
	under  color.NRGBA // of a vertical bar behind the mark; the zero value is none
}

// legend draws entries in rows and returns the lower end.
func (p *painter) legend(entries []entry, left, top, width vg.Length) vg.Length {
	const thumb, gap, row = vg.Length(18), vg.Length(14), labelSize * 1.5
	x, y := left, top-row/2
	for _, e := range entries {
		label := shorten(e.label, labelSize, width-thumb-5)
		size := thumb + 5 + widthOf(label, labelSize)
		if x > left && x+size > left+width {
			x, y = left, y-row
		}
		middle := vg.Point{X: x + thumb/2, Y: y}
		if e.band {
			p.box(x, y-4, x+thumb, y+4, e.color)
		}
		if e.line {
			p.line([]vg.Point{{X: x, Y: y}, {X: x + thumb, Y: y}}, e.color, 1.6, e.dashes...)
		}
		if e.under.A > 0 {
			p.box(middle.X-1, y-6, middle.X+1, y+6, e.under)
		}
		p.marks([]vg.Point{middle}, e.shape, e.color, 3)
		p.text(label, x+thumb+5, y, textStyle{size: labelSize, y: draw.YCenter})
		x += size + gap
	}
	return y - row/2
}
