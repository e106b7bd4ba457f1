package fsplaplace

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/nn"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/internal/settings"
	"github.com/functionspace/bo/internal/subset"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/domain"
	"github.com/functionspace/bo/surrogate/internal/linearized"
	"github.com/functionspace/bo/surrogate/internal/summary"
	"github.com/functionspace/bo/surrogate/internal/target"
)

// Model is FSP-Laplace. The zero value is the default: a 50-50 tanh network, a prior fitted by
// marginal likelihood, Gauss–Newton training and the ridge factor. A fit costs O(|C|³) for
// |C| = Context + n context points. From 1001 observations on, the prior is fitted to 1000 of
// them, |C| is Context + 600, and the cost grows as n|C|².
type Model struct {
	// Preset is "default" or surrogate.Published: Algorithms 1 and 2 of the paper, with its
	// settings for fields that are not set, and no lower bound of the noise.
	Preset string `set:"preset" default:"default" oneof:"default,published" help:"default, or published: the algorithms and settings of the paper, except for settings beside it"`

	prior.Spec `range:"noise=[1e-10,inf)" published:"isotropic=true;mean=zero"`

	surrogate.Network

	// Bias is the standard deviation of the initial hidden biases. In the first layer it is
	// relative to half the width of the scaled box, so that the units cover the box. Without
	// biases a tanh network is an odd function about the centre of the box. Its tangent
	// kernel then couples each point to its mirror image.
	Bias *float64 `set:"bias" default:"0.5" published:"0" range:"[0,inf)" help:"standard deviation of the initial biases"`

	Context int `set:"context" auto:"100 to 400" range:"[1,20000]" help:"context points in training (100 for up to 2 inputs, 225 for 3, 400 for more, for labels and for adam)"`
	// ContextPoints, unless nil, replaces the context points of the box. It is called with Context
	// points for training and CovarianceContext points for the covariance; adam calls it at each
	// step. With Gauss–Newton training the training inputs remain context points, and held-out
	// points of the box still choose the ridge and the mean.
	ContextPoints surrogate.PointSource `json:"-"`

	CovarianceContext int    `set:"covariance-context" auto:"context" range:"[1,20000]" help:"context points for the covariance (lanczos: 10000)"`
	Box               string `set:"box" default:"search" published:"data" oneof:"search,data" help:"region of the context points: search, the search box and 5 % beyond; data, the range of the data and 50 % beyond"`

	Scaling string `set:"scaling" default:"prior" published:"data" oneof:"prior,data" help:"scale of the network's inputs: prior, the distances over which the prior varies; data, unit standard deviation over the observations"`

	// Trainer is "gauss-newton" or "adam". Adam is the published training: new uniform context
	// points at each step, noise learned with the weights, early stopping.
	Trainer string  `set:"trainer" default:"gauss-newton" published:"adam" oneof:"gauss-newton,adam" help:"training method"`
	Steps   int     `set:"steps" auto:"25 or 10000" range:"[1,100000000]" help:"largest number of training steps (gauss-newton 25, adam 10000)"`
	Rate    float64 `set:"rate" default:"0.005" range:"(0,1]" help:"learning rate of adam"`
	// HeldOut is the share of the observations that adam holds out, a tenth in the paper's regressions. Every ten steps the
	// objective is evaluated with the held-out observations in place of the others, and with the weight of the others.
	// Training ends after 1000 steps without a new minimum. With 0 the training observations end it after 50 such steps, as in the
	// authors' experiments on optimisation. The posterior has only the training observations. Fits of labels take no HeldOut.
	HeldOut    float64 `set:"held-out" default:"0" range:"[0,1)" help:"share of the observations that adam holds out to stop training early; with 0 the training observations stop it"`
	NoiseStart float64 `set:"noise-start" default:"0.3" range:"(0,inf)" help:"initial noise standard deviation of adam"`

	// Factor selects the factor of the prior in the covariance: "ridge" (package comment),
	// "cholesky" (Algorithm 2 with an exact factor of K⁻¹) or "lanczos" (Algorithm 2 as
	// published).
	Factor string `set:"factor" default:"ridge" published:"lanczos" oneof:"ridge,cholesky,lanczos" help:"factor of the prior in the covariance"`
}

var (
	_ surrogate.WarmStarter = Model{}
	_ surrogate.Classifier  = Model{}
)

// Up to target.MaxExact observations, all training inputs are context points, and the target at
// C is the exact posterior of the process. Beyond, C contains inducingRows of them, and the
// target is the variational posterior with inducing points C. The prior is then fitted to
// target.MaxExact observations, drawn at random.
const inducingRows = 600

// Bounds of the default of Model.Context, 25 points times the square of the number of inputs.
const leastContext, mostContext = 100, 400

// published reports whether the preset is published.
func (m Model) published() bool { return m.Preset == surrogate.Published }

// Stated implements surrogate.PriorStater. The published preset states a zero mean.
func (m Model) Stated() bool { return m.published() || m.Spec.Stated() }

// resolve replaces defaults, including defaults that depend on other settings and on the number of
// inputs.
func (m Model) resolve(dim int) (Model, error) {
	m, err := settings.Resolve("fsp-laplace", m)
	if m.published() {
		m.Spec = m.Spec.ByLikelihood()
	}
	if m.Trainer == "adam" {
		m.Context = cmp.Or(m.Context, mostContext)
	}
	m.Context = cmp.Or(m.Context, min(max(25*dim*dim, leastContext), mostContext))
	contextPoints, steps := m.Context, 25
	if m.Factor == "lanczos" {
		contextPoints = 10000
	}
	if m.Trainer == "adam" {
		steps = 10000
	} else if m.HeldOut > 0 && err == nil {
		err = settings.Errorf("fsp-laplace: held-out is %v, which needs trainer=adam, as in preset=published", m.HeldOut)
	}
	m.CovarianceContext, m.Steps = cmp.Or(m.CovarianceContext, contextPoints), cmp.Or(m.Steps, steps)
	return m, err
}

// Check implements surrogate.Checker.
func (m Model) Check(dim int) error {
	if _, err := m.resolve(dim); err != nil {
		return err
	}
	return m.Spec.Check(dim)
}

// Fit implements surrogate.Model.
func (m Model) Fit(ctx context.Context, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
	return m.FitFrom(ctx, nil, d, rng)
}

// FitFrom implements surrogate.WarmStarter. Kernel, ridge and, with Gauss–Newton training, the
// weights start at the result of an earlier fit, but not with the published preset. The error
// of a numerical failure wraps surrogate.ErrNotPositiveDefinite.
func (m Model) FitFrom(ctx context.Context, start surrogate.State, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
	_, dim := d.Dims()
	m, err := m.resolve(dim)
	if err != nil {
		return nil, err
	}
	net, err := domain.Network(m.Network, d)
	if err != nil {
		return nil, err
	}
	if m.published() {
		start = nil
	}
	ofPrior, learned := summary.DecodeState(start, 1+net.NumParams())
	var held surrogate.Dataset
	if m.HeldOut > 0 && len(d.Y) > 1 {
		d, held = domain.HoldOut(d, m.HeldOut, random.Split(rng, "held out", 0))
	}

	surrogate.Report(ctx, surrogate.Progress{Phase: "prior"})
	x, y := d.X, d.Y
	if len(y) > target.MaxExact {
		x, y = subset.AtMost(x, y, target.MaxExact, random.Split(rng, "rows", 0))
	}
	spec, err := m.publishedSpec(d.X)
	if err != nil {
		return nil, err
	}
	fitted, err := spec.Fit(ctx, x, y, d.NoiseFree, ofPrior, random.Split(rng, "prior", 0))
	if err != nil {
		return nil, err
	}
	fitted.Process = fitted.WhiteAsNoise(d.X)
	p := newProblem(m, net, d, fitted.Process)
	p.held = held
	var w []float64
	var ridge float64
	if learned != nil {
		ridge = learned[0]
	}
	if learned != nil && m.Trainer != "adam" { // the published training starts at initial weights
		w = slices.Clone(learned[1:])
	} else {
		w = net.InitBiased(*m.Bias, p.inputs.Spread(p.box), p.process.Mean, random.Split(rng, "weights", 0))
	}
	post, err := p.solve(ctx, w, ridge, random.Split(rng, "context", 0))
	if err != nil {
		return nil, err
	}
	post.Notes = slices.Concat(fitted.Warnings, p.notes)
	post.Learned = summary.EncodeState(fitted.State, append([]float64{post.ridge}, post.W...))
	post.Parameters = append(summary.KernelHypers(fitted.Kernel),
		surrogate.Hyper{Name: "mean", Value: fitted.Mean},
		surrogate.Hyper{Name: "noise", Value: post.NoiseVariance},
		surrogate.Hyper{Name: "rank", Value: float64(post.factor.rank())})
	if post.ridge != 0 {
		post.Parameters = append(post.Parameters, surrogate.Hyper{Name: "log10 ridge", Value: post.ridge})
	}
	return post, nil
}

// problem holds the data, prior and network of one fit. Training changes the weights only.
type problem struct {
	Model
	net     *nn.Network
	inputs  domain.Affine
	process prior.Process
	noise   float64 // σ²
	data    surrogate.Dataset
	held    surrogate.Dataset // held-out observations
	box     domain.Box
	source  *domain.Source // of context points; nil is the box
	notes   []string       // warnings
	refined bool           // trained on all observations

	curvature []float64 // curvature of each label's log likelihood; nil for numbers
}

func newProblem(m Model, net *nn.Network, d surrogate.Dataset, process prior.Process) *problem {
	p := &problem{Model: m, net: net, data: d, process: process, noise: process.Noise, box: domain.ContextBox(m.Box, d), source: domain.NewSource(m.ContextPoints)}
	if m.Scaling == "data" {
		p.inputs = domain.ZScore(d.X)
	} else {
		p.inputs = domain.ScaleInputs(process.Kernel, p.box.Lo, p.box.Hi)
	}
	p.inputs = p.inputs.For(net)
	return p
}

// solve trains from w and returns the posterior.
func (p *problem) solve(ctx context.Context, w []float64, ridge float64, rng *rand.Rand) (*posterior, error) {
	design, holdout := p.contextPoints(p.CovarianceContext, rng)
	c := p.withInputs(design, rng)
	var to target.Gaussian
	err := p.sourceErr()
	if err != nil {
		return nil, err
	}
	switch p.Trainer {
	case "adam":
		w, p.noise, err = p.trainAdam(ctx, w, rng)
	default:
		train := c
		if p.Context != p.CovarianceContext {
			other, _ := p.contextPoints(p.Context, rng)
			if err := p.sourceErr(); err != nil {
				return nil, err
			}
			train = p.withInputs(other, rng)
		}
		if to, err = p.target(train); err == nil {
			_, err = to.Train(ctx, p.net, p.inputs, p.process.Kernel, w, p.Steps, converged)
		}
	}
	if err != nil {
		return nil, err
	}
	post := &posterior{Network: linearized.Network{Net: p.net, Inputs: p.inputs, W: w}, process: p.process, Summary: summary.Summary{NoiseVariance: p.noise}, update: unobserved{}}

	surrogate.Report(ctx, surrogate.Progress{Phase: "covariance"})
	if p.Factor == "ridge" {
		err = p.byRidge(ctx, post, to, c, holdout, ridge)
		if err == nil && p.Trainer == "gauss-newton" && p.large() && p.squaredError(post) > explained*p.noise {
			err = p.refineIfBetter(ctx, post, to, c, holdout, random.Split(rng, "refine", 0))
		}
	} else {
		post.factor, err = p.precisionFactor(ctx, w, design)
	}
	if err != nil {
		return nil, err
	}
	if p.Trainer == "gauss-newton" && !p.large() {
		if err := p.compare(post, holdout); err != nil {
			return nil, err
		}
	}
	if p.Trainer == "adam" {
		if err := p.compareAdam(post, rng); err != nil {
			return nil, err
		}
	}
	if p.published() {
		p.checkSpread(post, rng)
	}
	post.x, post.y = mat.DenseCopyOf(p.data.X), slices.Clone(p.data.Y) // for LeaveOneOut
	return post, nil
}

// byRidge sets the ridge factor of post. After Gauss–Newton training to the target it also
// corrects the mean in up to three steps:
//
//   - It adds the ridge regression of the linearised network on the remaining difference at C.
//   - Up to target.MaxExact observations, it adds a regression on the difference that
//     remains at the training inputs, with the network's covariance.
//   - If the result is far from the process's mean at held-out points, the mean of the scaled features given
//     the data may replace it. It does so if it is nearer.
func (p *problem) byRidge(ctx context.Context, post *posterior, to target.Gaussian, c, holdout *mat.Dense, start float64) error {
	s, err := p.ridgeFactor(ctx, post.W, c, holdout, start)
	if err != nil {
		return err
	}
	post.ridge = s.exponent
	post.factor, post.update = &s.factor, unobserved{}
	if err = post.observe(p.data.X); err != nil || p.Trainer != "gauss-newton" || p.refined {
		return err
	}
	if to.C != c {
		if to, err = p.target(c); err != nil {
			return err
		}
	}
	post.shift = s.readOut(to.Mean)
	if p.large() {
		return nil
	}
	if to, err = p.target(p.data.X); err != nil {
		return err
	}
	rest := *post
	u := s.factor.unscaled()
	rest.factor, rest.update = u, unobserved{}
	if err := rest.observe(p.data.X); err != nil {
		return err
	}
	rest.pull(p.data.X, to.Mean)
	if rest.m != nil {
		linalg.Axpy(1, u.weights(rest.m), post.shift)
	}

	if to, err = p.target(holdout); err != nil {
		return err
	}
	if off := p.distance(post, to); off > near {
		other := *post
		other.priorMean, other.shift, other.m = true, nil, nil
		other.pull(p.data.X, p.data.Y)
		if p.distance(&other, to) < off {
			*post = other
		}
	}
	return nil
}

// near and farOff are distances from the exact posterior mean, in standard deviations. Up to
// near, the network's mean is accurate. Above farOff, which default runs do not reach, the
// posterior carries a warning.
const (
	near   = 0.1
	farOff = 2
)

// distance returns the root mean square distance of the mean from a target, in standard
// deviations of an observation.
func (p *problem) distance(post *posterior, to target.Gaussian) float64 {
	m := len(to.Mean)
	mean, variance := make([]float64, m), make([]float64, m)
	post.Predict(mean, variance, to.C)
	var sum float64
	for i, v := range mean {
		d := v - to.Mean[i]
		sum += d * d / (to.Cov.At(i, i) + p.noise) / float64(m)
	}
	return math.Sqrt(sum)
}

// compare adds a warning if at held-out points the mean is far from the process's mean. Otherwise it adds one
// if the intervals contain too little of the process.
func (p *problem) compare(post *posterior, holdout *mat.Dense) error {
	to, err := p.target(holdout)
	if err != nil {
		return err
	}
	if off := p.distance(post, to); off > farOff {
		p.notes = append(p.notes, fmt.Sprintf("the mean is %.2g standard deviations off the exact posterior mean: set hidden higher, or use gp", off))
		return nil
	}
	mean, variance := make([]float64, len(to.Mean)), make([]float64, len(to.Mean))
	post.Predict(mean, variance, holdout)
	p.notes = append(p.notes, to.Narrow(p.process, mean, variance, "set hidden higher, or use gp")...)
	return nil
}

// compareAdam adds a warning if the intervals in the search box contain too little of the process with the
// noise that Adam learned.
func (p *problem) compareAdam(post *posterior, rng *rand.Rand) error {
	remedy := "set trainer=gauss-newton, or use gp"
	if p.published() {
		remedy = "use the default preset, or gp"
	}
	lo, hi := p.data.Box()
	narrow, err := target.Compare(post, p.process, p.data, domain.Box{Lo: lo, Hi: hi}, remedy, rng)
	p.notes = append(p.notes, narrow...)
	return err
}

// spreadPoints is the number of points of checkSpread, and mostSpread the largest ratio of the variances
// there without a warning.
const spreadPoints, mostSpread = 128, 2

// checkSpread adds a warning if a variance in the search box is more than twice the prior variance. The
// published covariance keeps within the prior variance at its context points only.
func (p *problem) checkSpread(post *posterior, rng *rand.Rand) {
	lo, hi := p.data.Box()
	x := domain.Box{Lo: lo, Hi: hi}.Halton(spreadPoints, rng)
	mean, variance, before := make([]float64, spreadPoints), make([]float64, spreadPoints), make([]float64, spreadPoints)
	post.Predict(mean, variance, x)
	p.process.Kernel.Diag(before, x)
	outside := 0
	for i, v := range variance {
		if v > mostSpread*before[i] {
			outside++
		}
	}
	if outside > 0 {
		remedy := "set covariance-context higher"
		switch {
		case p.source != nil:
			remedy = "let ContextPoints cover the search box"
		case p.Box != "search":
			remedy = "set box=search"
		}
		p.notes = append(p.notes, fmt.Sprintf("the variance exceeds twice the prior variance in %.0f %% of the search box, suggestions may be poor: %s", math.Ceil(100*float64(outside)/spreadPoints), remedy))
	}
}

// tape records the network at the rows of x, which are in the dataset's units.
func (p *problem) tape(w []float64, x *mat.Dense) *nn.Tape {
	return p.net.Record(w, p.inputs.Apply(x))
}
