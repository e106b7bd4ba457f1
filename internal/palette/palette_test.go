package palette

import (
	"image/color"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// vision holds linear-light matrices of the dichromacies (Machado, Oliveira and Fernandes 2009,
// severity 1), and normal vision.
var vision = map[string][3][3]float64{
	"normal":       {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	"protanopia":   {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
	"deuteranopia": {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
	"tritanopia":   {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}},
}

// linear returns the linear light of a colour under a kind of vision.
func linear(c color.NRGBA, m [3][3]float64) [3]float64 {
	decode := func(v uint8) float64 {
		x := float64(v) / 255
		if x <= 0.04045 {
			return x / 12.92
		}
		return math.Pow((x+0.055)/1.055, 2.4)
	}
	in := [3]float64{decode(c.R), decode(c.G), decode(c.B)}
	var out [3]float64
	for i := range out {
		for j := range in {
			out[i] += m[i][j] * in[j]
		}
		out[i] = min(max(out[i], 0), 1)
	}
	return out
}

// lab returns the CIELAB coordinates (D65).
func lab(rgb [3]float64) [3]float64 {
	f := func(t float64) float64 {
		if t > 216.0/24389 {
			return math.Cbrt(t)
		}
		return (24389.0/27*t + 16) / 116
	}
	r, g, b := rgb[0], rgb[1], rgb[2]
	x := f((0.4124564*r + 0.3575761*g + 0.1804375*b) / 0.95047)
	y := f(0.2126729*r + 0.7151522*g + 0.0721750*b)
	z := f((0.0193339*r + 0.1191920*g + 0.9503041*b) / 1.08883)
	return [3]float64{116*y - 16, 500 * (x - y), 200 * (y - z)}
}

func distance(a, b [3]float64) float64 {
	return math.Sqrt((a[0]-b[0])*(a[0]-b[0]) + (a[1]-b[1])*(a[1]-b[1]) + (a[2]-b[2])*(a[2]-b[2]))
}

// marks are the colours that occur together.
func marks(t Theme) map[string]color.NRGBA {
	return map[string]color.NRGBA{
		"evaluation": t.Evaluation, "failure": t.Failure, "pending": t.Pending, "stopped": t.Stopped, "infeasible": t.Infeasible,
		"incumbent": t.Incumbent, "mean": t.Mean, "acquisition": t.Acquisition, "background": t.Background, "band": t.Band95,
	}
}

func TestMarksDifferForEveryReader(t *testing.T) {
	for theme, colours := range map[string]map[string]color.NRGBA{"light": marks(Light), "dark": marks(Dark)} {
		for kind, m := range vision {
			for a, x := range colours {
				for b, y := range colours {
					if a < b && !(a == "background" && b == "band") && !(a == "band" && b == "background") {
						require.Greater(t, distance(lab(linear(x, m)), lab(linear(y, m))), 11.0, "%s and %s, %s, %s", a, b, theme, kind)
					}
				}
			}
		}
	}
}

// contrast is the contrast ratio of the Web Content Accessibility Guidelines.
func contrast(a, b color.NRGBA) float64 {
	luminance := func(c color.NRGBA) float64 {
		l := linear(c, vision["normal"])
		return 0.2126*l[0] + 0.7152*l[1] + 0.0722*l[2]
	}
	x, y := luminance(a)+0.05, luminance(b)+0.05
	return max(x, y) / min(x, y)
}

func TestTextIsReadable(t *testing.T) {
	for _, theme := range []Theme{Light, Dark} {
		require.Greater(t, contrast(theme.Text, theme.Background), 7.0)
		require.Greater(t, contrast(theme.Muted, theme.Background), 4.5)
		for name, c := range map[string]color.NRGBA{"evaluation": theme.Evaluation, "failure": theme.Failure, "incumbent": theme.Incumbent, "mean": theme.Mean} {
			require.Greater(t, contrast(c, theme.Background), 3.0, name)
		}
	}
}

// Lightness grows linearly, for every reader, and neighbours differ equally.
func TestSequentialIsPerceptual(t *testing.T) {
	const n = 64
	for kind, m := range vision {
		last, steps := [3]float64{}, []float64{}
		for i := range n + 1 {
			at := lab(linear(Sequential(float64(i)/n), m))
			if i > 0 {
				require.Greater(t, at[0], last[0], "%s, step %d", kind, i)
				steps = append(steps, distance(at, last))
			}
			last = at
		}
		if kind == "normal" {
			for i := 1; i < len(steps); i++ {
				require.Less(t, steps[i], 6.0, "step %d", i)
			}
		}
	}
	require.Equal(t, Sequential(0), Sequential(math.NaN()))
	require.Equal(t, Sequential(1), Sequential(7))
	require.Equal(t, "#282828", Hex(Light.Evaluation))
}
