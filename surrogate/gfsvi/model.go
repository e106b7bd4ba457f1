package gfsvi

import (
	"cmp"
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
	"github.com/functionspace/bo/surrogate/internal/domain"
	"github.com/functionspace/bo/surrogate/internal/summary"
	"github.com/functionspace/bo/surrogate/internal/target"
	"github.com/functionspace/bo/surrogate/internal/train"
	"github.com/functionspace/bo/surrogate/internal/variational"
)

// Model is GFSVI. The zero value is the default: a 30-30 tanh network, a prior fitted by
// marginal likelihood, S of low rank plus a diagonal, and a start near the optimum.
type Model struct {
	// Preset is "default" or surrogate.Published: Algorithm 1 of the paper with its settings, as far as
	// other fields are not set, and without a lower bound of the noise.
	Preset string `set:"preset" default:"default" oneof:"default,published" help:"default, or published: the algorithm and settings of the paper, except for settings beside it"`

	prior.Spec `published:"mean=zero" range:"noise=[1e-8,1e100]"`

	surrogate.Network `default:"hidden=30,30" help:"hidden=widths of the hidden layers (published: 30,30 and 100,100)"`

	Bias *float64 `set:"bias" default:"0.5" published:"0" range:"[0,inf)" help:"standard deviation of the initial biases"`

	// Covariance selects the covariance of the weights: "low-rank", diag(s²) + UUᵀ with Rank
	// columns of U, or "diagonal", the published mean field.
	Covariance string `set:"covariance" default:"low-rank" published:"diagonal" oneof:"low-rank,diagonal" help:"covariance of the weights: low-rank, and a diagonal; diagonal"`
	Rank       int    `set:"rank" default:"100" range:"[1,10000]" help:"columns of the low-rank part, with covariance=low-rank"`

	// Gamma is γ of the regularised divergence, which adds γM to both diagonals.
	Gamma float64 `set:"gamma" default:"1e-6" published:"1e-10" range:"(0,inf)" help:"regularisation of the divergence"`

	Context int `set:"context" default:"100" published:"500" range:"[1,10000]" help:"measurement points drawn from the box at each step"`
	// MeasurementPoints, unless nil, replaces the points of the box. It is called with Context
	// points at each step, and with twice as many for the start. Measure applies.
	MeasurementPoints surrogate.PointSource `json:"-"`

	Measure string `set:"measure" default:"all" published:"box" oneof:"all,box" help:"measurement points of the divergence: all, points of the box and training inputs; box, points of the box only"`
	Box     string `set:"box" default:"search" published:"data" oneof:"search,data" help:"region of the measurement points: search, the search box and 5 % beyond; data, the range of the data and 50 % beyond"`

	// Start selects the initial distribution: "fitted" (package comment) or, as published,
	// "random": initial weights, s = softplus(-5).
	Start string  `set:"start" default:"fitted" published:"random" oneof:"fitted,random" help:"initial distribution of the weights: fitted to the data, or random"`
	Steps int     `set:"steps" auto:"100, 300 or 10000" range:"[1,100000000]" help:"training steps (fitted start: low-rank 100, diagonal 300, and a fifth of the observations up to 1000; random start: 10000)"`
	Rate  float64 `set:"rate" auto:"0.0003, 0.003 or 0.005" range:"(0,1]" help:"initial learning rate (fitted start: low-rank 0.0003, diagonal 0.003; random start: 0.005)"`
	Batch int     `set:"batch" default:"500" published:"2000" range:"[1,1000000]" help:"observations in a step"`

	// HeldOut is the share of the observations that are held out. Every ten steps the negative bound
	// is evaluated on them. Training ends after 1000 steps without a new minimum and returns the
	// parameters of the minimum. Labels are not held out.
	HeldOut *float64 `set:"held-out" default:"0" published:"0.1" range:"[0,1)" help:"share of the observations held out to stop training early; 0 is none"`

	PriorNoise bool `set:"prior-noise" default:"false" help:"keep the noise variance of the prior's fit instead of learning it with the weights"`
}

var (
	_ surrogate.WarmStarter = Model{}
	_ surrogate.Classifier  = Model{}
)

const (
	measureAll  = "all"
	startFitted = "fitted"

	// priorRows is the largest number of observations in the fit of the prior.
	priorRows = 1000
)

// resolve replaces defaults and validates Rank. The rank and the treatment of the noise depend on other settings.
func (m Model) resolve() (Model, error) {
	rank := m.Rank
	m, err := settings.Resolve("gfsvi", m)
	if m.Covariance == "diagonal" {
		if err == nil && rank != 0 {
			err = settings.Errorf("gfsvi: rank is %d, which needs covariance=low-rank", rank)
		}
		m.Rank = 0
	}
	m.PriorNoise = m.PriorNoise || m.Noise != nil
	if m.published() {
		m.Spec = m.Spec.ByLikelihood()
	}
	return m, err
}

// Check implements surrogate.Checker.
func (m Model) Check(dim int) error {
	if _, err := m.resolve(); err != nil {
		return err
	}
	return m.Spec.Check(dim)
}

func (m Model) published() bool { return m.Preset == surrogate.Published }

// Stated implements surrogate.PriorStater. The preset "published" states a prior.
func (m Model) Stated() bool { return m.published() || m.Spec.Stated() }

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
	p, v, fitted, err := m.begin(ctx, start, d, rng)
	if err != nil {
		return nil, err
	}
	warnings := fitted.Warnings
	if m.Start == startFitted {
		missed, err := p.start(ctx, v, random.Split(rng, "start", 0))
		if err != nil {
			return nil, err
		}
		warnings = slices.Concat(warnings, missed)
	}
	if err := p.train(ctx, v, random.Split(rng, "train", 0)); err != nil {
		return nil, err
	}
	if err := train.Diverged("rate", v.Vector); err != nil {
		return nil, fmt.Errorf("gfsvi: %w", err)
	}
	post := newPosterior(p, v, fitted.State)
	remedy := "set rank or hidden higher, or use gp"
	if p.published() {
		remedy = "use the default preset, or gp"
	}
	narrow, err := target.Compare(post, fitted.Process, p.data, p.box, remedy, random.Split(rng, "compare", 0))
	if err != nil {
		return nil, fmt.Errorf("gfsvi: %w", err)
	}
	post.Notes = slices.Concat(warnings, narrow)
	return post, nil
}

// begin holds observations out and fits the prior to the others. It returns the problem with a random q, or
// with the q of an earlier fit.
func (m Model) begin(ctx context.Context, start surrogate.State, d surrogate.Dataset, rng *rand.Rand) (*problem, *variational.Gaussian, prior.Fitted, error) {
	net, err := domain.Network(m.Network, d)
	if err != nil {
		return nil, nil, prior.Fitted{}, err
	}
	m.Rank = min(m.Rank, net.NumParams())
	earlierPrior, earlierQ := summary.DecodeState(start, (2+m.Rank)*net.NumParams())
	p := &problem{Model: m, data: d}
	if *m.HeldOut > 0 && len(d.Y) > 1 {
		p.data, p.held = domain.HoldOut(d, *m.HeldOut, random.Split(rng, "held out", 0))
	}
	d = p.data

	surrogate.Report(ctx, surrogate.Progress{Phase: "prior"})
	x, y := subset.AtMost(d.X, d.Y, priorRows, random.Split(rng, "prior rows", 0))
	fitted, err := m.Spec.Fit(ctx, x, y, d.NoiseFree, earlierPrior, random.Split(rng, "prior", 0))
	if err != nil {
		return nil, nil, prior.Fitted{}, err
	}
	fitted.Process = fitted.WhiteAsNoise(d.X)
	p.box, p.source, p.order = domain.ContextBox(m.Box, d), domain.NewSource(m.MeasurementPoints), subset.All(len(d.Y))
	p.schedule(min(len(d.Y), target.MaxExact)) // beyond, the start uses all observations
	p.objective = objective{net: net, process: fitted.Process, gamma: m.Gamma}
	p.scale(fitted.Kernel)

	v := variational.NewLowRank(net.NumParams(), m.Rank)
	v.LogSD[0] = 0.5 * math.Log(fitted.Noise)
	copy(v.M, net.InitBiased(*m.Bias, p.inputs.Spread(p.box), fitted.Mean, random.Split(rng, "weights", 0)))
	p.spread(v, random.Split(rng, "spread", 0))
	if !m.published() {
		copy(v.Vector, earlierQ)
	}
	return p, v, fitted, nil
}

// problem holds the data, prior and network of one fit. Training changes q only.
type problem struct {
	Model
	objective
	data   surrogate.Dataset
	held   surrogate.Dataset // held-out observations
	box    domain.Box
	source *domain.Source // of measurement points; nil is the box
	order  []int          // a permutation of the observations
}

// scale sets the network's inputs: to the lengthscales of the prior or, as published, to mean 0
// and standard deviation 1.
func (p *problem) scale(k prior.Kernel) {
	p.inputs = domain.ScaleInputs(k, p.box.Lo, p.box.Hi).For(p.net)
	if p.published() {
		p.inputs = domain.ZScore(p.data.X).For(p.net)
	}
}

// schedule sets the default steps and rate of training on n observations.
func (p *problem) schedule(n int) {
	steps, rate := 100+n/5, 3e-4
	switch {
	case p.Start != startFitted:
		steps, rate = 10000, 5e-3
	case p.Rank == 0:
		steps, rate = 300+n/5, 3e-3
	}
	p.Steps, p.Rate = cmp.Or(p.Steps, steps), cmp.Or(p.Rate, rate)
}

// spread sets s to its published initial value and U to random numbers of the same size.
func (p *problem) spread(v *variational.Gaussian, rng *rand.Rand) {
	v.SetScales(variational.PublishedScale)
	if v.Ut != nil {
		u := v.Ut.RawMatrix().Data
		for i := range u {
			u[i] = variational.PublishedScale * rng.NormFloat64()
		}
	}
}
