package chart

import (
	"bytes"
	"image"
	"io"
	"os"
	"path/filepath"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Font returns the font of all pictures in a size.
func Font(size font.Length) font.Font {
	return font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
}

// Write draws a picture of the given size to a file. The extension of path chooses
// the format: SVG for .svg, else PNG of the given resolution, written by encode.
func Write(path string, width, height vg.Length, dpi int, paint func(draw.Canvas), encode func(io.Writer, image.Image) error) error {
	var text bytes.Buffer
	if filepath.Ext(path) != ".svg" {
		c := vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(dpi))
		paint(draw.New(c))
		if err := encode(&text, c.Image()); err != nil {
			return err
		}
		return os.WriteFile(path, text.Bytes(), 0o644)
	}
	c := vgsvg.New(width, height)
	paint(draw.New(c))
	if _, err := c.WriteTo(&text); err != nil {
		return err
	}
	// A viewer without Liberation Sans takes another font without serifs.
	out := bytes.ReplaceAll(text.Bytes(), []byte("font-family:Liberation Sans;"), []byte("font-family:Liberation Sans,Arimo,Arial,Helvetica,sans-serif;"))
	return os.WriteFile(path, out, 0o644)
}
