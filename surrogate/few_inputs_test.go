package surrogate_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/laplace"
	"github.com/functionspace/bo/surrogate/mfvi"
)

// Fewer than four distinct inputs and a learned precision give a warning.
func TestFewInputs(t *testing.T) {
	var laplaces, mfvis [3]surrogate.Model // a learned precision, a fixed one, the preset
	for i := range laplaces {
		var l laplace.Model
		var v mfvi.Model
		l.Steps, v.Steps = 20, 20
		switch i {
		case 1:
			l.Precision, v.Precision = new(1.), new(1.)
		case 2:
			l.Preset, v.Preset = surrogate.Published, surrogate.Published
		}
		if i < 2 {
			l.Hidden, v.Hidden = []int{5}, []int{5}
		}
		laplaces[i], mfvis[i] = l, v
	}
	x := mat.NewDense(6, 1, []float64{0, 0.3, 0.3, 0.7, 0.7, 1})
	y := []float64{0, 1, 1.1, 0.2, 0.3, -1}
	const few = "fewer than 4 distinct inputs determine the prior of the weights poorly, the variance may be too small: use gp, or set precision"
	for _, models := range [][3]surrogate.Model{laplaces, mfvis} {
		for _, c := range []struct {
			model, n int
			warned   bool
		}{{0, 1, true}, {0, 5, true}, {0, 6, false}, {1, 5, false}, {2, 5, false}} {
			m := models[c.model]
			t.Run(fmt.Sprintf("%T/%d/%d", m, c.model, c.n), func(t *testing.T) {
				d := surrogate.Dataset{X: x.Slice(0, c.n, 0, 1).(*mat.Dense), Y: y[:c.n]}
				post, err := m.Fit(t.Context(), d, random.New(1, "fit", 0))
				require.NoError(t, err)
				require.Equal(t, c.warned, slices.Contains(post.Warnings(), few))
			})
		}
	}
}
