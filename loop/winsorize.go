package loop

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// winsorize lowers in place the values of z above Q3 + 1.5 (Q3 - Q1) to that
// bound, with Q1 and Q3 the quartiles: Tukey's fence, on the side that a
// minimisation does not look for. How bad a bad trial was says little about
// where the minimum is, and a few values far off the rest would set the scale
// of the surrogate.
func winsorize(z []float64) {
	sorted := slices.Sorted(slices.Values(z))
	q1 := stat.Quantile(0.25, stat.LinInterp, sorted, nil)
	q3 := stat.Quantile(0.75, stat.LinInterp, sorted, nil)
	// Halves first: quartiles may lie 2e300 apart.
	fence := q3 + 3*(q3/2-q1/2)
	for i := range z {
		z[i] = math.Min(z[i], fence)
	}
}
