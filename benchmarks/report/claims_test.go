package report

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/benchmarks/runner"
)

// The tests of claims of the suite paper/fbnn-bo: random features end below fvi in nine of
// ten seeds, and no other claim has pairs.
func TestClaims(t *testing.T) {
	var records []runner.Record
	for seed := uint64(1); seed <= 10; seed++ {
		for method, end := range map[string]float64{"rff-mes": 0.5 + 0.01*float64(seed), "fvi-mes": 1} {
			if seed == 10 && method == "rff-mes" {
				end = 2
			}
			r := record("draw-rbf", method, seed, 4, 4, 3, end)
			r.Suite = "paper/fbnn-bo"
			records = append(records, r)
		}
	}
	r, err := New(records, "rff-mes")
	require.NoError(t, err)
	require.Len(t, r.Claims, 9)
	c := r.Claims[0]
	assert.Equal(t, "rff-mes", c.Method)
	assert.Equal(t, [3]int{9, 0, 1}, [3]int{c.Pairs.Wins, c.Pairs.Ties, c.Pairs.Losses})
	assert.Equal(t, c.Pairs.P, c.Adjusted, "one claim has pairs")
	// Differences: nine of 0.01 i - 0.5, and 1.
	assert.InDelta(t, (0.45-4.5+1)/10, c.Difference.Mean, 1e-12)
	assert.InDelta(t, c.Difference.Mean, (c.Difference.Lo+c.Difference.Hi)/2, 1e-12)
	assert.InDelta(t, 2.2622, (c.Difference.Hi-c.Difference.Mean)/0.1452297, 1e-3, "t quantile of nine degrees of freedom")
	assert.Nil(t, r.Claims[1].Pairs)
	table := r.ClaimTable()
	require.Len(t, table, 10)
	assert.Equal(t, "not run", table[2][9])
	assert.Nil(t, (&Report{}).ClaimTable())
}

func TestVerdictOfClaim(t *testing.T) {
	wins, losses := &Comparison{Wins: 9, Losses: 1}, &Comparison{Wins: 1, Losses: 9}
	for want, c := range map[string]Claim{
		"not run":             {},
		"not shown":           {Pairs: wins, Adjusted: 0.06},
		"supported":           {Pairs: wins, Adjusted: 0.04},
		"contradicted":        {Pairs: losses, Adjusted: 0.04},
		"no difference shown": {Pairs: wins, Adjusted: 0.06, Equal: true},
		"they differ":         {Pairs: wins, Adjusted: 0.04, Equal: true},
	} {
		assert.Equal(t, want, c.Verdict())
	}
}
