package dense

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// Cholesky overwrites the upper triangle of A with U, A = Uᵀ·U, in n³/3 flops. It
// recurses on halves: the left factor, a triangular solve, a symmetric product, the
// right factor. If a pivot is not a positive finite number, it returns false and A is
// partly overwritten. The other triangle is not read and is scratch.
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
	symmetric(n-h, h, -1, right.t(), right, false, a.from(h, h), false)
	return factor(n-h, a.from(h, h))
}

// factorBlock is factor for solveRows rows at a time.
func factorBlock(n int, a matrix) bool {
	var u [solveRows * solveRows]float64
	for i := 0; i < n; i += solveRows {
		size := min(solveRows, n-i)
		corner := a.from(i, i)
		if i > 0 {
			direct(size, n-i, i, a.from(0, i).t(), a.from(0, i), corner)
		}
		if !factorSmall(size, corner, &u) {
			return false
		}
		if i+size < n { // then size is solveRows
			forward(&u, a.from(i, i+size).data, 0, a.rs, n-i-size)
		}
	}
	return true
}

// factorSmall is factor for n ≤ solveRows. It also writes the factor to u, in the form
// that forward reads: by rows, with reciprocals on its diagonal.
func factorSmall(n int, a matrix, u *[solveRows * solveRows]float64) bool {
	for j := range n {
		to := u[j*solveRows : j*solveRows+solveRows]
		for i, v := range a.data[j*a.rs+j : j*a.rs+n] {
			to[j+i] = v
		}
	}
	for j := range n {
		row := u[j*solveRows+j : j*solveRows+n]
		d := row[0]
		if !(d > 0) || math.IsInf(d, 1) {
			return false
		}
		d = math.Sqrt(d)
		r := 1 / d
		row[0] = d
		for i := 1; i < len(row); i++ {
			row[i] *= r
		}
		for k := 1; k < len(row); k++ {
			from, f := row[k:], row[k]
			below := u[(j+k)*(solveRows+1):]
			below = below[:len(from)]
			for i, v := range from {
				below[i] -= f * v
			}
		}
		at := j*a.rs + j
		for i, v := range row {
			a.data[at+i] = v
		}
		row[0] = r
	}
	return true
}

// CopyToLower copies the upper triangle of the square A, transposed, to the
// lower one.
func CopyToLower(a blas64.General) {
	m, n, cols := general("A", a)
	if cols != n {
		panic(fmt.Sprintf("dense: %d×%d is not square", n, cols))
	}
	for i := 0; i < n; i += 4 {
		for r := i + 1; r < min(n, i+4); r++ {
			for c := i; c < r; c++ {
				m.data[r*m.rs+c] = m.data[c*m.rs+r]
			}
		}
		if right := n - i - 4; right > 0 {
			transpose4(right, m.from(i, i+4).data, m.rs, m.from(i+4, i).data, m.rs)
		}
	}
}

// InvertLower writes the inverse of the lower triangle L to dst, with zeros
// above the diagonal, in n³/3 flops. The two must not overlap.
func InvertLower(dst blas64.General, l blas64.Triangular) {
	lower, rs, cs := triangle(blas.NoTrans, l)
	lm := matrix{l.Data, rs, cs}
	d, n, cols := general("inverse", dst)
	if !lower || n != l.N || cols != n {
		panic(fmt.Sprintf("dense: inverse of a triangle %q of size %d into %d×%d, want L", byte(l.Uplo), l.N, n, cols))
	}
	for i := range n {
		row := d.data[i*d.rs : i*d.rs+n]
		clear(row)
		row[i] = 1
	}
	w := blockWorkers(n)
	if w == 1 {
		invertBlocks(n, 0, 1, lm, l.Diag == blas.Unit, d)
		return
	}
	each(w, func(i int) { invertBlocks(n, i, w, lm, l.Diag == blas.Unit, d) })
}

// invertBlocks overwrites the unit matrix with the inverse of l, for every step-th
// block of columns.
func invertBlocks(n, first, step int, l matrix, unit bool, dst matrix) {
	for j := first * block; j < n; j += step * block {
		solve(n-j, min(block, n-j), l.from(j, j), true, unit, dst.from(j, j))
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
	w := blockWorkers(n)
	if w == 1 {
		gramBlocks(n, 0, 1, lm, d)
		return
	}
	each(w, func(i int) { gramBlocks(n, i, w, lm, d) })
}

// gramBlocks computes every step-th block of columns of Lᵀ·L.
func gramBlocks(n, first, step int, l, dst matrix) {
	for j := first * block; j < n; j += step * block {
		width := min(block, n-j)
		rows := l.from(j, 0) // rows of L from row j on
		right := rows.from(0, j)
		if j > 0 {
			serial(j, width, n-j, 1, rows.t(), right, true, dst.from(0, j), whole)
		}
		serial(width, width, n-j, 1, right.t(), right, true, dst.from(j, j), part{upper: true})
	}
}

// blockWorkers returns the number of workers for n³/3 flops on blocks of columns.
func blockWorkers(n int) int {
	return workers(float64(n)*float64(n)*float64(n)/3, (n+block-1)/block)
}
