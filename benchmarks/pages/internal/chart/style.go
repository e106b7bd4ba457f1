package chart

import (
	"image/color"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Style is the appearance of one line: its colour, dashes and marker.
type Style struct {
	Color  color.NRGBA
	Dashes []vg.Length
	Marker draw.GlyphDrawer

	place int
}

// palette begins with the colours of Okabe and Ito (2008), "Color universal
// design", without yellow, which is too pale on white.
var palette = []color.NRGBA{
	{0, 114, 178, 255}, {213, 94, 0, 255}, {0, 158, 115, 255}, {204, 121, 167, 255},
	{86, 180, 233, 255}, {230, 159, 0, 255}, {60, 60, 60, 255}, {120, 20, 90, 255},
	{150, 150, 40, 255}, {110, 70, 30, 255}, {120, 100, 220, 255}, {170, 170, 170, 255},
	{0, 60, 110, 255}, {140, 40, 20, 255}, {0, 85, 60, 255}, {240, 150, 150, 255},
	{150, 210, 180, 255}, {190, 150, 240, 255}, {90, 90, 140, 255}, {200, 0, 60, 255},
	{100, 200, 80, 255}, {230, 80, 200, 255}, {0, 170, 190, 255}, {205, 190, 140, 255},
}

var (
	dashes  = [][]vg.Length{nil, {6, 2.5}, {1.5, 2}, {7, 2, 1.5, 2}}
	markers = []draw.GlyphDrawer{
		draw.CircleGlyph{}, draw.SquareGlyph{}, draw.PyramidGlyph{}, draw.CrossGlyph{}, draw.PlusGlyph{}, draw.RingGlyph{}, draw.TriangleGlyph{},
	}
)

// StyleOf returns the style of the k-th line of a picture, k from 0. The first
// 24 styles have different colours. The first four lines are solid; dashes and
// marker also differ if colours look alike to a colour-blind reader.
func StyleOf(k int) Style {
	s := Style{Color: palette[k%len(palette)], Marker: markers[k%len(markers)], place: k}
	if k >= solid {
		s.Dashes = dashes[(k-solid+1)%len(dashes)]
	}
	return s
}

const solid = 4

// Line returns the style of the line.
func (s Style) Line() draw.LineStyle {
	return draw.LineStyle{Color: s.Color, Width: 1.5, Dashes: s.Dashes}
}

func (s Style) glyph() draw.GlyphStyle {
	return draw.GlyphStyle{Color: s.Color, Radius: 2.4, Shape: s.Marker}
}
