//go:build !noasm

package dense

import "github.com/functionspace/bo/internal/cpu"

//go:generate go run ./gen kernels_amd64.s

//go:noescape
func tileAVX512(m, cols, k int, alpha float64, a *float64, rsa, csa, step int, b *float64, rsb int, c *float64, rsc, overwrite int)

//go:noescape
func tileAVX2(m, cols, k int, alpha float64, a *float64, rsa, csa, step int, b *float64, rsb int, c *float64, rsc, overwrite int)

//go:noescape
func forwardAVX512(t, x *float64, rsx, cols int)

//go:noescape
func forwardAVX2(t, x *float64, rsx, cols int)

//go:noescape
func transposeAVX2(n int, src *float64, rss int, dst *float64, rsd int)

//go:noescape
func gatherAVX2(n, vecs int, src *float64, rss int, dst *float64, rsd int)

//go:noescape
func dotsAVX2(m, n int, a *float64, rsa int, x, sums *float64)

//go:noescape
func axpyAVX2(n int, alpha float64, x, y *float64)

//go:noescape
func symv4AVX2(n int, a *float64, rsa int, x, y, t, sums *float64)

// level is the set of kernels in use.
var level = cpu.Best

// tileSize returns the size of the tile of C that the micro-kernel keeps in registers.
func tileSize() (rows, cols int) {
	switch level {
	case cpu.AVX512:
		return 8, 16
	case cpu.AVX2:
		return 4, 12
	}
	return goRows, goCols
}

// tiles computes C = alpha·A·B, plus C unless overwrite, for a strip of C. A is m×k with
// strides rsa and csa, and step between the first rows of consecutive tiles. B is k×cols
// and C m×cols, with consecutive numbers in a row; cols is at most the width of a tile.
// Each entry is one chain of fused multiply-adds over k, followed by one of alpha, the
// sum and C, for any m and cols. 1 ≤ k ≤ depth.
func tiles(m, cols, k int, alpha float64, a []float64, rsa, csa, step int, b []float64, rsb int, c []float64, rsc int, overwrite bool) {
	if level == cpu.Go {
		tilesGo(m, cols, k, alpha, a, rsa, csa, step, b, rsb, c, rsc, overwrite)
		return
	}
	rows, _ := tileSize()
	_ = a[(m-1)/rows*step+(m-1)%rows*rsa+(k-1)*csa]
	_ = b[(k-1)*rsb+cols-1]
	_ = c[(m-1)*rsc+cols-1]
	flag := 0
	if overwrite {
		flag = 1
	}
	if level == cpu.AVX512 {
		tileAVX512(m, cols, k, alpha, &a[0], rsa, csa, step, &b[0], rsb, &c[0], rsc, flag)
	} else {
		tileAVX2(m, cols, k, alpha, &a[0], rsa, csa, step, &b[0], rsb, &c[0], rsc, flag)
	}
}

// forward overwrites X (solveRows×cols) with T⁻¹ X. T is lower triangular, by
// columns, with reciprocals on its diagonal. Row i of X starts at
// x[first+i·rsx]; rsx may be negative.
func forward(t *[solveRows * solveRows]float64, x []float64, first, rsx, cols int) {
	if level == cpu.Go {
		forwardGo(solveRows, t, x, first, rsx, cols)
		return
	}
	last := first + (solveRows-1)*rsx
	_ = x[min(first, last)]
	_ = x[max(first, last)+cols-1]
	if level == cpu.AVX512 {
		forwardAVX512(&t[0], &x[first], rsx, cols)
	} else {
		forwardAVX2(&t[0], &x[first], rsx, cols)
	}
}

// transpose4 writes four rows of n numbers to four columns: dst[j·rsd+i] = src[i·rss+j].
func transpose4(n int, src []float64, rss int, dst []float64, rsd int) {
	done := 0
	if level > cpu.Go && n >= 4 {
		_ = src[3*rss+n-1]
		_ = dst[(n-1)*rsd+3]
		done = n &^ 3
		transposeAVX2(done, &src[0], rss, &dst[0], rsd)
	}
	if done < n {
		transpose4Go(n-done, src[done:], rss, dst[done*rsd:], rsd)
	}
}

// gather copies the first cols numbers of n rows: dst[i·rsd+j] = src[i·rss+j].
func gather(n, cols int, src []float64, rss int, dst []float64, rsd int) {
	done := 0
	if level > cpu.Go && n > 0 && cols >= 4 {
		_ = src[(n-1)*rss+cols-1]
		_ = dst[(n-1)*rsd+cols-1]
		done = cols &^ 3
		gatherAVX2(n, done/4, &src[0], rss, &dst[0], rsd)
	}
	if done < cols {
		gatherGo(n, cols-done, src[done:], rss, dst[done:], rsd)
	}
}

// dot returns Σ x_i y_i over the length of x.
func dot(x, y []float64) float64 {
	if level == cpu.Go {
		return dotGo(x, y)
	}
	var s [1]float64
	dots(y, 0, x, s[:])
	return s[0]
}

// dots writes the products of the rows of a, of the length of x, and x to sums.
func dots(a []float64, rsa int, x, sums []float64) {
	if level == cpu.Go {
		dotsGo(a, rsa, x, sums)
		return
	}
	n, m := len(x), len(sums)
	if n == 0 || m == 0 {
		clear(sums)
		return
	}
	_ = a[(m-1)*rsa+n-1]
	if n > chunk {
		for i := range sums {
			row := a[i*rsa:]
			sums[i] = 0
			for j := 0; j < n; j += chunk {
				var s float64
				dotsAVX2(1, min(chunk, n-j), &row[j], 1, &x[j], &s)
				sums[i] += s
			}
		}
		return
	}
	group := 4 * chunk / n
	for i := 0; i < m; i += group {
		dotsAVX2(min(group, m-i), n, &a[i*rsa], rsa, &x[0], &sums[i])
	}
}

// axpy computes y += alpha·x over the length of x.
func axpy(alpha float64, x, y []float64) {
	if level == cpu.Go {
		axpyGo(alpha, x, y)
		return
	}
	y = y[:len(x)]
	for len(x) > 0 {
		n := min(len(x), chunk)
		axpyAVX2(n, alpha, &x[0], &y[0])
		x, y = x[n:], y[n:]
	}
}

// symv4 multiplies 4 rows of A, as long as x, by x and by t in one pass: it returns
// Σ_j a_rj x_j, and adds Σ_r t_r a_rj to y_j.
func symv4(a []float64, rsa int, x, y []float64, t *[4]float64) (sums [4]float64) {
	if level == cpu.Go {
		return symv4Go(a, rsa, x, y, t)
	}
	y = y[:len(x)]
	for len(x) > 0 {
		n := min(len(x), chunk)
		_ = a[3*rsa+n-1]
		var s [4]float64
		symv4AVX2(n, &a[0], rsa, &x[0], &y[0], &t[0], &s[0])
		for r, v := range s {
			sums[r] += v
		}
		if x, y = x[n:], y[n:]; len(x) > 0 {
			a = a[n:]
		}
	}
	return sums
}
