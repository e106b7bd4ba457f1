// Package domain is the box of inputs that a network with a prior on functions is
// trained on: points of the box, and the scale of a network's inputs.
package domain

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
)

// Box is where context points lie.
type Box struct {
	Lo, Hi []float64
}

// Widen returns the box from lo to hi with margin times its width added on each
// side. Where the width is 0, and nothing tells the scale, it adds ½.
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

// ContextBox is where context points for a dataset lie: for "data" the bounding box
// of its inputs and half the width on each side, which is published, and for
// "search" the dataset's box and 5 %.
func ContextBox(region string, d surrogate.Dataset) Box {
	margin := SearchMargin
	if region == "data" {
		d.Lo, d.Hi = nil, nil
		margin = dataMargin
	}
	lo, hi := d.Box()
	return Widen(lo, hi, margin)
}

// Halton returns n points of a scrambled Halton set in the box.
func (b Box) Halton(n int, rng *rand.Rand) *mat.Dense {
	x := space.Halton(n, len(b.Lo), rng)
	b.stretch(x)
	return x
}

// Chebyshev returns n points of a scrambled Halton set with each coordinate u of
// the unit cube moved to ½(1 - cos πu): the density of Chebyshev's nodes, which
// keeps the error of what is spanned by the points from growing towards the faces
// and vertices of the box.
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
