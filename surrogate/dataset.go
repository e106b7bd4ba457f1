package surrogate

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
)

var (
	// ErrNoData reports a fit to zero observations.
	ErrNoData = errors.New("surrogate: no observations")
	// ErrNotFinite reports NaN or infinity among the observations.
	ErrNotFinite = errors.New("surrogate: observation is not finite")
	// ErrShape reports a dataset whose parts disagree in size.
	ErrShape = errors.New("surrogate: dataset sizes disagree")
	// ErrBox reports a box with a bound that is not finite, or a lower bound above the upper one.
	ErrBox = errors.New("surrogate: invalid box")
	// ErrNotPositiveDefinite reports a covariance matrix that is not positive
	// definite even with the largest permitted jitter.
	ErrNotPositiveDefinite = linalg.ErrNotPositiveDefinite
)

// Dataset holds n observations y = f(x) + noise.
type Dataset struct {
	X *mat.Dense // n×d inputs, a row each
	Y []float64  // n targets

	// Lo and Hi bound the box of later predictions, over which models spread their
	// context points. Nil means the bounding box of X.
	Lo, Hi []float64

	// NoiseFree declares that the observations are exact up to rounding. A learned noise
	// variance then has the lower bound 1e-8 if it is fitted with a process, and 1e-6
	// if it is fitted with a network's weights. Otherwise the lower bound is 1e-4.
	NoiseFree bool
}

// Dims returns the number of observations and of inputs.
func (d Dataset) Dims() (n, dim int) {
	if d.X == nil || d.X.IsEmpty() {
		return 0, 0
	}
	return d.X.Dims()
}

// Validate returns an error that wraps ErrNoData, ErrShape, ErrBox or ErrNotFinite if
// no model can be fitted to d.
func (d Dataset) Validate() error {
	n, dim := d.Dims()
	if n == 0 || dim == 0 {
		return ErrNoData
	}
	if len(d.Y) != n {
		return fmt.Errorf("%w: %d rows of inputs, %d targets", ErrShape, n, len(d.Y))
	}
	if (d.Lo != nil || d.Hi != nil) && (len(d.Lo) != dim || len(d.Hi) != dim) {
		return fmt.Errorf("%w: %d inputs, box of %d and %d bounds", ErrShape, dim, len(d.Lo), len(d.Hi))
	}
	for j, lo := range d.Lo {
		if hi := d.Hi[j]; !(lo <= hi) || math.IsInf(lo, 0) || math.IsInf(hi, 0) {
			return fmt.Errorf("%w: input %d has the bounds %v and %v, want finite ones in ascending order", ErrBox, j+1, lo, hi)
		}
	}
	for i, y := range d.Y {
		if math.IsNaN(y) || math.IsInf(y, 0) {
			return fmt.Errorf("%w: target %d is %v", ErrNotFinite, i+1, y)
		}
		for j, x := range d.X.RawRowView(i) {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				return fmt.Errorf("%w: input %d of row %d is %v", ErrNotFinite, j+1, i+1, x)
			}
		}
	}
	return nil
}

// Box returns Lo and Hi, or the bounding box of X if they are nil.
func (d Dataset) Box() (lo, hi []float64) {
	if d.Lo != nil {
		return d.Lo, d.Hi
	}
	n, dim := d.Dims()
	lo, hi = make([]float64, dim), make([]float64, dim)
	for j := range dim {
		lo[j], hi[j] = math.Inf(1), math.Inf(-1)
		for i := range n {
			lo[j], hi[j] = min(lo[j], d.X.At(i, j)), max(hi[j], d.X.At(i, j))
		}
	}
	return lo, hi
}
