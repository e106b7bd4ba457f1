//go:build !race

// The race detector empties sync.Pool at random.

package acquisition_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/acquisition"
	"github.com/functionspace/bo/internal/alloctest"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/fsplaplace"
	"github.com/functionspace/bo/surrogate/gp"
)

// LogEI allocates nothing, with and without gradients.
func TestAllocations(t *testing.T) {
	for name, model := range map[string]surrogate.Model{
		"gp": gp.Model{}, "fsp-laplace": fsplaplace.Model{Context: 50, Steps: 2},
	} {
		p := fitted(t, model, bowl, 100, 6)
		f, err := acquisition.LogEI{}.Build(t.Context(), p, 1, rng(3))
		require.NoError(t, err)
		x, value, grad := space.Sobol(16, 6, rng(4)), make([]float64, 16), mat.NewDense(16, 6, nil)
		require.Zero(t, alloctest.PerRun(50, func() {
			f.Eval(value, grad, x)
			f.Eval(value, nil, x)
		}), name)
	}
}
