package tfsvi

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/autodiff"
	"github.com/functionspace/bo/surrogate/internal/domain"
	"github.com/functionspace/bo/surrogate/internal/mixture"
	"github.com/functionspace/bo/surrogate/internal/plain"
	"github.com/functionspace/bo/surrogate/internal/toy"
	"github.com/functionspace/bo/surrogate/internal/variational"
)

// paper is a transcription of eq. 17 of the paper, with the marginal divergences from N(0, 10) of
// the authors' runs and a noise standard deviation of 0.1. theta holds m, then log s².
type paper struct {
	net    autodiff.Network
	x      [][]float64 // training inputs
	y      []float64
	batch  int
	lo, hi []float64                   // box of the context points
	order  []int                       // a permutation of the observations
	scaled func(x []float64) []float64 // to the network's inputs
	theta  []float64
	adam   plain.Adam
}

// published returns the model that newPaper transcribes.
func published() Model {
	m := Model{Preset: surrogate.Published, Context: 6, Sets: 3}
	m.Hidden = []int{4, 3}
	return m
}

func newPaper(x [][]float64, y []float64, batch int, m, logS []float64) *paper {
	p := &paper{net: autodiff.Network{Widths: []int{2, 4, 3}}, x: x, y: y, batch: batch}
	_, p.scaled = plain.ZScore(x)
	p.theta = append(p.theta, m...)
	for _, l := range logS {
		p.theta = append(p.theta, 2*l)
	}
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

// drawn holds the random numbers of a step.
type drawn struct {
	x    [][]float64 // minibatch
	y    []float64
	eps  [][]float64   // for the weights
	sets [][][]float64 // context sets
}

// draw returns a minibatch without replacement, by the first steps of a shuffle, five draws of the
// weights, and three sets of six context points: the first half training inputs, the others
// uniform.
func (p *paper) draw(rng *rand.Rand) (d drawn) {
	n := len(p.x)
	for i := range p.batch {
		if p.batch < n {
			j := i + rng.IntN(n-i)
			p.order[i], p.order[j] = p.order[j], p.order[i]
		}
		d.x, d.y = append(d.x, p.x[p.order[i]]), append(d.y, p.y[p.order[i]])
	}
	for range 5 {
		eps := make([]float64, len(p.theta)/2)
		for k := range eps {
			eps[k] = rng.NormFloat64()
		}
		d.eps = append(d.eps, eps)
	}
	for range 3 {
		c := make([][]float64, 6)
		for i := range c {
			for j := range p.lo {
				c[i] = append(c[i], p.lo[j]+(p.hi[j]-p.lo[j])*rng.Float64())
			}
		}
		for i := range 3 {
			c[i] = p.x[rng.IntN(n)]
		}
		d.sets = append(d.sets, c)
	}
	return d
}

// split returns m and s².
func (p *paper) split() (m, s2 []autodiff.Number) {
	theta := autodiff.Variables(p.theta)
	k := len(theta) / 2
	for _, l := range theta[k:] {
		s2 = append(s2, l.Exp())
	}
	return theta[:k], s2
}

// loss returns the negative of eq. 17.
func (p *paper) loss(d drawn) autodiff.Number {
	m, s2 := p.split()
	var loss autodiff.Number
	for _, eps := range d.eps {
		w := make([]autodiff.Number, len(m))
		for i := range w {
			w[i] = m[i].Plus(s2[i].Sqrt().Scaled(eps[i]))
		}
		for i := range d.x {
			loss = loss.Plus(autodiff.NegLogNormal(d.y[i], p.net.Value(w, p.scaled(d.x[i])), autodiff.Constant(0.1)))
		}
	}
	loss = loss.Scaled(1 / float64(len(d.eps)))

	worst := autodiff.Constant(math.Inf(-1))
	for _, c := range d.sets {
		var sum autodiff.Number
		for _, x := range c {
			f, j := p.net.Jacobian(m, p.scaled(x))
			q := autodiff.Constant(1e-10)
			for i := range j {
				q = q.Plus(j[i].Square().Times(s2[i]))
			}
			sum = sum.Plus(autodiff.Divergence([]autodiff.Number{f}, autodiff.Matrix{{q}}, autodiff.Matrix{{autodiff.Constant(10 + 1e-10)}}))
		}
		if sum.Value > worst.Value {
			worst = sum
		}
	}
	return loss.Plus(worst)
}

// predict returns the mean and the variance of f at x over networks with the given draws of the
// weights.
func (p *paper) predict(x []float64, draws [][]float64) (mean, variance float64) {
	m, s2 := p.split()
	n := float64(len(draws))
	var values []float64
	for _, eps := range draws {
		w := make([]autodiff.Number, len(m))
		for i := range w {
			w[i] = autodiff.Constant(m[i].Value + math.Sqrt(s2[i].Value)*eps[i])
		}
		values = append(values, p.net.Value(w, p.scaled(x)).Value)
		mean += values[len(values)-1] / n
	}
	for _, v := range values {
		variance += (v - mean) * (v - mean) / n
	}
	return mean, variance
}

// rows returns a matrix with the given rows.
func rows(of [][]float64) *mat.Dense {
	out := mat.NewDense(len(of), len(of[0]), nil)
	for i, r := range of {
		out.SetRow(i, r)
	}
	return out
}

// of returns the batch with the random numbers d, which is not multiplied.
func (d drawn) of(inputs domain.Affine) batch {
	b := batch{x: inputs.Apply(rows(d.x)), y: d.y, weight: 1, noise: rows(d.eps)}
	for _, c := range d.sets {
		b.sets = append(b.sets, inputs.Apply(rows(c)))
	}
	return b
}

// The preset "published" takes the steps of eq. 17: the objective before each step and q after it
// agree. So do means and variances after the last. The transcription draws batches and context
// points from the random stream.
func TestPublishedSteps(t *testing.T) {
	const steps = 12
	for name, size := range map[string]int{"all data": 0, "batches": 5} {
		m, d := published(), toy.Sines(12, 2)
		m.Batch = size
		var own *paper
		var post surrogate.Posterior
		rng := random.New(3, "fit", 0)
		random.Split(rng, "weights", 0)
		random.Split(rng, "start", 0)
		draws := random.Split(rng, "train", 0)
		for k := range steps + 1 {
			m.Steps = max(k, 1)
			r, err := m.resolve()
			require.NoError(t, err)
			net, err := domain.Network(r.Network, d)
			require.NoError(t, err)
			p := newProblem(r, net, d)
			if k == 0 {
				p.spread = []float64{1, 1} // for the biases, which are 0
				v := p.initial(random.Split(random.New(3, "fit", 0), "weights", 0))
				own = newPaper(autodiff.Rows(d.X), d.Y, cmp.Or(size, 12), v.M, v.LogS)
				for _, l := range v.LogS {
					require.InDelta(t, -9, 2*l, 1) // log s² in [-10,-8]
				}
				continue
			}
			drawn := own.draw(draws)
			loss := own.loss(drawn)
			at := variational.NewOutput(len(own.theta)/2, 0)
			write := func() {
				m, s2 := own.split()
				for i := range m {
					at.M[i], at.LogS[i] = m[i].Value, 0.5*math.Log(s2[i].Value)
				}
				at.LogSD[0] = math.Log(0.1)
			}
			write()
			p.scaleInputs()
			value, err := p.eval(at, drawn.of(p.inputs), nil)
			require.NoError(t, err)
			require.InEpsilon(t, loss.Value, value, 1e-8, "%s: objective before step %d", name, k)

			own.adam.Step(0.0005, own.theta, loss.Grad)
			write()
			v, err := p.fit(t.Context(), nil, random.New(3, "fit", 0))
			require.NoError(t, err)
			require.InDeltaSlice(t, at.Vector, v.Vector, 1e-8, "%s: m, log s and log σ after step %d", name, k)
			if k == steps {
				post, err = m.Fit(t.Context(), d, random.New(3, "fit", 0))
				require.NoError(t, err)
			}
		}
		n := len(own.theta) / 2
		eps := mixture.Draw(make([]float64, n), slices.Repeat([]float64{1}, n), nil, 100, random.Split(rng, "samples", 0))
		x := mat.NewDense(3, 2, []float64{0.1, 0.2, 0.9, 0.4, 1.6, -0.3})
		mean, variance := make([]float64, 3), make([]float64, 3)
		post.Predict(mean, variance, x)
		for i := range mean {
			f, v := own.predict(x.RawRowView(i), eps)
			require.InEpsilon(t, f, mean[i], 1e-8, name)
			require.InEpsilon(t, v, variance[i], 1e-8, name)
		}
		require.InDelta(t, 0.01, post.Noise(), 1e-12)
	}
}
