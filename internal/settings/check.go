package settings

import (
	"fmt"
	"math"
	"slices"

	"github.com/functionspace/bo/internal/didyoumean"
)

// Choose makes "" the first of the valid names and reports a name that is none of
// them. Where the first is "", too, the data choose.
func Choose(key string, v *string, valid ...string) error {
	if *v == "" {
		*v = valid[0]
	}
	if !slices.Contains(valid, *v) {
		if valid[0] == "" {
			valid = valid[1:]
		}
		return fmt.Errorf("unknown %s %q: did you mean %s?", key, *v, didyoumean.Name(*v, valid))
	}
	return nil
}

// Positive reports a negative or infinite number, where 0 stands for the default.
func Positive[T int | float64](key string, v T) error {
	if !(v >= 0) || math.IsInf(float64(v), 0) {
		return fmt.Errorf("%s is %v, must be positive", key, v)
	}
	return nil
}

// Rate reports a learning rate that is negative or above 1, where 0 stands for the
// default. A step of Adam moves each parameter by about the rate.
func Rate(key string, v float64) error {
	if !(v >= 0 && v <= 1) {
		return fmt.Errorf("%s is %v, must be positive and at most 1", key, v)
	}
	return nil
}

// Networks reports a number of networks, or of what else predictions are averaged
// over, that has no variance; 0 stands for the default.
func Networks(key string, v int) error {
	if v == 1 {
		return fmt.Errorf("%s is 1: a variance takes two networks at least", key)
	}
	return Positive(key, v)
}

// LeastFixed is the least noise variance or precision with which a posterior of
// weights is not lost in rounding.
const LeastFixed = 1e-10

// Fixed reports a number that is fixed below least or beyond 1e100, whose square
// is near the largest there is; nil is none.
func Fixed(key string, v *float64, least float64) error {
	const most = 1e100
	if v != nil && !(*v >= least && *v <= most) {
		return fmt.Errorf("%s is %v, must lie between %v and %v", key, *v, least, most)
	}
	return nil
}

// NotNegative makes nil the default and reports a negative or infinite number.
func NotNegative(key string, v **float64, standard float64) error {
	if *v == nil {
		*v = &standard
	}
	if !(**v >= 0) || math.IsInf(**v, 0) {
		return fmt.Errorf("%s is %v, must not be negative", key, **v)
	}
	return nil
}

// Layers makes nil the default widths of hidden layers and reports a layer without
// units.
func Layers(hidden *[]int, standard ...int) error {
	if *hidden == nil {
		*hidden = standard
	}
	for _, h := range *hidden {
		if h < 1 {
			return fmt.Errorf("hidden: a layer of %d units", h)
		}
	}
	return nil
}
