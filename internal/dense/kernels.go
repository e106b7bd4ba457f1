package dense

import "github.com/functionspace/bo/internal/cpu"

// The order of operations depends on these sizes. They are the same for all kernels, so
// that the kernels agree to the last bit.
const (
	depth     = 256 // terms in one pass over k
	block     = 64  // size at which recursions on triangles end
	solveRows = 8   // size of the triangle solved in registers
)

// chunk is the longest vector in one call of assembly, which cannot be preempted.
const chunk = 1 << 14

// The tile of the Go kernel: two rows of sums.
const goRows, goCols = 2, 48

func tilesGo(m, cols, k int, alpha float64, a []float64, rsa, csa, step int, b []float64, rsb int, c []float64, rsc int, overwrite bool) {
	if !overwrite {
		addTilesGo(m, cols, k, alpha, a, rsa, csa, step, b, rsb, c, rsc)
		return
	}
	for i := 0; i < m; i += goRows {
		c0, c1 := c[i*rsc:][:cols], []float64(nil)
		if i+1 < m {
			c1 = c[(i+1)*rsc:][:cols]
		}
		tileGo(c0, c1, k, a[i/goRows*step:], rsa, csa, b, rsb)
		if alpha != 1 {
			scale(alpha, c0)
			scale(alpha, c1)
		}
	}
}

// addTilesGo is tilesGo without overwrite.
func addTilesGo(m, cols, k int, alpha float64, a []float64, rsa, csa, step int, b []float64, rsb int, c []float64, rsc int) {
	var sums [goRows][goCols]float64
	for i := 0; i < m; i += goRows {
		s, t := sums[0][:cols], sums[1][:0]
		if i+1 < m {
			t = sums[1][:cols]
		}
		tileGo(s, t, k, a[i/goRows*step:], rsa, csa, b, rsb)
		axpyGo(alpha, s, c[i*rsc:])
		if i+1 < m {
			axpyGo(alpha, t, c[(i+1)*rsc:])
		}
	}
}

// tileGo writes the product of a row of A and B to s, and of the next row to t unless t
// is empty.
func tileGo(s, t []float64, k int, a []float64, rsa, csa int, b []float64, rsb int) {
	clear(s)
	if len(t) == 0 {
		rowGo(s, k, a, csa, b, rsb)
		return
	}
	clear(t)
	rowsGo(s, t, k, a, a[rsa:], csa, b, rsb)
}

// rowsGo adds the products of two rows of A and B to s and t, four terms at a time.
func rowsGo(s, t []float64, k int, a0, a1 []float64, csa int, b []float64, rsb int) {
	n := len(s)
	t = t[:n]
	for ; k >= 4; k -= 4 {
		u0, u1, u2, u3 := a0[0], a0[csa], a0[2*csa], a0[3*csa]
		v0, v1, v2, v3 := a1[0], a1[csa], a1[2*csa], a1[3*csa]
		b0, b1, b2, b3 := b[:n], b[rsb:rsb+n], b[2*rsb:2*rsb+n], b[3*rsb:3*rsb+n]
		for j, x := range s {
			w0, w1, w2, w3 := b0[j], b1[j], b2[j], b3[j]
			s[j] = mulAdd(u3, w3, mulAdd(u2, w2, mulAdd(u1, w1, mulAdd(u0, w0, x))))
			t[j] = mulAdd(v3, w3, mulAdd(v2, w2, mulAdd(v1, w1, mulAdd(v0, w0, t[j]))))
		}
		if k > 4 {
			a0, a1, b = a0[4*csa:], a1[4*csa:], b[4*rsb:]
		}
	}
	for l := range k {
		axpyGo(a0[l*csa], b[l*rsb:l*rsb+n], s)
		axpyGo(a1[l*csa], b[l*rsb:l*rsb+n], t)
	}
}

// rowGo is rowsGo for one row.
func rowGo(s []float64, k int, a []float64, csa int, b []float64, rsb int) {
	n := len(s)
	for ; k >= 4; k -= 4 {
		axpy4Go(s, a[0], a[csa], a[2*csa], a[3*csa], b[:n], b[rsb:], b[2*rsb:], b[3*rsb:])
		if k > 4 {
			a, b = a[4*csa:], b[4*rsb:]
		}
	}
	for l := range k {
		axpyGo(a[l*csa], b[l*rsb:l*rsb+n], s)
	}
}

// axpy4Go adds four multiples of vectors to y, one after the other.
func axpy4Go(y []float64, a0, a1, a2, a3 float64, x0, x1, x2, x3 []float64) {
	x0, x1, x2, x3 = x0[:len(y)], x1[:len(y)], x2[:len(y)], x3[:len(y)]
	for j, v := range y {
		y[j] = mulAdd(a3, x3[j], mulAdd(a2, x2[j], mulAdd(a1, x1[j], mulAdd(a0, x0[j], v))))
	}
}

// columnsGo computes y += alpha·A·x for an A with consecutive columns.
func columnsGo(alpha float64, a []float64, csa int, x, y []float64) {
	j := 0
	for ; j+4 <= len(x); j += 4 {
		v, from := x[j:j+4], a[j*csa:]
		axpy4Go(y, alpha*v[0], alpha*v[1], alpha*v[2], alpha*v[3], from, from[csa:], from[2*csa:], from[3*csa:])
	}
	for ; j < len(x); j++ {
		axpyGo(alpha*x[j], a[j*csa:][:len(y)], y)
	}
}

// solveGo is solve for n ≤ solveRows and consecutive rows or columns of B.
func solveGo(n, cols int, t []float64, rst, cst int, lower, unit bool, b []float64, rsb, csb int) {
	first, step := 0, 1
	if !lower {
		first, step = n-1, -1
	}
	var reciprocal [solveRows]float64
	for i := range n {
		reciprocal[i] = 1
		if !unit {
			reciprocal[i] = 1 / t[i*(rst+cst)]
		}
	}
	if csb != 1 {
		for c := range cols {
			x := b[c*csb : c*csb+n]
			for s, i := 0, first; s < n; s, i = s+1, i+step {
				v := x[i]
				for r, j := 0, first; r < s; r, j = r+1, j+step {
					v = mulAdd(-t[i*rst+j*cst], x[j], v)
				}
				x[i] = v * reciprocal[i]
			}
		}
		return
	}
	for s, i := 0, first; s < n; s, i = s+1, i+step {
		x := b[i*rsb : i*rsb+cols]
		for r, j := 0, first; r < s; r, j = r+1, j+step {
			f := -t[i*rst+j*cst]
			for c, v := range b[j*rsb : j*rsb+cols] {
				x[c] = mulAdd(f, v, x[c])
			}
		}
		if !unit {
			scale(reciprocal[i], x)
		}
	}
}

// forwardGo is forward for a triangle of any size up to solveRows, with the same
// rounding as the other kernels in use.
func forwardGo(size int, t *[solveRows * solveRows]float64, x []float64, first, rsx, cols int) {
	row := func(i int) []float64 { return x[first+i*rsx:][:cols] }
	for i := range size {
		xi, j := row(i), 0
		for ; level == cpu.Go && j+4 <= i; j += 4 {
			from := t[j*solveRows+i:]
			axpy4Go(xi, -from[0], -from[solveRows], -from[2*solveRows], -from[3*solveRows], row(j), row(j+1), row(j+2), row(j+3))
		}
		for ; j < i; j++ {
			axpy(-t[j*solveRows+i], row(j), xi)
		}
		scale(t[i*solveRows+i], xi)
	}
}

func scale(alpha float64, x []float64) {
	for i := range x {
		x[i] *= alpha
	}
}

func transpose4Go(n int, src []float64, rss int, dst []float64, rsd int) {
	r0, r1, r2, r3 := src[:n], src[rss:rss+n], src[2*rss:2*rss+n], src[3*rss:3*rss+n]
	for j, v := range r0 {
		to := dst[j*rsd : j*rsd+4 : j*rsd+4]
		to[0], to[1], to[2], to[3] = v, r1[j], r2[j], r3[j]
	}
}

func gatherGo(n, cols int, src []float64, rss int, dst []float64, rsd int) {
	for i := range n {
		to := dst[i*rsd : i*rsd+cols]
		at := i * rss
		for j := range to { // copy is slower for so few
			to[j] = src[at+j]
		}
	}
}

func dotsGo(a []float64, rsa int, x, sums []float64) {
	clear(sums)
	chainsGo(1, len(x), x, 1, a, 1, rsa, sums)
}

func dotGo(x, y []float64) float64 {
	y = y[:len(x)]
	var s0, s1, s2, s3 float64
	for len(x) >= 4 && len(y) >= 4 {
		s0 = mulAdd(x[0], y[0], s0)
		s1 = mulAdd(x[1], y[1], s1)
		s2 = mulAdd(x[2], y[2], s2)
		s3 = mulAdd(x[3], y[3], s3)
		x, y = x[4:], y[4:]
	}
	for i, v := range x {
		s0 = mulAdd(v, y[i], s0)
	}
	return s0 + s2 + (s1 + s3)
}

func axpyGo(alpha float64, x, y []float64) {
	y = y[:len(x)]
	i := 0
	for ; i < len(x)-3; i += 4 {
		u, v := x[i:i+4:i+4], y[i:i+4:i+4]
		v[0], v[1] = mulAdd(alpha, u[0], v[0]), mulAdd(alpha, u[1], v[1])
		v[2], v[3] = mulAdd(alpha, u[2], v[2]), mulAdd(alpha, u[3], v[3])
	}
	for ; i < len(x); i++ {
		y[i] = mulAdd(alpha, x[i], y[i])
	}
}

func symv4Go(a []float64, rsa int, x, y []float64, t *[4]float64) (sums [4]float64) {
	n := len(x)
	if n == 0 {
		return sums
	}
	a0, a1, a2, a3 := a[:n], a[rsa:rsa+n], a[2*rsa:2*rsa+n], a[3*rsa:3*rsa+n]
	y = y[:n]
	t0, t1, t2, t3 := t[0], t[1], t[2], t[3]
	var s0, s1, s2, s3 float64
	for j, v := range x {
		w0, w1, w2, w3 := a0[j], a1[j], a2[j], a3[j]
		s0, s1 = mulAdd(w0, v, s0), mulAdd(w1, v, s1)
		s2, s3 = mulAdd(w2, v, s2), mulAdd(w3, v, s3)
		y[j] = mulAdd(t3, w3, mulAdd(t2, w2, mulAdd(t1, w1, mulAdd(t0, w0, y[j]))))
	}
	return [4]float64{s0, s1, s2, s3}
}

// few is the number of multiplications below which the Go kernels compute entry by entry,
// without strips and blocks.
const few = 600

// entriesGo is serial in the order of the entries of C. The rows of C are consecutive.
func entriesGo(m, n, k int, alpha float64, a []float64, rsa, csa int, b []float64, rsb, csb int, overwrite bool, c []float64, rsc int, p part) {
	if m*n*k <= few && csb == 1 && n >= 4 && n <= goCols && k <= depth && p == whole {
		tilesGo(m, n, k, alpha, a, rsa, csa, goRows*rsa, b, rsb, c, rsc, overwrite)
		return
	}
	for l := 0; l < k; l += depth {
		kb := min(k-l, depth)
		for i := range m {
			from, to := 0, n
			if p != whole {
				from, to = p.wanted(i, 0, n)
			}
			if from < to {
				row, x, y := c[i*rsc+from:i*rsc+to], a[i*rsa+l*csa:], b[l*rsb+from*csb:]
				first := overwrite && l == 0
				if first {
					clear(row)
				}
				if first && csb == 1 {
					rowGo(row, kb, x, csa, y, rsb)
					if alpha != 1 {
						scale(alpha, row)
					}
				} else {
					chainsGo(alpha, kb, x, csa, y, rsb, csb, row)
				}
			}
		}
	}
}

// chainsGo adds alpha times the products of x and columns of b to sums. Each product is one
// chain of n terms. It computes four products at a time.
func chainsGo(alpha float64, n int, x []float64, step int, b []float64, rsb, csb int, sums []float64) {
	plain := step == 1 && rsb == 1
	for ; len(sums) >= 4; sums = sums[4:] {
		var s0, s1, s2, s3 float64
		if plain {
			x, b0, b1, b2, b3 := x[:n], b[:n], b[csb:csb+n], b[2*csb:2*csb+n], b[3*csb:3*csb+n]
			for l, v := range x {
				s0, s1 = mulAdd(v, b0[l], s0), mulAdd(v, b1[l], s1)
				s2, s3 = mulAdd(v, b2[l], s2), mulAdd(v, b3[l], s3)
			}
		} else {
			for l, i, j := 0, 0, 0; l < n; l, i, j = l+1, i+step, j+rsb {
				v := x[i]
				s0, s1 = mulAdd(v, b[j], s0), mulAdd(v, b[j+csb], s1)
				s2, s3 = mulAdd(v, b[j+2*csb], s2), mulAdd(v, b[j+3*csb], s3)
			}
		}
		sums[0], sums[1] = mulAdd(alpha, s0, sums[0]), mulAdd(alpha, s1, sums[1])
		sums[2], sums[3] = mulAdd(alpha, s2, sums[2]), mulAdd(alpha, s3, sums[3])
		if len(sums) > 4 {
			b = b[4*csb:]
		}
	}
	for r := range sums {
		var s float64
		if plain {
			y := b[r*csb:][:n]
			for l, v := range x[:n] {
				s = mulAdd(v, y[l], s)
			}
		} else {
			for l, i, j := 0, 0, r*csb; l < n; l, i, j = l+1, i+step, j+rsb {
				s = mulAdd(x[i], b[j], s)
			}
		}
		sums[r] = mulAdd(alpha, s, sums[r])
	}
}
