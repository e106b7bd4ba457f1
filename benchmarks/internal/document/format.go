package document

import (
	"fmt"
	"math"
)

// Short writes a number with two significant digits, and one from 100 to a million with all digits before the point.
func Short(x float64) string {
	if x != 0 && math.Abs(x) < 1e-3 {
		return fmt.Sprintf("%.1e", x)
	}
	if math.Abs(x) >= 99.5 && math.Abs(x) < 1e6 { // two digits of 99.6 are 1e+02
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.2g", x)
}

// Seconds writes a duration in µs, ms or s with two or three significant digits.
func Seconds(s float64) string {
	unit := "s"
	switch {
	case s < 0.9995e-3:
		s, unit = 1e6*s, "µs"
	case s < 0.9995:
		s, unit = 1e3*s, "ms"
	}
	if s < 9.95 {
		return fmt.Sprintf("%.1f %s", s, unit)
	}
	return fmt.Sprintf("%.0f %s", s, unit)
}

// Count writes a number and a noun in the singular or the plural.
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
