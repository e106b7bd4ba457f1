package gfsvi

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/racetest"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/toy"
)

// Every observation enters the training for each order of batch, observations and measurement
// points: a change of one target or label changes the fit.
func TestEveryTargetMatters(t *testing.T) {
	racetest.SkipNumerical(t)
	const n = 12
	for name, size := range map[string]struct{ batch, context int }{
		"batch < n <= context": {4, 20}, "batch < context < n": {4, 8}, "context < batch < n": {8, 4},
		"context < n <= batch": {20, 4}, "n <= batch, context": {20, 20},
	} {
		for _, preset := range []string{"default", surrogate.Published} {
			m := Model{Preset: preset, Batch: size.batch, Context: size.context, Start: "random", Steps: 50, HeldOut: new(0.)}
			m.Spec = prior.Spec{Lengthscale: []float64{0.5}, Variance: new(1.), Noise: new(0.01), Mean: prior.MeanZero}
			m.Hidden = []int{3}
			if preset != surrogate.Published {
				m.Rank = 2
			}
			d := toy.Sines(n, 2)
			at := mat.NewDense(1, 2, []float64{0.3, 0.6})
			number := func(y []float64) float64 {
				d := d
				d.Y = y
				post, err := m.Fit(t.Context(), d, random.New(1, "fit", 0))
				require.NoError(t, err)
				mean, variance := make([]float64, 1), make([]float64, 1)
				post.Predict(mean, variance, at)
				return mean[0]
			}
			ofLabels := m
			ofLabels.Noise = nil
			label := func(y []int) float64 {
				l := surrogate.Labels{X: d.X, Y: y, Classes: 2}
				l.Lo, l.Hi = d.Box()
				post, err := ofLabels.FitLabels(t.Context(), l, random.New(1, "fit", 0))
				require.NoError(t, err)
				p := mat.NewDense(1, 2, nil)
				post.Predict(p, at)
				return p.At(0, 0)
			}
			labels := make([]int, n)
			for i := range labels {
				labels[i] = i % 2
			}
			base, ofBase := number(d.Y), label(labels)
			for i := range n {
				y, l := slices.Clone(d.Y), slices.Clone(labels)
				y[i]++
				l[i] = 1 - l[i]
				require.NotEqual(t, base, number(y), "%s, %s: target %d", preset, name, i)
				require.NotEqual(t, ofBase, label(l), "%s, %s: label %d", preset, name, i)
			}
		}
	}
}
