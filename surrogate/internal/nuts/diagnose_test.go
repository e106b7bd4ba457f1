package nuts

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/internal/random"
)

// testdata/nuts/diagnostics.py computes the numbers with ArviZ.
func TestAgainstArviZ(t *testing.T) {
	text, err := os.ReadFile("../../../testdata/nuts/diagnostics.json")
	require.NoError(t, err)
	var oracle struct {
		Cases []struct {
			Name   string
			Chains [][]float64
			RHat   *float64
			ESS    float64
		}
	}
	require.NoError(t, json.Unmarshal(text, &oracle))
	require.NotEmpty(t, oracle.Cases)
	for _, c := range oracle.Cases {
		if c.RHat != nil {
			require.InEpsilon(t, *c.RHat, RHat(c.Chains), 1e-9, c.Name)
		}
		require.InEpsilon(t, c.ESS, ESS(c.Chains), 1e-9, c.Name)
	}
}

func TestOneChain(t *testing.T) {
	rng := random.New(1, "chain", 0)
	still, drifting := make([]float64, 100), make([]float64, 100)
	for i := range still {
		still[i] = rng.NormFloat64()
		drifting[i] = still[i] + 0.05*float64(i)
	}
	require.Less(t, RHat([][]float64{still}), 1.05)
	require.Greater(t, RHat([][]float64{drifting}), 1.2)
}

func TestConstant(t *testing.T) {
	chains := [][]float64{make([]float64, 10), make([]float64, 10)}
	require.Equal(t, 1.0, RHat(chains))
	require.Equal(t, 20.0, ESS(chains))
}

// Chains that never move differ from each other, although all distances from the median are equal.
func TestStuckChains(t *testing.T) {
	for name, values := range map[string][]float64{"two": {-1, 1}, "four": {2, 5, 5, 2}} {
		var chains [][]float64
		for _, v := range values {
			chains = append(chains, slices.Repeat([]float64{v}, 20))
		}
		require.True(t, math.IsInf(RHat(chains), 1), "%s: %v", name, RHat(chains))
	}
}
