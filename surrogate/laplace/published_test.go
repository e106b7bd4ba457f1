package laplace

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/internal/settings"
	"github.com/functionspace/bo/internal/subset"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/domain"
	"github.com/functionspace/bo/surrogate/internal/mapnet"
	"github.com/functionspace/bo/surrogate/internal/plain"
	"github.com/functionspace/bo/surrogate/surrogatetest"
)

// transcript is the linearised Laplace approximation of the FSP-Laplace paper in explicit loops:
// a maximum of the posterior under w ~ N(0, I/δ) by Adam, and the full Gauss–Newton matrix.
type transcript struct {
	net       plain.Network
	x         [][]float64 // standardised training inputs
	y         []float64
	scaled    func(x []float64) []float64
	precision float64
	weight    float64 // number of observations that x stands for; 0 is their own

	theta []float64 // w, then ρ
	adam  plain.Adam
}

func newTranscript(d surrogate.Dataset, hidden []int, w []float64) *transcript {
	n, dim := d.Dims()
	s := &transcript{net: append(plain.Network{dim}, hidden...), y: d.Y, precision: 1, theta: append(append([]float64(nil), w...), plain.Inverse(0.3))}
	var rows [][]float64
	for i := range n {
		rows = append(rows, mat.Row(nil, i, d.X))
	}
	s.x, s.scaled = plain.ZScore(rows)
	return s
}

// objective returns -(n/b) Σ_batch log p(y_i|w) + ½ δ|w|² and the gradient.
func (s *transcript) objective(batch []int) (float64, []float64) {
	scale := float64(len(s.x)) / float64(len(batch))
	if s.weight > 0 {
		scale = s.weight / float64(len(batch))
	}
	last := len(s.theta) - 1
	w, rho, grad := s.theta[:last], s.theta[last], make([]float64, last+1)
	sd, value := plain.Softplus(rho), 0.0
	for _, i := range batch {
		f, row := s.net.Row(w, s.x[i])
		e := s.y[i] - f
		value += scale * (0.5*math.Log(2*math.Pi) + math.Log(sd) + e*e/(2*sd*sd))
		for k, v := range row {
			grad[k] -= scale * e / (sd * sd) * v
		}
		grad[last] += scale * (1/sd - e*e/(sd*sd*sd)) * plain.Logistic(rho)
	}
	for k, v := range w {
		value += 0.5 * s.precision * v * v
		grad[k] += s.precision * v
	}
	return value, grad
}

// train returns θ with the smallest of the objectives of every tenth step. Training ends after
// five without a new minimum.
func (s *transcript) train(steps int) []float64 {
	best, least, stale := []float64(nil), math.Inf(1), 0
	for step := 0; step < steps && stale < 5; step++ {
		value, grad := s.objective(subset.All(len(s.x)))
		if step%10 == 0 {
			if stale++; value < least {
				best, least, stale = append([]float64(nil), s.theta...), value, 0
			}
		}
		s.adam.Step(0.005, s.theta, grad)
	}
	return best
}

// moments returns mean and covariance of the linearised network at points.
func (s *transcript) moments(w []float64, sd float64, at [][]float64) (mean []float64, cov *mat.Dense) {
	p := len(w)
	precision := mat.NewSymDense(p, nil)
	for k := range p {
		precision.SetSym(k, k, s.precision)
	}
	for _, x := range s.x {
		_, row := s.net.Row(w, x)
		precision.SymRankOne(precision, 1/(sd*sd), mat.NewVecDense(p, row))
	}
	var sigma mat.Dense
	if err := sigma.Inverse(precision); err != nil {
		panic(err)
	}
	j := mat.NewDense(len(at), p, nil)
	for i, x := range at {
		f, row := s.net.Row(w, s.scaled(x))
		mean = append(mean, f)
		j.SetRow(i, row)
	}
	cov = new(mat.Dense)
	cov.Product(j, &sigma, j.T())
	return mean, cov
}

func waves(n int) surrogate.Dataset {
	rng := random.New(1, "data", 0)
	d := surrogate.Dataset{X: mat.NewDense(n, 2, nil), Y: make([]float64, n), Lo: []float64{0, 0}, Hi: []float64{1, 1}}
	for i := range n {
		a, b := rng.Float64(), rng.Float64()
		d.X.SetRow(i, []float64{a, b})
		d.Y[i] = 1 + math.Sin(6*a)*math.Cos(3*b) + 0.1*rng.NormFloat64()
	}
	return d
}

// Each step of the published training is a step of Adam on the objective of the transcript. The
// fit has its mean and covariance, with fewer observations than weights and with more.
func TestPublishedFitIsThePapers(t *testing.T) {
	for _, n := range []int{20, 60} {
		d, hidden := waves(n), []int{5, 4}
		m := Model{Preset: surrogate.Published, Settings: mapnet.Settings{Network: mapnet.Network{Hidden: hidden}}}
		resolved, err := settings.Resolve("laplace", m)
		require.NoError(t, err)
		p, err := resolved.problem(d)
		require.NoError(t, err)
		rng := random.Split(random.New(1, "fit", 0), "training", 0)
		w, h := p.Start(nil, rng)

		run, want := p.Maximum(w, h), newTranscript(d, hidden, w)
		for step := range 300 {
			value, grad := want.objective(subset.All(n))
			run.Step(true, nil)
			if step == 0 {
				require.InEpsilon(t, value, run.Least, 1e-12)
			}
			want.adam.Step(0.005, want.theta, grad)
			last := len(w)
			require.InDelta(t, want.theta[last], run.V[0], 1e-9)
			require.InDeltaSlice(t, want.theta[:last], run.V[1:], 1e-9)
		}

		for _, steps := range []int{250, 500} {
			m.Steps = steps
			post, err := m.Fit(t.Context(), d, random.New(1, "fit", 0))
			require.NoError(t, err)
			want = newTranscript(d, hidden, w)
			best := want.train(steps)
			sd := plain.Softplus(best[len(w)])
			require.InEpsilon(t, sd*sd, post.Noise(), 1e-6)
			at := mat.NewDense(3, 2, []float64{0.1, 0.8, 0.5, 0.5, 1.4, -0.3})
			points := [][]float64{at.RawRowView(0), at.RawRowView(1), at.RawRowView(2)}
			wantMean, wantCov := want.moments(best[:len(w)], sd, points)
			mean, cov := make([]float64, 3), mat.NewSymDense(3, nil)
			post.Joint(mean, cov, at)
			require.InDeltaSlice(t, wantMean, mean, 1e-6)
			require.InEpsilonSlice(t, wantCov.RawMatrix().Data, mat.DenseCopyOf(cov).RawMatrix().Data, 1e-5)
		}
	}
}

// With more observations than a batch each step has observations drawn at random, and the objective that
// ends training early has all.
func TestPublishedBatches(t *testing.T) {
	const n, size = 20, 6
	d, hidden := waves(n), []int{5, 4}
	m, err := settings.Resolve("laplace", Model{Preset: surrogate.Published, Settings: mapnet.Settings{Network: mapnet.Network{Hidden: hidden}, Batch: size}})
	require.NoError(t, err)
	p, err := m.problem(d)
	require.NoError(t, err)
	w, h := p.Start(nil, random.New(1, "start", 0))
	run, want := p.Maximum(w, h), newTranscript(d, hidden, w)
	ours, theirs := random.New(1, "batches", 0), random.New(1, "batches", 0)
	for step := range 100 {
		value, _ := want.objective(subset.All(n))
		run.Step(true, ours)
		if step == 0 {
			require.InEpsilon(t, value, run.Least, 1e-12)
		}
		batch := make([]int, size)
		for i := range batch {
			batch[i] = theirs.IntN(n)
		}
		_, grad := want.objective(batch)
		want.adam.Step(0.005, want.theta, grad)
		require.InDelta(t, want.theta[len(w)], run.V[0], 1e-9)
		require.InDeltaSlice(t, want.theta[:len(w)], run.V[1:], 1e-9)
	}
}

// Held-out observations end the training: in the objective they have the place and the weight of the others.
func TestPublishedTrainingHoldsOut(t *testing.T) {
	const n, training = 30, 24
	all, hidden := waves(n), []int{5, 4}
	m := Model{Preset: surrogate.Published, HeldOut: 0.2, Settings: mapnet.Settings{Network: mapnet.Network{Hidden: hidden}}}
	resolved, err := settings.Resolve("laplace", m)
	require.NoError(t, err)
	rng := random.New(1, "fit", 0)
	d, held := domain.HoldOut(all, 0.2, random.Split(rng, "held out", 0))
	p, err := resolved.problem(d)
	require.NoError(t, err)
	p.HoldOut(held)
	w, h := p.Start(nil, random.Split(rng, "training", 0))
	want, validation := newTranscript(d, hidden, w), newTranscript(held, hidden, nil)
	validation.weight = training
	for i := range held.Y {
		validation.x[i] = want.scaled(mat.Row(nil, i, held.X))
	}

	run := p.Maximum(w, h)
	best, least, stale := []float64(nil), math.Inf(1), 0
	for step := 0; stale < 100; step++ {
		run.Step(step%10 == 0, nil)
		if step%10 == 0 {
			validation.theta = want.theta
			if value, _ := validation.objective(subset.All(len(held.Y))); value < least {
				best, least, stale = append([]float64(nil), want.theta...), value, 0
			} else {
				stale++
			}
			require.InEpsilon(t, least, run.Least, 1e-6)
			require.Equal(t, stale, run.Stale())
		}
		_, grad := want.objective(subset.All(training))
		want.adam.Step(0.005, want.theta, grad)
	}
	post, err := m.Fit(t.Context(), all, random.New(1, "fit", 0))
	require.NoError(t, err)
	sd := plain.Softplus(best[len(w)])
	require.InEpsilon(t, sd*sd, post.Noise(), 1e-4)

	_, err = m.FitLabels(t.Context(), surrogate.Labels{X: all.X, Y: make([]int, n), Classes: 2}, random.New(1, "fit", 0))
	require.EqualError(t, err, "laplace: held-out is 0.2, but labels are not held out")
	m.Trainer = "gauss-newton"
	_, err = m.Fit(t.Context(), all, random.New(1, "fit", 0))
	require.EqualError(t, err, "laplace: held-out is 0.2, which needs preset=published and trainer=adam")
	require.Equal(t, err, surrogate.Check(Model{HeldOut: 0.2}, 2))
}

// The numbers of the paper's appendix B and of the authors' code (docs/methods/laplace.md).
func TestPublishedNumbers(t *testing.T) {
	m, err := settings.Resolve("laplace", Model{Preset: surrogate.Published})
	require.NoError(t, err)
	require.Equal(t, []int{50, 50}, m.Hidden)
	require.Equal(t, []any{"tanh", "adam", "full"}, []any{m.Activation, m.Trainer, m.Curvature})
	require.Equal(t, []any{10_000, 500, 0.005, 1., 1}, []any{m.Steps, m.Batch, m.Rate, *m.Precision, m.Restarts})
}

// Other settings replace published values.
func TestSettingsBesideThePreset(t *testing.T) {
	m, err := settings.Resolve("laplace", Model{Preset: surrogate.Published, Curvature: "kron", Settings: mapnet.Settings{Steps: 7, Network: mapnet.Network{Precision: new(11.)}}})
	require.NoError(t, err)
	require.Equal(t, []any{"adam", "kron", 7, 11., 1, 500}, []any{m.Trainer, m.Curvature, m.Steps, *m.Precision, m.Restarts, m.Batch})
	require.True(t, surrogate.StatesPrior(m))
	require.False(t, surrogate.StatesPrior(Model{}))
}

func TestConformanceOfThePreset(t *testing.T) {
	m := Model{Preset: surrogate.Published, Settings: mapnet.Settings{Network: mapnet.Network{Hidden: []int{10, 10}}, Steps: 200}}
	surrogatetest.Options{Fast: true}.Run(t, m)
}
