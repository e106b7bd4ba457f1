package fvi

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/internal/settings"
	"github.com/functionspace/bo/internal/subset"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/mixture"
	"github.com/functionspace/bo/surrogate/internal/summary"
	"github.com/functionspace/bo/surrogate/internal/target"
	"github.com/functionspace/bo/surrogate/internal/train"
	"github.com/functionspace/bo/surrogate/internal/variational"
)

// Model is fBNN. The zero value is the default: a 30-30 tanh network with a Gaussian-process
// prior fitted by marginal likelihood.
type Model struct {
	// Preset is "default" or surrogate.Published: Algorithm 1 of the paper with the settings of its small
	// regression datasets, as far as other fields are not set.
	Preset string `set:"preset" default:"default" oneof:"default,published" help:"default, or published: the algorithm and settings of the paper, except for settings beside it"`

	// Spec is the process of the prior "gp". Other priors use its noise only.
	prior.Spec `published:"kernel=rbf;mean=zero" range:"noise=[1e-6,1e100]"`
	// Sampler, unless nil, replaces Prior by a prior written in Go.
	Sampler Sampler

	surrogate.Network `default:"hidden=30,30" published:"hidden=50;activation=relu"`

	Bias *float64 `set:"bias" default:"1" published:"0" range:"[0,inf)" help:"standard deviation of the initial biases"`

	Prior   string    `set:"prior" default:"gp" oneof:"gp,piecewise-constant,piecewise-linear" help:"prior on functions"`
	Changes float64   `set:"changes" default:"3" range:"(0,inf)" help:"mean number of changes of a piecewise prior along an input"`
	Range   []float64 `set:"range" default:"-1.7320508075688772,1.7320508075688772" range:"(-inf,inf)" help:"two numbers: the values of a piecewise prior are uniform between them (in the paper: 0,1)"`

	Draws int `set:"draws" default:"50" published:"100" range:"[2,10000]" help:"functions drawn at each step"`
	// Score selects the estimator of scores: "whitened", in coordinates in which the samples have
	// unit covariance, and scaled to satisfy Stein's identity; or "plain", as published.
	Score       string  `set:"score" default:"whitened" published:"plain" oneof:"whitened,plain" help:"estimate of scores from samples"`
	Eigenvalues float64 `set:"eigenvalues" default:"0.99" range:"(0,1]" help:"share of the kernel's trace in the eigenvalues that the score estimator uses (in the paper 0.9 for piecewise priors)"`
	Inject      float64 `set:"inject" default:"0.01" range:"(0,inf)" help:"standard deviation of the noise injected into function values"`

	Context int `set:"context" default:"20" published:"5" range:"[1,10000]" help:"measurement points drawn from the box at each step, in addition to the batch"`
	// MeasurementPoints, unless nil, replaces the points of the box. It is called with Context
	// points at each step, and with 100 for a fitted start.
	MeasurementPoints surrogate.PointSource `json:"-"`

	Box    string  `set:"box" default:"search" published:"data" oneof:"search,data" help:"region of the measurement points: search, the search box and 5 % beyond; data, the range of the data and 50 % beyond"`
	Batch  int     `set:"batch" default:"20" range:"[1,1000000]" help:"observations in a step"`
	Weight string  `set:"weight" default:"all" published:"batch" oneof:"all,batch" help:"weight of the likelihood of a batch: all, number of observations over batch size; batch, 1"`
	Anneal float64 `set:"anneal" default:"0" range:"[0,1]" help:"share of the steps in which the likelihood's weight rises from 0 (in the paper 0.5 for optimisation)"`

	Start string  `set:"start" default:"fitted" published:"random" oneof:"fitted,random" help:"initial distribution of the weights: fitted to the process or the data, or random"`
	Steps int     `set:"steps" auto:"200 to 10000" range:"[1,100000000]" help:"training steps of Adam (200; 600 for a piecewise prior; beyond 1000 observations one for each, from 4000 to 10000; 10000 with a random start; half of these from a warm start; published: 2000 passes through the data)"`
	Rate  float64 `set:"rate" auto:"0.003 or 0.01" published:"0.001" range:"(0,1]" help:"initial learning rate (0.003; 0.01 beyond 1000 observations, unless the start is random), ten times as large for log s after a fitted start; it falls along a cosine, or is constant as published"`

	Samples int `set:"samples" default:"100" range:"[2,100000]" help:"networks drawn for predictions"`
}

// Stated implements surrogate.PriorStater. It also returns true for a prior that is not a
// Gaussian process, and for the preset "published".
func (m Model) Stated() bool {
	return m.published() || m.Spec.Stated() || m.Sampler != nil || m.Prior != "" && m.Prior != gaussianProcess
}

var _ surrogate.WarmStarter = Model{}

const (
	gaussianProcess = "gp"
	scorePlain      = "plain"
	startFitted     = "fitted"

	processSteps, samplerSteps, randomSteps = 200, 600, 10000

	// priorRows is the largest number of observations in the fit of the prior. A fitted start uses fewer. Beyond it the
	// other observations need longer training: a step for each, from leastSteps to mostSteps, at fastRate.
	priorRows             = 1000
	leastSteps, mostSteps = 4000, 10000
	slowRate, fastRate    = 0.003, 0.01

	// As published, log s starts at publishedLogS and σ at publishedSD. The lower bound of σ is
	// publishedLeast, or its value in the fit of the prior if that is larger. Training takes
	// publishedPasses through the data.
	publishedLogS, publishedSD, publishedLeast = -2, 0.5, 0.05
	publishedPasses                            = 2000

	// startSD is the initial noise standard deviation for a prior without a fitted noise.
	startSD = 0.1

	// implicitSpread is half the width of the box in the network's inputs for a prior without
	// lengthscales.
	implicitSpread = 5
)

// resolve replaces defaults and validates Changes and Range.
func (m Model) resolve() (Model, error) {
	changes, values := m.Changes, m.Range
	m, err := settings.Resolve("fvi", m)
	if r := m.Range; err == nil && (len(r) != 2 || !(r[0] < r[1]) || math.IsInf(r[1]-r[0], 0)) {
		err = settings.Errorf("fvi: range is %v, want two ascending numbers", r)
	}
	if err == nil && m.Prior == gaussianProcess {
		const need = "which needs prior=piecewise-constant or prior=piecewise-linear"
		switch {
		case changes != 0:
			err = settings.Errorf("fvi: changes is %v, %s", changes, need)
		case values != nil:
			err = settings.Errorf("fvi: range is %v, %s", values, need)
		}
	}
	if m.published() {
		m.Spec = m.Spec.ByLikelihood()
	}
	return m, err
}

func (m Model) published() bool { return m.Preset == surrogate.Published }

// Check implements surrogate.Checker.
func (m Model) Check(dim int) error {
	if _, err := m.resolve(); err != nil {
		return err
	}
	return m.Spec.Check(dim)
}

// Fit implements surrogate.Model.
func (m Model) Fit(ctx context.Context, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
	return m.FitFrom(ctx, nil, d, rng)
}

// FitFrom implements surrogate.WarmStarter. The prior and q start at the result of an earlier
// fit; with the preset "published" only the prior does.
func (m Model) FitFrom(ctx context.Context, start surrogate.State, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
	m, err := m.resolve()
	if err != nil {
		return nil, err
	}
	p, err := newProblem(m, d)
	if err != nil {
		return nil, err
	}
	v := variational.NewLowRank(p.net.NumParams(), 0)
	ofPrior, q := summary.DecodeState(start, len(v.Vector))
	if m.published() {
		q = nil
	}
	post := &mixture.Posterior{Net: p.net}
	if m.Sampler == nil && m.Prior == gaussianProcess {
		fitted, err := p.fitProcess(ctx, ofPrior, rng)
		if err != nil {
			return nil, err
		}
		ofPrior = fitted.State
		post.Notes = fitted.Warnings
		post.Parameters = append(summary.KernelHypers(fitted.Kernel), surrogate.Hyper{Name: "mean", Value: fitted.Mean})
	} else {
		p.useSampler()
		ofPrior = nil
	}
	missed, err := p.start(ctx, v, q, random.Split(rng, "start", 0))
	if err != nil {
		return nil, fmt.Errorf("fvi: start: %w", err)
	}
	post.Notes = slices.Concat(post.Notes, missed)
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
	if p.process != nil {
		narrow, err := target.Compare(post, *p.process, d, p.box, "set steps higher, or use fsp-laplace or gp", random.Split(rng, "compare", 0))
		if err != nil {
			return nil, fmt.Errorf("fvi: %w", err)
		}
		post.Notes = slices.Concat(post.Notes, narrow)
	}
	return post, nil
}

// fitProcess fits the process and sets it as the prior.
func (p *problem) fitProcess(ctx context.Context, start []float64, rng *rand.Rand) (prior.Fitted, error) {
	surrogate.Report(ctx, surrogate.Progress{Phase: "prior"})
	d := p.data
	x, y := subset.AtMost(d.X, d.Y, priorRows, random.Split(rng, "prior rows", 0))
	fitted, err := p.Spec.Fit(ctx, x, y, d.NoiseFree, start, random.Split(rng, "prior", 0))
	if err != nil {
		return prior.Fitted{}, err
	}
	fitted.Process = fitted.WhiteAsNoise(d.X)
	if p.Noise != nil {
		p.Noise = new(fitted.Noise)
	}
	p.useProcess(fitted.Process)
	return fitted, nil
}
