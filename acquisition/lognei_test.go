package acquisition

import (
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/space"
)

// With many evaluated points LogNEI samples at the points that may be lowest: the function has the
// values that it has for these points alone.
func TestLogNEIOfManyPoints(t *testing.T) {
	posterior, _, _ := newToy(t, 2, 30, 0.1, 1)
	p := Problem{Posterior: posterior, Observed: space.Sobol(manyObserved, 2, random.New(1, "x", 0))}
	require.Same(t, p.Observed, p.amongLowest().Observed)
	p.Observed = space.Sobol(manyObserved+1, 2, random.New(1, "x", 0))
	few := p.amongLowest()
	require.Equal(t, lowestKept, rowCount(few.Observed))
	mean, variance := make([]float64, manyObserved+1), make([]float64, manyObserved+1)
	posterior.Predict(mean, variance, p.Observed)
	low := 0
	for i, m := range mean {
		if m < mean[low] {
			low = i
		}
	}
	kept := false
	for i := range lowestKept {
		kept = kept || mat.Equal(few.Observed.Slice(i, i+1, 0, 2), p.Observed.Slice(low, low+1, 0, 2))
	}
	require.True(t, kept)

	at := space.Sobol(5, 2, random.New(2, "at", 0))
	value := func(p Problem) []float64 {
		f, err := LogNEI{Samples: 64}.Build(t.Context(), p, 1, random.New(3, "build", 0))
		require.NoError(t, err)
		v := make([]float64, 5)
		f.Eval(v, nil, at)
		return v
	}
	require.Equal(t, value(few), value(p))
}
