package fvi

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/surrogate/internal/domain"
)

// Sampler is a prior on functions from which functions can be drawn.
type Sampler interface {
	// Sample draws a function for each row of dst (k×m) and writes its values at the m rows of x.
	// The functions are independent of each other and of earlier draws.
	Sample(dst, x *mat.Dense, rng *rand.Rand)
}

// piecewise draws the random functions of the paper's appendix E.1, summed over the inputs,
//
//	f(x) = c + d^{-1/2} Σ_j ( g_j(x_j) - c ),  c = (Lo + Hi)/2.
//
// Each g_j has Poisson(changes) changes at uniform points of the box. A piecewise constant g_j
// has independent uniform values in [lo, hi] on its pieces. A piecewise linear g_j has such
// values at the changes and at both ends, and is linear between them.
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

// at returns the value at u of the function with the given ascending knots and values. It is
// constant beyond the knots.
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

// poisson draws the number of arrivals at rate 1 before the time mean.
func poisson(mean float64, rng *rand.Rand) int {
	n := 0
	for sum := rng.ExpFloat64(); sum < mean; sum += rng.ExpFloat64() {
		n++
	}
	return n
}
