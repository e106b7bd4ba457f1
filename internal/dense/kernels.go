package dense

// The sizes on which the order of operations depends. They are the same for
// all kernels, so that these agree to the last bit.
const (
	depth     = 256 // of one pass over k
	block     = 64  // where recursions on triangles end
	solveRows = 8   // of the triangle solved in registers
)

// Assembly cannot be preempted: chunk is the longest vector given to it.
const chunk = 1 << 14

// The tile of the Go kernel.
const goRows, goCols = 2, 4

func tilesGo(m, cols, k int, alpha float64, a []float64, rsa, csa, step int, b []float64, rsb int, c []float64, rsc int, overwrite bool) {
	for i := 0; i < m; i += goRows {
		tileGo(min(goRows, m-i), cols, k, alpha, a[i/goRows*step:], rsa, csa, b, rsb, c[i*rsc:], rsc, overwrite)
	}
}

func tileGo(rows, cols, k int, alpha float64, a []float64, rsa, csa int, b []float64, rsb int, c []float64, rsc int, overwrite bool) {
	if rows == goRows && cols == goCols {
		tileGo2x4(k, alpha, a, rsa, csa, b, rsb, c, rsc, overwrite)
		return
	}
	for i := range rows {
		for j := range cols {
			var s float64
			for l := range k {
				s = mulAdd(a[i*rsa+l*csa], b[l*rsb+j], s)
			}
			update(c[i*rsc+j:], alpha, s, overwrite)
		}
	}
}

func tileGo2x4(k int, alpha float64, a []float64, rsa, csa int, b []float64, rsb int, c []float64, rsc int, overwrite bool) {
	var c00, c01, c02, c03, c10, c11, c12, c13 float64
	second := a[rsa:]
	for l := range k {
		at := l * csa
		a0, a1 := a[at], second[at]
		row := b[l*rsb : l*rsb+4 : l*rsb+4]
		b0, b1, b2, b3 := row[0], row[1], row[2], row[3]
		c00 = mulAdd(a0, b0, c00)
		c01 = mulAdd(a0, b1, c01)
		c02 = mulAdd(a0, b2, c02)
		c03 = mulAdd(a0, b3, c03)
		c10 = mulAdd(a1, b0, c10)
		c11 = mulAdd(a1, b1, c11)
		c12 = mulAdd(a1, b2, c12)
		c13 = mulAdd(a1, b3, c13)
	}
	for j, s := range [4]float64{c00, c01, c02, c03} {
		update(c[j:], alpha, s, overwrite)
	}
	for j, s := range [4]float64{c10, c11, c12, c13} {
		update(c[rsc+j:], alpha, s, overwrite)
	}
}

func update(c []float64, alpha, s float64, overwrite bool) {
	if overwrite {
		c[0] = alpha * s
	} else {
		c[0] = mulAdd(alpha, s, c[0])
	}
}

// forwardGo is forward for a triangle of any size up to solveRows.
func forwardGo(size int, t *[solveRows * solveRows]float64, x []float64, first, rsx, cols int) {
	for j := range size {
		at := first + j*rsx
		xj := x[at : at+cols]
		scale(t[j*solveRows+j], xj)
		for i := j + 1; i < size; i++ {
			at := first + i*rsx
			axpy(-t[j*solveRows+i], xj, x[at:at+cols])
		}
	}
}

func scale(alpha float64, x []float64) {
	for i := range x {
		x[i] *= alpha
	}
}

func gatherGo(n, cols int, src []float64, rss int, dst []float64, rsd int) {
	for i := range n {
		to := dst[i*rsd : i*rsd+cols]
		at := i * rss
		for j := range to { // too few for copy to pay
			to[j] = src[at+j]
		}
	}
}

// dot returns Σ x_i y_i over the length of x.
func dot(x, y []float64) float64 {
	var s [1]float64
	dots(y, 0, x, s[:])
	return s[0]
}

func dotsGo(a []float64, rsa int, x, sums []float64) {
	for i := range sums {
		sums[i] = dotGo(x, a[i*rsa:])
	}
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
	for i, v := range x {
		y[i] = mulAdd(alpha, v, y[i])
	}
}
