package loop

import (
	"math"
	"slices"
	"sort"
)

// expected returns the transformed value that a fit gives to a stopped trial. Its last value v has a rank among
// the values of the complete trials at the same step. The result has that rank among their final values z.
// Between two ranks it is interpolated; beyond the ends it is the best or the worst of z. So the result is the
// same if the values of a step change by an increasing affine map. Without complete trials with steps up to
// that step it is the median of z.
//
// z is in the order of the complete trials. The cost is linear in the number of their steps.
func (t *task) expected(stopped *Trial, z []float64) float64 {
	sign := t.opts.sign()
	at := LastStep(stopped.Steps).Step
	var then, final []float64
	next := 0
	for i := range t.trials {
		trial := &t.trials[i]
		if trial.State != Complete {
			continue
		}
		if v, ok := upTo(trial.Steps, at, sign); ok {
			then, final = append(then, v), append(final, z[next])
		}
		next++
	}
	if len(then) == 0 || len(stopped.Steps) == 0 {
		sorted := slices.Sorted(slices.Values(z))
		return (sorted[(len(z)-1)/2] + sorted[len(z)/2]) / 2
	}
	slices.Sort(then)
	slices.Sort(final)
	v := signed(sign, LastStep(stopped.Steps).Value)
	k := sort.SearchFloat64s(then, v)
	switch {
	case k == 0:
		return final[0]
	case k == len(then):
		return final[k-1]
	}
	share := (v - then[k-1]) / (then[k] - then[k-1]) // then[k-1] < v ≤ then[k]
	if math.IsNaN(share) || math.IsInf(then[k], 1) {
		share = 1
	}
	return final[k-1] + share*(final[k]-final[k-1])
}

// upTo returns the signed value of the last step up to `at`.
func upTo(steps []Step, at, sign float64) (value float64, ok bool) {
	last := math.Inf(-1)
	for _, s := range steps {
		if s.Step <= at && s.Step > last {
			last, value, ok = s.Step, signed(sign, s.Value), true
		}
	}
	return value, ok
}
