package mfvi

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/internal/settings"
	"github.com/functionspace/bo/internal/subset"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/mapnet"
	"github.com/functionspace/bo/surrogate/internal/plain"
	"github.com/functionspace/bo/surrogate/surrogatetest"
)

// transcript is Bayes by Backprop in explicit loops, with the prior N(0, 0.75²) of the GFSVI paper
// and its learned noise.
type transcript struct {
	net    plain.Network
	x      [][]float64 // standardised training inputs
	y      []float64
	scaled func(x []float64) []float64
	draws  int

	m, rho []float64
	noise  float64 // softplus⁻¹ of the noise's standard deviation
	adam   plain.Adam
}

func newTranscript(d surrogate.Dataset, hidden []int, draws int, w []float64) *transcript {
	n, dim := d.Dims()
	s := &transcript{net: append(plain.Network{dim}, hidden...), y: d.Y, draws: draws, m: append([]float64(nil), w...), noise: plain.Inverse(0.3)}
	for range w {
		s.rho = append(s.rho, -5)
	}
	var rows [][]float64
	for i := range n {
		rows = append(rows, mat.Row(nil, i, d.X))
	}
	s.x, s.scaled = plain.ZScore(rows)
	return s
}

// theta returns the parameters in the order of the gradient.
func (s *transcript) theta() []float64 {
	return append(append([]float64{s.noise}, s.m...), s.rho...)
}

// objective returns the negative evidence lower bound, estimated on a batch with draws from rng, and
// its gradient.
func (s *transcript) objective(batch []int, rng *rand.Rand) (float64, []float64) {
	const prior = 0.75
	share := float64(s.draws*len(batch)) / float64(len(s.x))
	p, value, grad := len(s.m), 0.0, make([]float64, 1+2*len(s.m))
	sd := plain.Softplus(s.noise)
	for range s.draws {
		w, eps := make([]float64, p), make([]float64, p)
		for k := range w {
			eps[k] = rng.NormFloat64()
		}
		for k := range w {
			w[k] = s.m[k] + plain.Softplus(s.rho[k])*eps[k]
		}
		for _, i := range batch {
			f, row := s.net.Row(w, s.x[i])
			e := s.y[i] - f
			value += (0.5*math.Log(2*math.Pi) + math.Log(sd) + e*e/(2*sd*sd)) / share
			grad[0] += (1/sd - e*e/(sd*sd*sd)) * plain.Logistic(s.noise) / share
			for k, v := range row {
				g := -e / (sd * sd) * v / share
				grad[1+k] += g
				grad[1+p+k] += g * eps[k] * plain.Logistic(s.rho[k])
			}
		}
	}
	for k, m := range s.m {
		scale := plain.Softplus(s.rho[k])
		value += math.Log(prior/scale) + (scale*scale+m*m)/(2*prior*prior) - 0.5
		grad[1+k] += m / (prior * prior)
		grad[1+p+k] += (scale/(prior*prior) - 1/scale) * plain.Logistic(s.rho[k])
	}
	return value, grad
}

func (s *transcript) step(grad []float64) {
	theta, p := s.theta(), len(s.m)
	s.adam.Step(0.005, theta, grad)
	s.noise, s.m, s.rho = theta[0], theta[1:1+p], theta[1+p:]
}

// train sets the parameters to those with the smallest of the objectives of every tenth step.
// Training ends after five without a new minimum.
func (s *transcript) train(steps int, rng *rand.Rand) {
	best, least, stale, all := *s, math.Inf(1), 0, subset.All(len(s.x))
	for step := 0; step < steps && stale < 5; step++ {
		if step%10 == 0 {
			value, _ := s.objective(all, rng)
			if stale++; value < least {
				best, least, stale = *s, value, 0
			}
		}
		_, grad := s.objective(all, rng)
		s.step(grad)
	}
	*s = best
}

func publishedModel(hidden ...int) Model {
	return Model{Preset: surrogate.Published, Sampled: mapnet.Sampled{Network: mapnet.Network{Hidden: hidden}}}
}

// Each step of the published training is a step of Adam on the bound of the transcript with the same draws.
// Steps use all observations or a batch drawn at each step. The bound that ends training early has all of them.
func TestPublishedTrainingIsBayesByBackprop(t *testing.T) {
	for name, batch := range map[string]int{"all": 15, "batch": 6} {
		t.Run(name, func(t *testing.T) { testPublishedTraining(t, batch) })
	}
}

func testPublishedTraining(t *testing.T, size int) {
	d, m := line(), publishedModel(4, 3)
	m.Batch = size
	m, err := settings.Resolve("mfvi", m)
	require.NoError(t, err)
	p, err := mapnet.NewPublished(mapnet.Settings{Network: m.Network, Batch: m.Batch}, d)
	require.NoError(t, err)
	s := m.Stochastic(p, independent(p), "train")
	s.Flat = true
	v, _, err := s.Start(t.Context(), nil, random.New(1, "start", 0))
	require.NoError(t, err)
	weights := p.Net.NumParams()
	run, want := s.Published(v), newTranscript(d, []int{4, 3}, 10, v[2:2+weights])
	ours, theirs, all := random.New(1, "draws", 0), random.New(1, "draws", 0), subset.All(15)
	for step := range 200 {
		check := step%10 == 0
		run.Step(check, ours)
		if check {
			value, _ := want.objective(all, theirs)
			require.GreaterOrEqual(t, value, run.Least-1e-9*math.Abs(value))
			if step == 0 {
				require.InEpsilon(t, value, run.Least, 1e-12)
			}
		}
		batch := all
		if size < len(all) {
			batch = make([]int, size)
			for i := range batch {
				batch[i] = theirs.IntN(len(all))
			}
		}
		_, grad := want.objective(batch, theirs)
		want.step(grad)
		require.InDeltaSlice(t, want.theta(), run.V, 1e-9)
	}
}

// A published fit has the noise of the transcript, and its predictions are moments of networks drawn
// from its distribution.
func TestPublishedFitIsThePapers(t *testing.T) {
	d, m := line(), publishedModel(4, 3)
	m.Steps, m.Samples = 600, 200
	post, err := m.Fit(t.Context(), d, random.New(1, "fit", 0))
	require.NoError(t, err)

	rng := random.New(1, "fit", 0)
	resolved, err := settings.Resolve("mfvi", m)
	require.NoError(t, err)
	p, err := mapnet.NewPublished(mapnet.Settings{Network: resolved.Network}, d)
	require.NoError(t, err)
	w := p.Initial(random.Split(rng, "start", 0))
	want := newTranscript(d, m.Hidden, 10, w)
	want.train(m.Steps, random.Split(rng, "training", 0))
	sd := plain.Softplus(want.noise)
	require.InEpsilon(t, sd*sd, post.Noise(), 1e-8)

	draws := random.Split(rng, "samples", 0)
	at := mat.NewDense(2, 2, []float64{0.1, -0.8, 1.4, 0.3})
	sum, squares := make([]float64, 2), make([]float64, 2)
	for range m.Samples {
		drawn := make([]float64, len(w))
		for k := range drawn {
			drawn[k] = want.m[k] + plain.Softplus(want.rho[k])*draws.NormFloat64()
		}
		for i := range 2 {
			f := want.net.Value(drawn, want.scaled(at.RawRowView(i)))
			sum[i] += f
			squares[i] += f * f
		}
	}
	mean, variance := make([]float64, 2), make([]float64, 2)
	post.Predict(mean, variance, at)
	n := float64(m.Samples)
	for i := range 2 {
		require.InEpsilon(t, sum[i]/n, mean[i], 1e-8)
		require.InEpsilon(t, squares[i]/n-sum[i]*sum[i]/(n*n), variance[i], 1e-7)
	}
}

// The numbers of the paper's appendix A.3 and of the authors' code (docs/methods/mfvi.md).
func TestPublishedNumbers(t *testing.T) {
	m, err := settings.Resolve("mfvi", publishedModel())
	require.NoError(t, err)
	require.Equal(t, []int{30, 30}, m.Hidden)
	require.Equal(t, []any{"tanh", "random"}, []any{m.Activation, m.Start})
	require.Equal(t, []any{10_000, 2000, 0.005, 1 / (0.75 * 0.75), 10, 100}, []any{m.Steps, m.Batch, m.Rate, *m.Precision, m.Draws, m.Samples})
}

// Other settings replace published values.
func TestSettingsBesideThePreset(t *testing.T) {
	m := publishedModel()
	m.Network.Precision, m.Draws, m.Start = new(1.), 1, "map"
	m, err := settings.Resolve("mfvi", m)
	require.NoError(t, err)
	require.Equal(t, []any{1., 1, "map", 10000, 2000, []int{30, 30}}, []any{*m.Precision, m.Draws, m.Start, m.Steps, m.Batch, m.Hidden})
	require.True(t, surrogate.StatesPrior(m))
	require.False(t, surrogate.StatesPrior(Model{}))

	m.Steps, m.Hidden = 20, []int{3}
	_, err = m.Fit(t.Context(), line(), random.New(1, "fit", 0))
	require.NoError(t, err)
}

// Beyond 1000 observations Adam searches the maximum of the posterior at which training starts.
func TestPublishedStartsAtAMaximumForManyObservations(t *testing.T) {
	const n = 1001
	rng := random.New(1, "data", 0)
	d := surrogate.Dataset{X: mat.NewDense(n, 1, nil), Y: make([]float64, n)}
	for i := range n {
		x := rng.NormFloat64()
		d.X.Set(i, 0, x)
		d.Y[i] = math.Tanh(2*x) + 0.1*rng.NormFloat64()
	}
	m := publishedModel(3)
	m.Start, m.Steps = "map", 1
	post, err := m.Fit(t.Context(), d, random.New(1, "fit", 0))
	require.NoError(t, err)
	mean, variance := make([]float64, 2), make([]float64, 2)
	post.Predict(mean, variance, mat.NewDense(2, 1, []float64{-0.5, 1}))
	require.InDeltaSlice(t, []float64{math.Tanh(-1), math.Tanh(2)}, mean, 0.05)
	require.InDelta(t, 0.01, post.Noise(), 0.003)
}

func TestConformanceOfThePreset(t *testing.T) {
	m := publishedModel(8)
	m.Steps, m.Samples = 100, 20
	surrogatetest.Options{Fast: true}.Run(t, m)
}
