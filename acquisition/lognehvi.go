package acquisition

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/functionspace/bo/internal/pareto"
	"github.com/functionspace/bo/internal/settings"
	"github.com/functionspace/bo/internal/specfn"
	"github.com/functionspace/bo/internal/workspace"
)

// LogNEHVI is the logarithm of the noisy expected hypervolume improvement for two to four
// objectives (Daulton, Balandat and Bakshy 2021; in logarithmic form Ament et al. 2023). It
// takes one point at a time: Suggest chooses a batch one after another, and
// earlier points are pending.
//
// The objectives, the constraints and their noise are independent. Fixed quasi-random samples s are
// drawn jointly at the evaluated and the pending points. The points that are feasible in a
// sample have a Pareto front there, which leaves the region below the reference point
// non-dominated in disjoint boxes b. Given the sample, objective j at x is normal with mean μ_js
// and standard deviation s_j, so the expected improvement is a closed form (Emmerich,
// Giannakoglou and Naujoks 2006; Yang et al. 2019),
//
//	log 1/S Σ_s P_s(x) Σ_b Π_j s_j (h((u_bj-μ_js)/s_j) - h((l_bj-μ_js)/s_j)),  h(z) = φ(z) + zΦ(z)
//
// P_s is the probability that x meets the constraints given the sample. In comparison to
// the published estimator, which also samples x, the samples need to resolve only
// the noise at known points. Without noise all samples are equal, and the value is the exact expected
// improvement. All terms are logarithms, so the gradient vanishes nowhere.
//
// Build samples all points, O(n³) for each objective, and keeps the evaluated points that belong to a
// front in some sample. A value costs O(S·boxes); Boxes in package pareto states their number.
type LogNEHVI struct {
	// Samples is the number of base samples. 0 means 64; powers of two are best.
	Samples int `set:"samples" default:"64" range:"[1,65536]" help:"joint samples"`
}

// maxBoxObjectives is the largest number of objectives with a decomposition into boxes: more
// objectives have too many boxes.
const maxBoxObjectives = 4

var _ Acquisition = LogNEHVI{}

// Build returns the function of one point.
func (a LogNEHVI) Build(_ context.Context, p Problem, q int, rng *rand.Rand) (Function, error) {
	if err := p.checkSeveral("LogNEHVI", q); err != nil {
		return nil, err
	}
	if n := len(p.Objectives); n > maxBoxObjectives {
		return nil, fmt.Errorf("%w: LogNEHVI takes at most %d objectives, not %d: use auto or lognparego", ErrProblem, maxBoxObjectives, n)
	}
	a, err := settings.Resolve("lognehvi", a)
	if err != nil {
		return nil, err
	}
	f, samples, err := p.sampleContenders(func(y [][]float64) []int { return frontBelow(y, p.Reference) }, a.Samples, rng)
	if err != nil {
		return nil, err
	}
	regions := make([]region, a.Samples)
	for s := range regions {
		y, _ := samples.at(s)
		regions[s] = newRegion(pareto.Boxes(y, p.Reference), len(p.Reference))
	}
	f.gain = func(mem *workspace.Memory) func(s int, mean, sd, dmean, dsd []float64) float64 {
		w := newRegionMemory(mem, regions)
		return func(s int, mean, sd, dmean, dsd []float64) float64 { return regions[s].log(w, mean, sd, dmean, dsd) }
	}
	return f, nil
}

// frontBelow returns the indices of the points on the front of y that are below the reference
// point.
func frontBelow(y [][]float64, reference []float64) []int {
	return slices.DeleteFunc(pareto.Front(y), func(i int) bool {
		for j, r := range reference {
			if !(y[i][j] < r) {
				return true
			}
		}
		return false
	})
}

// region is a union of disjoint boxes.
type region struct {
	// bounds are the distinct finite bounds of the boxes, ascending, for each objective.
	bounds [][]float64
	// sides holds, for each box and objective, the indices of the lower and the upper
	// bound. The lower index is -1 for -Inf.
	sides []int
}

// newRegion returns the union of boxes of m objectives.
func newRegion(boxes []pareto.Box, m int) region {
	r := region{bounds: make([][]float64, m), sides: make([]int, 0, 2*m*len(boxes))}
	for j := range m {
		for _, b := range boxes {
			for _, v := range []float64{b.Lower[j], b.Upper[j]} {
				if !math.IsInf(v, -1) {
					r.bounds[j] = append(r.bounds[j], v)
				}
			}
		}
		slices.Sort(r.bounds[j])
		r.bounds[j] = slices.Compact(r.bounds[j])
	}
	for _, b := range boxes {
		for j := range m {
			low, found := slices.BinarySearch(r.bounds[j], b.Lower[j])
			if !found {
				low = -1
			}
			high, _ := slices.BinarySearch(r.bounds[j], b.Upper[j])
			r.sides = append(r.sides, low, high)
		}
	}
	return r
}

// regionMemory is the workspace of region.log.
type regionMemory struct {
	l, r, z []float64 // log(s h(z)), the derivative of log h(z), and z at the bounds
	bar     []float64 // gradient with respect to l
	boxes   []float64 // logarithms of the boxes' terms
	m       int
	per     int // largest number of bounds of an objective
}

func newRegionMemory(mem *workspace.Memory, regions []region) *regionMemory {
	w := &regionMemory{}
	boxes := 0
	for _, r := range regions {
		w.m = len(r.bounds)
		for _, b := range r.bounds {
			w.per = max(w.per, len(b))
		}
		boxes = max(boxes, len(r.sides)/(2*w.m))
	}
	n := w.m * w.per
	w.l, w.r, w.z, w.bar, w.boxes = mem.Floats(n), mem.Floats(n), mem.Floats(n), mem.Floats(n), mem.Floats(boxes)
	return w
}

// log returns the logarithm of the expected volume that a normal point adds to the dominated part of
// the region. If dmean is not nil, it writes the gradients.
func (r *region) log(w *regionMemory, mean, sd, dmean, dsd []float64) float64 {
	for j, bounds := range r.bounds {
		scale := math.Log(sd[j])
		at := j * w.per
		for i, v := range bounds {
			z := (v - mean[j]) / sd[j]
			l, d := specfn.LogEI(z)
			w.l[at+i], w.r[at+i], w.z[at+i], w.bar[at+i] = l+scale, d, z, 0
		}
	}
	boxes := w.boxes[:len(r.sides)/(2*w.m)]
	high := math.Inf(-1)
	for b := range boxes {
		boxes[b] = 0
		for j := range w.m {
			low, up := r.sides[2*(b*w.m+j)], r.sides[2*(b*w.m+j)+1]
			boxes[b] += w.l[j*w.per+up]
			if low >= 0 {
				boxes[b] += math.Log(-math.Expm1(w.l[j*w.per+low] - w.l[j*w.per+up]))
			}
		}
		high = max(high, boxes[b])
	}
	if math.IsInf(high, -1) {
		clear(dmean)
		clear(dsd)
		return high
	}
	var sum float64
	for b, l := range boxes {
		boxes[b] = math.Exp(l - high)
		sum += boxes[b]
	}
	if dmean != nil {
		r.pull(w, sum, sd, dmean, dsd)
	}
	return high + math.Log(sum)
}

// pull writes the gradients of log, whose boxes' terms are w.boxes/sum.
func (r *region) pull(w *regionMemory, sum float64, sd, dmean, dsd []float64) {
	for b := range len(r.sides) / (2 * w.m) {
		share := w.boxes[b] / sum
		if share == 0 {
			continue
		}
		for j := range w.m {
			low, up := r.sides[2*(b*w.m+j)], r.sides[2*(b*w.m+j)+1]
			if low < 0 {
				w.bar[j*w.per+up] += share
				continue
			}
			e := math.Expm1(w.l[j*w.per+low] - w.l[j*w.per+up])
			w.bar[j*w.per+up] -= share / e
			w.bar[j*w.per+low] += share * (1 + e) / e
		}
	}
	for j, bounds := range r.bounds {
		dmean[j], dsd[j] = 0, 0
		for i := range bounds {
			bar, d := w.bar[j*w.per+i], w.r[j*w.per+i]
			dmean[j] -= bar * d / sd[j]
			dsd[j] += bar * (1 - w.z[j*w.per+i]*d) / sd[j]
		}
	}
}
