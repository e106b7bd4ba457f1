package fvi

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/autodiff"
	"github.com/functionspace/bo/surrogate/internal/mixture"
	"github.com/functionspace/bo/surrogate/internal/plain"
	"github.com/functionspace/bo/surrogate/internal/toy"
	"github.com/functionspace/bo/surrogate/internal/variational"
)

// paper is a transcription of Algorithm 1 of the paper, with the injected noise of appendix B.1,
// the spectral Stein gradient estimator, and the authors' treatment of the noise. theta holds m,
// log s and log σ.
type paper struct {
	net     autodiff.Network
	kernel  func(x, y []float64) float64
	scaled  func(x []float64) []float64 // to the network's inputs
	theta   []float64
	leastSD float64
	adam    plain.Adam
}

// published returns the model that newPaper transcribes.
func published(variance float64) Model {
	m := Model{
		Preset: surrogate.Published,
		Spec:   prior.Spec{Lengthscale: []float64{0.4, 0.6}, Variance: new(variance)},
		Draws:  15, Batch: 6, Context: 3,
	}
	m.Hidden = []int{5}
	return m
}

func newPaper(data [][]float64, m []float64, variance, priorSD float64) *paper {
	p := &paper{
		net:     autodiff.Network{Widths: []int{2, 5}, Relu: true},
		kernel:  autodiff.RBF(variance, []float64{0.4, 0.6}),
		leastSD: max(priorSD, 0.05),
	}
	_, p.scaled = plain.ZScore(data)
	p.theta = append(p.theta, m...)
	for range m {
		p.theta = append(p.theta, -2)
	}
	p.theta = append(p.theta, math.Log(0.5))
	return p
}

// score is the estimate of ∇ log q at the samples from them: eq. 8 of the paper with the Nyström
// approximation of the eigenfunctions.
func score(samples [][]float64) [][]float64 {
	n, d := len(samples), len(samples[0])
	width := make([]float64, d)
	for j := range width {
		var gaps []float64
		for _, a := range samples {
			for _, b := range samples {
				gaps = append(gaps, math.Abs(a[j]-b[j]))
			}
		}
		slices.Sort(gaps)
		width[j] = math.Sqrt(float64(d)) * gaps[n*n-(n*n+1)/2]
	}
	kernel := autodiff.RBF(1, width)
	gram := mat.NewSymDense(n, nil)
	for a := range n {
		for b := range n {
			gram.SetSym(a, b, kernel(samples[a], samples[b]))
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(gram, true) {
		panic("no eigenvalues")
	}
	mu := eigen.Values(nil)
	var u mat.Dense
	eigen.VectorsTo(&u)

	out := make([][]float64, n)
	for a := range out {
		out[a] = make([]float64, d)
	}
	var share float64
	for j := n - 1; j >= 0; j-- {
		share += mu[j] / float64(n)
		if share >= 0.99 && j < n-1 {
			break
		}
		psi := func(x []float64) (value float64) {
			for b := range n {
				value += math.Sqrt(float64(n)) / mu[j] * kernel(x, samples[b]) * u.At(b, j)
			}
			return value
		}
		for c := range d {
			var beta float64 // -E ∂ψ/∂x_c
			for a := range n {
				for b := range n {
					slope := -(samples[a][c] - samples[b][c]) / (width[c] * width[c]) * kernel(samples[a], samples[b])
					beta -= math.Sqrt(float64(n)) / mu[j] * slope * u.At(b, j) / float64(n)
				}
			}
			for a := range n {
				out[a][c] += beta * psi(samples[a])
			}
		}
	}
	return out
}

// loss returns the function whose gradient is the negative of g₁ - g₂ of Algorithm 1: the expected
// negative log likelihood of the minibatch y at the first points, plus the functions times the
// difference of the scores, which is constant. eps and eta are the draws of the weights and of the
// injected noise.
func (p *paper) loss(x [][]float64, y []float64, eps, eta [][]float64) autodiff.Number {
	const gamma = 0.01
	theta := autodiff.Variables(p.theta)
	w := len(p.theta) / 2
	f, noisy := make(autodiff.Matrix, len(eps)), make([][]float64, len(eps))
	for i := range eps {
		weights := make([]autodiff.Number, w)
		for j := range weights {
			weights[j] = theta[j].Plus(theta[w+j].Exp().Scaled(eps[i][j]))
		}
		for c := range x {
			f[i] = append(f[i], p.net.Value(weights, p.scaled(x[c])))
			noisy[i] = append(noisy[i], f[i][c].Value+gamma*eta[i][c])
		}
	}
	gram := mat.NewDense(len(x), len(x), nil)
	for a := range x {
		for b := range x {
			gram.Set(a, b, p.kernel(x[a], x[b]))
		}
		gram.Set(a, a, gram.At(a, a)+gamma*gamma)
	}
	var sum autodiff.Number
	for i, own := range score(noisy) {
		var ofPrior mat.VecDense // -(K + γ²I)⁻¹f
		if err := ofPrior.SolveVec(gram, mat.NewVecDense(len(x), slices.Clone(noisy[i]))); err != nil {
			panic(err)
		}
		for c := range x {
			sum = sum.Plus(f[i][c].Scaled(own[c] + ofPrior.AtVec(c)))
		}
		for c := range y {
			sum = sum.Plus(autodiff.NegLogNormal(y[c], f[i][c], theta[2*w].Exp()))
		}
	}
	return sum.Scaled(1 / float64(len(eps)))
}

func (p *paper) step(loss autodiff.Number) {
	p.adam.Step(0.001, p.theta, loss.Grad)
	last := len(p.theta) - 1
	p.theta[last] = max(p.theta[last], math.Log(p.leastSD))
}

// predict returns the mean and the variance of f at x over networks with the given draws of the
// weights.
func (p *paper) predict(x []float64, eps [][]float64) (mean, variance float64) {
	k := len(p.theta) / 2
	var values []float64
	for _, e := range eps {
		w := make([]autodiff.Number, k)
		for j := range w {
			w[j] = autodiff.Constant(p.theta[j] + math.Exp(p.theta[k+j])*e[j])
		}
		values = append(values, p.net.Value(w, p.scaled(x)).Value)
	}
	n := float64(len(values))
	for _, v := range values {
		mean += v / n
	}
	for _, v := range values {
		variance += (v - mean) * (v - mean) / n
	}
	return mean, variance
}

// The preset "published" takes the steps of Algorithm 1: the function of the gradient before each
// step and q after it agree. So do means and variances after the last.
func TestPublishedSteps(t *testing.T) {
	const steps = 12
	for name, variance := range map[string]float64{"free noise": 1.3, "noise of the prior": 0.01} {
		m, d := published(variance), toy.Sines(14, 2)
		var own *paper
		var source *problem // of the batches
		rng := random.New(3, "fit", 0)
		random.Split(rng, "prior rows", 0)
		random.Split(rng, "prior", 0)
		starts := random.Split(rng, "start", 0)
		batches := random.Split(rng, "train", 0)
		var post surrogate.Posterior
		for k := range steps + 1 {
			if k == 0 {
				r, err := m.resolve()
				require.NoError(t, err)
				source, err = newProblem(r, d)
				require.NoError(t, err)
				fitted, err := source.fitProcess(t.Context(), nil, random.New(3, "fit", 0))
				require.NoError(t, err)
				v := variational.NewLowRank(source.net.NumParams(), 0)
				_, err = source.start(t.Context(), v, nil, starts)
				require.NoError(t, err)
				require.Equal(t, 2*publishedPasses, source.Steps)
				own = newPaper(autodiff.Rows(d.X), v.M, variance, math.Sqrt(fitted.Noise))
				continue
			}
			m.Steps = k
			b, err := source.nextBatch(k-1, batches)
			require.NoError(t, err)
			loss := own.loss(autodiff.Rows(b.x), b.y, autodiff.Rows(b.eps), autodiff.Rows(b.eta))
			at := variational.NewLowRank(source.net.NumParams(), 0)
			copy(at.Vector, own.theta)
			pull, err := source.pull(source.draw(at, b), b, nil)
			require.NoError(t, err)
			require.InEpsilon(t, loss.Value, source.backward(at, b, pull, at.Like()), 1e-8, "%s: function before step %d", name, k)

			own.step(loss)
			if k == 1 {
				require.Equal(t, variance == 0.01, own.theta[len(own.theta)-1] == math.Log(own.leastSD), name)
			}
			post, err = m.Fit(t.Context(), d, random.New(3, "fit", 0))
			require.NoError(t, err)
			q := post.(*mixture.Posterior).Learned
			require.InDeltaSlice(t, own.theta, []float64(q[len(q)-len(own.theta):]), 1e-8, "%s: m, log s and log σ after step %d", name, k)
		}
		n := len(own.theta) / 2
		draws := mixture.Draw(make([]float64, n), slices.Repeat([]float64{1}, n), nil, 100, random.Split(rng, "samples", 0))
		x := mat.NewDense(3, 2, []float64{0.1, 0.2, 0.9, 0.4, 1.6, -0.3})
		mean, variance := make([]float64, 3), make([]float64, 3)
		post.Predict(mean, variance, x)
		for i := range mean {
			f, v := own.predict(x.RawRowView(i), draws)
			require.InEpsilon(t, f, mean[i], 1e-8, name)
			require.InEpsilon(t, v, variance[i], 1e-8, name)
		}
	}
}
