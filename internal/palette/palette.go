// Package palette holds the colours of all pictures of studies. Each colour has a role, such as
// an evaluation or an incumbent, and a picture uses it for this role alone. Marks have the colours
// of Okabe and Ito (2008), "Color universal design", or darker and lighter variants, which differ
// also for colour-blind readers.
package palette

import (
	"fmt"
	"image/color"
	"math"
)

// Theme holds the colours by role, for one background.
type Theme struct {
	Background color.NRGBA
	Text       color.NRGBA // titles and labels
	Muted      color.NRGBA // ticks, axes and remarks
	Grid       color.NRGBA
	Good       color.NRGBA // text of a good result
	Bad        color.NRGBA // text of a fault

	Evaluation color.NRGBA // complete trials
	Failure    color.NRGBA // failed trials
	Pending    color.NRGBA // trials without a result
	Stopped    color.NRGBA // trials that were stopped early
	Infeasible color.NRGBA // complete trials that miss a requirement, and infeasible regions
	Incumbent  color.NRGBA // the best value so far, and its trial

	Mean        color.NRGBA // posterior mean or median
	Band50      color.NRGBA // central 50 % interval, opaque
	Band95      color.NRGBA // central 95 % interval, opaque
	Acquisition color.NRGBA
	Front       color.NRGBA // Pareto front
}

// Light is the theme of a white background, also for print.
var Light = Theme{
	Background: color.NRGBA{255, 255, 255, 255},
	Text:       color.NRGBA{26, 26, 26, 255},
	Muted:      color.NRGBA{95, 95, 95, 255},
	Grid:       color.NRGBA{228, 228, 228, 255},
	Good:       color.NRGBA{0, 112, 79, 255},
	Bad:        color.NRGBA{168, 70, 0, 255},

	Evaluation: color.NRGBA{40, 40, 40, 255},
	Failure:    color.NRGBA{213, 94, 0, 255},
	Pending:    color.NRGBA{230, 159, 0, 255},
	Stopped:    color.NRGBA{86, 180, 233, 255},
	Infeasible: color.NRGBA{150, 150, 150, 255},
	Incumbent:  color.NRGBA{0, 158, 115, 255},

	Mean:        color.NRGBA{0, 114, 178, 255},
	Band50:      color.NRGBA{153, 199, 224, 255},
	Band95:      color.NRGBA{214, 232, 243, 255},
	Acquisition: color.NRGBA{166, 74, 132, 255},
	Front:       color.NRGBA{0, 158, 115, 255},
}

// Dark is the theme of a dark background.
var Dark = Theme{
	Background: color.NRGBA{22, 27, 34, 255},
	Text:       color.NRGBA{230, 230, 230, 255},
	Muted:      color.NRGBA{165, 170, 178, 255},
	Grid:       color.NRGBA{52, 58, 67, 255},
	Good:       color.NRGBA{110, 215, 120, 255},
	Bad:        color.NRGBA{255, 126, 48, 255},

	Evaluation: color.NRGBA{222, 222, 222, 255},
	Failure:    color.NRGBA{255, 126, 48, 255},
	Pending:    color.NRGBA{245, 190, 60, 255},
	Stopped:    color.NRGBA{130, 160, 255, 255},
	Infeasible: color.NRGBA{125, 125, 125, 255},
	Incumbent:  color.NRGBA{110, 215, 120, 255},

	Mean:        color.NRGBA{86, 180, 233, 255},
	Band50:      color.NRGBA{44, 86, 114, 255},
	Band95:      color.NRGBA{31, 51, 67, 255},
	Acquisition: color.NRGBA{222, 150, 192, 255},
	Front:       color.NRGBA{110, 215, 120, 255},
}

// Hex returns a colour in the form #rrggbb. Transparency is left out.
func Hex(c color.NRGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }

// Sequential returns the colour of a value between 0 and 1, from dark violet over blue and green to
// yellow. The lightness is linear in the value, so that the order of values is visible in grey
// too. The path is an arc in the coordinates of OKLab (Ottosson 2020). A value outside [0,1] has
// the colour of the nearer end, and NaN has the colour of 0.
func Sequential(value float64) color.NRGBA {
	t := min(max(value, 0), 1)
	if math.IsNaN(t) {
		t = 0
	}
	lightness, hue := 0.30+0.60*t, (300-190*t)*math.Pi/180
	for chroma := 0.14; ; chroma -= 0.002 { // the largest that a screen can show
		if c, ok := srgb(lightness, chroma*math.Cos(hue), chroma*math.Sin(hue)); ok || chroma <= 0 {
			return c
		}
	}
}

// srgb converts OKLab coordinates, and reports whether the colour is in the gamut of sRGB.
func srgb(lightness, a, b float64) (color.NRGBA, bool) {
	cube := func(x float64) float64 { return x * x * x }
	l := cube(lightness + 0.3963377774*a + 0.2158037573*b)
	m := cube(lightness - 0.1055613458*a - 0.0638541728*b)
	s := cube(lightness - 0.0894841775*a - 1.2914855480*b)
	linear := [3]float64{
		4.0767416621*l - 3.3077115913*m + 0.2309699292*s,
		-1.2684380046*l + 2.6097574011*m - 0.3413193965*s,
		-0.0041960863*l - 0.7034186147*m + 1.7076147010*s,
	}
	inside := true
	var out [3]uint8
	for i, x := range linear {
		inside = inside && x >= 0 && x <= 1
		x = min(max(x, 0), 1)
		if x <= 0.0031308 {
			x *= 12.92
		} else {
			x = 1.055*math.Pow(x, 1/2.4) - 0.055
		}
		out[i] = uint8(math.Round(255 * x))
	}
	return color.NRGBA{out[0], out[1], out[2], 255}, inside
}
