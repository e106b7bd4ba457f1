package gfsvi

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/autodiff"
	"github.com/functionspace/bo/surrogate/internal/plain"
	"github.com/functionspace/bo/surrogate/internal/toy"
	"github.com/functionspace/bo/surrogate/internal/variational"
)

// paper is a transcription of Algorithm 1 of the paper with a Gaussian likelihood. theta holds m,
// then ρ with s = softplus(ρ), then the same for σ.
type paper struct {
	net    autodiff.Network
	kernel func(x, y []float64) float64
	gamma  float64
	n      int                         // observations
	scaled func(x []float64) []float64 // to the network's inputs
	theta  []float64
	adam   plain.Adam
}

// newPaper starts at the weights m, s = softplus(-5) and the standard deviation sd of the noise.
func newPaper(data [][]float64, m []float64, sd float64) *paper {
	theta := append([]float64(nil), m...)
	for range m {
		theta = append(theta, -5)
	}
	_, scaled := plain.ZScore(data)
	return &paper{
		net:    autodiff.Network{Widths: []int{2, 4, 3}},
		kernel: autodiff.Matern52(1.3, []float64{0.6, 0.9}),
		gamma:  1e-10, n: len(data), scaled: scaled,
		theta: append(theta, plain.Inverse(sd)),
	}
}

// published returns the model that newPaper transcribes.
func published() Model {
	m := Model{
		Preset:  surrogate.Published,
		Spec:    prior.Spec{Lengthscale: []float64{0.6, 0.9}, Variance: new(1.3)},
		Context: 9, Batch: 7,
	}
	m.Hidden = []int{4, 3}
	return m
}

// split returns m, s and σ.
func (p *paper) split(theta []autodiff.Number) (m, s []autodiff.Number, sd autodiff.Number) {
	k := (len(theta) - 1) / 2
	for _, rho := range theta[k:] {
		s = append(s, rho.Softplus())
	}
	return theta[:k], s[:k], s[k]
}

// moments returns the mean of the linearised network at the points, and its Jacobian.
func (p *paper) moments(m []autodiff.Number, points [][]float64) (mean []autodiff.Number, j autodiff.Matrix) {
	for _, x := range points {
		f, grad := p.net.Jacobian(m, p.scaled(x))
		mean, j = append(mean, f), append(j, grad)
	}
	return mean, j
}

// covariance returns a S bᵀ.
func covarianceOf(a, b, s []autodiff.Number) autodiff.Number {
	var sum autodiff.Number
	for i := range a {
		sum = sum.Plus(a[i].Times(b[i]).Times(s[i].Square()))
	}
	return sum
}

// loss returns the negative of the bound for a minibatch x, y and measurement points c.
func (p *paper) loss(x [][]float64, y []float64, c [][]float64) autodiff.Number {
	m, s, sd := p.split(autodiff.Variables(p.theta))

	// Expected log likelihood: log N(y|f,σ²) - J S Jᵀ/(2σ²), times N/B.
	var expected autodiff.Number
	mean, j := p.moments(m, x)
	for i := range x {
		spread := covarianceOf(j[i], j[i], s).Over(sd.Square()).Scaled(0.5)
		expected = expected.Minus(autodiff.NegLogNormal(y[i], mean[i], sd)).Minus(spread)
	}
	expected = expected.Scaled(float64(p.n) / float64(len(x)))

	// Regularised divergence from the prior, whose mean is 0.
	points := len(c)
	mean, j = p.moments(m, c)
	ridge := func(a, b int) autodiff.Number {
		if a == b {
			return autodiff.Constant(p.gamma * float64(points))
		}
		return autodiff.Number{}
	}
	q := autodiff.NewMatrix(points, points, func(a, b int) autodiff.Number {
		return covarianceOf(j[a], j[b], s).Plus(ridge(a, b))
	})
	k := autodiff.NewMatrix(points, points, func(a, b int) autodiff.Number {
		return autodiff.Constant(p.kernel(c[a], c[b])).Plus(ridge(a, b))
	})
	return autodiff.Divergence(mean, q, k).Minus(expected)
}

// predict returns the mean and the variance of f at x, and the noise variance.
func (p *paper) predict(x []float64) (mean, variance, noise float64) {
	m, s, sd := p.split(autodiff.Variables(p.theta))
	f, j := p.moments(m, [][]float64{x})
	return f[0].Value, covarianceOf(j[0], j[0], s).Value, sd.Value * sd.Value
}

// write sets q to the state of the transcription.
func (p *paper) write(q *variational.Gaussian) {
	m, s, sd := p.split(autodiff.Variables(p.theta))
	for i := range m {
		q.M[i], q.LogS[i] = m[i].Value, math.Log(s[i].Value)
	}
	q.LogSD[0] = math.Log(sd.Value)
}

// The preset "published" takes the steps of Algorithm 1: the objective before each step and q after
// it agree.
func TestPublishedSteps(t *testing.T) {
	m := published()
	m.HeldOut = new(0.)
	var own *paper
	var source *problem // of the batches
	batches := random.New(7, "train", 0)
	for k := range 13 {
		m.Steps = max(k, 1)
		r, err := m.resolve()
		require.NoError(t, err)
		p, v, fitted, err := r.begin(t.Context(), nil, toy.Sines(12, 2), random.New(3, "fit", 0))
		require.NoError(t, err)
		if k == 0 {
			require.Zero(t, fitted.Mean)
			own, source = newPaper(autodiff.Rows(p.data.X), v.M, math.Sqrt(fitted.Noise)), p
			continue
		}
		b, err := source.nextBatch(batches)
		require.NoError(t, err)
		x, at := autodiff.Rows(b.x), v.Like()
		require.Len(t, b.y, 7)
		loss := own.loss(x[b.measure:], b.y, x[:b.measure])
		own.write(at)
		value, err := p.objective.eval(at, b, nil)
		require.NoError(t, err)
		require.InEpsilon(t, loss.Value, value, 1e-8, "objective before step %d", k)

		own.adam.Step(0.005, own.theta, loss.Grad)
		own.write(at)
		require.NoError(t, p.train(t.Context(), v, random.New(7, "train", 0)))
		require.InDeltaSlice(t, at.Vector, v.Vector, 1e-8, "m, log s and log σ after step %d", k)
	}
}

// A fit with the preset "published" equals Algorithm 1 with early stopping: mean, variance and noise
// agree.
func TestPublishedFit(t *testing.T) {
	const steps = 35
	m, d := published(), toy.Sines(15, 2)
	m.Steps = steps
	r, err := m.resolve()
	require.NoError(t, err)
	p, v, fitted, err := r.begin(t.Context(), nil, d, random.New(3, "fit", 0))
	require.NoError(t, err)
	require.Len(t, p.held.Y, 2) // a tenth
	own := newPaper(autodiff.Rows(p.data.X), v.M, math.Sqrt(fitted.Noise))
	rng := random.New(3, "fit", 0)
	for range 5 { // held out, prior rows, prior, weights, spread
		rng.Uint64()
	}
	batches := random.Split(rng, "train", 0)
	validation := random.Split(batches, "held out", 0)

	best, least := []float64(nil), math.Inf(1)
	for k := range steps + 1 {
		if k%10 == 0 || k == steps {
			c := p.box.Uniform(9, validation)
			if loss := own.loss(autodiff.Rows(p.held.X), p.held.Y, autodiff.Rows(c)); loss.Value < least {
				best, least = append([]float64(nil), own.theta...), loss.Value
			}
		}
		if k < steps {
			b, err := p.nextBatch(batches)
			require.NoError(t, err)
			x := autodiff.Rows(b.x)
			own.adam.Step(0.005, own.theta, own.loss(x[b.measure:], b.y, x[:b.measure]).Grad)
		}
	}
	own.theta = best

	post, err := m.Fit(t.Context(), d, random.New(3, "fit", 0))
	require.NoError(t, err)
	x := mat.NewDense(4, 2, []float64{0.1, 0.2, 0.9, 0.4, 0.5, 0.5, 1.6, -0.3})
	mean, variance := make([]float64, 4), make([]float64, 4)
	post.Predict(mean, variance, x)
	for i := range mean {
		f, v, noise := own.predict(x.RawRowView(i))
		require.InEpsilon(t, f, mean[i], 1e-7)
		require.InEpsilon(t, v, variance[i], 1e-7)
		require.InEpsilon(t, noise, post.Noise(), 1e-7)
	}
}
