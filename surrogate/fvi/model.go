package fvi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/functionspace/bo/internal/nn"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/internal/settings"
	"github.com/functionspace/bo/internal/subset"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/mixture"
	"github.com/functionspace/bo/surrogate/internal/summary"
	"github.com/functionspace/bo/surrogate/internal/train"
	"github.com/functionspace/bo/surrogate/internal/variational"
)

// Model is fBNN. The zero value is the default: a 30-30 tanh network under a
// Gaussian process fitted by marginal likelihood.
type Model struct {
	// Spec is the process, for the prior "gp". Other priors leave all of it but
	// the noise unused.
	prior.Spec

	Hidden     []int  `set:"hidden" default:"30,30" help:"widths of the hidden layers (published: 50, 100,100 and others)"`
	Activation string `set:"activation" default:"tanh" help:"tanh, relu, gelu, erf or sin (published: relu)"`

	// Bias is the standard deviation of the hidden biases that training starts
	// from.
	Bias *float64 `set:"bias" default:"1" help:"standard deviation of the initial biases (published: 0)"`

	// Prior is "gp", or functions of which only draws are known: random
	// "piecewise-constant" or "piecewise-linear" ones along each input.
	Prior string `set:"prior" default:"gp" help:"prior on functions: gp, piecewise-constant or piecewise-linear"`
	// Changes and Range are those of the piecewise priors: the mean number of
	// changes along an input, and the interval that values are uniform on.
	Changes float64   `set:"changes" default:"3" help:"mean number of changes of a piecewise prior along an input"`
	Range   []float64 `set:"range" default:"-1.732,1.732" help:"two numbers: the values of a piecewise prior are uniform between them (published: 0,1)"`
	// Sampler, unless nil, is the prior in place of Prior: one written in Go, of
	// which draws suffice.
	Sampler Sampler

	// Draws is the number k of functions at each step, and of draws of a prior
	// that is not a Gaussian process.
	Draws int `set:"draws" default:"50" help:"functions drawn at each step (published: 100)"`
	// Score is how the score of samples is estimated: "whitened", by the spectral
	// estimator in coordinates in which they have unit covariance and scaled to
	// satisfy Stein's identity, or "plain", as published.
	Score string `set:"score" default:"whitened" help:"estimate of scores from samples: whitened or plain (as published)"`
	// Eigenvalues is the share of its kernel's trace that the score estimator
	// keeps.
	Eigenvalues float64 `set:"eigenvalues" default:"0.99" help:"share of the eigenvalues that the score estimator keeps (published: 0.99, implicit priors 0.9)"`
	// Inject is γ, the standard deviation of the noise on function values.
	Inject float64 `set:"inject" default:"0.01" help:"standard deviation of the noise injected into function values"`

	// Context is the number of measurement points drawn from the box at each step,
	// beside the observations of the batch.
	Context int `set:"context" default:"20" help:"measurement points drawn from the box at each step, beside the batch (published: 5 to 50)"`
	// Box is where they lie: "search" is the dataset's box and 5 % of its width on
	// each side, "data" the bounding box of the training inputs and half its width.
	Box   string `set:"box" default:"search" help:"region of these points: search (the box searched, and 5 %) or data (range of the data, and 50 %)"`
	Batch int    `set:"batch" default:"20" help:"observations in a step"`
	// Weight of the log-likelihood of a batch: "all" makes it stand for all
	// observations, "batch" for itself, as published.
	Weight string `set:"weight" default:"all" help:"what the likelihood of a batch stands for: all observations or the batch (as published)"`
	// Anneal is the share of the steps during which that weight rises from 0.
	Anneal float64 `set:"anneal" default:"0" help:"share of the steps in which the likelihood's weight rises from 0 to 1 (published for optimisation: 0.5)"`

	// Start is where training starts from: "fitted", m by Gauss–Newton steps to
	// the mean of the process given the data, or to the data, or "random".
	Start string  `set:"start" default:"fitted" help:"where training starts: fitted (to process and data) or random (as published)"`
	Steps int     `set:"steps" default:"200, 600 or 10000" help:"training steps of Adam (600 for a prior of draws, 10000 from a random start; half of them from an earlier fit; published: 10000 to 80000)"`
	Rate  float64 `set:"rate" default:"0.003" help:"learning rate at first, of log s ten times as much after a fitted start; it falls along a cosine (published: 0.001 to 0.01, constant)"`

	// Samples is the number of networks drawn for predictions.
	Samples int `set:"samples" default:"100" help:"networks drawn for predictions"`
}

// Stated is that of prior.Spec, and true of a prior of which only draws are known.
func (m Model) Stated() bool {
	return m.Spec.Stated() || m.Sampler != nil || m.Prior != "" && m.Prior != gaussianProcess
}

var _ surrogate.WarmStarter = Model{}

const (
	gaussianProcess = "gp"
	scorePlain      = "plain"
	startFitted     = "fitted"

	processSteps, samplerSteps, randomSteps = 200, 600, 10000

	// priorRows is the most observations that the prior is fitted to.
	priorRows = 1000

	// Floors under the noise's standard deviation under a prior that does not tell
	// it, in general and for observations that are exact, and where it starts.
	leastSD, leastSDNoiseFree = 1e-2, 1e-3
	startSD                   = 0.1

	// implicitSpread is half the width of the box in the network's inputs under a
	// prior that has no lengthscales.
	implicitSpread = 5
)

func (m Model) withDefaults() (Model, error) {
	m.Draws = cmp.Or(m.Draws, 50)
	m.Eigenvalues = cmp.Or(m.Eigenvalues, 0.99)
	m.Inject = cmp.Or(m.Inject, 0.01)
	m.Context = cmp.Or(m.Context, 20)
	m.Batch = cmp.Or(m.Batch, 20)
	m.Changes = cmp.Or(m.Changes, 3)
	m.Rate = cmp.Or(m.Rate, 0.003)
	m.Samples = cmp.Or(m.Samples, 100)
	if m.Range == nil {
		m.Range = []float64{-math.Sqrt(3), math.Sqrt(3)}
	}
	if len(m.Range) != 2 || !(m.Range[0] < m.Range[1]) || math.IsInf(m.Range[1]-m.Range[0], 0) {
		return m, fmt.Errorf("fvi: range is %v, must be two ascending numbers", m.Range)
	}
	if m.Eigenvalues > 1 {
		return m, fmt.Errorf("fvi: eigenvalues is %v, must be a share of at most 1", m.Eigenvalues)
	}
	if !(m.Anneal >= 0 && m.Anneal <= 1) {
		return m, fmt.Errorf("fvi: anneal is %v, must lie between 0 and 1", m.Anneal)
	}
	if m.Draws == 1 {
		return m, errors.New("fvi: draws is 1: a score takes two functions at least")
	}
	if err := cmp.Or(
		settings.Layers(&m.Hidden, 30, 30),
		settings.Choose("activation", &m.Activation, nn.Names()...),
		settings.Choose("prior", &m.Prior, gaussianProcess, "piecewise-constant", "piecewise-linear"),
		settings.Choose("score", &m.Score, "whitened", scorePlain),
		settings.Choose("box", &m.Box, "search", "data"),
		settings.Choose("weight", &m.Weight, "all", "batch"),
		settings.Choose("start", &m.Start, startFitted, "random"),
		settings.NotNegative("bias", &m.Bias, 1), settings.Fixed("noise", m.Noise, leastSDNoiseFree*leastSDNoiseFree),
		settings.Positive("draws", m.Draws), settings.Positive("eigenvalues", m.Eigenvalues), settings.Positive("inject", m.Inject),
		settings.Positive("context", m.Context), settings.Positive("batch", m.Batch), settings.Positive("changes", m.Changes),
		settings.Positive("steps", m.Steps), settings.Rate("rate", m.Rate), settings.Networks("samples", m.Samples),
	); err != nil {
		return m, fmt.Errorf("fvi: %w", err)
	}
	return m, nil
}

// Check reports settings that cannot be fitted to data of dim inputs, whatever
// the data: Fit would return the same error.
func (m Model) Check(dim int) error {
	if _, err := m.withDefaults(); err != nil {
		return err
	}
	_, err := m.Process(dim)
	return err
}

// Fit implements surrogate.Model.
func (m Model) Fit(ctx context.Context, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
	return m.FitFrom(ctx, nil, d, rng)
}

// FitFrom implements surrogate.WarmStarter: the prior and q start where an
// earlier fit ended.
func (m Model) FitFrom(ctx context.Context, start surrogate.State, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
	m, err := m.withDefaults()
	if err != nil {
		return nil, err
	}
	if err := d.Validate(); err != nil {
		return nil, err
	}
	p := newProblem(m, d)
	v := variational.NewLowRank(p.net.NumParams(), 0)
	ofPrior, q := summary.DecodeState(start, len(v.Vector))
	post := &mixture.Posterior{Net: p.net}
	if m.Sampler == nil && m.Prior == gaussianProcess {
		surrogate.Report(ctx, surrogate.Progress{Phase: "prior"})
		x, y := subset.AtMost(d.X, d.Y, priorRows, random.Split(rng, "prior rows", 0))
		fitted, err := m.Spec.Fit(ctx, x, y, d.NoiseFree, ofPrior, random.Split(rng, "prior", 0))
		if err != nil {
			return nil, err
		}
		p.useProcess(fitted.Process)
		v.LogSD[0] = p.leastLogSD
		ofPrior = fitted.State
		post.Notes = fitted.Warnings
		post.Parameters = append(summary.KernelHypers(fitted.Kernel), surrogate.Hyper{Name: "mean", Value: fitted.Mean})
	} else {
		p.useSampler()
		v.LogSD[0] = math.Log(startSD)
		ofPrior = nil
	}
	if m.Noise != nil {
		v.LogSD[0] = 0.5 * math.Log(*m.Noise)
	}
	note, err := p.start(ctx, v, q, random.Split(rng, "start", 0))
	if err != nil {
		return nil, fmt.Errorf("fvi: start: %w", err)
	}
	if note != "" {
		post.Notes = append(slices.Clone(post.Notes), note)
	}
	if err := p.train(ctx, v, random.Split(rng, "train", 0)); err != nil {
		return nil, err
	}
	if err := train.Diverged("rate", v.Vector); err != nil {
		return nil, fmt.Errorf("fvi: %w", err)
	}
	post.Inputs, post.NoiseVariance, post.Learned = p.inputs, math.Exp(2*v.LogSD[0]), summary.EncodeState(ofPrior, v.Vector)
	post.Parameters = append(post.Parameters,
		surrogate.Hyper{Name: "noise", Value: post.NoiseVariance},
		surrogate.Hyper{Name: "weights", Value: float64(p.net.NumParams())})
	post.Weights = mixture.Draw(v.M, v.Scales(), nil, m.Samples, random.Split(rng, "samples", 0))
	return post, nil
}
