package surrogate

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// Standardization is the affine map z = (y - Mean)/SD from the user's units to a
// model's units.
type Standardization struct {
	Mean, SD float64
}

// Standardize returns the map to mean 0 and standard deviation 1 (divisor n-1). If y
// is constant up to rounding, or has one value, SD is 1, or the rounding error of
// the values if that is larger.
func Standardize(y []float64) Standardization {
	// Scaling by the largest magnitude first keeps the sum of squares finite.
	var big float64
	for _, v := range y {
		big = max(big, math.Abs(v))
	}
	if big == 0 || len(y) == 0 {
		return Standardization{Mean: 0, SD: 1}
	}
	scaled := make([]float64, len(y))
	for i, v := range y {
		scaled[i] = v / big
	}
	mean, sd := stat.MeanStdDev(scaled, nil)
	s := Standardization{Mean: mean * big, SD: sd * big}
	// Smaller differences are rounding errors of the values.
	const rounding = 1e-13
	if len(y) == 1 || !(sd > rounding) {
		s.SD = max(1, rounding*big)
	}
	return s
}

// StandardizeNoisy is Standardize for values of which some have a known noise: a variance or a standard deviation, NaN if it
// is not known, and nil for none. Of these values only the half with less noise counts, because a few poor measurements
// would set the scale. If the values that count are equal, all do.
func StandardizeNoisy(y, noise []float64) Standardization {
	known := slices.DeleteFunc(slices.Clone(noise), math.IsNaN)
	if len(known) == 0 {
		return Standardize(y)
	}
	slices.Sort(known)
	limit := known[len(known)/2]
	var counted []float64
	for i, v := range y {
		if !(noise[i] > limit) {
			counted = append(counted, v)
		}
	}
	if slices.Min(counted) == slices.Max(counted) {
		counted = y
	}
	return Standardize(counted)
}

// Apply writes (y - Mean)/SD to dst and returns it; a nil dst is allocated.
func (s Standardization) Apply(dst, y []float64) []float64 {
	if dst == nil {
		dst = make([]float64, len(y))
	}
	for i, v := range y {
		dst[i] = (v - s.Mean) / s.SD
	}
	return dst
}

// Invert maps a standardised value to the user's units.
func (s Standardization) Invert(z float64) float64 { return z*s.SD + s.Mean }

// leastNoise and mostNoise bound a known noise variance of standardised targets. Variances beyond change no prediction, and
// some models do not accept them.
const (
	leastNoise = 1e-6
	mostNoise  = 1e12
)

// Noise returns the variance, in the squared unit of standardised targets, of noise with the standard deviation sd in the
// user's units: (sd/SD)², at least 1e-6 and at most 1e12.
func (s Standardization) Noise(sd float64) float64 {
	share := sd / s.SD
	return min(max(share*share, leastNoise), mostNoise)
}
