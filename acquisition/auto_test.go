package acquisition

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"gonum.org/v1/gonum/mat"
)

func TestAutoGoesByTheNoiseOfThePosterior(t *testing.T) {
	at := mat.NewDense(3, 2, []float64{0.1, 0.2, 0.7, 0.4, 0.9, 0.9})
	for _, c := range []struct {
		noise  float64
		recipe Auto
		q      int
		want   Acquisition
	}{
		{1e-6, Auto{}, 1, LogEI{}},
		{1e-4, Auto{}, 1, LogNEI{}},
		{0.1, Auto{LogNEI{Samples: 64}}, 1, LogNEI{Samples: 64}},
		{1e-6, Auto{LogNEI{Joint: true}}, 1, LogNEI{}},
		{1e-6, Auto{LogNEI{Joint: true}}, 2, LogNEI{}},
	} {
		posterior, x, _ := newToy(t, 2, 8, c.noise, 5)
		p := Problem{Posterior: posterior, Observed: x, Best: -0.5}
		candidates := at
		if c.q == 2 {
			candidates = mat.NewDense(3, 4, nil)
			candidates.Augment(at, at)
		}
		want, got := make([]float64, 3), make([]float64, 3)
		build(t, c.want, p, c.q).Eval(want, nil, candidates)
		build(t, c.recipe, p, c.q).Eval(got, nil, candidates)
		assert.Equal(t, want, got, "%+v", c)
		assert.Equal(t, c.recipe.Joint, c.recipe.JointBatch())
	}
}
