package loop_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
)

// A view has the posterior and the acquisition function of the next suggestion.
func TestInspectIsTheFitOfTheNextSuggestion(t *testing.T) {
	s, err := space.New(space.Float("x", -5, 10), space.Float("y", 0, 15))
	require.NoError(t, err)
	for _, maximize := range []bool{false, true} {
		study, err := loop.New(s, loop.Options{Maximize: maximize})
		require.NoError(t, err)
		_, err = study.Inspect(t.Context())
		require.ErrorIs(t, err, loop.ErrNoValue)
		sign := 1.0
		if maximize {
			sign = -1
		}
		for i := range 12 {
			trials, err := study.Ask(t.Context(), 1)
			require.NoError(t, err)
			if i == 5 {
				require.NoError(t, study.Fail(trials[0].ID, "crash"))
				continue
			}
			x, y := trials[0].Point.Float("x"), trials[0].Point.Float("y")
			require.NoError(t, study.Tell(trials[0].ID, sign*math.Exp(0.3*x)+math.Sin(y)))
		}
		v, err := study.Inspect(t.Context())
		require.NoError(t, err)
		require.Len(t, v.Rows, 11) // the failed trial has a model of its own
		require.Len(t, v.Data.Y, 11)
		next, err := study.Ask(t.Context(), 1)
		require.NoError(t, err)
		p := next[0].Prediction
		u := mat.NewDense(1, 2, s.Encode(next[0].Point))
		value, mean, variance := make([]float64, 1), make([]float64, 1), make([]float64, 1)
		v.Acquisition.Eval(value, nil, u)
		v.Posterior.Predict(mean, variance, u)
		require.InDelta(t, p.Acquisition, value[0], 1e-9*(1+math.Abs(value[0])))
		require.InEpsilon(t, p.Mean, v.Units.Value(mean[0]), 1e-9)
		for _, z := range []float64{-0.5, 0, 2} {
			require.InDelta(t, z, v.Units.Target(v.Units.Value(z)), 1e-9)
		}
	}
}
