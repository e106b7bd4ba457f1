package linalg

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// PivotedCholesky returns L (n×r) with a ≈ L Lᵀ. Columns are added, each at the
// row with the largest remaining diagonal, until what remains is at most tol
// times the diagonal of a in every row, or r is maxRank. The remainder is
// positive semidefinite. It costs O(nr²) (Harbrecht, Peters and Schneider 2012).
func PivotedCholesky(a *mat.SymDense, tol float64, maxRank int) *mat.Dense {
	n := a.SymmetricDim()
	left, scale := make([]float64, n), make([]float64, n)
	for i := range n {
		left[i] = a.At(i, i)
		scale[i] = left[i]
	}
	maxRank = min(maxRank, n)
	l := mat.NewDense(n, max(1, maxRank), nil)
	raw := l.RawMatrix()
	r := 0
	for r < maxRank {
		pivot, largest := -1, tol
		for i, v := range left {
			if scale[i] > 0 && v/scale[i] > largest {
				pivot, largest = i, v/scale[i]
			}
		}
		if pivot < 0 {
			break
		}
		d := math.Sqrt(left[pivot])
		prow := raw.Data[pivot*raw.Stride : pivot*raw.Stride+r]
		for i := range n {
			row := raw.Data[i*raw.Stride : i*raw.Stride+r+1]
			var s float64
			if left[i] > 0 {
				s = (a.At(i, pivot) - Dot(row[:r], prow)) / d
			}
			row[r] = s
			left[i] -= s * s
		}
		left[pivot] = 0
		r++
	}
	return mat.DenseCopyOf(l.Slice(0, n, 0, max(1, r)))
}
