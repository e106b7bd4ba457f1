package report

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

type oracle struct {
	SignedRank []struct {
		Differences []float64
		P           float64
	} `json:"signed_rank"`
	Quantiles []struct {
		Sample                   []float64
		Q1, Median, Q3, Mean, SE float64
	}
	Bootstrap []struct {
		Sample []float64
		Lo, Hi float64
	} `json:"bootstrap_mean_95"`
	Midranks []struct{ Sample, Ranks []float64 }
}

func readOracle(t *testing.T) (o oracle) {
	t.Helper()
	text, err := os.ReadFile("../../testdata/report/statistics.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &o))
	require.Len(t, o.SignedRank, 11)
	require.NotEmpty(t, o.Quantiles)
	require.NotEmpty(t, o.Bootstrap)
	require.NotEmpty(t, o.Midranks)
	return o
}

func TestSignedRankMatchesSciPy(t *testing.T) {
	for _, c := range readOracle(t).SignedRank {
		assert.InEpsilon(t, c.P, signedRank(c.Differences), 1e-9, "%d differences", len(c.Differences))
		flipped := slices.Clone(c.Differences)
		for i := range flipped {
			flipped[i] *= -1
		}
		assert.InEpsilon(t, c.P, signedRank(flipped), 1e-9)
	}
}

// Of the 2ⁿ signs one on each side is as extreme if all differences agree.
func TestSignedRankByHand(t *testing.T) {
	assert.Equal(t, 1.0, signedRank(nil))
	assert.Equal(t, 1.0, signedRank([]float64{0, 0}))
	assert.Equal(t, 1.0, signedRank([]float64{2}))
	assert.InDelta(t, 2.0/1024, signedRank([]float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}), 1e-15)
	assert.InDelta(t, 2.0/16, signedRank([]float64{-5, -5, -5, -5}), 1e-15)
	assert.InDelta(t, 2.0/1024, signedRank([]float64{1, 2, 3, 4, 5, 6, 7, 8, 9, math.Inf(1)}), 1e-15)
}

// The exact and the normal p-value are close at the change.
func TestSignedRankIsContinuousInN(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	d := make([]float64, maxExact+1)
	for i := range d {
		d[i] = rng.NormFloat64() + 0.15
	}
	exact := signedRank(d[:maxExact])
	d[maxExact] = 0.4
	assert.InDelta(t, exact, signedRank(d), 0.01)
}

func TestSummaryMatchesNumPy(t *testing.T) {
	for _, c := range readOracle(t).Quantiles {
		s := summarize(c.Sample)
		for _, v := range [][2]float64{{c.Q1, s.Q1}, {c.Median, s.Median}, {c.Q3, s.Q3}, {c.Mean, s.Mean}, {c.SE, s.SE}} {
			assert.InDelta(t, v[0], v[1], 1e-14)
		}
	}
}

func TestMidranksMatchSciPy(t *testing.T) {
	for _, c := range readOracle(t).Midranks {
		assert.Equal(t, c.Ranks, midranks(c.Sample))
	}
}

func TestBootstrapMatchesSciPy(t *testing.T) {
	for _, c := range readOracle(t).Bootstrap {
		n := len(c.Sample)
		lo, hi := bootstrap([]int{n}, 0.95, 40_000, rand.New(rand.NewPCG(1, 2)), func(drawn [][]int) float64 {
			var sum float64
			for _, i := range drawn[0] {
				sum += c.Sample[i]
			}
			return sum / float64(n)
		})
		assert.InDelta(t, c.Lo, lo, 0.03*(c.Hi-c.Lo))
		assert.InDelta(t, c.Hi, hi, 0.03*(c.Hi-c.Lo))
	}
}

// Strata are resampled separately: a stratum without spread adds none.
func TestBootstrapKeepsStrata(t *testing.T) {
	lo, hi := bootstrap([]int{3, 1}, 0.9, 500, rand.New(rand.NewPCG(1, 2)), func(drawn [][]int) float64 {
		require.Len(t, drawn[0], 3)
		return float64(drawn[1][0])
	})
	assert.Zero(t, lo)
	assert.Zero(t, hi)
}
