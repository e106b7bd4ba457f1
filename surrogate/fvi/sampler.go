package fvi

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/surrogate/internal/domain"
)

// Sampler is a prior on functions that is known by its draws.
type Sampler interface {
	// Sample writes to each row of dst (k×m) the values of a function of its own
	// at the m rows of x. The functions are independent, and independent of what
	// was drawn before.
	Sample(dst, x *mat.Dense, rng *rand.Rand)
}

// piecewise is the random functions of the paper's appendix E.1 along each input,
//
//	f(x) = c + d^{-1/2} Σ_j ( g_j(x_j) - c ),  c = (Lo + Hi)/2.
//
// Each g_j has Poisson(changes) changes at uniform points of the box and
// independent uniform values in [lo, hi]: of its pieces, or, linear, at the changes
// and both ends, with straight lines between.
type piecewise struct {
	box     domain.Box
	lo, hi  float64
	changes float64
	linear  bool
}

func (p piecewise) Sample(dst, x *mat.Dense, rng *rand.Rand) {
	k, _ := dst.Dims()
	d := len(p.box.Lo)
	centre, share := (p.lo+p.hi)/2, 1/math.Sqrt(float64(d))
	var knots, values []float64
	for i := range k {
		row := dst.RawRowView(i)
		linalg.Fill(row, centre)
		for j := range d {
			lo, hi := p.box.Lo[j], p.box.Hi[j]
			knots = append(knots[:0], lo)
			for range poisson(p.changes, rng) {
				knots = append(knots, lo+(hi-lo)*rng.Float64())
			}
			slices.Sort(knots)
			knots = append(knots, hi)
			values = values[:0]
			for range knots {
				values = append(values, p.lo+(p.hi-p.lo)*rng.Float64())
			}
			for c := range row {
				row[c] += share * (p.at(x.RawRowView(c)[j], knots, values) - centre)
			}
		}
	}
}

// at is the function of ascending knots and their values at u. Beyond the knots it
// goes on as a constant.
func (p piecewise) at(u float64, knots, values []float64) float64 {
	next, _ := slices.BinarySearch(knots, u)
	switch {
	case next == 0:
		return values[0]
	case !p.linear || next == len(knots):
		return values[next-1]
	}
	a, b := knots[next-1], knots[next]
	t := (u - a) / (b - a)
	return values[next-1] + t*(values[next]-values[next-1])
}

// poisson counts the arrivals at rate 1 before the time mean.
func poisson(mean float64, rng *rand.Rand) int {
	n := 0
	for sum := rng.ExpFloat64(); sum < mean; sum += rng.ExpFloat64() {
		n++
	}
	return n
}
