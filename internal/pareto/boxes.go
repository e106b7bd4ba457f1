package pareto

import (
	"math"
	"slices"
)

// Box is the set of points between Lower and Upper in every objective. A lower bound may
// be -Inf.
type Box struct {
	Lower, Upper []float64
}

// Boxes returns disjoint boxes (up to their borders) whose union is the region below the
// reference point that no row of y dominates. A new point v thus increases the
// hypervolume by
//
//	Σ over boxes of Π over objectives j of  max(Upper_j - max(Lower_j, v_j), 0)
//
// A front of n points has n+1 boxes for two objectives. For more objectives the region is the
// union of the sets below the local upper bounds of the front (Klamroth, Lacour and
// Vanderpooten 2015). A second run of the same algorithm, on these bounds with the
// opposite sign, makes the sets disjoint (Lacour, Klamroth and Fonseca 2017). There are O(n) boxes
// for three objectives and O(n²) for four.
func Boxes(y [][]float64, reference []float64) []Box {
	front := below(y, reference)
	if len(reference) == 2 {
		return strips(front, reference)
	}
	bounds, _ := partition(front, reference)
	infinite := make([]float64, len(reference))
	for j := range infinite {
		infinite[j] = math.Inf(1)
	}
	for _, u := range bounds {
		negate(u)
	}
	_, boxes := partition(below(bounds, infinite), infinite)
	for i, b := range boxes {
		negate(b.Lower)
		negate(b.Upper)
		boxes[i] = Box{b.Upper, b.Lower}
	}
	return boxes
}

// negate changes the sign of v.
func negate(v []float64) {
	for j := range v {
		v[j] = -v[j]
	}
}

// strips is Boxes for two objectives: one box to the left of each point of the front and
// one to the right of the last point.
func strips(front [][]float64, reference []float64) []Box {
	boxes := make([]Box, 0, len(front)+1)
	left, top := math.Inf(-1), reference[1]
	for _, v := range front {
		boxes = append(boxes, Box{[]float64{left, math.Inf(-1)}, []float64{v[0], top}})
		left, top = v[0], v[1]
	}
	return append(boxes, Box{[]float64{left, math.Inf(-1)}, []float64{reference[0], top}})
}

// localBounds are local upper bounds u of a front, m numbers each. Coordinate j of a bound is coordinate j of the front's
// point defined[j], or of the reference point if defined[j] is -1.
type localBounds struct {
	m       int
	u       []float64
	defined []int
}

// partition returns the local upper bounds of the front below the reference point, and
// disjoint boxes whose union is the region that the front dominates. The front has no equal
// points.
//
// Each point z replaces every bound u > z by the bounds (u_1, …, z_j, …, u_m) (Lacour, Klamroth and Fonseca
// 2017, section 2). It takes only bounds for which z_j exceeds coordinate j of all other points that define u.
// The box of a bound is [u_1, reference_1] × Π_{j>1} [l_j, u_j]. Here l_j is the largest coordinate j of the
// points that define coordinates before j (section 3). The theory excludes equal coordinates of different
// points; here the point of lower index counts as lower, which is the limit of a small perturbation. Empty
// boxes are left out.
func partition(front [][]float64, reference []float64) (bounds [][]float64, boxes []Box) {
	m := len(reference)
	local := localBounds{m, slices.Clone(reference), slices.Repeat([]int{-1}, m)}
	var children localBounds
	for i, z := range front {
		kept := 0
		children.u, children.defined = children.u[:0], children.defined[:0]
		for k := 0; k < len(local.u); k += m {
			u, defined := local.u[k:k+m], local.defined[k:k+m]
			if !inside(z, u) { // an equal coordinate of an earlier point counts as lower
				if kept < k {
					copy(local.u[kept:], u)
					copy(local.defined[kept:], defined)
				}
				kept += m
				continue
			}
			for j := range m {
				if admits(front, defined, i, j) {
					children.u, children.defined = append(children.u, u...), append(children.defined, defined...)
					at := len(children.u) - m + j
					children.u[at], children.defined[at] = z[j], i
				}
			}
		}
		local.u, local.defined = append(local.u[:kept], children.u...), append(local.defined[:kept], children.defined...)
	}
	for k := 0; k < len(local.u); k += m {
		u := local.u[k : k+m : k+m]
		bounds = append(bounds, u)
		if box, ok := boxOf(u, local.defined[k:k+m], front, reference); ok {
			boxes = append(boxes, box)
		}
	}
	return bounds, boxes
}

// admits reports whether point i of the front, added last, may define coordinate j of a bound.
func admits(front [][]float64, defined []int, i, j int) bool {
	for k, other := range defined {
		if k != j && other >= 0 && front[i][j] < front[other][j] {
			return false
		}
	}
	return true
}

// boxOf returns the box of the bound u; false if it is empty.
func boxOf(u []float64, defined []int, front [][]float64, reference []float64) (Box, bool) {
	if defined[0] < 0 {
		return Box{}, false
	}
	box := Box{slices.Clone(u), slices.Clone(u)}
	box.Upper[0] = reference[0]
	for j := 1; j < len(u); j++ {
		low := math.Inf(-1)
		for _, i := range defined[:j] {
			if i >= 0 {
				low = max(low, front[i][j])
			}
		}
		if box.Lower[j] = low; low >= u[j] {
			return Box{}, false
		}
	}
	return box, true
}
