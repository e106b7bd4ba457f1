package fvi

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/racetest"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/autodiff"
	"github.com/functionspace/bo/surrogate/internal/mixture"
	"github.com/functionspace/bo/surrogate/internal/plain"
	"github.com/functionspace/bo/surrogate/internal/toy"
	"github.com/functionspace/bo/surrogate/internal/variational"
)

// paper is a transcription of Algorithm 1 of the paper, with the injected noise of appendix B.1 and the
// spectral Stein gradient estimator. It treats the noise as the authors do. theta holds m, log s and log σ.
type paper struct {
	net    autodiff.Network
	kernel func(x, y []float64) float64 // nil for a prior that is drawn
	linear bool                         // the drawn prior is piecewise linear, otherwise constant
	share  float64                      // of the trace in the eigenvalues of a score estimate
	x      [][]float64                  // training inputs
	y      []float64
	lo, hi []float64                   // box of the measurement points
	order  []int                       // a permutation of the observations
	scaled func(x []float64) []float64 // to the network's inputs
	rise   int                         // steps in which the weight of the likelihood rises to 1

	theta   []float64
	leastSD float64
	fixedSD bool // σ is not learned
	adam    plain.Adam
}

const paperDraws, paperBatch, paperContext = 15, 6, 3

// published returns the model that newPaper transcribes.
func published() Model {
	m := Model{Preset: surrogate.Published, Draws: paperDraws, Batch: paperBatch, Context: paperContext}
	m.Hidden = []int{5}
	return m
}

// newPaper starts at the weights m, s = e⁻² and σ = 0.5. The measurement points fill the range of
// the data, and half of it on each side.
func newPaper(d surrogate.Dataset, m []float64, hidden ...int) *paper {
	p := &paper{
		net: autodiff.Network{Widths: append([]int{d.X.RawMatrix().Cols}, hidden...), Relu: true},
		x:   autodiff.Rows(d.X), y: d.Y, share: 0.99, leastSD: 0.05,
	}
	_, p.scaled = plain.ZScore(p.x)
	p.theta = append(p.theta, m...)
	for range m {
		p.theta = append(p.theta, -2)
	}
	p.theta = append(p.theta, math.Log(0.5))
	for j := range p.x[0] {
		lo, hi := p.x[0][j], p.x[0][j]
		for _, x := range p.x {
			lo, hi = min(lo, x[j]), max(hi, x[j])
		}
		p.lo, p.hi = append(p.lo, lo-0.5*(hi-lo)), append(p.hi, hi+0.5*(hi-lo))
	}
	for i := range p.x {
		p.order = append(p.order, i)
	}
	return p
}

// domain sets the box of the measurement points to the unit cube and 5 % on each side.
func (p *paper) domain() {
	for j := range p.lo {
		p.lo[j], p.hi[j] = -0.05, 1.05
	}
}

// drawn holds the random numbers of a step.
type drawn struct {
	x        [][]float64 // measurement points: the minibatch, then points of the box
	y        []float64   // minibatch
	eps, eta [][]float64 // for the weights and the injected noise
	prior    [][]float64 // functions of the prior at x, with noise; nil for a Gaussian process
}

// draw returns a minibatch without replacement, by the first steps of a shuffle, and the other
// random numbers of a step.
func (p *paper) draw(rng *rand.Rand) (d drawn) {
	for i := range paperBatch {
		j := i + rng.IntN(len(p.x)-i)
		p.order[i], p.order[j] = p.order[j], p.order[i]
		d.x, d.y = append(d.x, p.x[p.order[i]]), append(d.y, p.y[p.order[i]])
	}
	for range paperContext {
		var c []float64
		for j := range p.lo {
			c = append(c, p.lo[j]+(p.hi[j]-p.lo[j])*rng.Float64())
		}
		d.x = append(d.x, c)
	}
	normal := func(columns int) [][]float64 {
		out := make([][]float64, paperDraws)
		for i := range out {
			for range columns {
				out[i] = append(out[i], rng.NormFloat64())
			}
		}
		return out
	}
	d.eps = normal(len(p.theta) / 2)
	d.eta = normal(len(d.x))
	if p.kernel != nil {
		return d
	}
	for range paperDraws {
		g := p.function(rng)
		var values []float64
		for _, x := range d.x {
			values = append(values, g(x[0]))
		}
		d.prior = append(d.prior, values)
	}
	for i, noise := range normal(len(d.x)) {
		for c := range noise {
			d.prior[i][c] += 0.01 * noise[c]
		}
	}
	return d
}

// function draws a random function of appendix E.1 of one input, with a free value at the upper
// end: a Poisson number of changes of mean 3 at uniform places, and values that are uniform in
// [0,1] at the changes and both ends.
func (p *paper) function(rng *rand.Rand) func(x float64) float64 {
	changes := 0
	for at := rng.ExpFloat64(); at < 3; at += rng.ExpFloat64() {
		changes++
	}
	places := []float64{p.lo[0], p.hi[0]}
	for range changes {
		places = append(places, p.lo[0]+(p.hi[0]-p.lo[0])*rng.Float64())
	}
	slices.Sort(places)
	var values []float64
	for range places {
		values = append(values, rng.Float64())
	}
	return func(x float64) float64 {
		piece := 0
		for piece+2 < len(places) && places[piece+1] < x {
			piece++
		}
		if !p.linear {
			return values[piece]
		}
		t := (x - places[piece]) / (places[piece+1] - places[piece])
		return (1-t)*values[piece] + t*values[piece+1]
	}
}

// score is the estimate of ∇ log q from samples, at these or at the points at: eq. 8 of the paper
// with the Nyström approximation of the eigenfunctions. The kernel widths are medians over samples and at together.
func score(samples, at [][]float64, limit float64) [][]float64 {
	n, d := len(samples), len(samples[0])
	both := slices.Concat(samples, at)
	if at == nil {
		at = samples
	}
	width := make([]float64, d)
	for j := range width {
		var gaps []float64
		for _, a := range both {
			for _, b := range both {
				gaps = append(gaps, math.Abs(a[j]-b[j]))
			}
		}
		slices.Sort(gaps)
		width[j] = math.Sqrt(float64(d)) * gaps[len(gaps)-(len(gaps)+1)/2]
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

	out := make([][]float64, len(at))
	for a := range out {
		out[a] = make([]float64, d)
	}
	var share float64
	for j := n - 1; j >= 0; j-- {
		share += mu[j] / float64(n)
		if share >= limit && j < n-1 {
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
			for a := range at {
				out[a][c] += beta * psi(at[a])
			}
		}
	}
	return out
}

// loss returns the function whose gradient is the negative of g₁ - g₂ of Algorithm 1: the weighted expected
// negative log likelihood of the minibatch at the first points, plus the functions times the difference of the
// scores. The difference is constant.
func (p *paper) loss(d drawn, weight float64) autodiff.Number {
	const gamma = 0.01
	theta := autodiff.Variables(p.theta)
	w := len(p.theta) / 2
	f, noisy := make(autodiff.Matrix, len(d.eps)), make([][]float64, len(d.eps))
	for i := range d.eps {
		weights := make([]autodiff.Number, w)
		for j := range weights {
			weights[j] = theta[j].Plus(theta[w+j].Exp().Scaled(d.eps[i][j]))
		}
		for c := range d.x {
			f[i] = append(f[i], p.net.Value(weights, p.scaled(d.x[c])))
			noisy[i] = append(noisy[i], f[i][c].Value+gamma*d.eta[i][c])
		}
	}
	var ofPrior [][]float64
	if p.kernel == nil {
		ofPrior = score(d.prior, noisy, p.share)
	} else {
		ofPrior = p.scoreOfProcess(d.x, noisy, gamma)
	}
	var sum autodiff.Number
	for i, own := range score(noisy, nil, p.share) {
		for c := range d.x {
			sum = sum.Plus(f[i][c].Scaled(own[c] - ofPrior[i][c]))
		}
		for c := range d.y {
			sum = sum.Plus(autodiff.NegLogNormal(d.y[c], f[i][c], theta[2*w].Exp()).Scaled(weight))
		}
	}
	return sum.Scaled(1 / float64(len(d.eps)))
}

// scoreOfProcess returns -(K + γ²I)⁻¹f for each function.
func (p *paper) scoreOfProcess(x, functions [][]float64, gamma float64) (out [][]float64) {
	gram := mat.NewDense(len(x), len(x), nil)
	for a := range x {
		for b := range x {
			gram.Set(a, b, p.kernel(x[a], x[b]))
		}
		gram.Set(a, a, gram.At(a, a)+gamma*gamma)
	}
	for _, f := range functions {
		var u mat.VecDense
		if err := u.SolveVec(gram, mat.NewVecDense(len(x), slices.Clone(f))); err != nil {
			panic(err)
		}
		u.ScaleVec(-1, &u)
		out = append(out, u.RawVector().Data)
	}
	return out
}

func (p *paper) step(loss autodiff.Number) {
	last := len(p.theta) - 1
	sd := p.theta[last]
	p.adam.Step(0.001, p.theta, loss.Grad)
	p.theta[last] = max(p.theta[last], math.Log(p.leastSD))
	if p.fixedSD {
		p.theta[last] = sd
	}
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
// step and q after it agree. So do means and variances after the last. The transcription draws
// batches, points, functions and noise from the random stream. So do the settings of the
// experiments with implicit priors (E.1) and on optimisation (E.5) beside the preset.
func TestPublishedSteps(t *testing.T) {
	racetest.SkipNumerical(t)
	const steps = 12
	process := func(variance float64) prior.Spec {
		return prior.Spec{Lengthscale: []float64{0.4, 0.6}, Variance: new(variance)}
	}
	implicit := func(kind string) func(*Model) {
		return func(m *Model) {
			m.Prior, m.Range, m.Activation, m.Box, m.Eigenvalues, m.Noise = kind, []float64{0, 1}, "tanh", "search", 0.9, new(0.0004)
			m.Hidden = []int{4, 3}
		}
	}
	drawnPrior := func(linear bool) func(*paper) {
		return func(p *paper) {
			p.domain()
			p.kernel, p.linear, p.share, p.net.Relu = nil, linear, 0.9, false
			p.fixedSD, p.theta[len(p.theta)-1] = true, math.Log(0.02)
		}
	}
	for name, c := range map[string]struct {
		dim   int
		model func(*Model)
		paper func(*paper)
	}{
		"free noise":         {2, func(m *Model) { m.Spec = process(1.3) }, func(p *paper) { p.kernel = autodiff.RBF(1.3, []float64{0.4, 0.6}) }},
		"noise of the prior": {2, func(m *Model) { m.Spec = process(0.01) }, func(p *paper) { p.kernel = autodiff.RBF(0.01, []float64{0.4, 0.6}) }},
		"E.1, linear":        {1, implicit("piecewise-linear"), drawnPrior(true)},
		"E.1, constant":      {1, implicit("piecewise-constant"), drawnPrior(false)},
		"E.5": {2, func(m *Model) {
			m.Spec, m.Box, m.Anneal, m.Hidden = process(1.3), "search", 0.5, []int{4, 3}
		}, func(p *paper) {
			p.domain()
			p.kernel, p.rise = autodiff.RBF(1.3, []float64{0.4, 0.6}), steps/2
		}},
	} {
		m, d := published(), toy.Sines(14, c.dim)
		d.Lo, d.Hi = make([]float64, c.dim), slices.Repeat([]float64{1}, c.dim)
		c.model(&m)
		if m.Prior != "" {
			for i, y := range d.Y { // to the range of the prior
				d.Y[i] = (y - 2) / 2
			}
		}
		r, err := m.resolve()
		require.NoError(t, err)
		source, err := newProblem(r, d)
		require.NoError(t, err)
		noise := 0.
		if m.Prior == "" {
			fitted, err := source.fitProcess(t.Context(), nil, random.New(3, "fit", 0))
			require.NoError(t, err)
			noise = fitted.Noise
		} else {
			source.useSampler()
		}
		// Both streams are split in the order of a fit.
		streams := func() (starts, draws, samples *rand.Rand) {
			rng := random.New(3, "fit", 0)
			if m.Prior == "" {
				rng.Uint64() // prior rows
				rng.Uint64() // prior
			}
			return random.Split(rng, "start", 0), random.Split(rng, "train", 0), random.Split(rng, "samples", 0)
		}
		starts, draws, samples := streams()
		v := variational.NewLowRank(source.net.NumParams(), 0)
		_, err = source.start(t.Context(), v, nil, starts)
		require.NoError(t, err)
		require.Equal(t, 4000, source.Steps) // two batches a pass
		source.Steps = steps
		_, theirs, _ := streams()

		own := newPaper(d, v.M, m.Hidden...)
		own.leastSD = max(own.leastSD, math.Sqrt(noise))
		c.paper(own)
		var post surrogate.Posterior
		for k := 1; k <= steps; k++ {
			weight := 1.
			if k-1 < own.rise {
				weight = float64(k-1) / float64(own.rise)
			}
			loss := own.loss(own.draw(draws), weight)
			at := variational.NewLowRank(source.net.NumParams(), 0)
			copy(at.Vector, own.theta)
			b, err := source.nextBatch(k-1, theirs)
			require.NoError(t, err)
			pull, err := source.pull(source.draw(at, b), b, theirs)
			require.NoError(t, err)
			require.InEpsilon(t, loss.Value, source.backward(at, b, pull, at.Like()), 1e-8, "%s: function before step %d", name, k)

			own.step(loss)
			if k == 1 && m.Prior == "" {
				require.Equal(t, name == "noise of the prior", own.theta[len(own.theta)-1] == math.Log(own.leastSD), name)
			}
			if k < steps && own.rise > 0 {
				continue // the number of steps changes the weights
			}
			m.Steps = k
			post, err = m.Fit(t.Context(), d, random.New(3, "fit", 0))
			require.NoError(t, err)
			q := post.(*mixture.Posterior).Learned
			require.InDeltaSlice(t, own.theta, []float64(q[len(q)-len(own.theta):]), 1e-8, "%s: m, log s and log σ after step %d", name, k)
		}
		n := len(own.theta) / 2
		eps := mixture.Draw(make([]float64, n), slices.Repeat([]float64{1}, n), nil, 100, samples)
		x := mat.NewDense(3, c.dim, []float64{0.1, 0.2, 0.9, 0.4, 1.6, -0.3}[:3*c.dim])
		mean, variance := make([]float64, 3), make([]float64, 3)
		post.Predict(mean, variance, x)
		for i := range mean {
			f, v := own.predict(x.RawRowView(i), eps)
			require.InEpsilon(t, f, mean[i], 1e-8, name)
			require.InEpsilon(t, v, variance[i], 1e-8, name)
		}
	}
}
