package dense

import (
	"fmt"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/functionspace/bo/internal/cpu"
)

// Trsm overwrites B with alpha·op(T)⁻¹·B, or alpha·B·op(T)⁻¹ on the right side. It
// multiplies by the reciprocals of the diagonal of T, which must not be subnormal. With
// alpha = 0, B is cleared and T is not read.
func Trsm(s blas.Side, t blas.Transpose, alpha float64, a blas64.Triangular, b blas64.General) {
	triangularUpdate("solve", s, t, alpha, a, b, solve, solveGo)
}

// Trmm overwrites B with alpha·op(T)·B, or alpha·B·op(T) on the right side. With alpha =
// 0, B is cleared and T is not read. NaN and infinities spread over their column of B
// (on the right side over their row).
func Trmm(s blas.Side, t blas.Transpose, alpha float64, a blas64.Triangular, b blas64.General) {
	triangularUpdate("product", s, t, alpha, a, b, multiply, nil)
}

// triangularUpdate runs an update of B. With Go kernels it uses the variant for triangles
// up to solveRows, if there is one.
func triangularUpdate(name string, s blas.Side, t blas.Transpose, alpha float64, a blas64.Triangular, b blas64.General,
	update func(n, cols int, t matrix, lower, unit bool, b matrix),
	small func(n, cols int, t []float64, rst, cst int, lower, unit bool, b []float64, rsb, csb int)) {
	lower, rst, cst := triangle(t, a)
	checkExtent("B", b.Rows, b.Cols, b.Stride, len(b.Data))
	n, cols, rsb, csb := b.Rows, b.Cols, b.Stride, 1
	switch s {
	case blas.Left:
	case blas.Right:
		// B·T = (Tᵀ·Bᵀ)ᵀ
		n, cols, rsb, csb, rst, cst, lower = cols, n, csb, rsb, cst, rst, !lower
	default:
		panic(fmt.Sprintf("dense: side %q, want L or R", byte(s)))
	}
	if a.N != n {
		panic(fmt.Sprintf("dense: triangular %s of size %d with %d×%d on side %c", name, a.N, b.Rows, b.Cols, byte(s)))
	}
	if n == 0 || cols == 0 {
		return
	}
	if alpha != 1 {
		for i := range b.Rows {
			scaleBy(alpha, b.Data[i*b.Stride:i*b.Stride+b.Cols])
		}
	}
	if alpha == 0 {
		return
	}
	if level == cpu.Go && small != nil && n <= solveRows {
		small(n, cols, a.Data, rst, cst, lower, a.Diag == blas.Unit, b.Data, rsb, csb)
		return
	}
	byColumns(n, cols, matrix{a.Data, rst, cst}, lower, a.Diag == blas.Unit, matrix{b.Data, rsb, csb}, update)
}

// byColumns divides an update of b among goroutines, by columns, which are independent.
func byColumns(n, cols int, t matrix, lower, unit bool, b matrix, update func(n, cols int, t matrix, lower, unit bool, b matrix)) {
	w := workers(float64(n)*float64(n)*float64(cols), cols/cutCols)
	if w == 1 {
		update(n, cols, t, lower, unit, b)
		return
	}
	each(w, func(i int) {
		j0, j1 := cut(cols, cutCols, float64(i)/float64(w)), cut(cols, cutCols, float64(i+1)/float64(w))
		update(n, j1-j0, t, lower, unit, b.from(0, j0))
	})
}

// half returns the size at which recursions divide a triangle of size n > block.
func half(n int) int { return roundUp(n/2, block) }

// solve overwrites b (n×cols) with t⁻¹·b, by halves.
func solve(n, cols int, t matrix, lower, unit bool, b matrix) {
	if n <= block {
		solveBlock(n, cols, t, lower, unit, b)
		return
	}
	h := half(n)
	top, bottom := b, b.from(h, 0)
	if lower {
		solve(h, cols, t, lower, unit, top)
		add(n-h, cols, h, -1, t.from(h, 0), top, bottom)
		solve(n-h, cols, t.from(h, h), lower, unit, bottom)
	} else {
		solve(n-h, cols, t.from(h, h), lower, unit, bottom)
		add(h, cols, n-h, -1, t.from(0, h), bottom, top)
		solve(h, cols, t, lower, unit, top)
	}
}

// add computes C += alpha·A·B on the calling goroutine.
func add(m, n, k int, alpha float64, a, b, c matrix) {
	if c.cs != 1 {
		m, n, a, b, c = n, m, b.t(), a.t(), c.t()
	}
	serial(m, n, k, alpha, a, b, false, c, whole)
}

// stripCols is the number of columns that solveBlock and multiplyBlock take at a time.
const stripCols = 96

// solveBlock is solve for n ≤ block. It copies b by rows if the columns of b are
// consecutive, or if the rows of b compete for cache lines.
func solveBlock(n, cols int, t matrix, lower, unit bool, b matrix) {
	buf := pool.Get().(*buffers)
	defer pool.Put(buf)
	small := &buf.triangles
	for i := 0; i < n; i += solveRows {
		reciprocal(&small[i/solveRows], min(solveRows, n-i), t.from(i, i), lower, unit)
	}
	byRows := b.cs == 1
	if byRows && !crowded(b.rs) {
		for j := 0; j < cols; j += stripCols {
			substitute(n, min(stripCols, cols-j), t, lower, small, b.from(0, j))
		}
		return
	}
	buf.a = grown(buf.a, block*stripCols)
	rows := matrix{buf.a, stripCols, 1}
	for j := 0; j < cols; j += stripCols {
		c := min(stripCols, cols-j)
		strip(buf.a, c, n, stripCols, b.from(0, j).t())
		substitute(n, c, t, lower, small, rows)
		if byRows {
			strip(b.from(0, j).data, c, n, b.rs, rows.t())
		} else {
			strip(b.from(0, j).data, n, c, b.cs, rows)
		}
	}
}

// crowded reports whether rows at this stride map to so few lines of the first-level
// cache that they evict each other: multiples of 4 KiB.
func crowded(stride int) bool { return stride%512 == 0 }

// substitute solves for a strip with consecutive rows, solveRows of them at a time,
// forwards or backwards.
func substitute(n, cols int, t matrix, lower bool, small *triangles, b matrix) {
	blocks := (n + solveRows - 1) / solveRows
	for s := range blocks {
		if !lower {
			s = blocks - 1 - s
		}
		i := s * solveRows
		size := min(solveRows, n-i)
		// The solved rows precede these rows, or follow them.
		from, to := 0, i
		if !lower {
			from, to = i+size, n
		}
		if from < to {
			direct(size, cols, to-from, t.from(i, from), b.from(from, 0), b.from(i, 0))
		}
		first, step := i*b.rs, b.rs
		if !lower {
			first, step = (i+size-1)*b.rs, -b.rs
		}
		if size == solveRows {
			forward(&small[s], b.data, first, step, cols)
		} else {
			forwardGo(size, &small[s], b.data, first, step, cols)
		}
	}
}

// direct computes C -= A·B without packing; the rows of B and C are consecutive.
func direct(m, n, k int, a, b, c matrix) {
	rows, cols := tileSize()
	multiplyPanels(m, n, k, -1, panels{a.t(), rows * a.rs}, panels{b, cols}, false, c, whole)
}

// triangles has the triangles on the diagonal of a block, in the form that forward reads.
type triangles [block / solveRows][solveRows * solveRows]float64

// reciprocal writes a triangle of size n ≤ solveRows in the form that forward reads:
// lower (an upper triangle with both orders reversed), by columns, with reciprocals on
// its diagonal.
func reciprocal(dst *[solveRows * solveRows]float64, n int, t matrix, lower, unit bool) {
	for j := range n {
		for i := j; i < n; i++ {
			r, c := i, j
			if !lower {
				r, c = n-1-i, n-1-j
			}
			switch {
			case i > j:
				dst[j*solveRows+i] = t.data[r*t.rs+c*t.cs]
			case unit:
				dst[j*solveRows+i] = 1
			default:
				dst[j*solveRows+i] = 1 / t.data[r*t.rs+c*t.cs]
			}
		}
	}
}

// multiply overwrites b (n×cols) with t·b, by halves.
func multiply(n, cols int, t matrix, lower, unit bool, b matrix) {
	if n <= block {
		multiplyBlock(n, cols, t, lower, unit, b)
		return
	}
	h := half(n)
	top, bottom := b, b.from(h, 0)
	if lower {
		multiply(n-h, cols, t.from(h, h), lower, unit, bottom)
		add(n-h, cols, h, 1, t.from(h, 0), top, bottom)
		multiply(h, cols, t, lower, unit, top)
	} else {
		multiply(h, cols, t, lower, unit, top)
		add(h, cols, n-h, 1, t.from(0, h), bottom, top)
		multiply(n-h, cols, t.from(h, h), lower, unit, bottom)
	}
}

// multiplyBlock is multiply for n ≤ block. It multiplies t, with zeros in the other
// triangle, by a copy of b.
func multiplyBlock(n, cols int, t matrix, lower, unit bool, b matrix) {
	buf := pool.Get().(*buffers)
	defer pool.Put(buf)
	buf.a, buf.b = grown(buf.a, n*n), grown(buf.b, n*stripCols)
	for i := range n {
		row := buf.a[i*n : (i+1)*n]
		clear(row)
		from, to := 0, i+1
		if !lower {
			from, to = i, n
		}
		for j := from; j < to; j++ {
			row[j] = t.data[i*t.rs+j*t.cs]
		}
		if unit {
			row[i] = 1
		}
	}
	// Rows of T extend to the diagonal, or begin there.
	for j := 0; j < cols; j += stripCols {
		c := min(stripCols, cols-j)
		strip(buf.b, c, n, stripCols, b.from(0, j).t())
		for i := 0; i < n; i += solveRows {
			m, from, to := min(solveRows, n-i), 0, min(i+solveRows, n)
			if !lower {
				from, to = i, n
			}
			k, width := to-from, c
			a, x, y := matrix{buf.a[i*n+from:], n, 1}, matrix{buf.b[from*stripCols:], stripCols, 1}, b.from(i, j)
			if y.cs != 1 {
				m, width, a, x, y = width, m, x.t(), a.t(), y.t()
			}
			serial(m, width, k, 1, a, x, true, y, whole)
		}
	}
}
