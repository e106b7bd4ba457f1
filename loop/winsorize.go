package loop

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// winsorize lowers in place the values of z above Q3 + 1.5 (Q3 - Q1) to that bound,
// with the quartiles Q1 and Q3: Tukey's fence, on the side of the bad values. The
// exact value of a very bad trial hardly informs about the location of the minimum, and a
// few such values would dominate the output scale.
func winsorize(z []float64) {
	sorted := slices.Sorted(slices.Values(z))
	q1 := stat.Quantile(0.25, stat.LinInterp, sorted, nil)
	q3 := stat.Quantile(0.75, stat.LinInterp, sorted, nil)
	// Halving first avoids overflow of Q3 - Q1.
	fence := q3 + 3*(q3/2-q1/2)
	for i := range z {
		z[i] = math.Min(z[i], fence)
	}
}
