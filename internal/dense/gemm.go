package dense

import (
	"fmt"
	"math"
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/functionspace/bo/internal/cpu"
)

// Gemm computes C = alpha·op(A)·op(B) + beta·C. C must not overlap A or B. With beta = 0
// the old content of C is not read; with alpha = 0 A and B are not read.
func Gemm(tA, tB blas.Transpose, alpha float64, a, b blas64.General, beta float64, c blas64.General) {
	m, k, rsa, csa := shape("A", tA, a.Rows, a.Cols, a.Stride, len(a.Data))
	l, n, rsb, csb := shape("B", tB, b.Rows, b.Cols, b.Stride, len(b.Data))
	checkExtent("C", c.Rows, c.Cols, c.Stride, len(c.Data))
	if k != l || c.Rows != m || c.Cols != n {
		panic(fmt.Sprintf("dense: product of %d×%d and %d×%d into %d×%d", m, k, l, n, c.Rows, c.Cols))
	}
	if m == 0 || n == 0 {
		return
	}
	if k == 0 || alpha == 0 {
		for i := range m {
			scaleBy(beta, c.Data[i*c.Stride:i*c.Stride+n])
		}
		return
	}
	if beta != 0 && beta != 1 {
		for i := range m {
			scale(beta, c.Data[i*c.Stride:i*c.Stride+n])
		}
	}
	if level == cpu.Go && m*n*k <= few {
		entriesGo(m, n, k, alpha, a.Data, rsa, csa, b.Data, rsb, csb, beta == 0, c.Data, c.Stride, whole)
		return
	}
	product(m, n, k, alpha, matrix{a.Data, rsa, csa}, matrix{b.Data, rsb, csb}, beta == 0, matrix{c.Data, c.Stride, 1})
}

// Syrk computes one triangle of the symmetric C = alpha·op(A)·op(A)ᵀ + beta·C. The other
// triangle of C does not change. The rules of Gemm apply.
func Syrk(t blas.Transpose, alpha float64, a blas64.General, beta float64, c blas64.Symmetric) {
	checkUplo(c.Uplo)
	n, k, rs, cs := shape("A", t, a.Rows, a.Cols, a.Stride, len(a.Data))
	checkExtent("C", c.N, c.N, c.Stride, len(c.Data))
	if c.N != n {
		panic(fmt.Sprintf("dense: product of %d×%d and its transpose into size %d", n, k, c.N))
	}
	lower := c.Uplo == blas.Lower
	if k == 0 || alpha == 0 || beta != 0 && beta != 1 {
		for i := range n {
			row := c.Data[i*c.Stride : i*c.Stride+n]
			if lower {
				row = row[:i+1]
			} else {
				row = row[i:]
			}
			scaleBy(beta, row)
		}
	}
	if n == 0 || k == 0 || alpha == 0 {
		return
	}
	if level == cpu.Go && n*n*k <= 20*few {
		entriesGo(n, n, k, alpha, a.Data, rs, cs, a.Data, cs, rs, beta == 0, c.Data, c.Stride, part{lower: lower, upper: !lower})
		return
	}
	symmetric(n, k, alpha, matrix{a.Data, rs, cs}, matrix{a.Data, cs, rs}, beta == 0, matrix{c.Data, c.Stride, 1}, lower)
}

// Gemmt computes the upper triangle of C = alpha·Aᵀ·B + C. The other triangle of C does
// not change. The rules of Gemm apply.
func Gemmt(alpha float64, a, b blas64.General, c blas64.Symmetric) {
	am, k, n := general("A", a)
	bm, l, m := general("B", b)
	cm, r, _ := general("C", blas64.General{Rows: c.N, Cols: c.N, Stride: c.Stride, Data: c.Data})
	if c.Uplo != blas.Upper || k != l || n != m || r != n {
		panic(fmt.Sprintf("dense: product of %d×%d transposed and %d×%d into a triangle %q of size %d, want U", k, n, l, m, byte(c.Uplo), r))
	}
	if n == 0 || k == 0 || alpha == 0 {
		return
	}
	symmetric(n, k, alpha, am.t(), bm, false, cm, false)
}

// scaleBy is scale, except that factor 0 also clears NaN and infinities.
func scaleBy(factor float64, x []float64) {
	switch factor {
	case 0:
		clear(x)
	case 1:
	default:
		scale(factor, x)
	}
}

// product computes C = alpha·A·B, plus C unless overwrite, for A (m×k), B (k×n) and
// C (m×n), none of them empty. It uses goroutines for enough work.
//
// An entry of the result is a sum over passes of depth terms, each one chain of fused
// multiply-adds. It depends only on its row of A, its column of B and its old value, not
// on m, n, tiles, packing or goroutines.
func product(m, n, k int, alpha float64, a, b matrix, overwrite bool, c matrix) {
	if c.cs != 1 {
		m, n, a, b, c = n, m, b.t(), a.t(), c.t()
	}
	w := workers(2*float64(m)*float64(n)*float64(k), max(m, n)/cutCols)
	if w == 1 {
		serial(m, n, k, alpha, a, b, overwrite, c, whole)
		return
	}
	each(w, func(i int) {
		from, to := float64(i)/float64(w), float64(i+1)/float64(w)
		if m >= n {
			i0, i1 := cut(m, cutRows, from), cut(m, cutRows, to)
			serial(i1-i0, n, k, alpha, a.from(i0, 0), b, overwrite, c.from(i0, 0), whole)
		} else {
			j0, j1 := cut(n, cutCols, from), cut(n, cutCols, to)
			serial(m, j1-j0, k, alpha, a, b.from(0, j0), overwrite, c.from(0, j0), whole)
		}
	})
}

// symmetric is product for one triangle of A·B, with A n×k and B k×n.
func symmetric(n, k int, alpha float64, a, b matrix, overwrite bool, c matrix, lower bool) {
	w := workers(float64(n)*float64(n)*float64(k), n/cutCols)
	if w == 1 {
		serial(n, n, k, alpha, a, b, overwrite, c, part{lower: lower, upper: !lower})
		return
	}
	each(w, func(i int) {
		// Parts of equal area: the first rows of a lower triangle are short.
		from, to := float64(i)/float64(w), float64(i+1)/float64(w)
		if lower {
			i0, i1 := cut(n, cutRows, math.Sqrt(from)), cut(n, cutRows, math.Sqrt(to))
			if i0 < i1 {
				serial(i1-i0, i1, k, alpha, a.from(i0, 0), b, overwrite, c.from(i0, 0), part{lower: true, offset: i0})
			}
			return
		}
		i0, i1 := cut(n, cutRows, 1-math.Sqrt(1-from)), cut(n, cutRows, 1-math.Sqrt(1-to))
		if i0 < i1 {
			serial(i1-i0, n-i0, k, alpha, a.from(i0, 0), b.from(0, i0), overwrite, c.from(i0, i0), part{upper: true})
		}
	})
}

// part selects the entries of a product that are computed: j ≤ i + offset if lower,
// j ≥ i + offset if upper, otherwise all.
type part struct {
	lower, upper bool
	offset       int
}

var whole part

// full returns the range of rows whose cols columns from j are all selected. The range begins
// at a multiple of the height of tiles, and ends at another multiple or at m.
func (p part) full(m, j, cols, height int) (from, to int) {
	switch {
	case p.lower: // from row j+cols-1-offset on
		return min(m, roundUp(max(0, j+cols-1-p.offset), height)), m
	case p.upper: // up to row j-offset
		to = min(m, max(0, j-p.offset+1))
		if to < m {
			to -= to % height
		}
		return 0, to
	}
	return 0, m
}

// none reports whether no entry of a rectangle is selected.
func (p part) none(i, j, rows, cols int) bool {
	return p.lower && j > i+rows-1+p.offset || p.upper && j+cols-1 < i+p.offset
}

// wanted returns the range of selected columns of row i in a tile whose first column
// is j.
func (p part) wanted(i, j, cols int) (from, to int) {
	d := i + p.offset - j
	if p.lower {
		return 0, min(cols, max(0, d+1))
	}
	return min(cols, max(0, d)), cols
}

// goRows returns the number of rows of C that the Go kernel computes without packing Bᵀ.
func (p part) goRows() int {
	if p == whole {
		return 8
	}
	return 24
}

// packOver is the number of rows or columns of C from which packing the other factor
// saves time.
const packOver = 192

// packCrowded replaces packOver if rows of B compete for cache lines.
const packCrowded = 24

// Packed blocks: blockRows×depth of A fits in the second-level cache, depth×blockCols
// of B in the third.
const blockRows, blockCols = 192, 2016

type buffers struct {
	a, b      []float64
	triangles triangles
}

var pool = sync.Pool{New: func() any { return new(buffers) }}

func grown(x []float64, n int) []float64 {
	if cap(x) < n {
		return make([]float64, max(n, 4096)) // large enough to begin at a page boundary
	}
	return x[:n]
}

// serial computes the selected part of C on the calling goroutine.
func serial(m, n, k int, alpha float64, a, b matrix, overwrite bool, c matrix, p part) {
	if m == 0 || n == 0 {
		return
	}
	if level == cpu.Go && (m*n*k <= few || a.cs == 1 && b.rs == 1 && m <= p.goRows()) {
		entriesGo(m, n, k, alpha, a.data, a.rs, a.cs, b.data, b.rs, b.cs, overwrite, c.data, c.rs, p)
		return
	}
	rows, cols := tileSize()
	packA := n > packOver
	packB := b.cs != 1 || m > packOver || m > packCrowded && crowded(b.rs)
	if !packA && !packB && k <= depth {
		multiplyPanels(m, n, k, alpha, panels{a.t(), rows * a.rs}, panels{b, cols}, overwrite, c, p)
		return
	}
	buf := pool.Get().(*buffers)
	defer pool.Put(buf)
	if packA {
		buf.a = grown(buf.a, roundUp(min(m, blockRows), rows)*min(k, depth))
	}
	if packB {
		buf.b = grown(buf.b, roundUp(min(n, blockCols), cols)*min(k, depth))
	}
	for j := 0; j < n; j += blockCols {
		nb := min(n-j, blockCols)
		for l := 0; l < k; l += depth {
			kb := min(k-l, depth)
			right := panels{b.from(l, j), cols}
			if packB {
				right = pack(buf.b, nb, kb, cols, b.from(l, j).t())
			}
			for i := 0; i < m; i += blockRows {
				mb := min(m-i, blockRows)
				if p.none(i, j, mb, nb) {
					continue
				}
				left := panels{a.from(i, l).t(), rows * a.rs}
				if packA {
					left = pack(buf.a, mb, kb, rows, a.from(i, l))
				}
				q := p
				q.offset += i - j
				multiplyPanels(mb, nb, kb, alpha, left, right, overwrite && l == 0, c.from(i, j), q)
			}
		}
	}
}

func roundUp(n, unit int) int { return (n + unit - 1) / unit * unit }

// panels are the strips of a matrix that tiles read: k rows with as many columns as a
// tile, step numbers apart.
type panels struct {
	matrix
	step int
}

// pack writes the strips of a (n×k): width rows each, interleaved.
func pack(dst []float64, n, k, width int, a matrix) panels {
	for i := 0; i < n; i += width {
		strip(dst[i*k:], min(width, n-i), k, width, a.from(i, 0))
	}
	return panels{matrix{dst, width, 1}, width * k}
}

// strip writes rows×k numbers of a to dst, with dst[l·width+i] = a(i, l).
func strip(dst []float64, rows, k, width int, a matrix) {
	switch {
	case a.rs == 1:
		gather(k, rows, a.data, a.cs, dst, width)
	case a.cs == 1:
		i := 0
		for ; i+4 <= rows; i += 4 {
			transpose4(k, a.data[i*a.rs:], a.rs, dst[i:], width)
		}
		for ; i < rows; i++ {
			for l, v := range a.data[i*a.rs : i*a.rs+k] {
				dst[l*width+i] = v
			}
		}
	default:
		for l := range k {
			for i := range rows {
				dst[l*width+i] = a.data[i*a.rs+l*a.cs]
			}
		}
	}
}

// multiplyPanels computes C from strips of A, stored along k, and strips of B.
func multiplyPanels(m, n, k int, alpha float64, a, b panels, overwrite bool, c matrix, p part) {
	rows, cols := tileSize()
	for j := 0; j < n; j += cols {
		nr := min(cols, n-j)
		right := b.data[j/cols*b.step:]
		from, to := p.full(m, j, nr, rows)
		for i := 0; i < m; {
			mr := min(rows, m-i)
			if i == from && i < to {
				mr = to - from
			}
			left := a.data[i/rows*a.step:]
			switch {
			case from <= i && i < to:
				tiles(mr, nr, k, alpha, left, a.cs, a.rs, a.step, right, b.rs, c.data[i*c.rs+j:], c.rs, overwrite)
			case p.none(i, j, mr, nr):
			case level == cpu.Go: // its tiles are wide, with any number of columns
				for r := range mr {
					from, to := p.wanted(i+r, j, nr)
					if from < to {
						tiles(1, to-from, k, alpha, left[r*a.cs:], a.cs, a.rs, a.step, right[from:], b.rs, c.data[(i+r)*c.rs+j+from:], c.rs, overwrite)
					}
				}
			default:
				var scratch [16 * 16]float64
				q := p
				q.offset += i - j
				for r := range mr {
					from, to := q.wanted(r, 0, nr)
					copy(scratch[r*nr+from:r*nr+to], c.data[(i+r)*c.rs+j+from:])
				}
				tiles(mr, nr, k, alpha, left, a.cs, a.rs, a.step, right, b.rs, scratch[:mr*nr], nr, overwrite)
				for r := range mr {
					from, to := q.wanted(r, 0, nr)
					copy(c.data[(i+r)*c.rs+j+from:(i+r)*c.rs+j+to], scratch[r*nr+from:r*nr+to])
				}
			}
			i += mr
		}
	}
}
