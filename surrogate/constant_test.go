package surrogate_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/functionspace/bo/catalog"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
)

// Equal targets leave methods that fit several networks a variance away from the data, and their mean is
// the target.
func TestConstantTargets(t *testing.T) {
	for _, name := range []string{"ensemble", "dropout"} {
		for _, n := range []int{1, 2, 10} {
			m, err := catalog.Surrogate(name)
			require.NoError(t, err)
			d := surrogate.Dataset{X: space.Sobol(n, 2, random.New(1, "x", 0)), Y: slices.Repeat([]float64{7}, n), Lo: []float64{0, 0}, Hi: []float64{1, 1}}
			post, err := surrogate.Scaled{Model: m}.Fit(t.Context(), d, random.New(1, "fit", 0))
			require.NoError(t, err)
			mean, variance := make([]float64, 64), make([]float64, 64)
			post.Predict(mean, variance, space.Sobol(64, 2, random.New(2, "at", 0)))
			for i, v := range variance {
				require.InDelta(t, 7, mean[i], 1e-9, name)
				require.Positive(t, v, name)
			}
			require.Greater(t, floats.Sum(variance)/64, 5e-4, "%s, %d targets", name, n)

			seen := make([]float64, n)
			post.Predict(make([]float64, n), seen, d.X)
			require.Less(t, floats.Sum(seen)/float64(n), floats.Sum(variance)/64, "%s, %d targets", name, n)
		}
	}
}
