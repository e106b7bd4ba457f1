//go:build !amd64 || noasm

package dense

import "github.com/functionspace/bo/internal/cpu"

// level is the set of kernels in use.
var level = cpu.Go

func tileSize() (rows, cols int) { return goRows, goCols }

func tiles(m, cols, k int, alpha float64, a []float64, rsa, csa, step int, b []float64, rsb int, c []float64, rsc int, overwrite bool) {
	tilesGo(m, cols, k, alpha, a, rsa, csa, step, b, rsb, c, rsc, overwrite)
}

func forward(t *[solveRows * solveRows]float64, x []float64, first, rsx, cols int) {
	forwardGo(solveRows, t, x, first, rsx, cols)
}

func transpose4(n int, src []float64, rss int, dst []float64, rsd int) {
	transpose4Go(n, src, rss, dst, rsd)
}

func gather(n, cols int, src []float64, rss int, dst []float64, rsd int) {
	gatherGo(n, cols, src, rss, dst, rsd)
}

func dot(x, y []float64) float64 { return dotGo(x, y) }

func dots(a []float64, rsa int, x, sums []float64) { dotsGo(a, rsa, x, sums) }

func axpy(alpha float64, x, y []float64) { axpyGo(alpha, x, y) }

func symv4(a []float64, rsa int, x, y []float64, t *[4]float64) [4]float64 {
	return symv4Go(a, rsa, x, y, t)
}
