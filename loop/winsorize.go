package loop

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// winsorize lowers in place the values of z above Q3 + 1.5 (Q3 - Q1) to that bound,
// with the quartiles Q1 and Q3: Tukey's fence, on the side of the bad values. The
// exact value of a very bad trial hardly informs about the location of the minimum, and a
// few such values would dominate the output scale. If so many values are equal that
// Q1 = Q3, both are computed from the different values. Otherwise the bound would be the
// value of this plateau, and worse values would be lowered to it.
func winsorize(z []float64) {
	sorted := slices.Sorted(slices.Values(z))
	q1, q3 := quartiles(sorted)
	if equal(q1, q3) {
		q1, q3 = quartiles(slices.CompactFunc(sorted, equal))
	}
	// Halving first avoids overflow of Q3 - Q1.
	fence := q3 + 3*(q3/2-q1/2)
	for i := range z {
		z[i] = math.Min(z[i], fence)
	}
}

// equal reports whether two values differ by rounding errors alone.
func equal(a, b float64) bool { return math.Abs(a-b) <= 1e-12*math.Max(math.Abs(a), math.Abs(b)) }

// quartiles returns the first and the third quartile of the values in increasing order.
func quartiles(sorted []float64) (q1, q3 float64) {
	return stat.Quantile(0.25, stat.LinInterp, sorted, nil), stat.Quantile(0.75, stat.LinInterp, sorted, nil)
}
