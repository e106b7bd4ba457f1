package tfsvi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/fspace"
	"github.com/functionspace/bo/internal/nn"
	"github.com/functionspace/bo/internal/optimize"
	"github.com/functionspace/bo/internal/rows"
	"github.com/functionspace/bo/internal/settings"
	"github.com/functionspace/bo/internal/stream"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/mixture"
)

// Model is TFSVI. The zero value is the default: a 30-30 tanh network under the
// prior that independent normal weights of standard deviation 0.2 induce.
type Model struct {
	Hidden     []int  `set:"hidden" default:"30,30" help:"widths of the hidden layers (published: 100,100)"`
	Activation string `set:"activation" default:"tanh" help:"tanh, relu, gelu, erf or sin"`

	// Spread is half the width of the box that context points are drawn from, in
	// the network's inputs: a larger one lets the function wiggle more.
	Spread float64  `set:"spread" default:"5" help:"half the width of the box in the network's inputs"`
	Bias   *float64 `set:"bias" default:"0.5" help:"standard deviation of the initial hidden biases, in the first layer relative to spread"`

	// Prior is "bnn", what independent normal weights induce through the linearised
	// network, or "fixed", independent normal values at the context points.
	Prior      string  `set:"prior" default:"bnn" help:"prior on functions: bnn (induced by normal weights) or fixed (independent normal values)"`
	PriorScale float64 `set:"prior-scale" default:"0.2 or 1" help:"standard deviation of the prior: of the weights (bnn, 0.2) or of the values (fixed, 1)"`

	// Divergence is taken of the "full" Gaussians at the context points, or is the
	// sum over the points of that of the marginals, "diagonal".
	Divergence string  `set:"divergence" default:"full" help:"divergence from the prior at the context points: full or diagonal (most published runs)"`
	Jitter     float64 `set:"jitter" default:"1e-3 or 1e-10" help:"variance added to both sides of the divergence (full 1e-3, diagonal 1e-10)"`
	// Sets is the number of context sets drawn at each step, of which the one of
	// largest divergence counts.
	Sets    int    `set:"sets" default:"1" help:"context sets at each step, of which the worst counts"`
	Context int    `set:"context" default:"20" help:"points of a context set (published: 2 to 10)"`
	Measure string `set:"measure" default:"half" help:"where context points lie: half (one half in the box, one half training inputs) or box (all in the box)"`
	// Box is where the context points lie that are no training inputs: "search" is
	// the dataset's box and 5 % of its width on each side, "data" the bounding box
	// of the training inputs and half its width on each side.
	Box string `set:"box" default:"search" help:"region of the context points: search (the box searched, and 5 %) or data (range of the data, and 50 %)"`

	StopGradient bool `set:"stop-gradient" default:"false" help:"no gradient through the Jacobian"`

	Noise *float64 `set:"noise" default:"learned" help:"fixes the variance of the observation noise"`
	Draws int      `set:"draws" default:"5" help:"draws of the weights for the likelihood at each step"`
	// Start is where training starts from: "fitted", m by Gauss–Newton steps on the
	// squared error and a larger s, or "random", as published.
	Start string  `set:"start" default:"fitted" help:"where training starts: fitted (to the data) or random (as published)"`
	Steps int     `set:"steps" default:"1500 or 500" help:"training steps of Adam (500 from an earlier fit; published: 200000)"`
	Rate  float64 `set:"rate" default:"0.01" help:"learning rate at first; it falls along a cosine (published: 0.0005 to 0.001, constant)"`
	Batch int     `set:"batch" default:"500" help:"observations in a step"`

	// Samples is the number of networks drawn for predictions.
	Samples int `set:"samples" default:"100" help:"networks drawn for predictions"`
}

var _ surrogate.WarmStarter = Model{}

// ErrSetting reports a setting that no data can suit.
var ErrSetting = errors.New("tfsvi: invalid setting")

const (
	coldSteps, warmSteps = 1500, 500

	// Floors under a learned noise standard deviation: in general, and for
	// observations that are exact.
	leastSD, leastSDNoiseFree = 1e-2, 1e-3
	startSD                   = 0.3

	startFitted = "fitted"
	// A fitted start looks at startRows observations at most, and stops where they
	// are startError away on average, or after startSteps.
	startRows  = 500
	startError = 0.1
	startSteps = 50
	startScale = 0.01 // of s
)

func (m Model) withDefaults() (Model, error) {
	if err := cmp.Or(
		settings.Layers(&m.Hidden, 30, 30),
		settings.Choose("activation", &m.Activation, nn.Names()...),
		settings.Choose("prior", &m.Prior, "bnn", "fixed"),
		settings.Choose("divergence", &m.Divergence, "full", "diagonal"),
		settings.Choose("measure", &m.Measure, "half", "box"),
		settings.Choose("box", &m.Box, "search", "data"),
		settings.Choose("start", &m.Start, startFitted, "random"),
		settings.Positive("spread", m.Spread), settings.Positive("prior-scale", m.PriorScale), settings.Positive("jitter", m.Jitter),
		settings.Positive("sets", m.Sets), settings.Positive("context", m.Context), settings.Positive("draws", m.Draws),
		settings.Positive("steps", m.Steps), settings.Positive("rate", m.Rate), settings.Positive("batch", m.Batch),
		settings.Positive("samples", m.Samples),
		settings.NotNegative("bias", &m.Bias, 0.5),
	); err != nil {
		return m, fmt.Errorf("%w: %w", ErrSetting, err)
	}
	if m.Noise != nil && (!(*m.Noise >= 0) || math.IsInf(*m.Noise, 0)) {
		return m, fmt.Errorf("%w: noise is %v, must not be negative", ErrSetting, *m.Noise)
	}
	scale, jitter := 0.2, 1e-3
	if m.Prior == "fixed" {
		scale = 1
	}
	if m.Divergence == "diagonal" {
		jitter = 1e-10
	}
	m.PriorScale, m.Jitter = cmp.Or(m.PriorScale, scale), cmp.Or(m.Jitter, jitter)
	m.Spread = cmp.Or(m.Spread, 5)
	m.Sets, m.Context = cmp.Or(m.Sets, 1), cmp.Or(m.Context, 20)
	m.Draws, m.Rate = cmp.Or(m.Draws, 5), cmp.Or(m.Rate, 0.01)
	m.Batch, m.Samples = cmp.Or(m.Batch, 500), cmp.Or(m.Samples, 100)
	return m, nil
}

// Check reports settings that cannot be fitted, whatever the data: Fit would
// return the same error.
func (m Model) Check(int) error {
	_, err := m.withDefaults()
	return err
}

// Fit implements surrogate.Model.
func (m Model) Fit(ctx context.Context, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
	return m.FitFrom(ctx, nil, d, rng)
}

// FitFrom implements surrogate.WarmStarter: q starts where an earlier fit ended.
func (m Model) FitFrom(ctx context.Context, start surrogate.State, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
	m, err := m.withDefaults()
	if err != nil {
		return nil, err
	}
	if err := d.Validate(); err != nil {
		return nil, err
	}
	activation, err := nn.ByName(m.Activation)
	if err != nil {
		return nil, err
	}
	n, dim := d.Dims()
	net := &nn.Network{In: dim, Hidden: m.Hidden, Activation: activation}
	p := &problem{
		Model: m, data: d, box: fspace.ContextBox(m.Box, d), order: rows.All(n),
		objective: objective{net: net, fixed: m.Prior == "fixed", diagonal: m.Divergence == "diagonal", scale: m.PriorScale, jitter: m.Jitter, stop: m.StopGradient},
	}
	p.inputs = p.box.Inputs(m.Spread)
	v := newVariational(net.NumParams())
	if len(start) == len(v.vector) {
		copy(v.vector, start)
		p.Steps = cmp.Or(p.Steps, warmSteps)
	} else {
		p.initialise(v, stream.Split(rng, "weights", 0))
		if m.Start == startFitted {
			if err := p.start(ctx, v, stream.Split(rng, "start", 0)); err != nil {
				return nil, err
			}
		}
		p.Steps = cmp.Or(p.Steps, coldSteps)
	}
	if m.Noise != nil {
		v.logSD[0] = math.Log(max(math.Sqrt(*m.Noise), leastSDNoiseFree))
	}
	if err := p.train(ctx, v, stream.Split(rng, "train", 0)); err != nil {
		return nil, err
	}
	if err := fspace.Diverged(v.vector); err != nil {
		return nil, fmt.Errorf("tfsvi: %w", err)
	}
	noise := math.Exp(2 * v.logSD[0])
	return &mixture.Posterior{
		Net: net, Inputs: p.inputs, Weights: mixture.Draw(v.m, v.scales(), m.Samples, stream.Split(rng, "samples", 0)),
		NoiseOf: noise, Remembered: v.vector,
		Described: []surrogate.Hyper{{Name: "noise", Value: noise}, {Name: "weights", Value: float64(net.NumParams())}},
	}, nil
}

// problem is one fit: what stays fixed while q is trained.
type problem struct {
	Model
	objective
	inputs fspace.Affine
	data   surrogate.Dataset
	box    fspace.Box
	order  []int // a permutation of the observations
}

// initialise draws m as nn.Network.Init does, and log s² from [-10,-8].
func (p *problem) initialise(v *variational, rng *rand.Rand) {
	var mean float64
	for _, y := range p.data.Y {
		mean += y / float64(len(p.data.Y))
	}
	copy(v.m, fspace.InitialWeights(p.net, *p.Bias, p.Model.Spread, mean, rng))
	for i := range v.logS {
		v.logS[i] = -5 + rng.Float64()
	}
	v.logSD[0] = math.Log(startSD)
}

// start fits m to the data, roughly.
func (p *problem) start(ctx context.Context, v *variational, rng *rand.Rand) error {
	n, _ := p.data.Dims()
	x, y := rows.TakeBoth(p.data.X, p.data.Y, rng.Perm(n)[:min(n, startRows)])
	cov := mat.NewSymDense(len(y), nil)
	fspace.AddDiagonal(cov, startError*startError)
	fit := fspace.LeastSquares{Net: p.net, Inputs: p.inputs.Apply(x), Target: y}
	if _, _, err := fit.Minimize(ctx, v.m, cov, startSteps, 0.5); err != nil {
		return fmt.Errorf("tfsvi: start: %w", err)
	}
	for i := range v.logS {
		v.logS[i] = math.Log(startScale)
	}
	return nil
}

// train lowers F by Adam. The rate falls along half a cosine to a hundredth.
func (p *problem) train(ctx context.Context, v *variational, rng *rand.Rand) error {
	opt := optimize.Adam{}
	grad := newVariational(len(v.m))
	least := leastSD
	if p.data.NoiseFree {
		least = leastSDNoiseFree
	}
	for step := range p.Steps {
		if err := ctx.Err(); err != nil {
			return err
		}
		if step%100 == 0 {
			surrogate.Report(ctx, surrogate.Progress{Phase: "train", Done: step, Total: p.Steps})
		}
		if _, err := p.eval(v, p.nextBatch(rng), grad); err != nil {
			return err
		}
		if p.Noise != nil {
			grad.logSD[0] = 0
		}
		opt.Rate = p.Rate * optimize.Cosine(0.01, step, p.Steps)
		opt.Step(v.vector, grad.vector)
		if p.Noise == nil {
			v.logSD[0] = max(v.logSD[0], math.Log(least))
		}
	}
	return nil
}

// nextBatch draws Batch observations, the weights' draws and the context sets.
func (p *problem) nextBatch(rng *rand.Rand) batch {
	n, _ := p.data.Dims()
	size := min(n, p.Batch)
	if size < n {
		rows.Draw(p.order, size, rng)
	}
	x, y := rows.TakeBoth(p.data.X, p.data.Y, p.order[:size])
	b := batch{x: p.inputs.Apply(x), y: y, weight: float64(n) / float64(size), noise: mat.NewDense(p.Draws, p.net.NumParams(), nil)}
	eps := b.noise.RawMatrix().Data
	for i := range eps {
		eps[i] = rng.NormFloat64()
	}
	for range p.Sets {
		c := p.box.Uniform(p.Context, rng)
		if p.Measure == "half" {
			for i := range p.Context / 2 {
				c.SetRow(i, p.data.X.RawRowView(rng.IntN(n)))
			}
		}
		b.sets = append(b.sets, p.inputs.Apply(c))
	}
	return b
}
