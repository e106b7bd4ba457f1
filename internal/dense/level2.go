package dense

import (
	"fmt"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// Dot returns Σ x_i y_i. The vectors have the same length.
func Dot(x, y []float64) float64 {
	checkLen(len(y), len(x))
	return dot(x, y)
}

// Axpy computes y += alpha·x. The vectors have the same length.
func Axpy(alpha float64, x, y []float64) {
	checkLen(len(y), len(x))
	axpy(alpha, x, y)
}

// Gemv computes y = alpha·op(A)·x + beta·y. The rules of Gemm hold.
func Gemv(t blas.Transpose, alpha float64, a blas64.General, x []float64, beta float64, y []float64) {
	am, m, n := operand("A", t, a)
	checkLen(len(x), n)
	checkLen(len(y), m)
	if m == 0 {
		return
	}
	if n == 0 || alpha == 0 {
		scaleBy(beta, y)
		return
	}
	if t == blas.NoTrans {
		var sums [32]float64
		for i := 0; i < m; i += len(sums) {
			part := sums[:min(len(sums), m-i)]
			dots(am.data[i*am.rs:], am.rs, x, part)
			for r, s := range part {
				if beta == 0 {
					y[i+r] = alpha * s
				} else {
					y[i+r] = mulAdd(alpha, s, beta*y[i+r])
				}
			}
		}
		return
	}
	if beta != 0 && beta != 1 {
		scale(beta, y)
	}
	_, cols := tileSize()
	for l := 0; l < n; l += depth {
		k := min(depth, n-l)
		for j := 0; j < m; j += cols {
			tiles(1, min(cols, m-j), k, alpha, x[l:], 1, 1, 1, a.Data[l*a.Stride+j:], a.Stride, y[j:], 1, beta == 0 && l == 0)
		}
	}
}

// Symv computes y = alpha·A·x + beta·y for the symmetric A of an upper triangle,
// of which it reads each entry once. The rules of Gemm hold; y must not overlap x.
func Symv(alpha float64, a blas64.Symmetric, x []float64, beta float64, y []float64) {
	if a.Uplo != blas.Upper {
		panic("dense: Symv wants the upper triangle")
	}
	m, n, _ := general("A", blas64.General{Rows: a.N, Cols: a.N, Stride: a.Stride, Data: a.Data})
	checkLen(len(x), n)
	checkLen(len(y), n)
	scaleBy(beta, y)
	if alpha == 0 {
		return
	}
	i := 0
	for ; i+4 <= n; i += 4 {
		var t [4]float64
		for r, v := range x[i : i+4] {
			t[r] = alpha * v
		}
		if i+4 < n {
			for r, s := range symv4(m.data[i*m.rs+i+4:], m.rs, x[i+4:], y[i+4:], &t) {
				y[i+r] = mulAdd(alpha, s, y[i+r])
			}
		}
		symvCorner(m.from(i, i), t[:], y[i:i+4])
	}
	if i < n {
		var t [4]float64
		for r, v := range x[i:] {
			t[r] = alpha * v
		}
		symvCorner(m.from(i, i), t[:n-i], y[i:])
	}
}

// symvCorner computes y += A·x for a small A.
func symvCorner(a matrix, x, y []float64) {
	for r, v := range x {
		row := a.data[r*a.rs : r*a.rs+len(x)]
		y[r] = mulAdd(row[r], v, y[r])
		for c := r + 1; c < len(x); c++ {
			y[r] = mulAdd(row[c], x[c], y[r])
			y[c] = mulAdd(row[c], v, y[c])
		}
	}
}

// Trsv overwrites x with op(T)⁻¹·x.
func Trsv(t blas.Transpose, a blas64.Triangular, x []float64) {
	_, lower := triangle(t, a)
	n, unit := a.N, a.Diag == blas.Unit
	checkLen(len(x), n)
	rows := t == blas.NoTrans
	for i := range n {
		if !lower {
			i = n - 1 - i
		}
		// With rows of T, what is solved comes out of x_i; with columns, x_i
		// out of what is not.
		line := a.Data[i*a.Stride : i*a.Stride+n]
		from, to := 0, i
		if lower != rows {
			from, to = i+1, n
		}
		xi := x[i]
		if rows {
			xi -= dot(line[from:to], x[from:to])
		}
		if !unit {
			xi /= line[i]
		}
		x[i] = xi
		if !rows {
			axpy(-xi, line[from:to], x[from:to])
		}
	}
}

// Trmv overwrites x with op(T)·x.
func Trmv(t blas.Transpose, a blas64.Triangular, x []float64) {
	_, lower := triangle(t, a)
	n, unit := a.N, a.Diag == blas.Unit
	checkLen(len(x), n)
	rows := t == blas.NoTrans
	for i := range n {
		if lower {
			i = n - 1 - i
		}
		line := a.Data[i*a.Stride : i*a.Stride+n]
		from, to := 0, i
		if lower != rows {
			from, to = i+1, n
		}
		xi := x[i]
		if !rows {
			axpy(xi, line[from:to], x[from:to])
		}
		if !unit {
			xi *= line[i]
		}
		if rows {
			xi += dot(line[from:to], x[from:to])
		}
		x[i] = xi
	}
}

func checkLen(got, want int) {
	if got != want {
		panic(fmt.Sprintf("dense: vector of length %d, want %d", got, want))
	}
}
