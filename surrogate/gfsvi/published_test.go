package gfsvi

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
	"github.com/functionspace/bo/surrogate/internal/domain"
	"github.com/functionspace/bo/surrogate/internal/plain"
	"github.com/functionspace/bo/surrogate/internal/toy"
	"github.com/functionspace/bo/surrogate/internal/variational"
)

// paper is a transcription of Algorithm 1 of the paper with a Gaussian likelihood. theta holds m,
// then ρ with s = softplus(ρ), then the same for σ.
type paper struct {
	net     autodiff.Network
	kernel  func(x, y []float64) float64
	gamma   float64
	x       [][]float64 // training inputs
	y       []float64
	batch   int
	context int                         // measurement points
	lo, hi  []float64                   // box of the measurement points
	order   []int                       // a permutation of the observations
	scaled  func(x []float64) []float64 // to the network's inputs
	theta   []float64
	rate    float64
	adam    plain.Adam
}

// newPaper starts at the weights m, s = softplus(-5) and the standard deviation sd of the noise.
func newPaper(x [][]float64, y []float64, m []float64, sd float64, hidden ...int) *paper {
	p := &paper{
		net:   autodiff.Network{Widths: append([]int{len(x[0])}, hidden...)},
		gamma: 1e-10, rate: 0.005, x: x, y: y, batch: 7, context: 9,
		theta: append([]float64(nil), m...),
	}
	p.kernel = autodiff.Matern52(1.3, []float64{0.6, 0.9}[:len(x[0])])
	for range m {
		p.theta = append(p.theta, -5)
	}
	p.theta = append(p.theta, plain.Inverse(sd))
	_, p.scaled = plain.ZScore(x)
	for j := range x[0] { // the range of the data, and half of it on each side
		lo, hi := x[0][j], x[0][j]
		for i := range x {
			lo, hi = min(lo, x[i][j]), max(hi, x[i][j])
		}
		p.lo, p.hi = append(p.lo, lo-0.5*(hi-lo)), append(p.hi, hi+0.5*(hi-lo))
	}
	for i := range x {
		p.order = append(p.order, i)
	}
	return p
}

// uniform draws measurement points.
func (p *paper) uniform(rng *rand.Rand) [][]float64 {
	c := make([][]float64, p.context)
	for i := range c {
		for j := range p.lo {
			c[i] = append(c[i], p.lo[j]+(p.hi[j]-p.lo[j])*rng.Float64())
		}
	}
	return c
}

// minibatch draws observations without replacement, by the first steps of a shuffle.
func (p *paper) minibatch(rng *rand.Rand) (x [][]float64, y []float64) {
	for i := range p.batch {
		j := i + rng.IntN(len(p.order)-i)
		p.order[i], p.order[j] = p.order[j], p.order[i]
		x, y = append(x, p.x[p.order[i]]), append(y, p.y[p.order[i]])
	}
	return x, y
}

// step draws the points of a step of Adam, takes it, and returns the loss before it with its points.
func (p *paper) step(rng *rand.Rand) (loss float64, c, x [][]float64, y []float64) {
	c = p.uniform(rng)
	x, y = p.minibatch(rng)
	at := p.loss(x, y, c)
	p.adam.Step(p.rate, p.theta, at.Grad)
	return at.Value, c, x, y
}

// published returns the model that newPaper transcribes.
func published(hidden ...int) Model {
	m := Model{
		Preset:  surrogate.Published,
		Spec:    prior.Spec{Lengthscale: []float64{0.6, 0.9}, Variance: new(1.3)},
		Context: 9, Batch: 7,
	}
	m.Hidden = hidden
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
	expected = expected.Scaled(float64(len(p.x)) / float64(len(x)))

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

// rows returns a matrix with the given rows.
func rows(parts ...[][]float64) *mat.Dense {
	all := slices.Concat(parts...)
	out := mat.NewDense(len(all), len(all[0]), nil)
	for i, r := range all {
		out.SetRow(i, r)
	}
	return out
}

// The preset "published" takes the steps of Algorithm 1: the objective before each step and q after
// it agree. The transcription draws batches and measurement points from the random stream.
func TestPublishedSteps(t *testing.T) {
	m, d := published(4, 3), toy.Sines(12, 2)
	m.HeldOut, m.Context = new(0.), 14 // batch < n <= context
	var own *paper
	draws := random.New(7, "train", 0)
	for k := range 13 {
		m.Steps = max(k, 1)
		r, err := m.resolve()
		require.NoError(t, err)
		p, v, fitted, err := r.begin(t.Context(), nil, d, random.New(3, "fit", 0))
		require.NoError(t, err)
		if k == 0 {
			require.Zero(t, fitted.Mean)
			own = newPaper(autodiff.Rows(d.X), d.Y, v.M, math.Sqrt(fitted.Noise), 4, 3)
			own.context = 14
			continue
		}
		at := v.Like()
		own.write(at)
		loss, c, x, y := own.step(draws)
		require.Len(t, y, 7)
		value, err := p.objective.eval(at, batch{x: rows(c, x), measure: len(c), y: y, weight: 12. / 7}, nil)
		require.NoError(t, err)
		require.InEpsilon(t, loss, value, 1e-8, "objective before step %d", k)

		own.write(at)
		require.NoError(t, p.train(t.Context(), v, random.New(7, "train", 0)))
		require.InDeltaSlice(t, at.Vector, v.Vector, 1e-8, "m, log s and log σ after step %d", k)
	}
}

// A fit with the preset "published" equals Algorithm 1 with early stopping: the numbers of steps
// and evaluations, mean, variance and noise agree. Training ends after 100 evaluations without a new
// minimum, or after all steps. Here context < n.
func TestPublishedFit(t *testing.T) {
	racetest.SkipNumerical(t)
	for name, c := range map[string]struct {
		dim, n, held, steps int
		rate                float64
		hidden              []int
	}{
		"all steps": {2, 15, 2, 35, 0.005, []int{4, 3}},
		"early end": {1, 22, 3, 10000, 0.03, []int{2}},
	} {
		m, d := published(c.hidden...), toy.Sines(c.n, c.dim)
		m.Lengthscale = m.Lengthscale[:c.dim]
		m.Steps, m.Rate = c.steps, c.rate
		used := 0
		m.MeasurementPoints = func(n int, lo, hi []float64, rng *rand.Rand) *mat.Dense {
			used++
			return domain.Box{Lo: lo, Hi: hi}.Uniform(n, rng)
		}
		r, err := m.resolve()
		require.NoError(t, err)
		p, v, fitted, err := r.begin(t.Context(), nil, d, random.New(3, "fit", 0))
		require.NoError(t, err)

		rng := random.New(3, "fit", 0)
		order := random.Split(rng, "held out", 0).Perm(c.n)
		held, rest := order[:c.held], order[c.held:] // a tenth, rounded up
		take := func(index []int) (x [][]float64, y []float64) {
			for _, i := range index {
				x, y = append(x, d.X.RawRowView(i)), append(y, d.Y[i])
			}
			return x, y
		}
		x, y := take(rest)
		heldX, heldY := take(held)
		require.Equal(t, heldY, p.held.Y)
		own := newPaper(x, y, v.M, math.Sqrt(fitted.Noise), c.hidden...)
		own.rate = c.rate
		for range 4 { // prior rows, prior, weights, spread
			rng.Uint64()
		}
		draws := random.Split(rng, "train", 0)
		validation := random.Split(draws, "held out", 0)

		best, least, stale, steps, evaluations := []float64(nil), math.Inf(1), 0, 0, 0
		evaluate := func() {
			evaluations++
			stale++
			if loss := own.loss(heldX, heldY, own.uniform(validation)); loss.Value < least {
				best, least, stale = slices.Clone(own.theta), loss.Value, 0
			}
		}
		for ; steps < c.steps; steps++ {
			if steps%10 == 0 {
				if evaluate(); stale == 100 {
					break
				}
			}
			own.step(draws)
		}
		evaluate()
		require.Equal(t, name == "early end", steps < c.steps)
		t.Logf("%s: %d steps", name, steps)
		own.theta = best

		used = 0
		post, err := m.Fit(t.Context(), d, random.New(3, "fit", 0))
		require.NoError(t, err)
		require.Equal(t, steps+evaluations, used, name)
		at := [][]float64{{0.1, 0.2}, {0.9, 0.4}, {0.5, 0.5}, {1.6, -0.3}}
		for i := range at {
			at[i] = at[i][:c.dim]
		}
		mean, variance := make([]float64, 4), make([]float64, 4)
		post.Predict(mean, variance, rows(at))
		for i := range mean {
			f, v, noise := own.predict(at[i])
			require.InEpsilon(t, f, mean[i], 1e-7, name)
			require.InEpsilon(t, v, variance[i], 1e-7, name)
			require.InEpsilon(t, noise, post.Noise(), 1e-7, name)
		}
	}
}
