// Package figures writes numbers with as many significant digits as their differences need.
package figures

import (
	"math"
	"strconv"
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

// Resolve returns the number of significant digits, at least least and at most 17, that resolves a ten-thousandth of
// the range of numbers between low and high.
func Resolve(least int, low, high float64) int {
	big := max(math.Abs(low), math.Abs(high))
	ratio := big / (high - low)
	if !(ratio > 1) || math.IsInf(ratio, 0) {
		return least
	}
	return min(max(least, 4+int(math.Ceil(math.Log10(ratio)))), most)
}

// Mean writes a mean, and a standard deviation with two digits. The mean has at least least digits, and
// resolves half a standard deviation.
func Mean(least int, mean, sd float64) string {
	return Distinct(least, mean, mean+sd/2, mean+sd)[0] + " ± " + Format(sd, 2)
}

// Format writes a number with a number of significant digits.
func Format(x float64, digits int) string { return strconv.FormatFloat(x, 'g', digits, 64) }
