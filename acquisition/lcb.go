package acquisition

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/functionspace/bo/internal/settings"
)

// LCB is minus the lower confidence bound, √β·s - μ (Srinivas et al. 2010).
type LCB struct {
	// Beta is β. 0 means 4: two standard deviations. Small values favour
	// points of low mean.
	Beta float64 `set:"beta" default:"4" range:"(0,inf)" help:"square of the number of standard deviations below the mean"`
}

// Build returns the function; it conditions the posterior once if points are pending.
func (a LCB) Build(_ context.Context, p Problem, q int, _ *rand.Rand) (Function, error) {
	a, err := settings.Resolve("lcb", a)
	if err != nil {
		return nil, err
	}
	root := math.Sqrt(a.Beta)
	return Marginal{func(mean, sd, _ float64) (value, dmean, dsd float64) {
		return root*sd - mean, -1, root
	}}.build("LCB", p, q)
}
