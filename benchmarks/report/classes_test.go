package report

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/benchmarks/runner"
)

// Values of R's p.adjust(p, "holm").
func TestHolm(t *testing.T) {
	assert.InDeltaSlice(t, []float64{0.04, 0.06, 0.06, 0.04}, Holm([]float64{0.01, 0.04, 0.03, 0.01}), 1e-15)
	assert.Equal(t, []float64{1, 1}, Holm([]float64{0.7, 0.9}))
	assert.Empty(t, Holm(nil))
}

// b beats a on all instances of one class and on none of another.
func TestClasses(t *testing.T) {
	suite, err := runner.Lookup("families/dev")
	require.NoError(t, err)
	var all []runner.Record
	for _, p := range suite.Problems {
		if p.Class != "separable" && p.Class != "moderate" {
			continue
		}
		better, worse := "b", "a"
		if p.Class == "moderate" {
			better, worse = worse, better
		}
		for seed := range uint64(2) {
			for method, regret := range map[string]float64{better: 0.1, worse: 1} {
				r := record(p.Name(), method, seed+1, 1, 1, 1, regret)
				r.Suite = suite.Name
				all = append(all, r)
			}
		}
	}
	r, err := New(all, "a")
	require.NoError(t, err)
	require.Len(t, r.Classes, 2)
	separable := r.Classes[0]
	assert.Equal(t, "separable", separable.Name)
	assert.Equal(t, 8, separable.Blocks)
	for _, rank := range separable.Ranks {
		assert.Equal(t, map[string]float64{"a": 2, "b": 1}[rank.Name], rank.At[3].Mean)
	}
	pair := separable.Pairs[0]
	assert.Equal(t, []int{8, 0, 0}, []int{pair.End.Wins, pair.End.Ties, pair.End.Losses})
	assert.InDelta(t, 2.0/256, pair.End.P, 1e-12)
	assert.InDelta(t, 2*pair.End.P, pair.Adjusted, 1e-12, "two classes")
	assert.Equal(t, 8, r.Classes[1].Pairs[0].End.Losses)
	assert.Equal(t, &Interval{1, 1, 1}, pair.Share)
	assert.Equal(t, &Interval{0.5, 0.5, 0.5}, r.Pairs[0].Share, "instances are drawn within classes")

	r.Brief = true
	var text bytes.Buffer
	require.NoError(t, r.WriteMarkdown(&text))
	assert.Contains(t, text.String(), "| separable | 8 of 8 pairs | 0.016 |")
	assert.Contains(t, text.String(), "| separable | 100.0 % [100.0, 100.0], 8-0-0 |")
	assert.NotContains(t, text.String(), "simple regret; 1 input")
}
