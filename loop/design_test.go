package loop

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/space"
)

// Points of the design that are asked for one after another need one computation of their block, and
// equal the points that are asked for together.
func TestDesignBlockIsComputedOnce(t *testing.T) {
	const n = 200
	s := newSpace(t, space.Float("x", 0, 1), space.Int("n", 1, 5))
	o := Options{Initial: n, Seed: 71}
	together, err := Propose(t.Context(), s, o, History{}, n)
	require.NoError(t, err)
	made := designBlocks.made
	s = newSpace(t, space.Float("x", 0, 1), space.Int("n", 1, 5))
	var h History
	for i := range n {
		one, err := Propose(t.Context(), s, o, h, 1)
		require.NoError(t, err)
		require.Equal(t, together.Points[i].Point.Map(), one.Points[0].Point.Map())
		h.Trials = append(h.Trials, Trial{ID: i + 1, Point: one.Points[0].Point, State: Pending})
	}
	require.Equal(t, made+1, designBlocks.made)
}

// Blocks that are not kept any more, or are too large to keep, have the same points.
func TestDesignBlocksAreBounded(t *testing.T) {
	s := newSpace(t, space.Float("x", 0, 1))
	first := func(seed uint64, initial int) space.Point {
		p, err := Propose(t.Context(), s, Options{Initial: initial, Seed: seed}, History{}, 1)
		require.NoError(t, err)
		return p.Points[0].Point
	}
	want := first(1, 4)
	for seed := range uint64(2 * maxBlocks) {
		first(seed+2, 4)
	}
	require.LessOrEqual(t, len(designBlocks.kept), maxBlocks)
	require.Equal(t, want.Key(), first(1, 4).Key())
}
