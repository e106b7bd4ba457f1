package tfsvi

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/nn"
	"github.com/functionspace/bo/internal/stream"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate/internal/mixture"
	"github.com/functionspace/bo/surrogate/internal/toy"
)

// The network follows the data, finds some noise on them, and is less sure where
// there are none.
func TestFit(t *testing.T) {
	x := mat.NewDense(6, 1, []float64{-0.75, 0.75, 0.6, -2, 1.8, 2})
	for _, m := range []Model{
		{Hidden: []int{20, 20}, Draws: 2, Samples: 50, Steps: 800},
		{Hidden: []int{20, 20}, Draws: 2, Samples: 50, Steps: 600, Prior: "fixed", Divergence: "diagonal"},
	} {
		post, err := m.Fit(t.Context(), toy.Wave(40), stream.New(1, "fit", 0))
		require.NoError(t, err)
		mean, variance := make([]float64, 6), make([]float64, 6)
		post.Predict(mean, variance, x)
		for i := range 3 {
			require.InDelta(t, math.Sin(2*math.Pi*x.At(i, 0)), mean[i], 0.3, "%+v at %g", m, x.At(i, 0))
		}
		require.Greater(t, min(variance[3], variance[4], variance[5]), 2*max(variance[0], variance[1]))
		require.InDelta(t, 0.1, math.Sqrt(post.Noise()), 0.12)
	}
}

// A given noise stays; pairs of networks have the mean weights between them.
func TestFixedNoiseAndPairs(t *testing.T) {
	noise := 0.04
	post, err := Model{Noise: &noise, Hidden: []int{8}, Steps: 20, Samples: 3}.Fit(t.Context(), toy.Wave(10), stream.New(1, "fit", 0))
	require.NoError(t, err)
	require.InEpsilon(t, noise, post.Noise(), 1e-12)
	q := post.(*mixture.Posterior)
	require.Len(t, q.Weights, 3)
	for i, m := range q.Remembered[:q.Net.NumParams()] {
		require.InDelta(t, m, (q.Weights[0][i]+q.Weights[1][i])/2, 1e-12)
	}
}

func TestCheck(t *testing.T) {
	require.NoError(t, Model{}.Check(2))
	require.ErrorContains(t, Model{Prior: "bn"}.Check(2), "did you mean bnn?")
	require.ErrorIs(t, Model{Jitter: -1}.Check(2), ErrSetting)
	require.ErrorIs(t, Model{Noise: new(-1.0)}.Check(2), ErrSetting)
}

// One evaluation of the objective and its gradient with the default settings, 50
// observations of 2 inputs.
func BenchmarkObjective(b *testing.B) {
	rng := stream.New(1, "bench", 0)
	o := &objective{net: &nn.Network{In: 2, Hidden: []int{30, 30}}, scale: 0.2, jitter: 1e-3}
	v, at := example(o.net, 1)
	at.x, at.y, at.noise = space.Uniform(50, 2, rng), make([]float64, 50), mat.NewDense(5, len(v.m), nil)
	at.sets = []*mat.Dense{space.Uniform(20, 2, rng)}
	grad := newVariational(len(v.m))
	for b.Loop() {
		if _, err := o.eval(v, at, grad); err != nil {
			b.Fatal(err)
		}
	}
}
