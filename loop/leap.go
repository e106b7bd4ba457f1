package loop

import (
	"math"
	"slices"

	"github.com/functionspace/bo/acquisition"
	"github.com/functionspace/bo/space"
)

// A search in a space with categories leaves a basin in which it gains nothing: every second suggestion then asks
// for an improvement by leapGain standard deviations of the transformed values. Near the best trial the
// posterior variance is too small for that, so the suggestion has other categories or is far away.
const (
	stallTrials = 5    // and one for each column: the last trials, without a gain
	leastGain   = 1e-8 // relative to the difference of the first values from the least
	leapGain    = 0.3
)

// leaps reports whether some of n suggestions leave a basin without gain.
func (t *task) leaps(n int) bool {
	return t.alternates(n) && slices.ContainsFunc(t.space.Parameters(), func(p space.Parameter) bool {
		return p.Kind == space.KindCategorical || p.Kind == space.KindBool
	})
}

// stalled reports whether the last complete trials brought no gain. The scale of a gain is the difference
// of the least value from the median of as many first values.
func (t *task) stalled() bool {
	var values []float64
	for i := range t.trials {
		if t.trials[i].State == Complete {
			values = append(values, t.opts.sign()*t.trials[i].Value)
		}
	}
	patience := stallTrials + t.space.Dim()
	if len(values) < patience {
		return false
	}
	first := slices.Sorted(slices.Values(values[:patience]))
	gain := leastGain * (first[patience/2] - slices.Min(values))
	least, without := math.Inf(1), 0
	for _, v := range values {
		if without++; v < least-gain {
			least, without = v, 0
		}
	}
	return without >= patience
}

// leap returns t and p with the expected improvement on a value that is lower than the best by leapGain.
func (t *task) leap(p acquisition.Problem) (*task, acquisition.Problem) {
	out := *t
	out.opts.Acquisition = acquisition.LogEI{}
	p.Best -= leapGain
	return &out, p
}
