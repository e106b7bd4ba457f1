package loop

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// winsorize lowers in place the values of z above a bound to that bound. The bound is the fence of z or
// the fence of feasible, the values of the feasible trials, whichever is larger; feasible may be empty.
// The exact value of a very bad trial hardly informs about the location of the minimum. A few such values would
// dominate the output scale. But if infeasible values are smaller, all feasible ones may lie above the fence of
// z.
func winsorize(z, feasible []float64) {
	bound := fence(z)
	if len(feasible) > 0 {
		bound = max(bound, fence(feasible))
	}
	for i := range z {
		z[i] = math.Min(z[i], bound)
	}
}

// fence returns Q3 + 1.5 (Q3 - Q1), with the quartiles Q1 and Q3 of z: Tukey's fence, on the side of
// the bad values. If so many values are equal that Q1 = Q3, both are computed from the different
// values. Otherwise the fence would be the value of this plateau, and worse values would be
// lowered to it.
func fence(z []float64) float64 {
	sorted := slices.Sorted(slices.Values(z))
	q1, q3 := quartiles(sorted)
	if equal(q1, q3) {
		q1, q3 = quartiles(slices.CompactFunc(sorted, equal))
	}
	return q3 + 3*(q3/2-q1/2) // halving first avoids overflow of Q3 - Q1
}

// equal reports whether two values differ by rounding errors alone. The limit is the one of surrogate.Standardize.
func equal(a, b float64) bool { return math.Abs(a-b) <= 1e-13*math.Max(math.Abs(a), math.Abs(b)) }

// quartiles returns the first and the third quartile of the values in increasing order.
func quartiles(sorted []float64) (q1, q3 float64) {
	return stat.Quantile(0.25, stat.LinInterp, sorted, nil), stat.Quantile(0.75, stat.LinInterp, sorted, nil)
}
