package surrogate

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/subset"
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
	// ErrNoise reports noise variances of targets that are negative or infinite, or that the model does not take.
	ErrNoise = errors.New("surrogate: noise variances of the targets")
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

	// Noise holds the variance of the noise of each target if it is known, such as the square of its standard error.
	// Entries that are NaN, and nil, are not known: these targets have the noise variance of the model. gp.Model and
	// Scaled use it. With another model Validate reports ErrNoise.
	Noise []float64

	// NoiseFree declares that the observations are exact up to rounding. The lower bound of a learned noise
	// variance is then 1e-8 in a fit of a process, and 1e-6 in a fit of network weights. Otherwise the lower
	// bound is 1e-4.
	NoiseFree bool
}

// Dims returns the number of observations and of inputs.
func (d Dataset) Dims() (n, dim int) {
	if d.X == nil || d.X.IsEmpty() {
		return 0, 0
	}
	return d.X.Dims()
}

// NoiseAt returns the noise variance of target i: the entry of Noise if it is known, otherwise ofModel.
func (d Dataset) NoiseAt(i int, ofModel float64) float64 {
	if d.Noise == nil || math.IsNaN(d.Noise[i]) {
		return ofModel
	}
	return d.Noise[i]
}

// MedianNoise returns the median of the known noise variances: the noise variance of other and of later targets. ok is false
// if no variance, or less than half of them, is known. A model then learns it.
func (d Dataset) MedianNoise() (variance float64, ok bool) {
	known := slices.DeleteFunc(slices.Clone(d.Noise), math.IsNaN)
	if len(known) == 0 || 2*len(known) < len(d.Noise) {
		return 0, false
	}
	slices.Sort(known)
	return known[len(known)/2], true
}

// Take returns d with the observations of the given indices alone.
func (d Dataset) Take(index []int) Dataset {
	if d.Noise != nil {
		_, d.Noise = subset.TakeBoth(d.X, d.Noise, index)
	}
	d.X, d.Y = subset.TakeBoth(d.X, d.Y, index)
	return d
}

// AtMost returns d, or limit of its observations drawn at random without replacement if there are more.
func (d Dataset) AtMost(limit int, rng *rand.Rand) Dataset {
	if len(d.Y) <= limit {
		return d
	}
	return d.Take(rng.Perm(len(d.Y))[:limit])
}

// Validate returns an error that wraps ErrNoData, ErrShape, ErrBox or ErrNotFinite if no model can be fitted to
// d. It wraps ErrNoise if d has noise variances of its targets.
func (d Dataset) Validate() error {
	if d.Noise != nil {
		return fmt.Errorf("%w: this model takes one variance for all targets; gp takes one for each", ErrNoise)
	}
	return d.ValidateNoisy()
}

// ValidateNoisy is Validate for a model that takes noise variances of the targets. The error wraps ErrNoise if one
// of them is negative or infinite.
func (d Dataset) ValidateNoisy() error {
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
	if d.Noise != nil && len(d.Noise) != n {
		return fmt.Errorf("%w: %d targets, %d noise variances", ErrShape, n, len(d.Noise))
	}
	for i, v := range d.Noise {
		if v < 0 || math.IsInf(v, 0) {
			return fmt.Errorf("%w: target %d has %v, want a number of at least 0, or NaN", ErrNoise, i+1, v)
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
