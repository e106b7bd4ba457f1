package variational

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/space"
)

// A linear model under the prior of its own features has s_j² = 1/(1 + Data_j).
func TestScalesOfALinearModel(t *testing.T) {
	q := Scales{J: space.Sobol(8, 3, random.New(1, "j", 0)), Prior: mat.NewSymDense(8, nil), Eps: 1e-9, Data: []float64{0.5, 3, 40}, Least: 1e-6}
	linalg.Syrk(q.Prior, 1, linalg.N, q.J, 0)
	linalg.AddDiagonal(q.Prior, q.Eps)
	logS := []float64{-3, 0, 1}
	require.NoError(t, q.Minimize(t.Context(), logS, 10))
	for j, l := range logS {
		require.InEpsilon(t, 1/(1+q.Data[j]), math.Exp(2*l), 1e-5)
	}
	q.Least = 0.5
	require.NoError(t, q.Minimize(t.Context(), logS, 1))
	require.InDelta(t, math.Log(0.5), logS[2], 1e-12)
}

// The covariance of Low reduces the scales s by its share of the prior variance.
func TestScalesBesideALowRankPart(t *testing.T) {
	q := Scales{J: mat.NewDense(2, 2, []float64{1, 0, 0, 1}), Low: mat.NewDense(2, 1, []float64{math.Sqrt(0.75), 0}), Prior: mat.NewSymDense(2, []float64{1, 0, 0, 1}), Data: []float64{0, 0}, Least: 1e-6}
	logS := []float64{0, 0}
	require.NoError(t, q.Minimize(t.Context(), logS, 200))
	require.InDelta(t, 0.25, math.Exp(2*logS[0]), 1e-9)
	require.InDelta(t, 1, math.Exp(2*logS[1]), 1e-9)
}
