package chart

import (
	"github.com/functionspace/bo/benchmarks/internal/document"

	"fmt"
	"math"

	"gonum.org/v1/plot"
)

// Counts returns about six ticks of an axis of whole numbers.
func Counts(lo, hi float64) []plot.Tick {
	step := 1
	for k := 0; hi-lo > 6*float64(step); k++ {
		step = []int{2, 5, 10}[k%3] * int(math.Pow10(k/3))
	}
	var ticks []plot.Tick
	for v := int(math.Ceil(lo/float64(step))) * step; float64(v) <= hi; v += step {
		ticks = append(ticks, plot.Tick{Value: float64(v), Label: fmt.Sprint(v)})
	}
	return ticks
}

// Decades returns the ticks of an axis of base-10 logarithms: labels at powers of
// ten, minor ticks between few of them, and labels between them on an axis of about one
// decade.
func Decades(lo, hi float64) []plot.Tick {
	if hi-lo < 0.5 {
		ticks := plot.DefaultTicks{}.Ticks(lo, hi)
		for i, t := range ticks {
			if t.Label != "" {
				ticks[i].Label = fmt.Sprintf("%.3g", math.Pow(10, t.Value))
			}
		}
		return ticks
	}
	first, last := int(math.Floor(lo)), int(math.Ceil(hi))
	step := (last-first)/9 + 1
	var ticks []plot.Tick
	for d := first; d <= last; d++ {
		t := plot.Tick{Value: float64(d)}
		if d%step == 0 {
			t.Label = power(d)
		}
		ticks = append(ticks, t)
		for m := 2; m < 10 && last-first <= 4; m++ {
			minor := plot.Tick{Value: float64(d) + math.Log10(float64(m))}
			if hi-lo < 2 && (m == 2 || m == 5) || hi-lo < 0.7 && (m == 3 || m == 7) {
				minor.Label = document.Short(math.Pow(10, minor.Value))
			}
			ticks = append(ticks, minor)
		}
	}
	inside := ticks[:0]
	for _, t := range ticks {
		if lo <= t.Value && t.Value <= hi {
			inside = append(inside, t)
		}
	}
	return inside
}

func power(d int) string {
	if -3 <= d && d <= 4 {
		return fmt.Sprintf("%g", math.Pow(10, float64(d)))
	}
	return fmt.Sprintf("1e%d", d)
}
