package laplace

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/internal/settings"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/domain"
	"github.com/functionspace/bo/surrogate/internal/linearized"
	"github.com/functionspace/bo/surrogate/internal/mapnet"
	"github.com/functionspace/bo/surrogate/internal/summary"
)

// Model is the linearised Laplace approximation. The zero value is the default: a 50-50 tanh
// network, the full curvature, and weight precision and noise variance that maximise the
// evidence. Fields of the embedded struct are assigned, as in m.Hidden = []int{20}: Hidden, Activation,
// Architecture, Precision, Noise, Trainer, Steps, Batch and Rate.
type Model struct {
	// Preset is "default" or surrogate.Published: the baseline of the FSP-Laplace paper, with a
	// constant precision and a noise that Adam trains with the weights.
	Preset string `set:"preset" default:"default" oneof:"default,published" help:"default, or published: the baseline of the FSP-Laplace paper, except for settings beside it"`

	mapnet.Settings `published:"trainer=adam;steps=10000;precision=1" help:"rate=learning rate of adam, by default lowered to 0 along a cosine, with the published preset constant"`

	// HeldOut is the share of the observations that the published training holds out. They end it as with fsplaplace.Model,
	// after 1000 steps of Adam without a new minimum of the objective. Fits of labels take no HeldOut.
	HeldOut float64 `set:"held-out" default:"0" range:"[0,1)" help:"share of the observations that preset=published holds out to stop training early; with 0 the training observations stop it"`

	Curvature string `set:"curvature" default:"full" oneof:"full,kron,diagonal" help:"approximation of the Hessian: full; kron, Kronecker factors for each layer; diagonal"`
	Restarts  int    `set:"restarts" auto:"2 or 1" published:"1" range:"[1,1000]" help:"number of training runs, of which the fit keeps the run with the largest evidence (2 up to 1000 observations, else 1); a warm start replaces the first run"`
}

var (
	_ surrogate.WarmStarter = Model{}
	_ surrogate.Classifier  = Model{}
)

// Stated implements surrogate.PriorStater. It reports whether the precision or the noise
// variance is fixed; the published preset fixes the precision.
func (m Model) Stated() bool { return m.Preset == surrogate.Published || m.Network.Stated() }

// problem returns the problem of a dataset for resolved settings.
func (m Model) problem(d surrogate.Dataset) (*mapnet.Problem, error) {
	if m.Preset == surrogate.Published {
		return mapnet.NewPublished(m.Settings, d)
	}
	return mapnet.New(m.Settings, d)
}

// resolve replaces defaults.
func (m Model) resolve() (Model, error) {
	m, err := settings.Resolve("laplace", m)
	if err == nil && m.HeldOut > 0 && (m.Preset != surrogate.Published || m.Trainer != "adam") {
		err = settings.Errorf("laplace: held-out is %v, which needs preset=published and trainer=adam", m.HeldOut)
	}
	return m, err
}

// Check implements surrogate.Checker.
func (m Model) Check(int) error {
	_, err := m.resolve()
	return err
}

// manyRows is the number of observations above which the default is one training run.
const manyRows = 1000

// restarts returns the number of trainings, for few observations or many.
func (m Model) restarts(few bool) int {
	if m.Restarts == 0 && few {
		return 2
	}
	return max(m.Restarts, 1)
}

// Fit implements surrogate.Model.
func (m Model) Fit(ctx context.Context, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
	return m.FitFrom(ctx, nil, d, rng)
}

// FitFrom implements surrogate.WarmStarter. Weights, precision and noise variance of the first
// training start at the result of an earlier fit, but not with the published preset.
func (m Model) FitFrom(ctx context.Context, start surrogate.State, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
	m, err := m.resolve()
	if err != nil {
		return nil, err
	}
	var held surrogate.Dataset
	if m.HeldOut > 0 && len(d.Y) > 1 {
		d, held = domain.HoldOut(d, m.HeldOut, random.Split(rng, "held out", 0))
	}
	p, err := m.problem(d)
	if err != nil {
		return nil, err
	}
	if held.Y != nil {
		p.HoldOut(held)
	}
	if m.Preset == surrogate.Published {
		start = nil
	}
	// The determinant of the diagonal is far above the determinant of G if weights are correlated. Its evidence is then
	// often largest for a constant function, so another curvature gives the evidence of a training that maximises it.
	evidence := m.Curvature
	if evidence == mapnet.Diagonal && m.Preset != surrogate.Published {
		evidence = p.Cheap()
	}
	// The first training without an earlier fit starts at a strong prior, the others at a weak one.
	from, next := p.StartStrong, p.Start
	if start != nil {
		next = p.StartStrong
	}
	var best *mapnet.Fitted
	for i := range m.restarts(len(d.Y) <= manyRows) {
		rng := random.Split(rng, "training", i)
		w, h := from(start, rng)
		start, from, next = nil, next, p.Start
		f, err := p.Fit(ctx, evidence, w, h, rng)
		if err != nil {
			return nil, fmt.Errorf("laplace: %w", err)
		}
		if best == nil || f.Evidence > best.Evidence {
			best = f
		}
	}
	if evidence != m.Curvature {
		if best.Curvature, err = p.NewCurvature(ctx, m.Curvature, best.W); err != nil {
			return nil, fmt.Errorf("laplace: %w", err)
		}
	}
	cov, err := best.Curvature.Covariance(best.Hypers)
	if err != nil {
		return nil, fmt.Errorf("laplace: %w", err)
	}
	return &posterior{linearized.Posterior{
		Network: linearized.Network{Net: p.Net, Inputs: p.Inputs, W: best.W, Shift: p.Shift}, Cov: cov,
		Summary: summary.Summary{
			NoiseVariance: best.Hypers.Noise, Learned: best.State(), Notes: slices.Concat(best.Warnings, p.FewForPrior()),
			Parameters: append(best.Hypers.Describe(), surrogate.Hyper{Name: "mean", Value: p.Shift}),
		},
	}, best.Evidence}, nil
}

// posterior has the mean shift + f(x,w) and the covariance J(x)ΣJ(x')ᵀ. The cost per point
// is O(nΣ_l h_l + n²) in the dual form, O(p²) with the full curvature as a matrix, O(pΣ_l h_l)
// with kron and O(p) with diagonal.
type posterior struct {
	linearized.Posterior
	evidence float64
}

var _ surrogate.Evidence = (*posterior)(nil)

// LogMarginalLikelihood returns Laplace's approximation of the log marginal likelihood.
func (p *posterior) LogMarginalLikelihood() float64 { return p.evidence }
