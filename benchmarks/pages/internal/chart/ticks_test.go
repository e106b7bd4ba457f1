package chart

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTicks(t *testing.T) {
	for _, hi := range []float64{1, 9, 40, 80, 200, 1000, 12345} {
		ticks := Counts(0, hi)
		require.True(t, 2 <= len(ticks) && len(ticks) <= 11, "%v: %d ticks", hi, len(ticks))
	}
	for _, span := range [][2]float64{{-0.4, 0.3}, {0.31, 0.6}, {0.31, 0.85}, {0.5, 0.501}, {-10, 3}, {-4.5, 0.5}} {
		labels := 0
		for _, tick := range Decades(span[0], span[1]) {
			if tick.Label != "" {
				labels++
			}
			require.True(t, span[0] <= tick.Value && tick.Value <= span[1])
		}
		require.True(t, 1 <= labels && labels <= 10, "%v: %d labels", span, labels)
	}
}
