package acquisition

import (
	"context"
	"math/rand/v2"
)

// Auto is LogEI where the posterior sees no noise, else LogNEI: by the noise that the
// surrogate found, not by what is known of the objective. An exact objective with
// ripples is a smooth one with noise to a surrogate, and its best observed value is then
// one that nothing is expected to improve on.
type Auto struct {
	// LogNEI is what is done under noise, and for batches that are chosen jointly.
	LogNEI
}

var _ Joint = Auto{}

// exactNoise is the noise variance up to which a posterior of outputs of variance 1
// counts as one without noise: the least that noisy data are given.
const exactNoise = 1e-4

// Build costs what Build of LogEI or LogNEI does.
func (a Auto) Build(ctx context.Context, p Problem, q int, rng *rand.Rand) (Function, error) {
	if q == 1 && !a.Joint && p.Posterior.Noise() < exactNoise {
		return LogEI{}.Build(ctx, p, q, rng)
	}
	return a.LogNEI.Build(ctx, p, q, rng)
}
