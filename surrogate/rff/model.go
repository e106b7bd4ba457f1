package rff

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/internal/settings"
	"github.com/functionspace/bo/internal/subset"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/domain"
	"github.com/functionspace/bo/surrogate/internal/summary"
	"github.com/functionspace/bo/surrogate/linear"
)

// Model is Bayesian linear regression on random features. The zero value is the
// default: 500 features of the kernel of the zero prior.Spec. Sun et al. (2019) use 500
// features of an RBF kernel. White noise in a kernel has no features and counts as noise of the observations.
type Model struct {
	prior.Spec `range:"noise=[1e-10,1e100]"`

	Features int `set:"features" default:"500" range:"[1,20000]" help:"number of random features"`
}

var _ surrogate.WarmStarter = Model{}

const fitRows = 1000 // largest number of observations for the fit of the hyperparameters

// Fit implements surrogate.Model.
func (m Model) Fit(ctx context.Context, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
	return m.FitFrom(ctx, nil, d, rng)
}

// FitFrom implements surrogate.WarmStarter: the search starts from the hyperparameters of
// an earlier fit.
func (m Model) FitFrom(ctx context.Context, start surrogate.State, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
	m, err := settings.Resolve("rff", m)
	if err != nil {
		return nil, err
	}
	if err := d.Validate(); err != nil {
		return nil, err
	}
	surrogate.Report(ctx, surrogate.Progress{Phase: "prior"})
	x, y := subset.AtMost(d.X, d.Y, fitRows, random.Split(rng, "rows", 0))
	fitted, err := m.Spec.Fit(ctx, x, y, d.NoiseFree, start, random.Split(rng, "prior", 0))
	if err != nil {
		return nil, fmt.Errorf("rff: %w", err)
	}
	fitted.Process = fitted.WhiteAsNoise(d.X)
	box := domain.DrawBox(d)
	features, err := prior.NewFeaturesIn(fitted.Kernel, box.Lo, box.Hi, m.Features, random.Split(rng, "features", 0))
	if err != nil {
		return nil, fmt.Errorf("rff: %w", err)
	}
	if features.Len() == 0 {
		return nil, fmt.Errorf("rff: the kernel %s has no features: it is white noise only", fitted.Kernel)
	}
	surrogate.Report(ctx, surrogate.Progress{Phase: "regression"})
	post, err := linear.Regress(ctx, linear.WithMean(features, fitted.Mean), fitted.Noise, d)
	if err != nil {
		return nil, fmt.Errorf("rff: %w", err)
	}
	post.Notes, post.Learned = fitted.Warnings, fitted.State
	post.Parameters = append(summary.KernelHypers(fitted.Kernel),
		surrogate.Hyper{Name: "noise", Value: fitted.Noise},
		surrogate.Hyper{Name: "mean", Value: fitted.Mean},
		surrogate.Hyper{Name: "features", Value: float64(features.Len())})
	return post, nil
}
