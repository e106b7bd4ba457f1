package acquisition

import (
	"math"
	"slices"

	"github.com/functionspace/bo/internal/pareto"
	"github.com/functionspace/bo/internal/specfn"
	"github.com/functionspace/bo/internal/vecmath"
	"github.com/functionspace/bo/internal/workspace"
)

// regions are unions of disjoint boxes, one for each joint sample.
type regions struct {
	m int // objectives
	// bounds are the distinct finite bounds of the boxes, ascending, for each sample and
	// objective: from start[s*m+j] to start[s*m+j+1].
	bounds []float64
	start  []int
	// sides holds, for each box and objective, the indices of the lower and the upper
	// bound. The lower index is -1 for -Inf. The boxes of sample s are from boxes[s] to
	// boxes[s+1].
	sides []int
	boxes []int
}

// newRegions returns no regions of m objectives.
func newRegions(m int) *regions { return &regions{m: m, start: []int{0}, boxes: []int{0}} }

// add adds the union of boxes as the region of the next sample.
func (r *regions) add(boxes []pareto.Box) {
	first := len(r.start) - 1
	for j := range r.m {
		var own []float64
		for _, b := range boxes {
			for _, v := range []float64{b.Lower[j], b.Upper[j]} {
				if !math.IsInf(v, -1) {
					own = append(own, v)
				}
			}
		}
		slices.Sort(own)
		r.bounds = append(r.bounds, slices.Compact(own)...)
		r.start = append(r.start, len(r.bounds))
	}
	for _, b := range boxes {
		for j := range r.m {
			from, to := r.start[first+j], r.start[first+j+1]
			low, found := slices.BinarySearch(r.bounds[from:to], b.Lower[j])
			if low += from; !found {
				low = -1
			}
			high, _ := slices.BinarySearch(r.bounds[from:to], b.Upper[j])
			r.sides = append(r.sides, low, from+high)
		}
	}
	r.boxes = append(r.boxes, len(r.sides)/(2*r.m))
}

// leastVolume is the expected improvement, in standardised units, below which terms may be
// subnormal. Logarithms of all terms are then computed.
const leastVolume = 1e-250

// gain returns the sampleGain of LogNEHVI.
func (r *regions) gain(mem *workspace.Memory) momentGain {
	return r.workspace(mem).eval
}

// workspace returns memory for one goroutine.
func (r *regions) workspace(mem *workspace.Memory) *regionMemory {
	n := len(r.bounds)
	w := &regionMemory{regions: r, z: mem.Floats(n), pdf: mem.Floats(n), cdf: mem.Floats(n), h: mem.Floats(n), bar: mem.Floats(n)}
	most := 0
	for s := range r.boxes[1:] {
		most = max(most, r.boxes[s+1]-r.boxes[s])
	}
	w.logs, w.left, w.right = mem.Floats(most), mem.Floats(r.m+1), mem.Floats(r.m+1)
	return w
}

// regionMemory is the workspace of regions.gain: numbers for each bound, with z = (bound-μ)/s.
type regionMemory struct {
	*regions
	z, pdf, cdf []float64 // z, φ(z) and Φ(z)
	h           []float64 // s h(z), or its logarithm
	bar         []float64 // gradient of the logarithm of the expected volume with respect to h
	logs        []float64 // terms of boxes
	left, right []float64 // products of the sides of a box before and after an objective
}

// eval writes the logarithms of the expected volumes that a normal point adds to the dominated parts
// of the regions.
func (w *regionMemory) eval(logs []float64, mean [][]float64, sd []float64, dmean, dsd [][]float64) {
	for s := range logs {
		for j := range w.m {
			w.weigh(w.start[s*w.m+j], w.start[s*w.m+j+1], mean[j][s], sd[j])
		}
		volume := w.volume(s)
		if logs[s] = math.Log(volume); !(volume > leastVolume) {
			logs[s] = w.log(s, mean, sd)
		}
		if dmean == nil {
			continue
		}
		if volume > leastVolume {
			w.pull(s, volume)
		} else {
			w.pullLog(s, logs[s])
		}
		for j := range w.m {
			dmean[j][s], dsd[j][s] = 0, 0
			for i := w.start[s*w.m+j]; i < w.start[s*w.m+j+1]; i++ {
				dmean[j][s] -= w.bar[i] * w.cdf[i]
				dsd[j][s] += w.bar[i] * w.pdf[i]
			}
		}
	}
}

// Between these z a bound is near. Above, h(z) = z to double precision. Below, h(z) is 0 beside leastVolume.
const (
	nearFrom = -38
	nearTo   = 9
)

// weigh writes s h(z), Φ(z) and φ(z) for the ascending bounds from lo to hi-1. Only near bounds are costly.
func (w *regionMemory) weigh(lo, hi int, mean, sd float64) {
	from, _ := slices.BinarySearch(w.bounds[lo:hi], mean+nearFrom*sd)
	to, _ := slices.BinarySearch(w.bounds[lo:hi], mean+nearTo*sd)
	from, to = lo+from, lo+to
	clear(w.h[lo:from])
	clear(w.cdf[lo:from])
	clear(w.pdf[lo:from])
	for i := from; i < to; i++ {
		w.z[i] = (w.bounds[i] - mean) / sd
		w.cdf[i] = w.z[i] * (1 / math.Sqrt2)
	}
	vecmath.NormPDF(w.pdf[from:to], w.z[from:to])
	vecmath.Erf(w.cdf[from:to], nil, w.cdf[from:to])
	for i := from; i < to; i++ {
		h, cdf := specfn.EI(w.z[i], w.pdf[i], w.cdf[i])
		w.h[i], w.cdf[i] = sd*h, cdf
	}
	for i := to; i < hi; i++ {
		w.h[i], w.cdf[i], w.pdf[i] = w.bounds[i]-mean, 1, 0
	}
}

// side returns the expected length of the side of box b in objective j.
func (w *regionMemory) side(b, j int) float64 {
	k := 2 * (b*w.m + j)
	if low := w.sides[k]; low >= 0 {
		return w.h[w.sides[k+1]] - w.h[low]
	}
	return w.h[w.sides[k+1]]
}

// volume returns the expected volume of the region of sample s.
func (w *regionMemory) volume(s int) float64 {
	var sum float64
	for b := w.boxes[s]; b < w.boxes[s+1]; b++ {
		v := 1.0
		for j := range w.m {
			v *= w.side(b, j)
		}
		sum += v
	}
	return sum
}

// pull writes the gradient of log(volume) with respect to h.
func (w *regionMemory) pull(s int, volume float64) {
	clear(w.bar[w.start[s*w.m]:w.start[(s+1)*w.m]])
	for b := w.boxes[s]; b < w.boxes[s+1]; b++ {
		w.left[0], w.right[w.m] = 1/volume, 1
		for j := range w.m {
			w.left[j+1] = w.left[j] * w.side(b, j)
		}
		for j := w.m - 1; j >= 0; j-- {
			w.right[j] = w.right[j+1] * w.side(b, j)
			k, others := 2*(b*w.m+j), w.left[j]*w.right[j+1]
			w.bar[w.sides[k+1]] += others
			if low := w.sides[k]; low >= 0 {
				w.bar[low] -= others
			}
		}
	}
}

// leastShare is the logarithm of the share of the largest term below which terms do not count.
const leastShare = -45

// log returns the logarithm of the expected volume from the logarithms of terms, for values
// whose exponential underflows. For the terms that count it replaces h by its logarithm, Φ by Φ/h and φ by φ/h.
// A term is at most the product of all s and a factor for each upper bound z. The factor is z + φ(0) for z > 0,
// else exp(-z²/2).
func (w *regionMemory) log(s int, mean [][]float64, sd []float64) float64 {
	limit := w.bar
	for j := range w.m {
		for i := w.start[s*w.m+j]; i < w.start[s*w.m+j+1]; i++ {
			z := (w.bounds[i] - mean[j][s]) / sd[j]
			if w.z[i], w.h[i] = z, math.NaN(); z > 0 {
				limit[i] = math.Log(z + 1/math.Sqrt(2*math.Pi))
			} else {
				limit[i] = -z * z / 2
			}
		}
	}
	logs, best := w.logs[:w.boxes[s+1]-w.boxes[s]], 0
	for b := range logs {
		logs[b] = 0
		for j := range w.m {
			logs[b] += limit[w.sides[2*((w.boxes[s]+b)*w.m+j)+1]]
		}
		if logs[b] > logs[best] {
			best = b
		}
	}
	high := w.logTerm(w.boxes[s]+best, sd)
	least := high + leastShare
	for _, v := range sd {
		least -= math.Log(v)
	}
	for b := range logs {
		if logs[b] < least {
			logs[b] = math.Inf(-1)
			continue
		}
		logs[b] = w.logTerm(w.boxes[s]+b, sd)
		high = max(high, logs[b])
	}
	if math.IsInf(high, -1) {
		return high
	}
	var sum float64
	for _, l := range logs {
		sum += math.Exp(l - high)
	}
	return high + math.Log(sum)
}

// logTerm returns the logarithm of the term of box b.
func (w *regionMemory) logTerm(b int, sd []float64) (sum float64) {
	for j := range w.m {
		k := 2 * (b*w.m + j)
		up := w.logH(w.sides[k+1], sd[j])
		sum += up
		if low := w.sides[k]; low >= 0 {
			sum += math.Log(-math.Expm1(w.logH(low, sd[j]) - up))
		}
	}
	return sum
}

// logH returns the logarithm of s h(z) for bound i. The first time it replaces the numbers for the bound as log states.
func (w *regionMemory) logH(i int, sd float64) float64 {
	if math.IsNaN(w.h[i]) {
		l, d := specfn.LogEI(w.z[i])
		w.h[i], w.cdf[i], w.pdf[i] = l+math.Log(sd), d/sd, (1-w.z[i]*d)/sd
	}
	return w.h[i]
}

// pullLog writes the gradient of the result of log with respect to the logarithms of h.
func (w *regionMemory) pullLog(s int, value float64) {
	clear(w.bar[w.start[s*w.m]:w.start[(s+1)*w.m]])
	for b := w.boxes[s]; b < w.boxes[s+1]; b++ {
		share := math.Exp(w.logs[b-w.boxes[s]] - value)
		if !(share > 0) {
			continue
		}
		for j := range w.m {
			k := 2 * (b*w.m + j)
			low, up := w.sides[k], w.sides[k+1]
			if low < 0 {
				w.bar[up] += share
				continue
			}
			e := math.Expm1(w.h[low] - w.h[up])
			w.bar[up] -= share / e
			w.bar[low] += share * (1 + e) / e
		}
	}
}
