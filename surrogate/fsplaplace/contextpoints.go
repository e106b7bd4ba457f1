package fsplaplace

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/fspace"
	"github.com/functionspace/bo/internal/stream"
	"github.com/functionspace/bo/surrogate"
)

// contextBox is the box that context points are spread over.
func (m Model) contextBox(d surrogate.Dataset) fspace.Box {
	margin := searchMargin
	if m.Box == "data" {
		d.Lo, d.Hi = nil, nil
		margin = dataMargin
	}
	lo, hi := d.Box()
	return fspace.Widen(lo, hi, margin)
}

// holdoutPoints is the number of points at which the ridge is chosen.
const holdoutPoints = 128

// contextPoints returns n points for the context, and holdoutPoints uniform ones of
// the same box. With the ridge factor the context is denser towards the faces,
// where a network extrapolates and where acquisitions look.
func (p *problem) contextPoints(n int, rng *rand.Rand) (context, holdout *mat.Dense) {
	if p.Factor == "ridge" {
		return p.box.Chebyshev(n, rng), p.box.Halton(holdoutPoints, rng)
	}
	return p.box.Halton(n, rng), p.box.Halton(holdoutPoints, rng)
}

// priorRows returns the observations that the prior is fitted to: all, or a
// random fspace.MaxExact of them where there are more.
func priorRows(d surrogate.Dataset, rng *rand.Rand) (*mat.Dense, []float64) {
	n, dim := d.Dims()
	if n <= fspace.MaxExact {
		return d.X, d.Y
	}
	x, y := mat.NewDense(fspace.MaxExact, dim, nil), make([]float64, fspace.MaxExact)
	for i, k := range stream.Split(rng, "rows", 0).Perm(n)[:fspace.MaxExact] {
		x.SetRow(i, d.X.RawRowView(k))
		y[i] = d.Y[k]
	}
	return x, y
}

// zscore gives each column of x mean 0 and standard deviation 1.
func zscore(x *mat.Dense) fspace.Affine {
	n, d := x.Dims()
	a := fspace.Affine{Shift: make([]float64, d), Scale: make([]float64, d)}
	for j := range d {
		s := surrogate.Standardize(mat.Col(make([]float64, n), j, x))
		a.Shift[j], a.Scale[j] = s.Mean, 1/s.SD
	}
	return a
}

// withInputs returns the context points followed by the distinct training
// inputs, or by a random inducingRows of them where there are more than
// fspace.MaxExact.
func (p *problem) withInputs(context *mat.Dense, rng *rand.Rand) *mat.Dense {
	n, d := p.data.Dims()
	rows := make([]int, n)
	for i := range rows {
		rows[i] = i
	}
	if n > fspace.MaxExact {
		rows = rng.Perm(n)[:inducingRows]
	}
	c, _ := context.Dims()
	out := mat.NewDense(c+len(rows), d, nil)
	out.Slice(0, c, 0, d).(*mat.Dense).Copy(context)
	seen := make(map[string]bool, len(rows))
	k := c
	for _, i := range rows {
		row := p.data.X.RawRowView(i)
		if key := rowKey(row); !seen[key] {
			seen[key] = true
			out.SetRow(k, row)
			k++
		}
	}
	return out.Slice(0, k, 0, d).(*mat.Dense)
}

func rowKey(row []float64) string {
	b := make([]byte, 0, 8*len(row))
	for _, v := range row {
		u := math.Float64bits(v + 0) // -0 is 0
		for range 8 {
			b = append(b, byte(u))
			u >>= 8
		}
	}
	return string(b)
}
