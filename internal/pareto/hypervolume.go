package pareto

import (
	"cmp"
	"slices"
)

// Hypervolume returns the volume of the points that a row of y dominates and that are
// below the reference point. Rows that are not below the reference point in every
// objective add nothing.
//
// Two objectives take O(n log n) for n rows. More objectives take the WFG recursion
// (While, Bradstreet and Barone 2012), which is exponential in their number in the worst case.
func Hypervolume(y [][]float64, reference []float64) float64 {
	return dominated(below(y, reference), reference)
}

// Improvement returns the increase of the hypervolume of the rows of y by a new row v. It costs one
// hypervolume, of the parts of the dominated boxes that v dominates as well. If a row is no worse than v, it
// costs O(n).
func Improvement(v []float64, y [][]float64, reference []float64) float64 {
	if !inside(v, reference) {
		return 0
	}
	alone := 1.0
	for j, r := range reference {
		alone *= r - v[j]
	}
	limited := make([][]float64, len(y))
	for i, w := range y {
		limited[i] = make([]float64, len(v))
		for j := range v {
			limited[i][j] = max(v[j], w[j])
		}
		if slices.Equal(limited[i], v) {
			return 0
		}
	}
	return max(0, alone-Hypervolume(limited, reference))
}

// dominated returns the hypervolume of a front below the reference point. The front has no equal
// rows and is sorted lexicographically.
func dominated(front [][]float64, reference []float64) float64 {
	if len(front) == 0 {
		return 0
	}
	switch len(reference) {
	case 1:
		return reference[0] - front[0][0]
	case 2:
		var volume float64
		high := reference[1]
		for _, v := range front {
			volume += (reference[0] - v[0]) * (high - v[1])
			high = v[1]
		}
		return volume
	}
	// The worst rows in the last objective come first: the limits of the others share more.
	front = slices.Clone(front)
	last := len(reference) - 1
	slices.SortStableFunc(front, func(a, b []float64) int { return cmp.Compare(b[last], a[last]) })
	var volume float64
	for k, v := range front {
		// The volume of v alone, less the part that later rows dominate.
		alone := 1.0
		for j, r := range reference {
			alone *= r - v[j]
		}
		limited := make([][]float64, 0, len(front)-k-1)
		for _, w := range front[k+1:] {
			u := make([]float64, last)
			for j := range u {
				u[j] = max(v[j], w[j])
			}
			limited = append(limited, u)
		}
		// Later rows are no worse in the last objective, so their limits agree in it.
		shared := dominated(below(limited, reference[:last]), reference[:last]) * (reference[last] - v[last])
		volume += alone - shared
	}
	return volume
}
