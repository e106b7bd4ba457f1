package acquisition

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// If less than 1 in rare uniform points is feasible, space.Space.Sample may take 25 ms for a point. Then
// points are replaced sampleChunk at a time, and at most fewSampled unless all coordinates are discrete.
const (
	rare        = 128
	fewSampled  = 64
	sampleChunk = 16 // so that cancellation is prompt
)

// rarelyFeasible reports whether less than 1 in rare of the uniform points in the rows of x is feasible. The
// points are projected. The points of a batch count one by one.
func rarelyFeasible(dom Domain, x *mat.Dense) bool {
	n := rowCount(x)
	if p, ok := dom.(power); ok {
		return rarelyFeasible(p.base, mat.NewDense(n*p.q, p.base.Dim(), x.RawMatrix().Data))
	}
	found := 0
	for i := range n {
		if feasible(dom, x.RawRowView(i)) {
			found++
		}
	}
	return rare*found < n
}

// replaceInfeasible projects the rows of x, uniform points of a restricted domain, and replaces the
// infeasible ones by feasible points; only some of them if feasible points are rare. It leaves x unchanged
// if the domain is not restricted. The error comes from the context.
func (c *climb) replaceInfeasible(ctx context.Context, x *mat.Dense) error {
	r := restricted(c.dom)
	if r == nil {
		return nil
	}
	var wrong []int
	for i := range rowCount(x) {
		if r.Project(x.RawRowView(i)); !r.Feasible(x.RawRowView(i)) {
			wrong = append(wrong, i)
		}
	}
	size := len(wrong)
	if rarelyFeasible(c.dom, x) {
		size = sampleChunk
		if !c.dom.Discrete() { // else the points are usually listed, and cheap
			wrong = wrong[:min(len(wrong), fewSampled)]
		}
	}
	for len(wrong) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		size = min(size, len(wrong))
		replacement := r.Sample(size, c.rng)
		for k, i := range wrong[:size] {
			x.SetRow(i, replacement.RawRowView(k))
		}
		wrong = wrong[size:]
	}
	return nil
}

// retreat moves an infeasible end of an ascent towards its start, which is feasible. It stops at the border of
// the feasible points on the line between them.
func (c *climb) retreat(start, end []float64) {
	if feasible(c.dom, end) {
		return
	}
	const halvings = 20
	from := slices.Clone(start)
	c.dom.Project(from)
	best, low, high := from, 0.0, 1.0
	for range halvings {
		t := (low + high) / 2
		x := make([]float64, len(end))
		for i := range x {
			x[i] = from[i] + t*(end[i]-from[i])
		}
		if c.dom.Project(x); feasible(c.dom, x) {
			best, low = x, t
		} else {
			high = t
		}
	}
	copy(end, best)
}

// slide searches from v among random feasible points nearby, at distances from 0.1 down to
// 1e-4 in the free coordinates. It follows the border of the feasible points, along which an
// ascent does not move. It returns v at once if these points are all feasible.
func (c *climb) slide(ctx context.Context, v visited, free []bool) (visited, error) {
	const candidates, repeats = 24, 4
	var at []int
	for j, f := range free {
		if f {
			at = append(at, j)
		}
	}
	if len(at) == 0 {
		return v, nil
	}
	for scale := 0.1; scale > 5e-5; scale /= math.Sqrt(10) {
		for range repeats {
			x := mat.NewDense(candidates, len(v.x), nil)
			inside := true
			for i := range candidates {
				row := x.RawRowView(i)
				copy(row, v.x)
				for _, j := range at {
					row[j] += scale * c.rng.NormFloat64()
				}
				c.dom.Project(row)
				inside = inside && feasible(c.dom, row)
			}
			if inside {
				break
			}
			near, err := c.eval(ctx, x)
			if err != nil {
				return v, err
			}
			before := v.value
			for _, w := range near {
				if compare(-w.value, -v.value) < 0 {
					v = w
				}
			}
			if !(v.value > before) {
				break
			}
		}
	}
	return v, nil
}
