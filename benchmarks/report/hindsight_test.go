package report

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/benchmarks/runner"
)

// Log10 of the regrets at the end in two instances of f and one of g; each problem is its own class.
func TestHindsightByHand(t *testing.T) {
	var all []runner.Record
	for method, logs := range map[string][]float64{"a": {0, 0, 0}, "b": {-2, 1, 1}, "c": {1, -1, 2}} {
		for i, l := range logs {
			problem, seed := "f", uint64(i+1)
			if i == 2 {
				problem, seed = "g", 1
			}
			all = append(all, record(problem, method, seed, 100, 100, 100, math.Pow(10, l)))
		}
	}
	r, err := New(all, "a")
	require.NoError(t, err)
	require.NotNil(t, r.Hindsight)
	h := r.Hindsight
	require.Len(t, h.Classes, 2)
	f, g := h.Classes[0], h.Classes[1]
	assert.Equal(t, "f", f.Name)
	assert.Equal(t, "b", f.Best)
	assert.InDelta(t, 0.5, f.Same, 1e-12)
	// On the other instance of f the best is c, then b: excesses -1 and -1.
	assert.InDelta(t, -1, f.Held.Mean, 1e-12)
	assert.Equal(t, "b", g.Best)
	assert.Nil(t, g.Held, "a single block")
	assert.InDelta(t, (2*0.5-1)/3, h.Same.Mean, 1e-12)
	assert.InDelta(t, -1, h.Held.Mean, 1e-12)

	var text bytes.Buffer
	require.NoError(t, r.WriteText(&text))
	assert.Contains(t, text.String(), "a minus the best other method of the class")

	two := all[:0:0]
	for _, rec := range all {
		if rec.Method != "c" {
			two = append(two, rec)
		}
	}
	r, err = New(two, "a")
	require.NoError(t, err)
	assert.Nil(t, r.Hindsight, "there is no choice")
}

// Three methods with equal distributions: the choice on the same blocks reports an excess, the choice
// on others none.
func TestHindsightOfEqualMethods(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var same, held float64
	const repeats, n = 400, 8
	for range repeats {
		blocks := make([][]float64, n)
		for i := range blocks {
			base := rng.NormFloat64()
			blocks[i] = []float64{base - rng.NormFloat64(), base - rng.NormFloat64()}
		}
		sums := total(blocks, everyIndex([]int{n})[0])
		same += sums[largest(sums)] / n / repeats
		for _, v := range heldOut(blocks, sums) {
			held += v / n / repeats
		}
	}
	// The larger of two normal means of variance 1/n is 1/√(πn) on average.
	assert.InDelta(t, 1/math.Sqrt(math.Pi*n), same, 0.08)
	assert.InDelta(t, 0, held, 0.08)
}
