package gfsvi

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/functionspace/bo/internal/optimize"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/internal/subset"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/classify"
	"github.com/functionspace/bo/surrogate/internal/domain"
	"github.com/functionspace/bo/surrogate/internal/target"
	"github.com/functionspace/bo/surrogate/internal/train"
	"github.com/functionspace/bo/surrogate/internal/variational"
)

// labelDraws is the number of draws in a step for the expected log likelihood of labels, in
// pairs of opposite sign.
const labelDraws = 16

// labelRate is the learning rate after a fitted start. It is larger than in regression,
// because the start is less accurate: an approximation instead of an exact process.
const labelRate = 3e-3

// leastCurvature is a lower bound of the mean curvature of a log likelihood at the start.
const leastCurvature = 1e-6

// FitLabels fits GFSVI with the likelihood of labels. Each latent function is a network with
// weights q_c(w_c) = N(m_c, S_c) and the prior GP(μ_c, k), fitted by the Laplace evidence of
// the exact process. Training maximises
//
//	Σ_i E_q log p(y_i|f(x_i)) - Σ_c D^γ_c
//
// with the expectation over the linearised networks by Monte Carlo: 16 reparameterised draws
// at each observation and step. Training starts as in regression, near the process of gp.Model
// given the labels (beyond 1000, near Laplace's approximation), with the rate 0.003. A fixed noise variance is an error.
func (m Model) FitLabels(ctx context.Context, d surrogate.Labels, rng *rand.Rand) (surrogate.ClassPosterior, error) {
	m, err := m.resolve()
	if err != nil {
		return nil, err
	}
	return classify.Fit(ctx, "gfsvi", m.Spec, d, random.Split(rng, "prior", 0), func(fitted classify.Prior) (classify.Posterior, error) {
		p, l, err := m.fitLabels(ctx, fitted, d, rng)
		if err != nil {
			return classify.Posterior{}, err
		}
		return classify.Posterior{Process: l, Numbers: fitted.Hypers(), Notes: p.notes}, nil
	})
}

func (m Model) fitLabels(ctx context.Context, fitted classify.Prior, d surrogate.Labels, rng *rand.Rand) (*labelProblem, classify.Independent, error) {
	n, dim := d.Dims()
	net, err := domain.Build(m.Network, dim)
	if err != nil {
		return nil, nil, err
	}
	base := problem{Model: m, data: surrogate.Dataset{X: mat.DenseCopyOf(d.X), Y: make([]float64, n), Lo: d.Lo, Hi: d.Hi}, order: subset.All(n)}
	for i, y := range d.Y {
		base.data.Y[i] = float64(y)
	}
	base.box, base.source = domain.ContextBox(m.Box, base.data), domain.NewSource(m.MeasurementPoints)
	if m.Start == startFitted {
		base.Rate = cmp.Or(m.Rate, labelRate)
	}
	base.schedule(n)
	base.objective = objective{net: net, gamma: m.Gamma}
	base.scale(fitted.Kernel)
	p := &labelProblem{prior: fitted, labels: d.Y}
	spread := base.inputs.Spread(base.box)
	for c, mean := range fitted.Means {
		q := base
		q.process = prior.Process{Kernel: fitted.Kernel, Mean: mean}
		v := variational.NewLowRank(q.net.NumParams(), min(m.Rank, q.net.NumParams()))
		copy(v.M, q.net.InitBiased(*m.Bias, spread, mean, random.Split(rng, "weights", c)))
		q.spread(v, random.Split(rng, "spread", c))
		p.parts, p.q = append(p.parts, &q), append(p.q, v)
	}
	if m.Start == startFitted {
		if err := p.start(ctx, random.Split(rng, "start", 0)); err != nil {
			return nil, nil, err
		}
	}
	if err := p.train(ctx, random.Split(rng, "train", 0)); err != nil {
		return nil, nil, err
	}
	var l classify.Independent
	for c, v := range p.q {
		if err := train.Diverged("rate", v.Vector); err != nil {
			return nil, nil, err
		}
		l = append(l, newPosterior(p.parts[c], v, nil))
	}
	return p, l, nil
}

// labelProblem holds one fit to labels: for each latent function a problem, with the labels
// as numbers in data.Y, and a variational distribution.
type labelProblem struct {
	prior  classify.Prior
	labels []int
	parts  []*problem
	q      []*variational.Gaussian
	notes  []string
}

// start sets the distributions near their optimum, as problem.start does, at the process given the labels. For s it
// uses the mean curvature of all labels.
func (p *labelProblem) start(ctx context.Context, rng *rand.Rand) error {
	b, err := p.parts[0].startBatch(rng)
	if err != nil {
		return err
	}
	to, err := classify.NewTarget(ctx, p.prior, b.x, p.parts[0].data.X, p.labels)
	if err != nil {
		return err
	}
	m, _ := b.x.Dims()
	prob := mat.NewDense(len(p.parts), len(b.y), nil)
	for c := range p.parts {
		prob.SetRow(c, to.At[c].Mean[m-len(b.y):])
	}
	classify.LogProb(prob, mat.DenseCopyOf(prob), prob, classesOf(b.y))
	curvature := classify.Diagonal(prob)
	var worst float64
	for c, part := range p.parts {
		v := p.q[c]
		left, err := to.At[c].Train(ctx, part.net, part.inputs, part.process.Kernel, v.M, targetSteps, targetTolerance)
		if err != nil {
			return err
		}
		worst = max(worst, left)
		part.prepare(v, b)
		v.LogSD[0] = -0.5 * math.Log(max(stat.Mean(curvature.RawRowView(c), nil), leastCurvature))
		if v.Rank() > 0 {
			if err := part.startLowRank(v, to.At[c].Cov); err != nil {
				return err
			}
		}
		if err := part.startScales(ctx, v, b); err != nil {
			return err
		}
	}
	p.notes = slices.Concat(p.notes, to.Warnings, target.Missed(worst))
	return nil
}

func classesOf(y []float64) []int {
	out := make([]int, len(y))
	for i, v := range y {
		out[i] = int(v)
	}
	return out
}

// train lowers -Σ_i E log p + Σ_c D_c by Adam, with the batches of regression.
func (p *labelProblem) train(ctx context.Context, rng *rand.Rand) error {
	first := p.parts[0]
	opt, grad := make([]optimize.Adam, len(p.parts)), make([]*variational.Gaussian, len(p.parts))
	var descend []func(*optimize.Adam, float64, *variational.Gaussian)
	for c, v := range p.q {
		grad[c], descend = v.Like(), append(descend, first.descent(v))
	}
	return first.course().Run(ctx, func(_ int, rate float64) error {
		b, err := first.nextBatch(rng)
		if err != nil {
			return err
		}
		if _, err := p.eval(p.q, b, p.draws(len(b.y), rng), grad); err != nil {
			return err
		}
		for c := range p.q {
			descend[c](&opt[c], rate, grad[c])
		}
		return nil
	})
}

// draws returns standard normal L×n matrices, in pairs of opposite sign.
func (p *labelProblem) draws(n int, rng *rand.Rand) []*mat.Dense {
	var z []*mat.Dense
	for range labelDraws / 2 {
		a, b := mat.NewDense(len(p.parts), n, nil), mat.NewDense(len(p.parts), n, nil)
		random.Normal(a.RawMatrix().Data, rng)
		b.Scale(-1, a)
		z = append(z, a, b)
	}
	return z
}

// eval returns the loss
//
//	-(N/B) Σ_batch 1/|z| Σ_z log p(y_i | f(x_i,m) + √(J S Jᵀ)∘z_i) + Σ_c D_c
//
// and, unless grad is nil, its gradient for each latent function.
func (p *labelProblem) eval(q []*variational.Gaussian, b batch, z []*mat.Dense, grad []*variational.Gaussian) (float64, error) {
	l, n, y := len(q), len(b.y), classesOf(b.y)
	e := make([]*evaluated, l)
	dmean, dvariance := mat.NewDense(l, n, nil), mat.NewDense(l, n, nil)
	var value float64
	for c, v := range q {
		var err error
		if e[c], err = p.parts[c].forward(v, b); err != nil {
			return 0, err
		}
		value += e[c].divergence.Value
	}
	f, prob, slope := mat.NewDense(l, n, nil), mat.NewDense(l, n, nil), mat.NewDense(l, n, nil)
	weight := b.weight / float64(len(z))
	for _, draw := range z {
		for c := range q {
			row, noise := f.RawRowView(c), draw.RawRowView(c)
			for i, v := range e[c].variance {
				row[i] = e[c].mean[i] + math.Sqrt(v)*noise[i]
			}
		}
		value -= weight * classify.LogProb(prob, slope, f, y)
		for c := range q {
			dm, dv, noise := dmean.RawRowView(c), dvariance.RawRowView(c), draw.RawRowView(c)
			for i, g := range slope.RawRowView(c) {
				dm[i] -= weight * g
				if v := e[c].variance[i]; v > 0 { // else no weight changes f, and the gradient is 0
					dv[i] -= weight * g * noise[i] / (2 * math.Sqrt(v))
				}
			}
		}
	}
	if grad != nil {
		for c, v := range q {
			p.parts[c].backward(v, b, e[c], dmean.RawRowView(c), dvariance.RawRowView(c), grad[c])
		}
	}
	return value, nil
}
