// Command gonum compares package dense, and the eigenvectors of linalg, with gonum on
// one thread, in alternating calls. With the tag noasm both run without assembly:
//
//	go run [-tags noasm] . [-rounds 101] [-only trsm] [-sizes 4,8,500]
//
// For each case it prints the fastest call of each in nanoseconds, the ratio of the two,
// and the median of the ratios of rounds. A round repeats each call often enough to be
// timed.
package main

import (
	"flag"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/blas/gonum"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/cpu"
	"github.com/functionspace/bo/internal/dense"
	"github.com/functionspace/bo/internal/linalg"
)

func main() {
	rounds := flag.Int("rounds", 101, "rounds of each case; of those that take long, a tenth")
	only := flag.String("only", "", "cases that begin so")
	sizes := flag.String("sizes", "1,2,4,8,16,20,32,50,64,100,200,500", "sizes of the matrices")
	flag.Parse()
	runtime.GOMAXPROCS(1)
	fmt.Printf("dense: %v\n%-20s %10s %10s %6s %6s\n", cpu.Best, "case", "dense", "gonum", "ratio", "median")
	for _, text := range strings.Split(*sizes, ",") {
		var n int
		fmt.Sscan(text, &n)
		for _, c := range cases(n) {
			if strings.HasPrefix(c.name, *only) {
				mine, theirs, median := compare(c, *rounds)
				fmt.Printf("%-20s %10.1f %10.1f %6.2f %6.2f\n", c.name, mine, theirs, theirs/mine, median)
			}
		}
	}
}

// restored is the number of runs after which the operands are restored: solutions of
// triangular systems shrink.
const restored = 100

// compare returns the nanoseconds of the fastest call of each, and the median ratio of
// the rounds.
func compare(c benchCase, rounds int) (mine, theirs, median float64) {
	run := func(f func(), calls int) float64 {
		c.before()
		start := time.Now()
		for range calls {
			f()
		}
		return float64(time.Since(start)) / float64(calls)
	}
	run(c.dense, 1)
	once := run(c.gonum, 1)
	calls := int(min(restored, max(1, 2e4/once)))
	if once > 1e6 {
		rounds = max(7, rounds/10)
	}
	mine, theirs = math.Inf(1), math.Inf(1)
	var ratios []float64
	for range rounds {
		s, t := run(c.dense, calls), run(c.gonum, calls)
		mine, theirs = min(mine, s), min(theirs, t)
		ratios = append(ratios, t/s)
	}
	slices.Sort(ratios)
	return mine, theirs, ratios[len(ratios)/2]
}

type benchCase struct {
	name                 string
	before, dense, gonum func()
}

func cases(n int) []benchCase {
	var all []benchCase
	var reference gonum.Implementation
	a, b, c, start := square(n), square(n), square(n), square(n)
	x, y := a.Data[:n], c.Data[:n]
	add := func(name string, dense, gonum func()) {
		all = append(all, benchCase{fmt.Sprintf("%s %d", name, n), func() { copy(c.Data, start.Data) }, dense, gonum})
	}
	forms := []blas.Transpose{blas.NoTrans, blas.Trans}
	triangles := []blas.Uplo{blas.Lower, blas.Upper}
	for _, tA := range forms {
		for _, tB := range forms {
			for _, beta := range []float64{0, 1} {
				add(fmt.Sprintf("gemm %c%c +%vC", tA, tB, beta),
					func() { dense.Gemm(tA, tB, 1e-3, a, b, beta, c) },
					func() { reference.Dgemm(tA, tB, n, n, n, 1e-3, a.Data, n, b.Data, n, beta, c.Data, n) })
			}
		}
	}
	for _, uplo := range triangles {
		for _, op := range forms {
			add(fmt.Sprintf("syrk %c%c", uplo, op),
				func() { dense.Syrk(op, 1, a, 0, blas64.Symmetric{N: n, Data: c.Data, Stride: n, Uplo: uplo}) },
				func() { reference.Dsyrk(uplo, op, n, n, 1, a.Data, n, 0, c.Data, n) })
		}
	}
	d := square(n) // positive definite, and a well conditioned triangle
	for i := range d.Data {
		d.Data[i] /= float64(n)
	}
	for i := range n {
		d.Data[i*n+i] = 1.1
	}
	for _, side := range []blas.Side{blas.Left, blas.Right} {
		for _, uplo := range triangles {
			for _, op := range forms {
				t := blas64.Triangular{N: n, Data: d.Data, Stride: n, Uplo: uplo, Diag: blas.NonUnit}
				add(fmt.Sprintf("trsm %c%c%c", side, uplo, op),
					func() { dense.Trsm(side, op, 1, t, c) },
					func() { reference.Dtrsm(side, uplo, op, blas.NonUnit, n, n, 1, d.Data, n, c.Data, n) })
				add(fmt.Sprintf("trmm %c%c%c", side, uplo, op),
					func() { dense.Trmm(side, op, 1, t, c) },
					func() { reference.Dtrmm(side, uplo, op, blas.NonUnit, n, n, 1, d.Data, n, c.Data, n) })
			}
		}
	}
	for _, op := range forms {
		add(fmt.Sprintf("gemv %c", op),
			func() { dense.Gemv(op, 1, b, x, 0, y) },
			func() { reference.Dgemv(op, n, n, 1, b.Data, n, x, 1, 0, y, 1) })
		for _, uplo := range triangles {
			add(fmt.Sprintf("trsv %c%c", uplo, op),
				func() {
					dense.Trsv(op, blas64.Triangular{N: n, Data: d.Data, Stride: n, Uplo: uplo, Diag: blas.NonUnit}, y)
				},
				func() { reference.Dtrsv(uplo, op, blas.NonUnit, n, d.Data, n, y, 1) })
		}
	}
	add("symv",
		func() { dense.Symv(1, blas64.Symmetric{N: n, Data: b.Data, Stride: n, Uplo: blas.Upper}, x, 0, y) },
		func() { reference.Dsymv(blas.Upper, n, 1, b.Data, n, x, 1, 0, y, 1) })
	add("dot", func() { dense.Dot(x, b.Data[:n]) }, func() { reference.Ddot(n, x, 1, b.Data, 1) })
	add("axpy", func() { dense.Axpy(1e-3, x, y) }, func() { reference.Daxpy(n, 1e-3, x, 1, y, 1) })
	factorizations(a, c, d, add)
	return all
}

// factorizations adds the benchmarks of Cholesky, which copies d to c first, and of
// the eigenvalues of a aᵀ.
func factorizations(a, c, d blas64.General, add func(name string, dense, gonum func())) {
	n := a.Rows
	add("cholesky",
		func() {
			copy(c.Data, d.Data)
			dense.Cholesky(blas64.Symmetric{N: n, Data: c.Data, Stride: n, Uplo: blas.Upper})
		},
		func() {
			copy(c.Data, d.Data)
			lapack64.Potrf(blas64.Symmetric{N: n, Data: c.Data, Stride: n, Uplo: blas.Upper})
		})
	symmetric := mat.NewSymDense(n, nil)
	symmetric.SymOuterK(1, mat.NewDense(n, n, a.Data))
	add("eigen",
		func() {
			if _, _, err := linalg.Eigen(symmetric); err != nil {
				log.Fatal(err)
			}
		},
		func() {
			var e mat.EigenSym
			var v mat.Dense
			e.Factorize(symmetric, true)
			e.VectorsTo(&v)
		})
}

func square(n int) blas64.General {
	data := make([]float64, n*n)
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range data {
		data[i] = rng.Float64() - 0.5
	}
	return blas64.General{Rows: n, Cols: n, Stride: n, Data: data}
}
