package chart

import (
	"fmt"
	"image/color"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// Linear-light matrices of the three dichromacies (Machado, Oliveira and Fernandes
// 2009, severity 1), and normal vision.
var vision = map[string][3][3]float64{
	"normal":       {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	"protanopia":   {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
	"deuteranopia": {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
	"tritanopia":   {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}},
}

// lab returns the CIELAB coordinates (D65) of a colour as a kind of vision sees it.
func lab(c color.NRGBA, m [3][3]float64) [3]float64 {
	linear := func(v uint8) float64 {
		x := float64(v) / 255
		if x <= 0.04045 {
			return x / 12.92
		}
		return math.Pow((x+0.055)/1.055, 2.4)
	}
	in := [3]float64{linear(c.R), linear(c.G), linear(c.B)}
	var rgb [3]float64
	for i := range rgb {
		for j := range in {
			rgb[i] += m[i][j] * in[j]
		}
		rgb[i] = min(max(rgb[i], 0), 1)
	}
	f := func(t float64) float64 {
		if t > 216.0/24389 {
			return math.Cbrt(t)
		}
		return (24389.0/27*t + 16) / 116
	}
	x := f((0.4124*rgb[0] + 0.3576*rgb[1] + 0.1805*rgb[2]) / 0.95047)
	y := f(0.2126*rgb[0] + 0.7152*rgb[1] + 0.0722*rgb[2])
	z := f((0.0193*rgb[0] + 0.1192*rgb[1] + 0.9505*rgb[2]) / 1.08883)
	return [3]float64{116*y - 16, 500 * (x - y), 200 * (y - z)}
}

func distance(a, b color.NRGBA, kind string) float64 {
	p, q := lab(a, vision[kind]), lab(b, vision[kind])
	return math.Sqrt((p[0]-q[0])*(p[0]-q[0]) + (p[1]-q[1])*(p[1]-q[1]) + (p[2]-q[2])*(p[2]-q[2]))
}

// Colours of all lines differ (CIE76 distance 15, several times the least
// noticeable distance). Lines whose colours a colour-blind reader may confuse (distance
// below 10) differ in dashes or marker. No colour vanishes on white.
func TestStylesDiffer(t *testing.T) {
	white := color.NRGBA{255, 255, 255, 255}
	for i := range palette {
		a := StyleOf(i)
		require.Greater(t, distance(a.Color, white, "normal"), 20.0, "style %d", i)
		for j := range i {
			b := StyleOf(j)
			require.Greater(t, distance(a.Color, b.Color, "normal"), 15.0, "styles %d and %d", j, i)
			for kind := range vision {
				if distance(a.Color, b.Color, kind) < 10 {
					same := fmt.Sprint(a.Dashes) == fmt.Sprint(b.Dashes) && a.Marker == b.Marker
					require.False(t, same, "styles %d and %d look alike under %s", j, i, kind)
				}
			}
		}
	}
}
