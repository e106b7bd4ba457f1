package dense

import (
	"fmt"
	"math/bits"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// matrix is a view of a slice: entry (i, j) is data[i·rs+j·cs]. One of the strides is 1:
// cs for rows, rs for columns. Transposing swaps the strides.
type matrix struct {
	data   []float64
	rs, cs int
}

// from returns the view that starts at (i, j), an entry of the matrix.
func (m matrix) from(i, j int) matrix { return matrix{m.data[i*m.rs+j*m.cs:], m.rs, m.cs} }

func (m matrix) t() matrix { return matrix{m.data, m.cs, m.rs} }

// general validates the length of a's data and returns a view of a and its size.
func general(name string, a blas64.General) (m matrix, rows, cols int) {
	checkExtent(name, a.Rows, a.Cols, a.Stride, len(a.Data))
	return matrix{a.Data, a.Stride, 1}, a.Rows, a.Cols
}

// shape validates that length numbers hold A, and returns the size and the strides of
// op(A). Small products keep the strides in registers; a matrix would be written to
// memory and read back.
func shape(name string, op blas.Transpose, rows, cols, stride, length int) (r, c, rs, cs int) {
	checkExtent(name, rows, cols, stride, length)
	switch op {
	case blas.NoTrans:
		return rows, cols, stride, 1
	case blas.Trans, blas.ConjTrans:
		return cols, rows, 1, stride
	}
	panic(fmt.Sprintf("dense: %s has the form %q, want N, T or C", name, byte(op)))
}

// triangle validates a. It reports whether op(a) is a lower triangle and returns the
// strides of op(a).
func triangle(op blas.Transpose, a blas64.Triangular) (lower bool, rs, cs int) {
	checkUplo(a.Uplo)
	if a.Diag != blas.Unit && a.Diag != blas.NonUnit {
		panic(fmt.Sprintf("dense: triangle has the diagonal %q, want U or N", byte(a.Diag)))
	}
	_, _, rs, cs = shape("triangle", op, a.N, a.N, a.Stride, len(a.Data))
	return (a.Uplo == blas.Lower) == (op == blas.NoTrans), rs, cs
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
	high, last := bits.Mul64(uint64(rows-1), uint64(stride))
	if rows > 0 && cols > 0 && (length < cols || high != 0 || last > uint64(length-cols)) {
		panic(fmt.Sprintf("dense: %s is %d×%d with stride %d in %d numbers", name, rows, cols, stride, length))
	}
}
