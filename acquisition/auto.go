package acquisition

import (
	"context"
	"math/rand/v2"
)

// Auto is LogEI if the noise variance of the posteriors is below 1e-4 or the Problem has a Baseline, else LogNEI. The
// choice uses the fitted noise, not a declaration of the objective: a surrogate model
// fits the ripples of an exact objective as noise, and then no point has an expected
// improvement on the best observed value. For two to four objectives it is LogNEHVI, for more
// LogNParEGO.
type Auto struct {
	// LogNEI is used under noise, and for batches that are chosen together. With several objectives
	// LogNEHVI or LogNParEGO has its Samples, with their own default for 0, and Joint is not used.
	LogNEI
}

var _ Joint = Auto{}

// exactNoise is the noise variance below which a posterior of standardised outputs
// counts as noise-free. It is the lower bound of a noise variance fitted to noisy data.
const exactNoise = 1e-4

// Build returns the function of LogEI or LogNEI, or of several objectives.
func (a Auto) Build(ctx context.Context, p Problem, q int, rng *rand.Rand) (Function, error) {
	switch n := len(p.Objectives); {
	case n > maxBoxObjectives:
		return LogNParEGO{Samples: a.Samples}.Build(ctx, p, q, rng)
	case n > 1:
		return LogNEHVI{Samples: a.Samples}.Build(ctx, p, q, rng)
	}
	exact := p.exact(p.Posterior)
	for _, c := range p.Constraints {
		exact = exact && p.exact(c.Posterior)
	}
	if q == 1 && !a.Joint && (exact || p.Baseline != nil) {
		return LogEI{}.Build(ctx, p, q, rng)
	}
	return a.LogNEI.Build(ctx, p, q, rng)
}
