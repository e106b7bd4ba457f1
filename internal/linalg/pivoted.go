package linalg

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/dense"
	"github.com/functionspace/bo/internal/workspace"
)

// PivotedCholesky returns L (n×r) with a ≈ L Lᵀ. It adds columns, each at the row with
// the largest remaining diagonal entry. It ends when the remainder is at most tol times the
// diagonal of a in every row, or when r is maxRank. The remainder is positive
// semidefinite. It costs O(nr²) (Harbrecht, Peters and Schneider 2012).
func PivotedCholesky(a *mat.SymDense, tol float64, maxRank int) *mat.Dense {
	n := a.SymmetricDim()
	mem := workspace.Borrow()
	defer mem.Return()
	left, scale := mem.Floats(n), mem.Floats(n)
	for i := range n {
		left[i] = a.At(i, i)
		scale[i] = left[i]
	}
	maxRank = max(0, min(maxRank, n))
	t := blas64.General{Cols: n, Stride: n, Data: mem.Floats(n * min(maxRank, 64))} // Lᵀ
	pivots := mem.Floats(maxRank)                                                   // column of Lᵀ at the pivot
	for r := range maxRank {
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
		for k := range r {
			pivots[k] = t.Data[k*n+pivot]
		}
		if len(t.Data) == r*n {
			more := mem.Floats(n * min(maxRank, 2*r))
			copy(more, t.Data)
			t.Data = more
		}
		row := t.Data[r*n : (r+1)*n]
		for i := range n {
			row[i] = a.At(i, pivot)
		}
		dense.Gemv(blas.Trans, -1, t, pivots[:r], 1, row)
		t.Rows++
		for i, v := range left {
			if v > 0 {
				row[i] /= d
			} else {
				row[i] = 0
			}
			left[i] -= row[i] * row[i]
		}
		left[pivot] = 0
	}
	l := mat.NewDense(n, max(1, t.Rows), nil)
	raw := l.RawMatrix()
	for k := range t.Rows {
		for i, v := range t.Data[k*n : (k+1)*n] {
			raw.Data[i*raw.Stride+k] = v
		}
	}
	return l
}
