// Package domain defines the box from which networks with priors on functions take context
// points, and the scaling of their inputs.
package domain

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
)

// Box is the region of context points.
type Box struct {
	Lo, Hi []float64
}

// Widen returns the box from lo to hi with margin times its width added on each side, or
// ½ if the width is 0.
func Widen(lo, hi []float64, margin float64) Box {
	b := Box{make([]float64, len(lo)), make([]float64, len(lo))}
	for j := range lo {
		pad := margin * (hi[j] - lo[j])
		if pad == 0 {
			pad = 0.5
		}
		b.Lo[j], b.Hi[j] = lo[j]-pad, hi[j]+pad
	}
	return b
}

// Margins of a ContextBox, relative to its width.
const (
	SearchMargin = 0.05
	dataMargin   = 0.5
)

// ContextBox returns the box of context points for a dataset: for "data", as published, the
// bounding box of its inputs and half the width on each side; for "search" the dataset's
// box and 5 % on each side.
func ContextBox(region string, d surrogate.Dataset) Box {
	margin := SearchMargin
	if region == "data" {
		d.Lo, d.Hi = nil, nil
		margin = dataMargin
	}
	lo, hi := d.Box()
	return Widen(lo, hi, margin)
}

// DrawBox returns the box in which functions drawn from a prior are evaluated: the box of d, or the unit
// cube if d has no box and its inputs are in the unit cube. A side of width 0 gets the width 1.
func DrawBox(d surrogate.Dataset) Box {
	lo, hi := d.Box()
	if d.Lo == nil && slices.Min(lo) >= 0 && slices.Max(hi) <= 1 {
		return Box{make([]float64, len(lo)), slices.Repeat([]float64{1}, len(lo))}
	}
	b := Box{slices.Clone(lo), slices.Clone(hi)}
	for j := range lo {
		if lo[j] == hi[j] {
			b.Lo[j], b.Hi[j] = lo[j]-0.5, hi[j]+0.5
		}
	}
	return b
}

// Halton returns n points of a scrambled Halton set in the box.
func (b Box) Halton(n int, rng *rand.Rand) *mat.Dense {
	x := space.Halton(n, len(b.Lo), rng)
	b.stretch(x)
	return x
}

// LatinHypercube returns n points of a Latin hypercube in the box.
func (b Box) LatinHypercube(n int, rng *rand.Rand) *mat.Dense {
	x := space.LatinHypercube(n, len(b.Lo), rng)
	b.stretch(x)
	return x
}

// Chebyshev returns n points of a scrambled Halton set with each coordinate u of the unit
// cube replaced by ½(1 - cos πu). With this density, the density of Chebyshev's nodes,
// approximation errors do not grow towards the faces and vertices of the box.
func (b Box) Chebyshev(n int, rng *rand.Rand) *mat.Dense {
	x := space.Halton(n, len(b.Lo), rng)
	x.Apply(func(_, _ int, u float64) float64 { return 0.5 - 0.5*math.Cos(math.Pi*u) }, x)
	b.stretch(x)
	return x
}

// Uniform returns n independent uniform points of the box.
func (b Box) Uniform(n int, rng *rand.Rand) *mat.Dense {
	x := mat.NewDense(n, len(b.Lo), nil)
	b.FillUniform(x, rng)
	return x
}

// FillUniform overwrites the rows of x with independent uniform points of the box.
func (b Box) FillUniform(x *mat.Dense, rng *rand.Rand) {
	n, _ := x.Dims()
	for i := range n {
		row := x.RawRowView(i)
		for j := range row {
			row[j] = rng.Float64()
		}
	}
	b.stretch(x)
}

// stretch maps the unit cube to the box.
func (b Box) stretch(x *mat.Dense) {
	n, _ := x.Dims()
	for i := range n {
		row := x.RawRowView(i)
		for j, u := range row {
			row[j] = b.Lo[j] + u*(b.Hi[j]-b.Lo[j])
		}
	}
}
