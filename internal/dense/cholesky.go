package dense

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// Cholesky overwrites the upper triangle of A with U, A = Uᵀ·U, in n³/3 flops,
// by halves: the left factor, a triangular solve, a symmetric product, the
// right factor. It returns false, and leaves A in pieces, when a pivot is not a
// positive finite number. The other triangle is not read, and is scratch.
func Cholesky(a blas64.Symmetric) bool {
	if a.Uplo != blas.Upper {
		panic("dense: Cholesky wants the upper triangle")
	}
	m, n, _ := general("A", blas64.General{Rows: a.N, Cols: a.N, Stride: a.Stride, Data: a.Data})
	return n == 0 || factor(n, m)
}

func factor(n int, a matrix) bool {
	if n <= 2*block {
		return factorBlock(n, a)
	}
	h := half(n)
	if !factor(h, a) {
		return false
	}
	right := a.from(0, h)
	byColumns(h, n-h, a.t(), true, false, right, solve)
	symmetric(n-h, h, -1, right.t(), false, a.from(h, h), false)
	return factor(n-h, a.from(h, h))
}

// factorBlock is factor, solveRows rows at a time.
func factorBlock(n int, a matrix) bool {
	for i := 0; i < n; i += solveRows {
		size := min(solveRows, n-i)
		corner := a.from(i, i)
		if i > 0 {
			direct(size, n-i, i, a.from(0, i).t(), a.from(0, i), corner)
		}
		if !factorSmall(size, corner) {
			return false
		}
		if i+size < n { // then size is solveRows
			t := reciprocal(size, corner.t(), true, false)
			forward(&t, a.from(i, i+size).data, 0, a.rs, n-i-size)
		}
	}
	return true
}

// factorSmall is factor for n ≤ solveRows.
func factorSmall(n int, a matrix) bool {
	for j := range n {
		row := a.data[j*a.rs : j*a.rs+n]
		d := row[j]
		if !(d > 0) || math.IsInf(d, 1) {
			return false
		}
		d = math.Sqrt(d)
		row[j] = d
		for i := j + 1; i < n; i++ {
			row[i] /= d
		}
		for k := j + 1; k < n; k++ {
			below := a.data[k*a.rs : k*a.rs+n]
			for i := k; i < n; i++ {
				below[i] -= row[k] * row[i]
			}
		}
	}
	return true
}

// MoveToLower moves the upper triangle of the square A, transposed, to the lower
// one, and leaves zeros above the diagonal.
func MoveToLower(a blas64.General) {
	m, n, cols := general("A", a)
	if cols != n {
		panic(fmt.Sprintf("dense: %d×%d is not square", n, cols))
	}
	i := 0
	for ; i+4 <= n; i += 4 {
		moveSmall(4, m.from(i, i))
		if right := n - i - 4; right > 0 {
			transpose4(right, m.from(i, i+4).data, m.rs, m.from(i+4, i).data, m.rs)
			for r := range 4 {
				clear(m.from(i+r, i+4).data[:right])
			}
		}
	}
	if i < n {
		moveSmall(n-i, m.from(i, i))
	}
}

func moveSmall(n int, a matrix) {
	for i := range n {
		for j := i + 1; j < n; j++ {
			a.data[j*a.rs+i], a.data[i*a.rs+j] = a.data[i*a.rs+j], 0
		}
	}
}

// InvertLower writes the inverse of the lower triangle L to dst, with zeros
// above the diagonal, in n³/3 flops. The two must not overlap.
func InvertLower(dst blas64.General, l blas64.Triangular) {
	lm, lower := triangle(blas.NoTrans, l)
	d, n, cols := general("inverse", dst)
	if !lower || n != l.N || cols != n {
		panic(fmt.Sprintf("dense: inverse of a triangle %q of size %d into %d×%d, want L", byte(l.Uplo), l.N, n, cols))
	}
	for i := range n {
		row := d.data[i*d.rs : i*d.rs+n]
		clear(row)
		row[i] = 1
	}
	const width = 2 * block
	for j := 0; j < n; j += width {
		byColumns(n-j, min(width, n-j), lm.from(j, j), true, l.Diag == blas.Unit, d.from(j, j), solve)
	}
}

// GramLower writes the upper triangle of Lᵀ·L to dst, for L lower triangular
// with zeros above the diagonal, in n³/3 flops. The two must not overlap.
func GramLower(dst blas64.Symmetric, l blas64.General) {
	lm, n, cols := general("L", l)
	d, r, _ := general("product", blas64.General{Rows: dst.N, Cols: dst.N, Stride: dst.Stride, Data: dst.Data})
	if dst.Uplo != blas.Upper || cols != n || r != n {
		panic(fmt.Sprintf("dense: Gram matrix of %d×%d into a triangle %q of size %d, want U", n, cols, byte(dst.Uplo), r))
	}
	// Columns j… of L begin at row j.
	const width = 2 * block
	for j := 0; j < n; j += width {
		w := min(width, n-j)
		below := lm.from(j, 0)
		if j > 0 {
			product(j, w, n-j, 1, below.t(), below.from(0, j), true, d.from(0, j))
		}
		symmetric(w, n-j, 1, below.from(0, j).t(), true, d.from(j, j), false)
	}
}
