package plot

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot/vg"

	"github.com/functionspace/bo/insight"
	"github.com/functionspace/bo/space"
)

// axis maps values of the user to positions. An axis with names has the values 0, 1 and so on. On a short axis
// far from zero the labels of ticks are differences from a number, which relative returns.
type axis struct {
	label        string
	lo, hi       float64
	log, integer bool
	names        []string
	format       func(float64) string // of ticks; nil is the shortest number
}

// parameterAxis returns the axis of a parameter with a margin for marks at its ends.
func parameterAxis(a insight.Axis) axis {
	out := axis{label: a.Name, log: a.Log, integer: a.Kind == space.KindInt}
	if a.Ticks != nil {
		for _, t := range a.Ticks {
			out.names = append(out.names, fmt.Sprint(t))
		}
		out.lo, out.hi = -0.5, float64(len(out.names))-0.5
		return out
	}
	out.lo, out.hi = a.Min, a.Max
	pad := 0.02
	if n := a.Max - a.Min; out.integer && !a.Log && n <= 50 {
		pad = 0.5 / max(n, 1)
	}
	out.pad(pad)
	return out
}

// valueAxis returns the axis that holds values; non-finite values are left out.
func valueAxis(label string, log bool, values ...float64) axis {
	a := axis{label: label, log: log, lo: math.Inf(1), hi: math.Inf(-1)}
	for _, v := range values {
		if !math.IsNaN(v) && !math.IsInf(v, 0) && (!log || v >= smallest) {
			a.lo, a.hi = min(a.lo, v), max(a.hi, v)
		}
	}
	if a.lo > a.hi {
		a.lo, a.hi, a.log = 0, 1, false
	}
	a.pad(0.05)
	return a
}

// smallest and largest bound the ends of logarithmic axes, and shortest the length of linear ones.
const smallest, largest, shortest = 1e-300, 1e301, 1e-305

// size returns the largest absolute value.
func (a *axis) size() float64 { return max(math.Abs(a.lo), math.Abs(a.hi)) }

// pad adds a share of the length at both ends. An axis of one value gets a length.
func (a *axis) pad(share float64) {
	if a.log {
		lo, hi := math.Log(a.lo), math.Log(a.hi)
		if hi-lo < 1e-9 {
			lo, hi = lo-0.5, hi+0.5
		}
		a.lo, a.hi = max(smallest, math.Exp(lo-share*(hi-lo))), min(largest, math.Exp(hi+share*(hi-lo)))
		return
	}
	if size := a.size(); a.hi-a.lo <= size*0x1p-48 || a.hi-a.lo < shortest {
		d := max(size*0.05, shortest)
		if size == 0 {
			d = 0.5
		}
		a.lo, a.hi = a.lo-d, a.hi+d
	}
	d := share * (a.hi - a.lo)
	a.lo, a.hi = a.lo-d, a.hi+d
}

// place returns the position of a value: 0 at lo and 1 at hi.
func (a *axis) place(v float64) float64 {
	if a.log {
		return math.Log(v/a.lo) / math.Log(a.hi/a.lo)
	}
	return (v - a.lo) / (a.hi - a.lo)
}

// above returns the lower end of an interval, or the lower end of a logarithmic axis for an interval
// that begins at zero or below.
func (a *axis) above(low float64) float64 {
	if a.log && low <= 0 {
		return a.lo
	}
	return low
}

// number returns a value of a parameter as a number of its axis, NaN for nil.
func (a *axis) number(x any) float64 {
	if a.names != nil {
		if x == nil {
			return math.NaN()
		}
		return float64(slices.Index(a.names, fmt.Sprint(x)))
	}
	switch x := x.(type) {
	case float64:
		return x
	case int:
		return float64(x)
	}
	return math.NaN()
}

// tick is a mark of an axis; a minor one has no label.
type tick struct {
	at    float64
	label string
}

// ticks returns the densest ticks whose labels have room on an axis of a length, with two labels if
// possible. Extent is the size of a label along the axis.
func (a *axis) ticks(length vg.Length, extent func(label string) vg.Length) []tick {
	var found []tick
	for _, ticks := range a.candidates() {
		ticks = a.within(ticks)
		fits, last := true, math.Inf(-1)
		labels := 0
		for _, t := range ticks {
			if t.label == "" {
				continue
			}
			labels++
			half := float64(extent(t.label)) / 2
			at := a.place(t.at) * float64(length)
			fits = fits && at-half >= last
			last = at + half
		}
		if fits && (labels >= 2 || found == nil) {
			found = ticks
			if labels >= 2 {
				break
			}
		}
	}
	return found
}

// within returns the ticks that lie on the axis.
func (a *axis) within(ticks []tick) []tick {
	return slices.DeleteFunc(ticks, func(t tick) bool { p := a.place(t.at); return !(p >= -1e-9 && p <= 1+1e-9) })
}

// candidates returns lists of ticks from dense to sparse.
func (a *axis) candidates() [][]tick {
	var all [][]tick
	var dense []tick
	switch {
	case a.names != nil:
		return a.categories()
	case a.decimal():
		all, dense = a.decades(), a.powers(a.first(), a.last(), 1, []float64{1, 2, 3, 4, 5, 6, 7, 8, 9})
	default:
		for n := 9; n >= 1; n-- {
			all = append(all, a.linear(n))
		}
		dense = a.linear(20)
	}
	if dense = a.within(dense); len(dense) > 1 { // the outermost, if no others have room
		all = append(all, []tick{dense[0], dense[len(dense)-1]})
	}
	return all
}

// decimal reports a logarithmic axis that is long enough for ticks at powers of ten.
func (a *axis) decimal() bool { return a.log && a.hi/a.lo > 5 }

func (a *axis) first() int { return int(math.Floor(math.Log10(a.lo))) }
func (a *axis) last() int  { return int(math.Ceil(math.Log10(a.hi))) }

// categories names all values, or every second, third, … of many.
func (a *axis) categories() [][]tick {
	var all [][]tick
	for step := 1; step <= len(a.names); step = max(step+1, step*3/2) {
		var ticks []tick
		for i := 0; i < len(a.names); i += step {
			ticks = append(ticks, tick{float64(i), a.names[i]})
		}
		all = append(all, ticks)
	}
	return all
}

// linear returns about n ticks at multiples of 1, 2 or 5 times a power of ten, from base.
func (a *axis) linear(n int) []tick {
	base := a.base()
	lo, hi := a.lo-base, a.hi-base
	step := nice(max((hi-lo)/float64(n), a.size()*0x1p-52))
	if a.integer {
		step = max(1, step)
	}
	var ticks []tick
	for k := math.Ceil(lo/step - 1e-9); k*step <= hi+1e-9*step && len(ticks) < 100; k++ {
		v := k*step + 0 // no negative zero
		label := ""
		if a.format != nil {
			label = a.format(v)
		} else {
			label = stepped(v, step, max(math.Abs(lo), math.Abs(hi)))
		}
		ticks = append(ticks, tick{base + v, label})
	}
	return ticks
}

// far is the ratio of the values of an axis to its length above which ticks are differences.
const far = 2e5

// base returns a round number near the lower end of a short axis far from zero, and zero for other
// axes.
func (a *axis) base() float64 {
	length := a.hi - a.lo
	if a.names != nil || a.format != nil || a.decimal() || !(length > 0) || a.size() < far*length {
		return 0
	}
	decimals := -int(math.Ceil(math.Log10(length))) - 1
	unit := math.Pow(10, float64(-decimals))
	near := math.Round(a.lo/unit) * unit
	if math.Abs(near-a.lo) > length {
		near = math.Floor(a.lo/unit) * unit
	}
	if decimals > 0 { // the nearest decimal number
		near, _ = strconv.ParseFloat(strconv.FormatFloat(near, 'f', decimals, 64), 64)
	}
	return near
}

// relative returns the base as it follows the label of an axis, such as " − 1e15".
func (a *axis) relative() string {
	base := a.base()
	if base == 0 {
		return ""
	}
	size := math.Abs(base)
	text := strconv.FormatFloat(size, 'f', -1, 64)
	if short := exponent(strconv.FormatFloat(size, 'e', -1, 64)); len(short) < len(text) {
		text = short
	}
	if base < 0 {
		return " + " + text
	}
	return " − " + text
}

// nice returns the smallest of 1, 2 and 5 times a power of ten that is not below x.
func nice(x float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(x)))
	for _, m := range []float64{1, 2, 5} {
		if m*power >= x*(1-1e-9) {
			return m * power
		}
	}
	return 10 * power
}

// stepped returns a multiple of step with the digits that the step needs.
func stepped(v, step, largest float64) string {
	if v == 0 {
		return "0"
	}
	first, last := int(math.Floor(math.Log10(largest)+1e-9)), int(math.Floor(math.Log10(step)+1e-9)) // powers of ten of the digits
	if first >= -4 && first < 7 && last >= -8 {
		return minus(strconv.FormatFloat(v, 'f', max(0, -last), 64))
	}
	mantissa := max(0, int(math.Floor(math.Log10(math.Abs(v))+1e-9))-last)
	return exponent(strconv.FormatFloat(v, 'e', mantissa, 64))
}

// decades returns ticks at powers of ten and, on a short axis, at multiples of them.
func (a *axis) decades() [][]tick {
	first, last := a.first(), a.last()
	var all [][]tick
	for _, labelled := range [][]float64{{1, 2, 5}, {1, 3}, {1}} {
		all = append(all, a.powers(first, last, 1, labelled))
	}
	for _, step := range []int{2, 3, 5, 10, 20, 50, 100, 200} {
		all = append(all, a.powers(first, last, step, []float64{1}))
	}
	return all
}

// powers returns ticks at the multiples of every step-th power of ten, with further minor ticks.
func (a *axis) powers(first, last, step int, labelled []float64) []tick {
	var ticks []tick
	for d := first; d <= last; d++ {
		for m := 1.0; m < 10; m++ {
			t := tick{at: m * math.Pow(10, float64(d))}
			if a.integer && t.at < 1 {
				continue
			}
			if d%step == 0 && slices.Contains(labelled, m) {
				t.label = number(t.at)
			} else if step > 1 && m > 1 || last-first > 6 && m > 1 {
				continue
			}
			ticks = append(ticks, t)
		}
	}
	return ticks
}

// number returns a number with at most four significant digits, with a true minus sign.
func number(v float64) string {
	switch {
	case math.IsNaN(v):
		return "–"
	case v == 0:
		return "0"
	}
	if size := math.Abs(v); size >= 1e6 || size < 1e-3 {
		return exponent(strconv.FormatFloat(v, 'e', 3, 64))
	}
	return minus(trimZeros(strconv.FormatFloat(v, 'f', max(0, 3-int(math.Floor(math.Log10(math.Abs(v))))), 64)))
}

// exponent writes 1.500e-05 as 1.5e−5.
func exponent(s string) string {
	mantissa, power, _ := strings.Cut(s, "e")
	n, err := strconv.Atoi(power)
	if err != nil { // infinite
		return minus(s)
	}
	return minus(trimZeros(mantissa) + "e" + strconv.Itoa(n))
}

func trimZeros(s string) string {
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

func minus(s string) string { return strings.ReplaceAll(s, "-", "−") }
