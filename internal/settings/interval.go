package settings

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// interval contains the numbers that an option can have.
type interval struct {
	lo, hi         float64
	openLo, openHi bool
}

// parseInterval reads text such as [1,100], (0,1] or (0,inf). It panics on a
// malformed declaration.
func parseInterval(text string) interval {
	inner := strings.Trim(text, "[]()")
	low, high, _ := strings.Cut(inner, ",")
	lo, err := strconv.ParseFloat(low, 64)
	hi, err2 := strconv.ParseFloat(high, 64)
	r := interval{lo, hi, strings.HasPrefix(text, "("), strings.HasSuffix(text, ")")}
	if err != nil || err2 != nil || !(lo < hi) || len(text) != len(inner)+2 {
		panic(fmt.Sprintf("settings: malformed range %q", text))
	}
	return r
}

// contains reports whether v lies in r. It returns false for infinite numbers and NaN.
func (r interval) contains(v float64) bool {
	above := v > r.lo || v == r.lo && !r.openLo
	below := v < r.hi || v == r.hi && !r.openHi
	return above && below && !math.IsInf(v, 0)
}

// String describes in words the numbers that r contains.
func (r interval) String() string {
	bounded := !math.IsInf(r.hi, 1)
	switch {
	case math.IsInf(r.lo, -1) && !bounded:
		return "finite"
	case math.IsInf(r.lo, -1):
		return upper(r)
	case !bounded:
		return lower(r)
	case !r.openLo && !r.openHi:
		return number(r.lo) + " to " + number(r.hi)
	}
	return lower(r) + " and " + upper(r)
}

func lower(r interval) string {
	if r.openLo {
		return "more than " + number(r.lo)
	}
	return number(r.lo) + " or more"
}

func upper(r interval) string {
	if r.openHi {
		return "less than " + number(r.hi)
	}
	return "at most " + number(r.hi)
}

func number(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}
