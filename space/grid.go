package space

import (
	"math"
	"math/big"
	"strconv"
	"strings"
)

// grid is the arithmetic sequence of a parameter with a step, in decimal numbers: the i-th
// value is (first + i·step)/scale.
type grid struct {
	first, step, scale float64 // integers; scale is a power of ten
	levels             int
}

// maxScale is the largest number of decimal places of a grid: 10^22 is the largest power of
// ten that float64 represents exactly.
const maxScale = 22

// gridOf returns the grid of p, whose range and step are finite and whose step is positive.
// levels is 0 if the numbers have too many digits for a grid.
func gridOf(p *Parameter) grid {
	if isWhole(p.Min) && isWhole(p.Step) && isWhole(p.Max) {
		return grid{p.Min, p.Step, 1, int(math.Floor((p.Max-p.Min)/p.Step)) + 1}
	}
	places := max(decimals(p.Min), decimals(p.Step), decimals(p.Max))
	if places > maxScale {
		return grid{}
	}
	first, ok1 := scaled(p.Min, places)
	step, ok2 := scaled(p.Step, places)
	last, ok3 := scaled(p.Max, places)
	if !ok1 || !ok2 || !ok3 || last-first >= maxInt {
		return grid{}
	}
	return grid{first, step, math.Pow10(places), int(math.Floor((last-first)/step)) + 1}
}

// steps returns the grid of a valid parameter with a step.
func (p *Parameter) steps() grid {
	if p.grid.levels > 0 {
		return p.grid
	}
	return gridOf(p)
}

// at returns the i-th value: the quotient of two exact numbers, so the float64 nearest to
// the decimal number.
func (g grid) at(i float64) float64 { return (g.first+i*g.step)/g.scale + 0 }

// isWhole reports whether x is an integer within ±2^53.
func isWhole(x float64) bool { return x == math.Trunc(x) && math.Abs(x) <= maxInt }

// decimals returns the number of decimal places of the shortest decimal form of x.
func decimals(x float64) int {
	text := strconv.FormatFloat(x, 'e', -1, 64)
	mantissa, exponent, _ := strings.Cut(text, "e")
	_, fraction, _ := strings.Cut(mantissa, ".")
	e, _ := strconv.Atoi(exponent)
	return max(0, len(fraction)-e)
}

// scaled returns the shortest decimal form of x times 10^places, false if it is not an
// integer within ±2^53.
func scaled(x float64, places int) (float64, bool) {
	r, ok := new(big.Rat).SetString(strconv.FormatFloat(x, 'e', -1, 64))
	if !ok {
		return 0, false
	}
	r.Mul(r, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(places)), nil)))
	v, exact := r.Float64()
	return v, exact && r.IsInt() && math.Abs(v) <= maxInt
}
