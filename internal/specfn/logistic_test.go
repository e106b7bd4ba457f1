package specfn_test

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/internal/gradcheck"
	"github.com/functionspace/bo/internal/specfn"
)

// testdata/classify/laplace.py computes the numbers with mpmath.
func TestLogisticNormalAgainstMpmath(t *testing.T) {
	text, err := os.ReadFile("../../testdata/classify/laplace.json")
	require.NoError(t, err)
	var oracle struct {
		Table [][3]float64 `json:"logistic_normal"`
	}
	require.NoError(t, json.Unmarshal(text, &oracle))
	require.NotEmpty(t, oracle.Table)
	for _, row := range oracle.Table {
		p, _, _ := specfn.LogisticNormal(row[0], row[1])
		require.InEpsilon(t, row[2], p, 1e-9, "%v", row)
	}
}

func TestLogisticNormalDerivatives(t *testing.T) {
	for _, m := range []float64{-30, -2, -0.4, 0, 0.7, 5} {
		for _, v := range []float64{0.1, 0.9, 1.2, 7, 90} {
			_, dm, dv := specfn.LogisticNormal(m, v)
			f := func(x []float64) float64 { p, _, _ := specfn.LogisticNormal(x[0], x[1]); return p }
			require.NoError(t, gradcheck.Gradient(f, []float64{m, v}, []float64{dm, dv}, 1e-7), "%v, %v", m, v)
		}
	}
	p, dm, dv := specfn.LogisticNormal(0.3, 0)
	q, slope := specfn.Logistic(0.3)
	require.InDelta(t, q, p, 1e-15)
	require.InDelta(t, slope, dm, 1e-15)
	require.InDelta(t, slope*(1-2*q)/2, dv, 1e-15)
	p, _, _ = specfn.LogisticNormal(1, 1e12)
	require.InDelta(t, 0.5, p, 1e-6)
	require.False(t, math.IsNaN(p))
}
