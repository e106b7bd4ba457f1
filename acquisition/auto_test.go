package acquisition

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"gonum.org/v1/gonum/mat"
)

// With several objectives the number of samples counts too; 0 is the default of the function for them.
func TestAutoOfSeveralObjectives(t *testing.T) {
	at := mat.NewDense(3, 2, []float64{0.1, 0.2, 0.7, 0.4, 0.9, 0.9})
	for _, c := range []struct {
		objectives, samples int
		want                Acquisition
	}{
		{2, 0, LogNEHVI{}},
		{2, 16, LogNEHVI{Samples: 16}},
		{4, 16, LogNEHVI{Samples: 16}},
		{5, 0, LogNParEGO{}},
		{5, 16, LogNParEGO{Samples: 16}},
	} {
		p := several(t, c.objectives, 0, 2, 12, 1e-2)
		want, got := make([]float64, 3), make([]float64, 3)
		build(t, c.want, p, 1).Eval(want, nil, at)
		build(t, Auto{LogNEI{Samples: c.samples}}, p, 1).Eval(got, nil, at)
		assert.Equal(t, want, got, "%+v", c)
	}
}

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
