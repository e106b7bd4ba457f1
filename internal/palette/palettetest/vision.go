// Package palettetest measures differences of colours under the kinds of colour vision, for tests.
package palettetest

import (
	"image/color"
	"math"
)

// Vision holds linear-light matrices of the dichromacies (Machado, Oliveira and Fernandes 2009,
// severity 1), and of normal vision.
var Vision = map[string][3][3]float64{
	"normal":       {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	"protanopia":   {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
	"deuteranopia": {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
	"tritanopia":   {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}},
}

// Linear returns the linear light of a colour under a kind of vision.
func Linear(c color.NRGBA, vision string) [3]float64 {
	decode := func(v uint8) float64 {
		x := float64(v) / 255
		if x <= 0.04045 {
			return x / 12.92
		}
		return math.Pow((x+0.055)/1.055, 2.4)
	}
	in := [3]float64{decode(c.R), decode(c.G), decode(c.B)}
	var out [3]float64
	for i, row := range Vision[vision] {
		for j := range in {
			out[i] += row[j] * in[j]
		}
		out[i] = min(max(out[i], 0), 1)
	}
	return out
}

// Lab returns the CIELAB coordinates (D65) of a colour under a kind of vision.
func Lab(c color.NRGBA, vision string) [3]float64 {
	f := func(t float64) float64 {
		if t > 216.0/24389 {
			return math.Cbrt(t)
		}
		return (24389.0/27*t + 16) / 116
	}
	rgb := Linear(c, vision)
	x := f((0.4124564*rgb[0] + 0.3575761*rgb[1] + 0.1804375*rgb[2]) / 0.95047)
	y := f(0.2126729*rgb[0] + 0.7151522*rgb[1] + 0.0721750*rgb[2])
	z := f((0.0193339*rgb[0] + 0.1191920*rgb[1] + 0.9503041*rgb[2]) / 1.08883)
	return [3]float64{116*y - 16, 500 * (x - y), 200 * (y - z)}
}

// Distance returns the CIE76 distance of two colours under a kind of vision. The least noticeable
// distance is about 2.3.
func Distance(a, b color.NRGBA, vision string) float64 {
	p, q := Lab(a, vision), Lab(b, vision)
	return math.Sqrt((p[0]-q[0])*(p[0]-q[0]) + (p[1]-q[1])*(p[1]-q[1]) + (p[2]-q[2])*(p[2]-q[2]))
}
