package palette

import (
	"image/color"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/internal/palette/palettetest"
)

// marks are the colours that occur together.
func marks(t Theme) map[string]color.NRGBA {
	return map[string]color.NRGBA{
		"evaluation": t.Evaluation, "failure": t.Failure, "pending": t.Pending, "stopped": t.Stopped, "infeasible": t.Infeasible,
		"incumbent": t.Incumbent, "mean": t.Mean, "acquisition": t.Acquisition, "background": t.Background, "band": t.Band95,
	}
}

func TestMarksDifferForEveryReader(t *testing.T) {
	for theme, colours := range map[string]map[string]color.NRGBA{"light": marks(Light), "dark": marks(Dark)} {
		for kind := range palettetest.Vision {
			for a, x := range colours {
				for b, y := range colours {
					if a < b && !(a == "background" && b == "band") && !(a == "band" && b == "background") {
						require.Greater(t, palettetest.Distance(x, y, kind), 11.0, "%s and %s, %s, %s", a, b, theme, kind)
					}
				}
			}
		}
	}
}

// contrast is the contrast ratio of the Web Content Accessibility Guidelines.
func contrast(a, b color.NRGBA) float64 {
	luminance := func(c color.NRGBA) float64 {
		l := palettetest.Linear(c, "normal")
		return 0.2126*l[0] + 0.7152*l[1] + 0.0722*l[2]
	}
	x, y := luminance(a)+0.05, luminance(b)+0.05
	return max(x, y) / min(x, y)
}

func TestTextIsReadable(t *testing.T) {
	for _, theme := range []Theme{Light, Dark} {
		require.Greater(t, contrast(theme.Text, theme.Background), 7.0)
		require.Greater(t, contrast(theme.Muted, theme.Background), 4.5)
		require.Greater(t, contrast(theme.Good, theme.Background), 4.5)
		require.Greater(t, contrast(theme.Bad, theme.Background), 4.5)
		for name, c := range map[string]color.NRGBA{"evaluation": theme.Evaluation, "failure": theme.Failure, "incumbent": theme.Incumbent, "mean": theme.Mean} {
			require.Greater(t, contrast(c, theme.Background), 3.0, name)
		}
	}
}

// Lightness grows linearly, for every reader, and neighbours differ equally.
func TestSequentialIsPerceptual(t *testing.T) {
	const n = 64
	for kind := range palettetest.Vision {
		last, steps := Sequential(0), []float64{}
		for i := range n + 1 {
			at := Sequential(float64(i) / n)
			if i > 0 {
				require.Greater(t, palettetest.Lab(at, kind)[0], palettetest.Lab(last, kind)[0], "%s, step %d", kind, i)
				steps = append(steps, palettetest.Distance(at, last, kind))
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
