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
		for i := range m {
			s := alpha * dot(am.data[i*am.rs:i*am.rs+n], x)
			if beta != 0 {
				s += beta * y[i]
			}
			y[i] = s
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

// Trsv overwrites x with op(T)⁻¹·x.
func Trsv(t blas.Transpose, a blas64.Triangular, x []float64) {
	m, lower := triangle(t, a)
	n, unit := a.N, a.Diag == blas.Unit
	checkLen(len(x), n)
	for i := range n {
		if !lower {
			i = n - 1 - i
		}
		if m.cs == 1 { // rows of T: x_i from what is solved
			row := m.data[i*m.rs : i*m.rs+n]
			if lower {
				x[i] -= dot(row[:i], x[:i])
			} else {
				x[i] -= dot(row[i+1:], x[i+1:])
			}
		}
		if !unit {
			x[i] /= m.data[i*m.rs+i*m.cs]
		}
		if m.cs != 1 { // columns of T: x_i out of what is not
			col := m.data[i*m.cs : i*m.cs+n]
			if lower {
				axpy(-x[i], col[i+1:], x[i+1:])
			} else {
				axpy(-x[i], col[:i], x[:i])
			}
		}
	}
}

// Trmv overwrites x with op(T)·x.
func Trmv(t blas.Transpose, a blas64.Triangular, x []float64) {
	m, lower := triangle(t, a)
	n, unit := a.N, a.Diag == blas.Unit
	checkLen(len(x), n)
	for i := range n {
		if lower {
			i = n - 1 - i
		}
		if m.cs != 1 {
			col := m.data[i*m.cs : i*m.cs+n]
			if lower {
				axpy(x[i], col[i+1:], x[i+1:])
			} else {
				axpy(x[i], col[:i], x[:i])
			}
		}
		xi := x[i]
		if !unit {
			xi *= m.data[i*m.rs+i*m.cs]
		}
		if m.cs == 1 {
			row := m.data[i*m.rs : i*m.rs+n]
			if lower {
				xi += dot(row[:i], x[:i])
			} else {
				xi += dot(row[i+1:], x[i+1:])
			}
		}
		x[i] = xi
	}
}

func checkLen(got, want int) {
	if got != want {
		panic(fmt.Sprintf("dense: vector of length %d, want %d", got, want))
	}
}
