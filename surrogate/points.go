package surrogate

import (
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"
)

// PointSource draws the context points or measurement points at which a function-space method
// compares a network with its prior. It replaces the design or the uniform distribution that a
// model documents.
//
// The arguments are the number of points in the model's settings, and the bounds of the box in which the model
// would draw them. The result has a point in each row, in the units of the Dataset of the fit (within Scaled
// these are the scaled units). It may have another number of rows, at least one, and points outside the box.
// The model does not change it. Models that draw new points at each step call the source at each step.
//
// A fit returns an error that wraps ErrNoData if the result has no rows, and ErrShape if it has not a column
// for each input. It wraps ErrNotFinite if numbers are not finite.
type PointSource func(n int, lo, hi []float64, rng *rand.Rand) *mat.Dense

// FixedPoints returns a source of the rows of x, whatever number is wanted. It copies x. With nil the
// source has no points.
func FixedPoints(x *mat.Dense) PointSource {
	if x == nil {
		x = &mat.Dense{}
	}
	points := mat.DenseCopyOf(x)
	return func(int, []float64, []float64, *rand.Rand) *mat.Dense { return points }
}
