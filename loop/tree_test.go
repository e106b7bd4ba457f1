package loop

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate/gp"
)

// treeSpace is a binary tree of two levels whose branches share one parameter each, in the
// style of Jenatton et al. (2017). If conditional is false all parameters are always active.
func treeSpace(t testing.TB, conditional bool) *space.Space {
	leaf := func(name, text string, lo float64) space.Parameter {
		p := space.Float(name, lo, 1)
		if conditional {
			p.When.Text = text
		}
		return p
	}
	left, right := space.Bool("left"), space.Bool("right")
	if conditional {
		left, right = when(left, "root"), when(right, "not root")
	}
	return newRestricted(t, []space.Parameter{
		space.Bool("root"), left, right,
		leaf("a", "left", -1), leaf("b", "not left", -1), leaf("c", "right", -1), leaf("d", "not right", -1),
		leaf("r", "root", 0), leaf("s", "not root", 0),
	})
}

// treeValue has the minimum 0.1 at root, left, a = 0, r = 0.
func treeValue(p space.Point) float64 {
	at := func(name string, offset float64) float64 { return p.Float(name)*p.Float(name) + offset }
	switch {
	case p.Bool("root") && p.Bool("left"):
		return at("a", 0.1) + p.Float("r")
	case p.Bool("root"):
		return at("b", 0.2) + p.Float("r")
	case p.Bool("right"):
		return at("c", 0.3) + p.Float("s")
	default:
		return at("d", 0.4) + p.Float("s")
	}
}

// Conditions pay: the median of the best values of five seeds, or of eleven with -full, is lower than with all
// parameters active.
func TestConditionsPayOnATree(t *testing.T) {
	if testing.Short() {
		t.Skip("runs ten studies")
	}
	seeds := 5
	if *full {
		seeds = 11
	}
	medians := map[bool]float64{}
	for _, conditional := range []bool{true, false} {
		var found []float64
		for seed := range uint64(seeds) {
			o := Options{Surrogate: gp.Model{}, Seed: seed, NoiseFree: true, Initial: 8, Budget: 30, Maximizer: quick}
			r, err := Minimize(t.Context(), func(_ context.Context, p space.Point) (float64, error) { return treeValue(p), nil }, treeSpace(t, conditional), o)
			require.NoError(t, err)
			found = append(found, r.Best.Value-0.1)
		}
		slices.Sort(found)
		medians[conditional] = found[seeds/2]
		t.Logf("conditional %v: regrets %.2g, median %.2g", conditional, found, medians[conditional])
	}
	assert.Less(t, medians[true], medians[false])
}
