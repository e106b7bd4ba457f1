package surrogate_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/dropout"
	"github.com/functionspace/bo/surrogate/ensemble"
	"github.com/functionspace/bo/surrogate/internal/mapnet"
	"github.com/functionspace/bo/surrogate/laplace"
	"github.com/functionspace/bo/surrogate/mfvi"
)

// A fit to few distinct inputs warns, except with a fixed precision of laplace and with the published presets.
func TestFewInputs(t *testing.T) {
	var learned, fixed, preset laplace.Model
	learned.Hidden, fixed.Hidden = []int{5}, []int{5}
	learned.Steps, fixed.Steps, preset.Steps = 20, 20, 20
	fixed.Precision, preset.Preset = new(1.), surrogate.Published
	sampled := mapnet.Sampled{Network: mapnet.Network{Hidden: []int{5}}, Steps: 20}
	members := ensemble.Model{Members: 2}
	members.Hidden, members.Steps = []int{5}, 20
	published := mfvi.Model{Preset: surrogate.Published}
	published.Steps = 20
	x := mat.NewDense(6, 1, []float64{0, 0.3, 0.3, 0.7, 0.7, 1})
	y := []float64{0, 1, 1.1, 0.2, 0.3, -1}
	const (
		poorPrior  = "fewer than 4 distinct inputs determine the prior of the weights poorly, the variance may be too small: use gp, or set precision"
		poorSpread = "fewer than 4 distinct inputs determine a network poorly, the variance may be too small: use gp"
	)
	for _, c := range []struct {
		name    string
		model   surrogate.Model
		warning string
		warned  bool
	}{
		{"laplace", learned, poorPrior, true},
		{"laplace with a fixed precision", fixed, poorPrior, false},
		{"laplace as published", preset, poorPrior, false},
		{"mfvi", mfvi.Model{Sampled: sampled}, poorSpread, true},
		{"mfvi as published", published, poorSpread, false},
		{"dropout", dropout.Model{Sampled: sampled}, poorSpread, true},
		{"ensemble", members, poorSpread, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, n := range []int{2, 5, 6} {
				d := surrogate.Dataset{X: x.Slice(0, n, 0, 1).(*mat.Dense), Y: y[:n]}
				post, err := c.model.Fit(t.Context(), d, random.New(1, "fit", 0))
				require.NoError(t, err)
				require.Equal(t, c.warned && n < 6, slices.Contains(post.Warnings(), c.warning), n)
			}
		})
	}
}
