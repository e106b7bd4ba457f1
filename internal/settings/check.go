package settings

import (
	"fmt"
	"math"
	"slices"

	"github.com/functionspace/bo/internal/nearest"
)

// Choose makes "" the first of the valid names and reports a name that is none of
// them.
func Choose(key string, v *string, valid ...string) error {
	if *v == "" {
		*v = valid[0]
	}
	if !slices.Contains(valid, *v) {
		return fmt.Errorf("unknown %s %q: did you mean %s?", key, *v, nearest.Name(*v, valid))
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
