package fsplaplace

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/internal/racetest"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/internal/subset"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate"
)

// published returns the published settings with a smaller size.
func published() Model {
	return Model{
		Trainer: "adam", Factor: "lanczos", Box: "data", Scaling: "data", Bias: new(0.0), Spec: prior.Spec{Isotropic: new(true), Mean: prior.MeanZero},
		Network: surrogate.Network{Hidden: []int{10, 10}}, Context: 20, CovarianceContext: 60, Rate: 0.02,
	}
}

// With the published settings the noise is learned with the weights, down to a lower bound,
// and training stops early.
func TestAdamLearnsTheNoise(t *testing.T) {
	rng := random.New(1, "noise", 0)
	d := wave(40)
	for i := range d.Y {
		d.Y[i] += 0.2 * rng.NormFloat64()
	}
	post, err := published().Fit(t.Context(), d, random.New(1, "fit", 0))
	require.NoError(t, err)
	require.Empty(t, post.Warnings())
	require.InDelta(t, 0.2, math.Sqrt(post.Noise()), 0.08)
	mean, variance := make([]float64, 40), make([]float64, 40)
	post.Predict(mean, variance, d.X)
	for i := range mean {
		require.InDelta(t, math.Sin(6*d.X.At(i, 0)), mean[i], 0.35)
	}

	m := published()
	m.Spec.Noise, m.Steps = new(0.07), 30
	post, err = m.Fit(t.Context(), d, random.New(1, "fit", 0))
	require.NoError(t, err)
	require.Equal(t, 0.07, post.Noise(), "a fixed noise variance does not change")
	require.Len(t, post.Warnings(), 2)
	require.Equal(t, "training stopped at 30 steps before it converged, the fit may be poor: set steps higher", post.Warnings()[0])
	require.Regexp(t, "^the 95 % intervals of the function contain [4-5]. % of the exact posterior, .*: set trainer=gauss-newton, or use gp$", post.Warnings()[1])

	m = published()
	m.NoiseStart, m.Steps = 1e-4, 1
	post, err = m.Fit(t.Context(), d, random.New(1, "fit", 0))
	require.NoError(t, err)
	require.InEpsilon(t, noiseLoSD*noiseLoSD, post.Noise(), 1e-12, "floor")
}

// A fit with the published settings does not start from the weights of an earlier fit.
func TestAdamBeginsAnew(t *testing.T) {
	m := published()
	m.Steps, m.Spec.Lengthscale, m.Spec.Variance = 40, []float64{0.3}, new(1.0)
	d := wave(10)
	first, err := m.Fit(t.Context(), d, random.New(1, "fit", 0))
	require.NoError(t, err)
	second, err := m.FitFrom(t.Context(), first.(surrogate.Stater).State(), d, random.New(1, "fit", 0))
	require.NoError(t, err)
	require.Equal(t, first.(surrogate.Stater).State(), second.(surrogate.Stater).State())
}

// With more observations than a batch, training stops by the objective on all data. The loss
// of a batch is scaled to all data.
func TestAdamByMinibatch(t *testing.T) {
	racetest.SkipNumerical(t)
	d := wave(2*adamBatch + 1)
	m := published()
	m.Steps = 60
	m.Spec = prior.Spec{Lengthscale: []float64{0.3}, Variance: new(1.0), Noise: new(0.1)}
	post, err := m.Fit(t.Context(), d, random.New(1, "fit", 0))
	require.NoError(t, err)
	mean, variance := make([]float64, len(d.Y)), make([]float64, len(d.Y))
	post.Predict(mean, variance, d.X)
	var sq float64
	for i, v := range mean {
		sq += (v - d.Y[i]) * (v - d.Y[i]) / float64(len(mean))
	}
	require.Less(t, sq, 0.1, "the variance of the targets is 0.5")

	p, w := untrained(1, 1, Model{Network: surrogate.Network{Hidden: []int{6}}, Context: 5}, 1)
	p.data = d
	l := p.newLoss(gaussian{y: d.Y}, d.X, p.process.Mean)
	require.NoError(t, l.at(p.box.Uniform(5, random.New(1, "c", 0))))
	l.batch(subset.All(len(d.Y)))
	theta := append(w, 0.3)
	whole := l.eval(theta, nil)
	var sum float64
	for i := range d.Y {
		l.batch([]int{i})
		sum += l.eval(theta, nil) / float64(len(d.Y))
	}
	require.InEpsilon(t, whole, sum, 1e-10, "the mean over batches is the full loss")
}
