package tfsvi

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/nn"
	"github.com/functionspace/bo/internal/optimize"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/internal/settings"
	"github.com/functionspace/bo/internal/subset"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/domain"
	"github.com/functionspace/bo/surrogate/internal/mixture"
	"github.com/functionspace/bo/surrogate/internal/summary"
	"github.com/functionspace/bo/surrogate/internal/train"
	"github.com/functionspace/bo/surrogate/internal/variational"
)

// Model is TFSVI. The zero value is the default: 200 tanh units, the prior on functions induced
// by independent normal weights, and a full covariance of the output weights.
type Model struct {
	// Preset is "default" or surrogate.Published: the objective of eq. 17 of the paper with the settings
	// of the authors' code, as far as other fields are not set.
	Preset string `set:"preset" default:"default" oneof:"default,published" help:"default, or published: the algorithm and settings of the paper, except for settings beside it"`

	surrogate.Network `default:"hidden=200" published:"hidden=100,100"`

	// Spread is half the width, in the network's inputs, of the box from which context points are
	// drawn. A larger spread permits rougher functions. If it is learned, each input has its own
	// spread, which multiplies the first weights of the input.
	Spread float64  `set:"spread" auto:"learned" range:"(0,inf)" help:"half the width of the box in the network's inputs (5 with a random start or a diagonal covariance; published: inputs have unit standard deviation)"`
	Bias   *float64 `set:"bias" default:"0.5" published:"0" range:"[0,inf)" help:"standard deviation of the initial hidden biases, in the first layer relative to spread"`

	Prior      string  `set:"prior" default:"bnn" published:"fixed" oneof:"bnn,fixed" help:"prior on functions: bnn, induced by normal weights; fixed, independent normal values"`
	PriorScale float64 `set:"prior-scale" auto:"learned or 1" published:"3.1622776601683795" range:"(0,inf)" help:"standard deviation of the prior: of the weights (bnn; learned, or 0.2 if spread is not learned) or of the values (fixed; 1)"`

	// Covariance selects the covariance of the weights. "output" is full for the output weights,
	// in which the network is linear, and diagonal for the others. "diagonal" is the published
	// mean field.
	Covariance string `set:"covariance" default:"output" published:"diagonal" oneof:"output,diagonal" help:"covariance of the weights: output, full for the output layer and diagonal for the others; diagonal"`

	// Divergence selects the divergence at the context points: "full", of the joint Gaussians,
	// or "diagonal", summed over the marginals.
	Divergence string  `set:"divergence" default:"full" published:"diagonal" oneof:"full,diagonal" help:"divergence from the prior at the context points: full, of the joint Gaussians; diagonal, summed over the marginals"`
	Jitter     float64 `set:"jitter" auto:"1e-3 or 1e-10" range:"(0,inf)" help:"variance added to both sides of the divergence (full 1e-3, diagonal 1e-10)"`
	Sets       int     `set:"sets" default:"1" range:"[1,1000]" help:"context sets drawn at each step; the set with the largest divergence enters the objective"`
	Context    int     `set:"context" default:"20" published:"10" range:"[1,10000]" help:"points of a context set"`
	// ContextPoints, unless nil, replaces the points of the box. It is called with Context points
	// for each context set. With Measure "half" training inputs replace the first half of them.
	ContextPoints surrogate.PointSource `json:"-"`
	Measure       string                `set:"measure" default:"half" oneof:"half,box" help:"context points: half of them training inputs, or all in the box"`
	Box           string                `set:"box" default:"search" published:"data" oneof:"search,data" help:"region of the context points: search, the search box and 5 % beyond; data, the range of the data and 50 % beyond"`

	StopGradient bool `set:"stop-gradient" default:"false" help:"omit the gradient through the Jacobian"`

	Noise *float64 `set:"noise" auto:"learned" published:"0.01" range:"[1e-6,1e100]" help:"fixes the variance of the observation noise, as a share of the variance of the values, or of their differences from prior_mean; of raw outputs in their squared unit"`
	Draws int      `set:"draws" default:"5" range:"[1,10000]" help:"draws of the weights for the likelihood at each step"`
	// Start selects the initial distribution. "random" is as published. "fitted" depends on the
	// covariance: for "output" it is the regression on the initial hidden layers; for
	// "diagonal" it is m after Gauss–Newton steps on the squared error, and a larger s.
	Start string `set:"start" default:"fitted" published:"random" oneof:"fitted,random" help:"initial distribution of the weights: fitted to the data, or random"`
	// Steps is the number of steps of Adam. Beyond 500 observations the first five sixths train m and σ with
	// independent weights, before the regression.
	Steps int     `set:"steps" auto:"300 or 1500" published:"200000" range:"[1,100000000]" help:"training steps of Adam (300; 1500 beyond 500 observations, with a random start or with a diagonal covariance; the last two take 500 from a warm start)"`
	Rate  float64 `set:"rate" auto:"0.03 or 0.01" published:"0.0005" range:"(0,1]" help:"initial learning rate (0.03 after the regression, else 0.01); it falls along a cosine, or is constant as published"`
	Batch int     `set:"batch" default:"500" published:"1000000" range:"[1,1000000]" help:"observations in a step"`

	Samples int `set:"samples" default:"100" range:"[2,100000]" help:"networks drawn for predictions"`
}

var _ surrogate.WarmStarter = Model{}

// Stated implements surrogate.PriorStater. It reports whether the noise variance or the scale of
// the prior is fixed, in the units of the given targets. The preset "published" fixes both.
func (m Model) Stated() bool { return m.published() || m.Noise != nil || m.PriorScale != 0 }

const (
	startSD = 0.3

	startFitted      = "fitted"
	covarianceOutput = "output"
)

// resolve replaces defaults, including defaults that depend on other settings.
func (m Model) resolve() (Model, error) {
	m, err := settings.Resolve("tfsvi", m)
	if m.Prior == "fixed" {
		m.PriorScale = cmp.Or(m.PriorScale, 1)
	}
	jitter := 1e-3
	if m.Divergence == "diagonal" {
		jitter = 1e-10
	}
	m.Jitter = cmp.Or(m.Jitter, jitter)
	return m, err
}

func (m Model) published() bool { return m.Preset == surrogate.Published }

// Fit implements surrogate.Model.
func (m Model) Fit(ctx context.Context, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
	return m.FitFrom(ctx, nil, d, rng)
}

// FitFrom implements surrogate.WarmStarter. q starts at the result of an earlier fit, except with
// the preset "published".
func (m Model) FitFrom(ctx context.Context, start surrogate.State, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
	m, err := m.resolve()
	if err != nil {
		return nil, err
	}
	net, err := domain.Network(m.Network, d)
	if err != nil {
		return nil, err
	}
	if m.Covariance == covarianceOutput && net.Outputs() == 0 {
		return nil, settings.Errorf("tfsvi: covariance is output, but the architecture is affine in no weights: set covariance=diagonal")
	}
	p := newProblem(m, net, d)
	v, err := p.fit(ctx, start, rng)
	if err != nil {
		return nil, err
	}
	if err := train.Diverged("rate", v.Vector); err != nil {
		return nil, fmt.Errorf("tfsvi: %w", err)
	}
	noise := v.Noise()
	post := &mixture.Posterior{
		Net: net, Inputs: p.inputs, Weights: mixture.Draw(v.M, v.Scales(), v.Ut, m.Samples, random.Split(rng, "samples", 0)),
		Summary: summary.Summary{NoiseVariance: noise, Parameters: []surrogate.Hyper{
			{Name: "noise", Value: noise}, {Name: "prior-scale", Value: p.scale}, {Name: "spread", Value: rootMeanSquare(p.spread)}, {Name: "weights", Value: float64(net.NumParams())},
		}},
	}
	if !m.solves() {
		post.Learned = v.Vector
	}
	return post, nil
}

// problem holds the data, prior and network of one fit. Training changes q only.
type problem struct {
	Model
	objective
	inputs domain.Affine
	data   surrogate.Dataset
	box    domain.Box
	source *domain.Source // of context points; nil is the box
	order  []int          // a permutation of the observations

	spread                  []float64 // half the width of the box, of each input
	outputScale, startLogSD float64   // prior scale of the output weights and log σ that maximise the evidence
}

func newProblem(m Model, net *nn.Network, d surrogate.Dataset) *problem {
	return &problem{
		Model: m, data: d, box: domain.ContextBox(m.Box, d), source: domain.NewSource(m.ContextPoints), order: subset.All(len(d.Y)),
		objective: objective{net: net, fixed: m.Prior == "fixed", diagonal: m.Divergence == "diagonal", scale: m.PriorScale, jitter: m.Jitter, stop: m.StopGradient},
	}
}

// solves reports whether training starts at a regression on the initial hidden layers. Such a
// fit does not use an earlier fit.
func (m Model) solves() bool { return m.Start == startFitted && m.Covariance == covarianceOutput }

// fit returns q after training.
func (p *problem) fit(ctx context.Context, start surrogate.State, rng *rand.Rand) (*variational.Gaussian, error) {
	weights, starts, draws := random.Split(rng, "weights", 0), random.Split(rng, "start", 0), random.Split(rng, "train", 0)
	if p.solves() {
		return p.fitSolved(ctx, weights, draws)
	}
	p.scale = cmp.Or(p.scale, 0.2)
	p.spread = slices.Repeat([]float64{cmp.Or(p.Spread, 5)}, p.net.In)
	v := p.initial(weights)
	steps := 1500
	switch {
	case len(start) == len(v.Vector) && !p.published():
		copy(v.Vector, start)
		steps = 500
	case p.Start == startFitted:
		if err := p.startMean(ctx, v, starts); err != nil {
			return nil, err
		}
	}
	p.fixNoise(v)
	return v, p.train(ctx, v, nil, cmp.Or(p.Steps, steps), draws)
}

// fitSolved uses initial hidden layers, or beyond manyRows observations layers that are first
// trained with all weights. It computes the posterior of the output weights and trains q from
// there.
func (p *problem) fitSolved(ctx context.Context, weights, draws *rand.Rand) (*variational.Gaussian, error) {
	p.spread = slices.Repeat([]float64{1}, p.net.In)
	v := p.initial(weights)
	if err := p.learn(ctx, v.M, draws); err != nil {
		return nil, err
	}
	p.widen(v.M)
	v.LogSD[0] = p.startLogSD
	if !p.fixed {
		p.scale = p.outputScale
	}
	if err := p.solve(ctx, v); err != nil {
		return nil, err
	}
	steps, first := cmp.Or(p.Steps, 300), 0
	if n, _ := p.data.Dims(); n > manyRows {
		steps = cmp.Or(p.Steps, 1500)
		first = steps * 5 / 6
		rough := variational.NewOutput(len(v.M), 0)
		copy(rough.M, v.M)
		rough.LogSD[0] = v.LogSD[0]
		rough.SetScales(startScale)
		if err := p.train(ctx, rough, nil, first, draws); err != nil {
			return nil, err
		}
		copy(v.M, rough.M)
		v.LogSD[0] = rough.LogSD[0]
		if err := p.solve(ctx, v); err != nil {
			return nil, err
		}
	}
	return v, p.train(ctx, v, newFrame(v), steps-first, draws)
}

// widen multiplies the first weights of each input by its spread, and the first biases by
// the root mean square of the spreads. Without hidden layers it multiplies the inputs.
func (p *problem) widen(w []float64) {
	if len(p.net.Hidden) == 0 {
		p.scaleInputs()
		return
	}
	h := p.net.Hidden[0]
	for j, s := range p.spread {
		floats.Scale(s, w[j*h:(j+1)*h])
	}
	from, to := firstBiases(p.net)
	floats.Scale(rootMeanSquare(p.spread), w[from:to])
}

// scaleInputs sets the network's inputs by the spreads or, as published, to mean 0 and standard
// deviation 1.
func (p *problem) scaleInputs() {
	if p.published() && p.Spread == 0 && !p.solves() {
		p.inputs = domain.ZScore(p.data.X).For(p.net)
		return
	}
	p.inputs = p.box.Inputs(1)
	floats.Mul(p.inputs.Scale, p.spread)
	p.inputs = p.inputs.For(p.net)
}

// initial draws m as nn.Network.Init does, and log s² from [-10,-8].
func (p *problem) initial(rng *rand.Rand) *variational.Gaussian {
	p.scaleInputs()
	np, k := p.net.NumParams(), 0
	if p.Covariance == covarianceOutput {
		k = p.net.Outputs()
	}
	v := variational.NewOutput(np, k)
	copy(v.M, p.net.InitBiased(*p.Bias, rootMeanSquare(p.spread), linalg.Mean(p.data.Y), rng))
	for i := range v.LogS {
		v.LogS[i] = -5 + rng.Float64()
	}
	if v.Ut != nil {
		linalg.SetIdentity(v.Ut)
		v.Ut.Scale(startScale, v.Ut)
	}
	v.LogSD[0] = math.Log(startSD)
	p.fixNoise(v)
	return v
}

// fixNoise sets σ to its fixed value, if any.
func (p *problem) fixNoise(v *variational.Gaussian) {
	if p.Noise != nil {
		v.LogSD[0] = 0.5 * math.Log(*p.Noise)
	}
}

// leastLogSD returns the lower bound of a learned log σ.
func (p *problem) leastLogSD() float64 { return math.Log(variational.LeastSD(p.data.NoiseFree)) }

// train lowers F by Adam, in the coordinates of a frame or, if it is nil, in the coordinates of
// q. The rate falls along half a cosine to a hundredth. A learned σ has a lower bound.
//
// As published, the rate is constant, Adam changes log s² and log σ², and σ has no lower bound.
func (p *problem) train(ctx context.Context, v *variational.Gaussian, f *frame, steps int, rng *rand.Rand) error {
	opt, least := optimize.Adam{}, p.leastLogSD()
	grad := variational.NewOutput(len(v.M), len(v.M)-len(v.LogS))
	at, bar := v, grad
	pull, push := func(*variational.Gaussian) {}, func(*variational.Gaussian) {}
	s := train.Schedule{Phase: "train", Steps: steps, Every: 100, Rate: cmp.Or(p.Rate, 0.01), End: 0.01}
	if p.published() {
		least, s.End = math.Inf(-1), 1
	}
	switch {
	case f != nil:
		at, bar, pull, push = f.at, f.bar, f.pull, f.push
		s.Rate = cmp.Or(p.Rate, 0.03)
	case p.published():
		c := variational.NewLogVariance(v)
		at, bar, pull, push = c.At, c.Bar, c.Pull, c.Push
	}
	return s.Run(ctx, func(_ int, rate float64) error {
		b, err := p.nextBatch(rng)
		if err != nil {
			return fmt.Errorf("tfsvi: %w", err)
		}
		if _, err := p.eval(v, b, grad); err != nil {
			return err
		}
		if p.Noise != nil {
			grad.LogSD[0] = 0
		}
		pull(grad)
		opt.Step(rate, at.Vector, bar.Vector)
		if p.Noise == nil {
			at.LogSD[0] = max(at.LogSD[0], least)
		}
		push(v)
		return nil
	})
}

// nextBatch draws the noise of the weights and the context sets, and takes Batch observations. As
// published (eq. 17), the likelihood of a batch does not stand for all observations.
func (p *problem) nextBatch(rng *rand.Rand) (batch, error) {
	n, _ := p.data.Dims()
	size := min(n, p.Batch)
	if size < n {
		subset.Draw(p.order, size, rng)
	}
	x, y := subset.TakeBoth(p.data.X, p.data.Y, p.order[:size])
	b := batch{x: p.inputs.Apply(x), y: y, weight: float64(n) / float64(size), noise: mat.NewDense(p.Draws, p.net.NumParams(), nil)}
	random.Normal(b.noise.RawMatrix().Data, rng)
	if p.published() {
		b.weight = 1
	}
	for range p.Sets {
		c := p.source.Points(p.box, p.Context, rng, p.box.Uniform)
		if p.Measure == "half" {
			if p.source != nil {
				c = mat.DenseCopyOf(c)
			}
			for i := range c.RawMatrix().Rows / 2 {
				c.SetRow(i, p.data.X.RawRowView(rng.IntN(n)))
			}
		}
		b.sets = append(b.sets, p.inputs.Apply(c))
	}
	return b, p.source.Err()
}
