package dense

import (
	"fmt"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// A matrix is a window on a slice: entry (i, j) is data[i·rs+j·cs]. Which of
// the two strides is 1 tells rows from columns, so transposing is free.
type matrix struct {
	data   []float64
	rs, cs int
}

// from is the window that starts at (i, j), which lies in the matrix.
func (m matrix) from(i, j int) matrix { return matrix{m.data[i*m.rs+j*m.cs:], m.rs, m.cs} }

func (m matrix) t() matrix { return matrix{m.data, m.cs, m.rs} }

// general returns a and its size after checking that its data hold it.
func general(name string, a blas64.General) (m matrix, rows, cols int) {
	checkExtent(name, a.Rows, a.Cols, a.Stride, len(a.Data))
	return matrix{a.Data, a.Stride, 1}, a.Rows, a.Cols
}

// operand is general for op(a).
func operand(name string, op blas.Transpose, a blas64.General) (m matrix, rows, cols int) {
	m, rows, cols = general(name, a)
	switch op {
	case blas.NoTrans:
		return m, rows, cols
	case blas.Trans, blas.ConjTrans:
		return m.t(), cols, rows
	}
	panic(fmt.Sprintf("dense: %s has the form %q, want N, T or C", name, byte(op)))
}

// triangle returns op(a) after checks, and whether it is a lower triangle.
func triangle(op blas.Transpose, a blas64.Triangular) (m matrix, lower bool) {
	checkUplo(a.Uplo)
	if a.Diag != blas.Unit && a.Diag != blas.NonUnit {
		panic(fmt.Sprintf("dense: triangle has the diagonal %q, want U or N", byte(a.Diag)))
	}
	m, _, _ = operand("triangle", op, blas64.General{Rows: a.N, Cols: a.N, Stride: a.Stride, Data: a.Data})
	return m, (a.Uplo == blas.Lower) == (op == blas.NoTrans)
}

func checkUplo(uplo blas.Uplo) {
	if uplo != blas.Upper && uplo != blas.Lower {
		panic(fmt.Sprintf("dense: triangle %q, want U or L", byte(uplo)))
	}
}

func checkExtent(name string, rows, cols, stride, length int) {
	if rows < 0 || cols < 0 || stride < cols {
		panic(fmt.Sprintf("dense: %s is %d×%d with stride %d", name, rows, cols, stride))
	}
	if rows > 0 && cols > 0 && (length < cols || rows-1 > (length-cols)/stride) {
		panic(fmt.Sprintf("dense: %s is %d×%d with stride %d in %d numbers", name, rows, cols, stride, length))
	}
}
