package gp

import (
	"cmp"
	"context"
	"math/rand/v2"

	"github.com/functionspace/bo/internal/settings"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate"
)

// Model is Gaussian-process regression, exact for up to Exact observations. Its zero
// value has the zero prior.Spec: a Matérn-5/2 kernel and a constant mean; one lengthscale per
// input, the output variance and the noise variance are fitted by marginal likelihood with
// priors. Inputs should be scaled to the unit cube and outputs to mean 0 and
// variance 1, as surrogate.Scaled does.
type Model struct {
	prior.Spec

	// Exact is the largest number of observations with an exact posterior; 0 is 1500. With
	// more, the posterior is approximate and has this number of inducing points, and a
	// warning reports it. FitLabels does not use it. No factorisation, of n³/3 flops, is interrupted: a Fit to many
	// thousand exact observations returns later than a second after ctx is cancelled.
	Exact int `set:"exact" default:"1500" range:"[2,100000]" help:"largest number of observations with an exact posterior; with more, it is approximated with this number of inducing points"`

	// Averaged is the largest number of observations whose posterior averages over hyperparameters for
	// predictions that are shown (surrogate.Averager); 0 is 40, and 1 turns it off. FitLabels does not use it.
	Averaged int `set:"averaged" default:"40" range:"[1,200]" help:"largest number of observations with which predictions that are shown are averaged over hyperparameters; 1 turns it off"`
}

var (
	_ surrogate.WarmStarter = Model{}
	_ surrogate.Classifier  = Model{}
	_ surrogate.NoiseTaker  = Model{}
)

// TakesNoise implements surrogate.NoiseTaker.
func (Model) TakesNoise() {}

// Fit fits the hyperparameters that the Spec does not fix and conditions on d. A known noise variance of a target
// (Dataset.Noise) takes the place of the fitted one in the covariance of the observations. It
// returns the errors of New, of the Spec (prior.ErrSpec and the errors of
// prior.Parse), of Exact and of ctx. It costs n³/3 flops in addition to the fit of the Spec,
// and O(nm²) with m inducing points.
func (m Model) Fit(ctx context.Context, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
	return m.FitFrom(ctx, nil, d, rng)
}

// FitFrom is Fit with the hyperparameters of an earlier posterior as the first start
// of the search.
func (m Model) FitFrom(ctx context.Context, start surrogate.State, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
	if err := d.ValidateNoisy(); err != nil {
		return nil, err
	}
	m, err := settings.Resolve("gp", m)
	if err != nil {
		_, dim := d.Dims()
		return nil, cmp.Or(m.Spec.Check(dim), err)
	}
	if len(d.Y) > m.Exact {
		return m.fitSparse(ctx, start, d, rng)
	}
	fitted, err := m.Spec.ByValue().WithNoises(d.Noise).Fit(ctx, d.X, d.Y, d.NoiseFree, start, rng)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p, err := newPosterior(fitted.Process, d)
	if err != nil {
		return nil, err
	}
	p.Learned, p.Notes = fitted.State, fitted.Warnings
	m.average(p, d)
	return p, nil
}
