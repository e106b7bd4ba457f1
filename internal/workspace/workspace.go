// Package workspace lends memory for one computation, such as an evaluation of a
// posterior. The second and later runs of a computation allocate nothing.
//
// Under the race detector memory is filled with NaN when it is borrowed and when it is
// returned. Tests thus detect code that relies on its content.
package workspace

import (
	"math"
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// Memory lends numbers and matrices with arbitrary content, and reclaims all of them
// together. It is for one goroutine. The zero value is empty.
type Memory struct {
	slab         []float64
	used, wanted int

	dense headers[mat.Dense]
	sym   headers[mat.SymDense]
}

// headers are matrices without data of their own.
type headers[M any] struct {
	all  []*M
	used int
}

func (h *headers[M]) next() *M {
	if h.used == len(h.all) {
		h.all = append(h.all, new(M))
	}
	h.used++
	return h.all[h.used-1]
}

var pool = sync.Pool{New: func() any { return new(Memory) }}

// Borrow returns memory for use until Return.
func Borrow() *Memory { return pool.Get().(*Memory) }

// Return ends the use of m and of everything that it lent.
func (m *Memory) Return() {
	m.Reset()
	pool.Put(m)
}

// Reset reclaims everything that m lent, and makes room for the same amount in one slab.
func (m *Memory) Reset() {
	spoil(m.slab[:m.used])
	if m.wanted > len(m.slab) {
		m.slab = make([]float64, m.wanted)
	}
	m.used, m.wanted, m.dense.used, m.sym.used = 0, 0, 0, 0
}

// line is the number of float64 in a cache line. Parts of the slab begin at multiples of it.
const line = 8

// Floats returns n numbers.
func (m *Memory) Floats(n int) []float64 {
	size := (n + line - 1) / line * line
	m.wanted += size
	var part []float64
	if m.used+size <= len(m.slab) {
		part = m.slab[m.used : m.used+n : m.used+n]
		m.used += size
	} else {
		part = make([]float64, n)
	}
	spoil(part)
	return part
}

func spoil(x []float64) {
	if spoils {
		for i := range x {
			x[i] = math.NaN()
		}
	}
}

// Dense returns an r×c matrix.
func (m *Memory) Dense(r, c int) *mat.Dense {
	d := m.dense.next()
	d.SetRawMatrix(blas64.General{Rows: r, Cols: c, Stride: max(1, c), Data: m.Floats(r * c)})
	return d
}

// Zeros returns an r×c matrix of zeros.
func (m *Memory) Zeros(r, c int) *mat.Dense {
	d := m.Dense(r, c)
	clear(d.RawMatrix().Data)
	return d
}

// Sym returns an n×n symmetric matrix.
func (m *Memory) Sym(n int) *mat.SymDense {
	s := m.sym.next()
	s.SetRawSymmetric(blas64.Symmetric{N: n, Stride: max(1, n), Data: m.Floats(n * n), Uplo: blas.Upper})
	return s
}

// Rows returns a view of rows i to k of x.
func (m *Memory) Rows(x *mat.Dense, i, k int) *mat.Dense {
	raw := x.RawMatrix()
	raw.Rows = k - i
	raw.Data = raw.Data[i*raw.Stride:]
	if k > i {
		raw.Data = raw.Data[:(k-i-1)*raw.Stride+raw.Cols]
	}
	d := m.dense.next()
	d.SetRawMatrix(raw)
	return d
}
