package insight

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The best curve is among the latest.
func TestLatestCurves(t *testing.T) {
	for _, c := range []struct{ n, best, want0, length int }{
		{n: 9, best: 0, want0: 0, length: 5},
		{n: 2, best: 0, want0: 0, length: 2},
		{n: 2, best: 3, want0: 3, length: 2},
		{n: 2, best: -1, want0: 3, length: 2},
		{n: 1, best: 4, want0: 4, length: 1},
	} {
		curves := make([]Curve, 5)
		for i := range curves {
			curves[i] = Curve{Trial: i, Best: i == c.best}
		}
		got := LatestCurves(curves, c.n)
		require.Len(t, got, c.length)
		require.Equal(t, c.want0, got[0].Trial)
		require.Equal(t, 4, got[len(got)-1].Trial)
		require.Equal(t, 3, curves[3].Trial, "the argument stays")
	}
	require.Empty(t, LatestCurves(make([]Curve, 3), 0))
}
