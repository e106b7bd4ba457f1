// Package subset selects rows of data: by index, at random, or without duplicates.
package subset

import (
	"encoding/binary"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"
)

// Take returns the rows of x with the given indices.
func Take(x *mat.Dense, index []int) *mat.Dense {
	_, d := x.Dims()
	out := mat.NewDense(len(index), d, nil)
	for i, r := range index {
		out.SetRow(i, x.RawRowView(r))
	}
	return out
}

// TakeBoth returns the rows of x with the given indices, and the entries of y.
func TakeBoth[T any](x *mat.Dense, y []T, index []int) (*mat.Dense, []T) {
	out := make([]T, len(index))
	for i, r := range index {
		out[i] = y[r]
	}
	return Take(x, index), out
}

// AtMost returns x and y, or limit of their rows drawn at random without replacement if
// there are more.
func AtMost[T any](x *mat.Dense, y []T, limit int, rng *rand.Rand) (*mat.Dense, []T) {
	if len(y) <= limit {
		return x, y
	}
	return TakeBoth(x, y, rng.Perm(len(y))[:limit])
}

// Distinct returns the given indices without the indices whose row of x equals an earlier row.
func Distinct(x *mat.Dense, index []int) []int {
	_, d := x.Dims()
	seen := make(map[string]bool, len(index))
	key := make([]byte, 0, 8*d)
	var out []int
	for _, i := range index {
		key = key[:0]
		for _, v := range x.RawRowView(i) {
			key = binary.LittleEndian.AppendUint64(key, math.Float64bits(v+0)) // -0 is 0
		}
		if !seen[string(key)] {
			seen[string(key)] = true
			out = append(out, i)
		}
	}
	return out
}

// All returns the indices of n rows.
func All(n int) []int {
	index := make([]int, n)
	for i := range index {
		index[i] = i
	}
	return index
}

// Draw moves k entries of order, drawn at random without replacement, to its front
// and returns them. It performs the first k steps of a shuffle.
func Draw(order []int, k int, rng *rand.Rand) []int {
	for i := range k {
		j := i + rng.IntN(len(order)-i)
		order[i], order[j] = order[j], order[i]
	}
	return order[:k]
}
