// Package figures writes numbers with as many significant digits as their differences need.
package figures

import (
	"math"
	"strconv"
	"strings"
)

// most is the number of significant digits that identifies every float64.
const most = 17

// Digits returns the smallest number of significant digits, at least least and at most 17, with which
// different numbers have different texts.
func Digits(least int, numbers ...float64) int {
	for digits := least; digits < most; digits++ {
		seen := make(map[string]float64, len(numbers))
		distinct := true
		for _, x := range numbers {
			text := Format(x, digits)
			other, ok := seen[text]
			distinct = distinct && (!ok || other == x || x != x)
			seen[text] = x
		}
		if distinct {
			return digits
		}
	}
	return most
}

// Distinct writes numbers with the same number of significant digits, at least least, so that different
// numbers have different texts.
func Distinct(least int, numbers ...float64) []string {
	digits := Digits(least, numbers...)
	out := make([]string, len(numbers))
	for i, x := range numbers {
		out[i] = Format(x, digits)
	}
	return out
}

// Resolve returns the number of significant digits that resolves a ten-thousandth of the range of numbers
// between low and high. It is at least least and at most 17.
func Resolve(least int, low, high float64) int {
	big := max(math.Abs(low), math.Abs(high))
	ratio := big / (high - low)
	if !(ratio > 1) || math.IsInf(ratio, 0) {
		return least
	}
	return min(max(least, 4+int(math.Ceil(math.Log10(ratio)))), most)
}

// Mean writes a mean and its standard deviation: the deviation with two digits, and the mean to the same decimal place.
// Deviations below 1e-6 or from 1e8 on have an exponent, and so have means below 1e-4 beside small ones. If the deviation
// is not a positive number, the mean has six digits.
func Mean(mean, sd float64) string {
	if !(sd > 0) || math.IsInf(sd, 1) || math.IsInf(mean, 0) || math.IsNaN(mean) {
		return Format(mean, 6) + " ± " + Format(sd, 2)
	}
	last := exponent(sd, 1) - 1 // of the last digit
	unit := math.Pow10(last)
	write := func(x float64) string {
		if math.Abs(x) < unit/2 {
			x = 0 // no -0
		}
		digits := exponent(x, 0) - last // after the first one
		switch {
		case last > 6 || digits >= most || last < -7 && math.Abs(x) < 1e-4:
			return strconv.FormatFloat(x, 'e', min(max(digits, 0), most-1), 64)
		case last > 0:
			return strconv.FormatFloat(math.Round(x/unit)*unit, 'f', 0, 64)
		}
		return strconv.FormatFloat(x, 'f', -last, 64)
	}
	return write(mean) + " ± " + write(sd)
}

// exponent returns the decimal exponent of a number that is rounded to a number of digits after the first one.
func exponent(x float64, digits int) int {
	text := strconv.FormatFloat(x, 'e', digits, 64)
	n, _ := strconv.Atoi(text[strings.IndexByte(text, 'e')+1:])
	return n
}

// Format writes a number with a number of significant digits.
func Format(x float64, digits int) string { return strconv.FormatFloat(x, 'g', digits, 64) }
