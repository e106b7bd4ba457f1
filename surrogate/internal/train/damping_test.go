package train

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDamping(t *testing.T) {
	d := Damping{Lambda: 1}
	require.False(t, d.Accept(-1, 1, 0.1))
	require.False(t, d.Accept(0, 1, 0.1))
	require.Equal(t, 8.0, d.Lambda, "factors 2 and 4")
	require.True(t, d.Accept(1, 1, 0.1))
	require.InDelta(t, 0.8, d.Lambda, 1e-15)
	for range 3 {
		require.False(t, d.Stalled())
		require.True(t, d.Accept(0.1, 0.2, 0.1))
	}
	require.True(t, d.Stalled(), "three small decreases")
	d.Resume()
	require.False(t, d.Stalled())
	for !d.Stalled() {
		require.False(t, d.Accept(-1, 1, 0.1))
	}
	d.Resume()
	require.False(t, d.Stalled())
}
