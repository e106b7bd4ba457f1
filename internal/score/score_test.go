package score

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"
)

func TestObservations(t *testing.T) {
	// Errors of 0, 1 and 2 standard deviations of size 2.
	s := Observations([]float64{1, 3, 5}, []float64{1, 1, 1}, []float64{2, 2, 2})
	require.InDelta(t, math.Sqrt(20.0/3), s.RMSE, 1e-12)
	require.InDelta(t, -math.Log(2*math.Pi*4)/2-(0+1+4)/6.0, s.LogDensity, 1e-12)
	require.Equal(t, map[string]float64{"50": 1.0 / 3, "90": 2.0 / 3, "95": 2.0 / 3}, s.Coverage)
	require.Equal(t, 0.0, Observations([]float64{1}, []float64{1}, []float64{1}).RMSE)
	require.InEpsilon(t, 1e300, Observations([]float64{1e300}, []float64{0}, []float64{1}).RMSE, 1e-12)
}

// Gonum's density, and Monte Carlo for the expectation.
func TestLogDensities(t *testing.T) {
	y, mean, variance, noise := []float64{1, -2, 0.5}, []float64{0.5, -1, 0.5}, []float64{0.1, 0.4, 0}, 0.3
	sd := make([]float64, 3)
	rng := rand.New(rand.NewPCG(1, 2))
	var density, likelihood float64
	const draws = 200_000
	for i := range y {
		sd[i] = math.Sqrt(variance[i] + noise)
		density += distuv.Normal{Mu: mean[i], Sigma: sd[i]}.LogProb(y[i]) / 3
		for range draws {
			f := mean[i] + math.Sqrt(variance[i])*rng.NormFloat64()
			likelihood += distuv.Normal{Mu: f, Sigma: math.Sqrt(noise)}.LogProb(y[i]) / (3 * draws)
		}
	}
	require.InDelta(t, density, Observations(y, mean, sd).LogDensity, 1e-12)
	require.InDelta(t, likelihood, ExpectedLogLikelihood(y, mean, variance, noise), 0.01)
}

func TestClasses(t *testing.T) {
	s := Classes([]int{0, 2, 1}, mat.NewDense(3, 3, []float64{
		0.7, 0.2, 0.1,
		0.1, 0.3, 0.6,
		0.5, 0.25, 0.25,
	}))
	require.InDelta(t, 2.0/3, s.Accuracy, 1e-15)
	require.InDelta(t, (math.Log(0.7)+math.Log(0.6)+math.Log(0.25))/3, s.LogProbability, 1e-15)
	require.InDelta(t, (0.09+0.04+0.01+0.01+0.09+0.16+0.25+0.5625+0.0625)/3, s.Brier, 1e-15)
	// 0.7, 0.6 and 0.5 lie in the bins from 10/15, 9/15 and 7/15.
	require.InDelta(t, (0.3+0.4+0.5)/3, s.ECE, 1e-15)
	require.False(t, math.IsInf(Classes([]int{0}, mat.NewDense(1, 2, []float64{0, 1})).LogProbability, 0))
}
