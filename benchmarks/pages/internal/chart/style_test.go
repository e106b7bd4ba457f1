package chart

import (
	"fmt"
	"image/color"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/internal/palette/palettetest"
)

// Colours of all lines differ (CIE76 distance 15, several times the least
// noticeable distance). Lines whose colours a colour-blind reader may confuse (distance
// below 10) differ in dashes or marker. No colour vanishes on white.
func TestStylesDiffer(t *testing.T) {
	white := color.NRGBA{255, 255, 255, 255}
	for i := range palette {
		a := StyleOf(i)
		require.Greater(t, palettetest.Distance(a.Color, white, "normal"), 20.0, "style %d", i)
		for j := range i {
			b := StyleOf(j)
			require.Greater(t, palettetest.Distance(a.Color, b.Color, "normal"), 15.0, "styles %d and %d", j, i)
			for kind := range palettetest.Vision {
				if palettetest.Distance(a.Color, b.Color, kind) < 10 {
					same := fmt.Sprint(a.Dashes) == fmt.Sprint(b.Dashes) && a.Marker == b.Marker
					require.False(t, same, "styles %d and %d look alike under %s", j, i, kind)
				}
			}
		}
	}
}
