package acquisition

import (
	"context"
	"fmt"
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
	if q != 1 {
		return nil, fmt.Errorf("%w: LCB with a batch of %d", ErrBatch, q)
	}
	if err := p.checkPlain("LCB"); err != nil {
		return nil, err
	}
	a, err := settings.Resolve("lcb", a)
	if err != nil {
		return nil, err
	}
	posterior, _, err := p.condition()
	if err != nil {
		return nil, err
	}
	root := math.Sqrt(a.Beta)
	return &marginal{posterior, func(mean, s float64) (value, dmean, dsd float64) {
		return root*s - mean, -1, root
	}}, nil
}
