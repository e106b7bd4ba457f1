package fvi

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/optimize"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/internal/subset"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/domain"
	"github.com/functionspace/bo/surrogate/internal/train"
	"github.com/functionspace/bo/surrogate/internal/variational"
)

// problem holds the data, prior and network of one fit. Training changes q only.
type problem struct {
	Model
	objective
	data   surrogate.Dataset
	box    domain.Box
	source *domain.Source // of measurement points; nil is the box
	order  []int          // a permutation of the observations

	process *prior.Process // nil for an implicit prior
	mean    float64        // mean of the prior, or of the observations

	startLogSD, leastLogSD float64 // initial log σ and its lower bound
}

// newProblem returns a problem without a prior. All fields of m are set.
func newProblem(m Model, d surrogate.Dataset) (*problem, error) {
	net, err := domain.Network(m.Network, d)
	if err != nil {
		return nil, err
	}
	return &problem{
		Model: m, data: d, box: domain.ContextBox(m.Box, d), source: domain.NewSource(m.MeasurementPoints), order: subset.All(len(d.Y)),
		objective: objective{
			net:    net,
			inject: m.Inject,
			method: method{share: m.Eigenvalues, plain: m.Score == scorePlain, ridge: m.Inject * m.Inject},
		},
	}, nil
}

// useProcess sets the prior to a Gaussian process. Its noise is the lower bound of the learned
// noise.
func (p *problem) useProcess(process prior.Process) {
	process.Noise = max(process.Noise, math.Pow(variational.LeastSD(true), 2))
	p.process, p.mean = &process, process.Mean
	p.objective.prior = gaussian{process, p.inject}
	p.inputs = domain.ScaleInputs(process.Kernel, p.box.Lo, p.box.Hi).For(p.net)
	p.leastLogSD = 0.5 * math.Log(process.Noise)
	p.startLogSD = p.leastLogSD
	if p.published() {
		p.inputs = domain.ZScore(p.data.X).For(p.net)
		p.leastLogSD = max(p.leastLogSD, math.Log(publishedLeast))
		p.startLogSD = math.Log(publishedSD)
	}
}

// useSampler sets the prior to a prior from which functions are drawn.
func (p *problem) useSampler() {
	s := p.Sampler
	if s == nil {
		s = piecewise{p.box, p.Range[0], p.Range[1], p.Changes, p.Prior == "piecewise-linear"}
	}
	p.objective.prior = implicit{s, p.inject, p.method}
	p.mean = linalg.Mean(p.data.Y)
	p.inputs = p.box.Inputs(implicitSpread).For(p.net)
	p.leastLogSD, p.startLogSD = math.Log(variational.LeastSD(p.data.NoiseFree)), math.Log(startSD)
	if p.published() {
		p.inputs = domain.ZScore(p.data.X).For(p.net)
		p.leastLogSD, p.startLogSD = math.Inf(-1), math.Log(publishedSD)
	}
}

// fastScales is the factor of the learning rate of log s after a fitted start.
const fastScales = 10

// train lowers F by Adam. The rate falls along half a cosine to a hundredth, or as published is
// constant.
func (p *problem) train(ctx context.Context, v *variational.Gaussian, rng *rand.Rand) error {
	var location, scale, noise optimize.Adam
	grad, faster := v.Like(), 1.0
	if p.Start == startFitted {
		faster = fastScales
	}
	s := train.Schedule{Phase: "train", Steps: p.Steps, Every: 20, Rate: p.Rate, End: 0.01}
	if p.published() {
		s.End = 1
	}
	return s.Run(ctx, func(step int, rate float64) error {
		b, err := p.nextBatch(step, rng)
		if err != nil {
			return fmt.Errorf("fvi: %w", err)
		}
		if err := p.objective.gradient(v, b, grad, rng); err != nil {
			return err
		}
		location.Step(rate, v.M, grad.M)
		scale.Step(faster*rate, v.LogS, grad.LogS)
		if p.Noise == nil {
			noise.Step(rate, v.LogSD, grad.LogSD)
			v.LogSD[0] = max(v.LogSD[0], p.leastLogSD)
		}
		return nil
	})
}

// nextBatch takes Batch observations and draws Context points of the box, or points of the
// source, the functions and the noise injected into them.
func (p *problem) nextBatch(step int, rng *rand.Rand) (batch, error) {
	n, _ := p.data.Dims()
	size := min(n, p.Batch)
	if size < n {
		subset.Draw(p.order, size, rng)
	}
	x, y := subset.TakeBoth(p.data.X, p.data.Y, p.order[:size])
	c := p.source.Points(p.box, p.Context, rng, p.box.Uniform)
	b := batch{x: new(mat.Dense), y: y, weight: 1, eta: mat.NewDense(p.Draws, size+c.RawMatrix().Rows, nil)}
	b.x.Stack(x, c)
	if p.Weight == "all" {
		b.weight = float64(n) / float64(size)
	}
	if rise := p.Anneal * float64(p.Steps); float64(step) < rise {
		b.weight *= float64(step) / rise
	}
	b.eps = mat.NewDense(p.Draws, p.net.NumParams(), nil)
	for _, a := range []*mat.Dense{b.eps, b.eta} {
		random.Normal(a.RawMatrix().Data, rng)
	}
	return b, p.source.Err()
}
