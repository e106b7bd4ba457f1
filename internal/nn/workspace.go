package nn

import (
	"fmt"
	"sync"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
)

// workspace is scratch memory. Tapes own none, so that their methods may run
// concurrently.
type workspace struct {
	dir        params       // a direction, a gradient or weights, by layer
	abar, dbar []mat.Dense  // adjoints of a_0 … a_D and of δ_1 … δ_D
	between    [2]mat.Dense // alternating layers of Forward
	tmp, curve mat.Dense
	p, q, kbar mat.Dense
}

var pool = sync.Pool{New: func() any { return new(workspace) }}

func grab() *workspace { return pool.Get().(*workspace) }

// release returns ws to the pool without references to the caller's memory.
func (ws *workspace) release() {
	clear(ws.dir.w)
	clear(ws.dir.b)
	ws.dir.v, ws.dir.c = nil, nil
	pool.Put(ws)
}

// adjoints sizes the adjoints for the layers of t.
func (ws *workspace) adjoints(t *Tape) {
	d := len(t.w)
	ws.abar, ws.dbar = resizeSlice(ws.abar, d+1), resizeSlice(ws.dbar, d)
	for l := range t.a {
		_, h := t.a[l].Dims()
		resize(&ws.abar[l], t.m, h)
		if l > 0 {
			resize(&ws.dbar[l-1], t.m, h)
		}
	}
}

// resize gives m the shape r×c, both positive, with arbitrary content.
func resize(m *mat.Dense, r, c int) {
	data := m.RawMatrix().Data
	if cap(data) < r*c {
		data = make([]float64, r*c)
	}
	m.SetRawMatrix(blas64.General{Rows: r, Cols: c, Stride: c, Data: data[:r*c]})
}

// resizeSlice gives s the length n and keeps its elements.
func resizeSlice[E any](s []E, n int) []E {
	if cap(s) < n {
		s = append(s[:cap(s)], make([]E, n-cap(s))...)
	}
	return s[:n]
}

// rows returns a view of rows i to k of m, which must not be empty.
func rows(m *mat.Dense, i, k int) mat.Dense {
	raw := m.RawMatrix()
	raw.Data = raw.Data[i*raw.Stride : (k-1)*raw.Stride+raw.Cols]
	raw.Rows = k - i
	var view mat.Dense
	view.SetRawMatrix(raw)
	return view
}

// repeat writes b to every row of m.
func repeat(m *mat.Dense, b []float64) {
	raw := m.RawMatrix()
	for i := range raw.Rows {
		copy(raw.Data[i*raw.Stride:], b)
	}
}

// addColumnSums adds the sum of m's rows to dst.
func addColumnSums(dst []float64, m *mat.Dense) {
	raw := m.RawMatrix()
	for i := range raw.Rows {
		linalg.Axpy(1, raw.Data[i*raw.Stride:i*raw.Stride+raw.Cols], dst)
	}
}

// batch validates the columns of x and returns the number of its rows. A matrix
// without rows is an empty batch for any number of columns.
func batch(in int, x *mat.Dense) int {
	m, d := x.Dims()
	if m > 0 && d != in {
		panic(fmt.Sprintf("nn: x has %d columns, want %d", d, in))
	}
	return m
}

func checkLen(name string, got, want int) {
	if got != want {
		panic(fmt.Sprintf("nn: %s has length %d, want %d", name, got, want))
	}
}

// checkDims accepts any empty matrix if the expected matrix is empty.
func checkDims(name string, m mat.Matrix, r, c int) {
	gr, gc := m.Dims()
	if (gr != r || gc != c) && (r*c > 0 || gr*gc > 0) {
		panic(fmt.Sprintf("nn: %s is %d×%d, want %d×%d", name, gr, gc, r, c))
	}
}
