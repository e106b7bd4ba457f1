package linalg

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/functionspace/bo/internal/dense"
	"github.com/functionspace/bo/internal/workspace"
)

const (
	// panel is the number of reflections that are applied together.
	panel = 32
	// lastPanel is the size of the matrix that the last panel reduces.
	lastPanel = 48
	// smallPanel replaces panel if at most smallRest rows remain.
	smallPanel, smallRest = 8, 200
	// vanishing is the squared norm below which a row counts as zero. Entries are
	// at most 1.
	vanishing = 1e-280
)

// tridiagonal is QᵀAQ for a symmetric A, with Q = H_0 H_1 … and
// H_i = I - tau_i v_i v_iᵀ.
type tridiagonal struct {
	diagonal, beside []float64 // lengths n and n-1
	tau              []float64
	// Row i holds v_i from column i+1 on, and zeros before it.
	v blas64.General
}

// panels calls f with the first row of each panel and the row after its last.
func (t *tridiagonal) panels(f func(from, to int)) {
	n := t.v.Rows
	for i := 0; i < n-1; {
		to := n - 1
		if n-i > lastPanel {
			to = i + panel
		}
		f(i, to)
		i = to
	}
}

// tridiagonalize reduces the upper triangle of a, which it overwrites.
func tridiagonalize(a blas64.General, mem *workspace.Memory) *tridiagonal {
	n := a.Rows
	t := &tridiagonal{mem.Floats(n), mem.Floats(n - 1), mem.Floats(n - 1), a}
	x, y := mem.Dense(2*panel, n).RawMatrix(), mem.Dense(2*panel, n).RawMatrix()
	for i := 0; i < n-1; {
		to := min(n-1, i+smallPanel)
		if n-i > smallRest {
			to = i + panel
		}
		t.reduce(i, to, x, y)
		i = to
	}
	t.diagonal[n-1] = a.Data[(n-1)*a.Stride+n-1]
	return t
}

// reduce reduces the rows from to to-1. After the reflections H_from … H_i the matrix is A - XᵀY. X has rows v,
// w, v, w, … and Y has w, v, w, v, …. A row is updated when it is reduced, the remaining rows after the last
// reflection.
func (t *tridiagonal) reduce(from, to int, x, y blas64.General) {
	a, n := t.v, t.v.Rows
	var column, product [2 * panel]float64
	for i := from; i < to; i++ {
		k := 2 * (i - from)
		for r := range k {
			column[r] = x.Data[r*x.Stride+i]
		}
		row := a.Data[i*a.Stride+i : i*a.Stride+n]
		dense.Gemv(blas.Trans, -1, window(y, 0, i, k, n-i), column[:k], 1, row)
		t.diagonal[i] = row[0]
		v := row[1:]
		beta, tau := reflection(v)
		t.beside[i], t.tau[i] = beta, tau

		// w = τ(A - XᵀY)v, less ½τ(wᵀv) v.
		w := x.Data[(k+1)*x.Stride+i+1 : (k+1)*x.Stride+n]
		dense.Symv(1, rest(a, i+1), v, 0, w)
		dense.Gemv(blas.NoTrans, 1, window(x, 0, i+1, k, n-i-1), v, 0, product[:k])
		dense.Gemv(blas.Trans, -1, window(y, 0, i+1, k, n-i-1), product[:k], 1, w)
		shift := -0.5 * tau * tau * dense.Dot(w, v)
		for j, e := range v {
			w[j] = tau*w[j] + shift*e
		}
		copy(x.Data[k*x.Stride+i+1:k*x.Stride+n], v)
		copy(y.Data[k*y.Stride+i+1:k*y.Stride+n], w)
		copy(y.Data[(k+1)*y.Stride+i+1:(k+1)*y.Stride+n], v)
		clear(a.Data[i*a.Stride : i*a.Stride+i+1])
	}
	k := 2 * (to - from)
	dense.Gemmt(-1, window(x, 0, to, k, n-to), window(y, 0, to, k, n-to), rest(a, to))
}

// rest returns a without its first i rows and columns.
func rest(a blas64.General, i int) blas64.Symmetric {
	return blas64.Symmetric{N: a.Rows - i, Stride: a.Stride, Data: a.Data[i*a.Stride+i:], Uplo: blas.Upper}
}

// reflection overwrites x with v, v_0 = 1, so that (I - τvvᵀ)x = (β, 0, …).
func reflection(x []float64) (beta, tau float64) {
	var tail float64
	if len(x) > 1 {
		tail = dense.Dot(x[1:], x[1:])
	}
	beta = x[0]
	x[0] = 1
	if tail <= vanishing {
		clear(x[1:])
		return beta, 0
	}
	alpha := beta
	beta = -math.Copysign(math.Sqrt(alpha*alpha+tail), alpha)
	scale := 1 / (alpha - beta)
	for j := range x[1:] {
		x[1+j] *= scale
	}
	return beta, (beta - alpha) / beta
}

// back multiplies the rows of z by Q.
func (t *tridiagonal) back(z blas64.General, mem *workspace.Memory) {
	n := t.v.Rows
	zv, zvt, block := mem.Dense(n, lastPanel).RawMatrix(), mem.Dense(n, lastPanel).RawMatrix(), mem.Dense(lastPanel, lastPanel).RawMatrix()
	var starts []int
	t.panels(func(from, _ int) { starts = append(starts, from) })
	to := n - 1
	for i := len(starts) - 1; i >= 0; i-- {
		from := starts[i]
		size := to - from
		v := window(t.v, from, from+1, size, n-from-1)
		factor := window(block, 0, 0, size, size)
		t.blockFactor(factor, from, v)
		part := window(z, 0, from+1, n, n-from-1)
		left, right := window(zv, 0, 0, n, size), window(zvt, 0, 0, n, size)
		dense.Gemm(blas.NoTrans, blas.Trans, 1, part, v, 0, left)
		dense.Gemm(blas.NoTrans, blas.Trans, 1, left, factor, 0, right)
		dense.Gemm(blas.NoTrans, blas.NoTrans, -1, right, v, 1, part)
		to = from
	}
}

// blockFactor writes the upper triangle T with H_from … = I - Vᵀ T V (Schreiber
// and Van Loan 1989), and zeros below.
func (t *tridiagonal) blockFactor(dst blas64.General, from int, v blas64.General) {
	size := dst.Rows
	var product, column [lastPanel]float64
	for j := range size {
		tau := t.tau[from+j]
		dense.Gemv(blas.NoTrans, -tau, window(v, 0, 0, j, v.Cols), v.Data[j*v.Stride:j*v.Stride+v.Cols], 0, product[:j])
		dense.Gemv(blas.NoTrans, 1, window(dst, 0, 0, j, j), product[:j], 0, column[:j])
		for i := range size {
			switch {
			case i < j:
				dst.Data[i*dst.Stride+j] = column[i]
			case i == j:
				dst.Data[i*dst.Stride+j] = tau
			default:
				dst.Data[i*dst.Stride+j] = 0
			}
		}
	}
}

// window returns the rows×cols part of m that starts at row i and column j.
func window(m blas64.General, i, j, rows, cols int) blas64.General {
	if rows == 0 || cols == 0 {
		return blas64.General{Rows: rows, Cols: cols, Stride: m.Stride}
	}
	return blas64.General{Rows: rows, Cols: cols, Stride: m.Stride, Data: m.Data[i*m.Stride+j:]}
}
