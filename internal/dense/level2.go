package dense

import (
	"fmt"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/functionspace/bo/internal/cpu"
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

// Gemv computes y = alpha·op(A)·x + beta·y. The rules of Gemm apply.
func Gemv(t blas.Transpose, alpha float64, a blas64.General, x []float64, beta float64, y []float64) {
	m, n, rs, cs := shape("A", t, a.Rows, a.Cols, a.Stride, len(a.Data))
	checkLen(len(x), n)
	checkLen(len(y), m)
	if m == 0 {
		return
	}
	if n == 0 || alpha == 0 {
		scaleBy(beta, y)
		return
	}
	if level == cpu.Go {
		scaleBy(beta, y)
		if t == blas.NoTrans {
			chainsGo(alpha, n, x, 1, a.Data, 1, rs, y)
		} else {
			columnsGo(alpha, a.Data, cs, x, y)
		}
		return
	}
	if t == blas.NoTrans {
		var sums [32]float64
		for i := 0; i < m; i += len(sums) {
			part := sums[:min(len(sums), m-i)]
			dots(a.Data[i*rs:], rs, x, part)
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

// Symv computes y = alpha·A·x + beta·y for a symmetric A, given by its upper triangle.
// It reads each entry once. The rules of Gemm apply; y must not overlap x.
func Symv(alpha float64, a blas64.Symmetric, x []float64, beta float64, y []float64) {
	if a.Uplo != blas.Upper {
		panic("dense: Symv wants the upper triangle")
	}
	n := a.N
	checkExtent("A", n, n, a.Stride, len(a.Data))
	checkLen(len(x), n)
	checkLen(len(y), n)
	scaleBy(beta, y)
	if alpha == 0 {
		return
	}
	i := 0
	for ; i+4 <= n; i += 4 {
		t := [4]float64{alpha * x[i], alpha * x[i+1], alpha * x[i+2], alpha * x[i+3]}
		rows := a.Data[i*a.Stride+i:]
		if i+4 < n {
			sums := symv4(rows[4:], a.Stride, x[i+4:], y[i+4:], &t)
			for r, s := range sums {
				y[i+r] = mulAdd(alpha, s, y[i+r])
			}
		}
		symvCorner(rows, a.Stride, t[:], y[i:i+4])
	}
	if i < n {
		var t [4]float64
		for r, v := range x[i:] {
			t[r] = alpha * v
		}
		symvCorner(a.Data[i*a.Stride+i:], a.Stride, t[:n-i], y[i:])
	}
}

// symvCorner computes y += A·x for a small A.
func symvCorner(a []float64, rsa int, x, y []float64) {
	y = y[:len(x)]
	for r, v := range x {
		row := a[r*rsa : r*rsa+len(x)]
		s := mulAdd(row[r], v, y[r])
		for c := r + 1; c < len(x); c++ {
			w := row[c]
			s = mulAdd(w, x[c], s)
			y[c] = mulAdd(w, v, y[c])
		}
		y[r] = s
	}
}

// Trsv overwrites x with op(T)⁻¹·x.
func Trsv(t blas.Transpose, a blas64.Triangular, x []float64) {
	lower, _, _ := triangle(t, a)
	n, unit := a.N, a.Diag == blas.Unit
	checkLen(len(x), n)
	rows := t == blas.NoTrans
	for i := range n {
		if !lower {
			i = n - 1 - i
		}
		// With rows of T, the solved entries are subtracted from x_i; with columns, x_i
		// is subtracted from the unsolved entries.
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
	lower, _, _ := triangle(t, a)
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
