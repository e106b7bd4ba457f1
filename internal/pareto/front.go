package pareto

import (
	"cmp"
	"math"
	"slices"
)

// Front returns the indices, ascending, of the rows of y that no other row dominates.
// Equal rows do not dominate each other, so all of them are returned.
//
// The rows are sorted lexicographically, so that a row is dominated only by earlier ones. For
// n rows this takes O(n log n) for two objectives (Kung, Luccio and Preparata 1975), and
// O(n·k·m) for m objectives and a front of k rows.
func Front(y [][]float64) []int {
	var order []int
	for i, v := range y {
		if !slices.ContainsFunc(v, math.IsNaN) {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Or(slices.Compare(y[i], y[j]), i-j) })
	var front []int
	for _, i := range order {
		earlier := front
		if len(y[i]) == 2 && len(front) > 0 {
			earlier = front[len(front)-1:] // the lowest second objective of all earlier rows
		}
		if !slices.ContainsFunc(earlier, func(j int) bool { return dominates(y[j], y[i]) }) {
			front = append(front, i)
		}
	}
	slices.Sort(front)
	return front
}

// dominates reports whether a dominates b.
func dominates(a, b []float64) bool {
	less := false
	for j, v := range a {
		if !(v <= b[j]) {
			return false
		}
		less = less || v < b[j]
	}
	return less
}

// below returns the distinct points of the front of y that are smaller than reference in
// every objective, sorted lexicographically.
func below(y [][]float64, reference []float64) [][]float64 {
	var in [][]float64
	for _, v := range y {
		if inside(v, reference) {
			in = append(in, v)
		}
	}
	front := make([][]float64, 0, len(in))
	for _, i := range Front(in) {
		front = append(front, in[i])
	}
	slices.SortFunc(front, slices.Compare)
	return slices.CompactFunc(front, slices.Equal)
}

// inside reports whether v is smaller than reference in every objective.
func inside(v, reference []float64) bool {
	for j, r := range reference {
		if !(v[j] < r) {
			return false
		}
	}
	return true
}

// Reference returns a reference point for the points y, nil if y has no row without
// NaN. With the greatest value of each objective on the front, and its range over all rows, it is
//
//	greatest + 0.1 range
//
// A range of 0 is replaced by max(1, 1e-6·|greatest|). Ishibuchi et al. (2011) use the range over the
// front. An early front is often narrow: points beyond its ends then add no hypervolume, and a search stays within it.
func Reference(y [][]float64) []float64 {
	front := Front(y)
	if len(front) == 0 {
		return nil
	}
	reference := make([]float64, len(y[front[0]]))
	for j := range reference {
		greatest := math.Inf(-1)
		for _, i := range front {
			greatest = max(greatest, y[i][j])
		}
		low, high := math.Inf(1), math.Inf(-1)
		for _, v := range y {
			if !slices.ContainsFunc(v, math.IsNaN) {
				low, high = min(low, v[j]), max(high, v[j])
			}
		}
		if low == high {
			high = low + max(1, 1e-6*math.Abs(low))
		}
		reference[j] = greatest + 0.1*(high-low)
	}
	return reference
}
