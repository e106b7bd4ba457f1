package pace

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAhead(t *testing.T) {
	for _, c := range []struct {
		evaluation, suggestion time.Duration
		workers, want          int
	}{
		{time.Minute, time.Second, 4, 0},
		{time.Second, 30 * time.Millisecond, 4, 0},
		{400 * time.Millisecond, 20 * time.Millisecond, 4, 1},
		{400 * time.Millisecond, 200 * time.Millisecond, 4, 4}, // 2 + √2
		{400 * time.Millisecond, 20 * time.Millisecond, 40, 4},
		{0, time.Millisecond, 3, 3},
		{time.Millisecond, time.Hour, 3, 3},
	} {
		var p Pace
		p.Suggested(2*c.suggestion, 2)
		require.Zero(t, p.Ahead(c.workers), "no evaluation has ended")
		p.Evaluated(c.evaluation)
		require.Equal(t, c.want, p.Ahead(c.workers), "%v", c)
	}
}

// The first suggestion is assumed to take 100 ms.
func TestGuess(t *testing.T) {
	var p Pace
	p.Evaluated(time.Second)
	require.Equal(t, 2, p.Ahead(4)) // 0.4 + √0.4
	p.Evaluated(time.Minute)
	require.Zero(t, p.Ahead(4))
}

// Times before the last twenty do not count.
func TestRecent(t *testing.T) {
	var p Pace
	p.Suggested(time.Second, 1)
	for range 5 {
		p.Evaluated(time.Second)
	}
	require.Equal(t, 2, p.Ahead(2))
	for range recent {
		p.Evaluated(time.Hour)
	}
	require.Zero(t, p.Ahead(2))
}
