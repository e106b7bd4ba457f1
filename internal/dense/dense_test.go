package dense

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/blas/gonum"

	"github.com/functionspace/bo/internal/cpu"
	"github.com/functionspace/bo/internal/random"
)

// levels returns the kernel sets that this machine supports.
func levels() []cpu.Level {
	var all []cpu.Level
	for l := cpu.Go; l <= cpu.Supported; l++ {
		all = append(all, l)
	}
	return all
}

// forLevels runs f with each set of kernels.
func forLevels(t *testing.T, f func(t *testing.T)) {
	for _, l := range levels() {
		t.Run(l.String(), func(t *testing.T) {
			defer func(old cpu.Level) { level = old }(level)
			level = l
			f(t)
		})
	}
}

// allocate returns the slices of framed. They end where their arrays end.
var allocate = func(n int) []float64 { return make([]float64, n) }

// canary fills memory that must not be written; it is far from any result.
const canary = 1e77

// framed returns a rows×cols matrix of normal numbers with canaries between
// its rows, in a slice that ends with its last entry.
func framed(rows, cols, stride int, rng *rand.Rand) blas64.General {
	length := 0
	if rows > 0 {
		length = (rows-1)*stride + cols
	}
	data := allocate(length)
	m := blas64.General{Rows: rows, Cols: cols, Stride: stride, Data: data}
	for i := range data {
		data[i] = canary
		if i%stride < cols {
			data[i] = rng.NormFloat64()
		}
	}
	return m
}

func clone(m blas64.General) blas64.General {
	m.Data = append(make([]float64, 0, len(m.Data)), m.Data...)
	return m
}

// requireSame compares whole arrays, canaries included.
func requireSame(t *testing.T, want, got blas64.General, tol float64, what string) {
	t.Helper()
	for i, w := range want.Data {
		g := got.Data[i]
		if w != g && !(math.Abs(w-g) <= tol*(1+math.Abs(w))) && !(math.IsNaN(w) && math.IsNaN(g)) {
			require.FailNow(t, what, "(%d, %d) of %d×%d: got %v, want %v", i/want.Stride, i%want.Stride, want.Rows, want.Cols, g, w)
		}
	}
}

var (
	transposes = []blas.Transpose{blas.NoTrans, blas.Trans}
	factors    = []float64{0, 1, -0.7}
	reference  = gonum.Implementation{}
)

func shaped(t blas.Transpose, rows, cols, pad int, rng *rand.Rand) blas64.General {
	if t != blas.NoTrans {
		rows, cols = cols, rows
	}
	return framed(rows, cols, max(1, cols+pad), rng)
}

func TestGemm(t *testing.T) {
	sizes := []int{0, 1, 2, 3, 4, 5, 7, 8, 9, 11, 12, 13, 16, 17, 31, 48, 50, 65, 100}
	forLevels(t, func(t *testing.T) {
		rng := random.New(1, "gemm", 0)
		check := func(m, n, k int) {
			for _, tA := range transposes {
				for _, tB := range transposes {
					pad := rng.IntN(4)
					a, b, c := shaped(tA, m, k, pad, rng), shaped(tB, k, n, 3-pad, rng), shaped(blas.NoTrans, m, n, pad, rng)
					alpha, beta := factors[rng.IntN(3)], factors[rng.IntN(3)]
					want := clone(c)
					reference.Dgemm(tA, tB, m, n, k, alpha, a.Data, a.Stride, b.Data, b.Stride, beta, want.Data, want.Stride)
					Gemm(tA, tB, alpha, a, b, beta, c)
					requireSame(t, want, c, 1e-14*float64(k+1), fmt.Sprintf("%c%c %d×%d×%d alpha %v beta %v", tA, tB, m, n, k, alpha, beta))
				}
			}
		}
		pick := func() int { return sizes[rng.IntN(len(sizes))] }
		for range 400 {
			check(pick(), pick(), pick())
		}
		for m := range 20 {
			for n := range 20 {
				check(m, n, 3)
			}
		}
		check(3, 2100, 2)
		check(200, 33, 520)
		check(33, 200, 257)
		check(1, 77, 300)
		check(77, 1, 300)
	})
}

func TestSyrk(t *testing.T) {
	forLevels(t, func(t *testing.T) {
		rng := random.New(1, "syrk", 0)
		for _, n := range []int{0, 1, 2, 3, 5, 8, 12, 16, 17, 33, 50, 64, 97, 130, 210} {
			for _, k := range []int{0, 1, 2, 7, 40, 300} {
				for _, op := range transposes {
					for _, uplo := range []blas.Uplo{blas.Lower, blas.Upper} {
						pad := rng.IntN(4)
						a, c := shaped(op, n, k, pad, rng), shaped(blas.NoTrans, n, n, 3-pad, rng)
						alpha, beta := factors[rng.IntN(3)], factors[rng.IntN(3)]
						want := clone(c)
						reference.Dsyrk(uplo, op, n, k, alpha, a.Data, a.Stride, beta, want.Data, want.Stride)
						Syrk(op, alpha, a, beta, blas64.Symmetric{N: n, Data: c.Data, Stride: c.Stride, Uplo: uplo})
						requireSame(t, want, c, 1e-14*float64(k+1), fmt.Sprintf("%c%c %d×%d alpha %v beta %v", uplo, op, n, k, alpha, beta))
					}
				}
			}
		}
	})
}

func TestGemmt(t *testing.T) {
	forLevels(t, func(t *testing.T) {
		rng := random.New(1, "gemmt", 0)
		for _, n := range []int{0, 1, 2, 5, 8, 17, 64, 97, 210} {
			for _, k := range []int{0, 1, 6, 64, 300} {
				for _, alpha := range factors {
					a, b, c := framed(k, n, max(1, n+2), rng), framed(k, n, max(1, n), rng), framed(n, n, max(1, n+1), rng)
					want := clone(c)
					reference.Dgemm(blas.Trans, blas.NoTrans, n, n, k, alpha, a.Data, a.Stride, b.Data, b.Stride, 1, want.Data, want.Stride)
					for i := range n { // the other triangle does not change
						copy(want.Data[i*want.Stride:i*want.Stride+i], c.Data[i*c.Stride:])
					}
					Gemmt(alpha, a, b, upper(c))
					requireSame(t, want, c, 1e-14*float64(k+1), fmt.Sprintf("%d×%d alpha %v", n, k, alpha))
				}
			}
		}
	})
}

func TestSymv(t *testing.T) {
	forLevels(t, func(t *testing.T) {
		rng := random.New(1, "symv", 0)
		for _, n := range []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 16, 19, 33, 64, 130, 301} {
			for _, alpha := range factors {
				for _, beta := range factors {
					a, x, y := framed(n, n, max(1, n+3), rng), framed(1, n, max(1, n), rng), framed(1, n, max(1, n), rng)
					want := clone(y)
					reference.Dsymv(blas.Upper, n, alpha, a.Data, a.Stride, x.Data, 1, beta, want.Data, 1)
					for i := range n { // the part below the diagonal is not read
						for j := range i {
							a.Data[i*a.Stride+j] = math.NaN()
						}
					}
					Symv(alpha, upper(a), x.Data, beta, y.Data)
					requireSame(t, want, y, 1e-14*float64(n+1), fmt.Sprintf("%d, %v %v", n, alpha, beta))
				}
			}
		}
		// Rows longer than one call of assembly takes.
		n := chunk + 5
		a, x, y := framed(4, n, n, rng), framed(1, n, n, rng), framed(1, n, n, rng)
		want, t4 := clone(y), [4]float64{1, -2, 0.5, 3}
		for r, s := range symv4(a.Data, a.Stride, x.Data, y.Data, &t4) {
			require.InDelta(t, reference.Ddot(n, a.Data[r*n:], 1, x.Data, 1), s, 1e-11)
			reference.Daxpy(n, t4[r], a.Data[r*n:], 1, want.Data, 1)
		}
		requireSame(t, want, y, 1e-13, "long rows")
	})
}

// upper is the upper triangle of a square matrix.
func upper(a blas64.General) blas64.Symmetric {
	return blas64.Symmetric{N: a.Rows, Data: a.Data, Stride: a.Stride, Uplo: blas.Upper}
}

// dominant returns a well-conditioned triangle; the other triangle is NaN.
func dominant(n, pad int, uplo blas.Uplo, diag blas.Diag, rng *rand.Rand) blas64.Triangular {
	m := framed(n, n, max(1, n+pad), rng)
	for i := range n {
		for j := range n {
			at := i*m.Stride + j
			switch {
			case i == j && diag == blas.Unit, i != j && (j > i) != (uplo == blas.Upper):
				m.Data[at] = math.NaN()
			case i == j:
				m.Data[at] = 2 + rng.Float64()
			default:
				m.Data[at] /= float64(n)
			}
		}
	}
	return blas64.Triangular{N: n, Data: m.Data, Stride: m.Stride, Uplo: uplo, Diag: diag}
}

func forTriangles(f func(side blas.Side, uplo blas.Uplo, op blas.Transpose, diag blas.Diag)) {
	for _, side := range []blas.Side{blas.Left, blas.Right} {
		for _, uplo := range []blas.Uplo{blas.Lower, blas.Upper} {
			for _, op := range transposes {
				for _, diag := range []blas.Diag{blas.NonUnit, blas.Unit} {
					f(side, uplo, op, diag)
				}
			}
		}
	}
}

func TestTriangular(t *testing.T) {
	forLevels(t, func(t *testing.T) {
		rng := random.New(1, "triangular", 0)
		for _, n := range []int{0, 1, 2, 5, 8, 9, 31, 64, 65, 130} {
			for _, cols := range []int{0, 1, 3, 8, 13, 110} {
				forTriangles(func(side blas.Side, uplo blas.Uplo, op blas.Transpose, diag blas.Diag) {
					what := fmt.Sprintf("%c%c%c%c %d, %d", side, uplo, op, diag, n, cols)
					pad := rng.IntN(4)
					rows, columns := n, cols
					if side == blas.Right {
						rows, columns = cols, n
					}
					a, b := dominant(n, pad, uplo, diag, rng), shaped(blas.NoTrans, rows, columns, 3-pad, rng)
					alpha := factors[rng.IntN(3)]
					want, got := clone(b), clone(b)
					reference.Dtrsm(side, uplo, op, diag, rows, columns, alpha, a.Data, a.Stride, want.Data, want.Stride)
					Trsm(side, op, alpha, a, got)
					requireSame(t, want, got, 1e-13, "Trsm "+what)
					want, got = clone(b), clone(b)
					reference.Dtrmm(side, uplo, op, diag, rows, columns, alpha, a.Data, a.Stride, want.Data, want.Stride)
					Trmm(side, op, alpha, a, got)
					requireSame(t, want, got, 1e-13, "Trmm "+what)
				})
			}
			for _, uplo := range []blas.Uplo{blas.Lower, blas.Upper} {
				for _, op := range transposes {
					for _, diag := range []blas.Diag{blas.NonUnit, blas.Unit} {
						what := fmt.Sprintf("%c%c%c %d", uplo, op, diag, n)
						a, x := dominant(n, 2, uplo, diag, rng), framed(1, n, max(1, n), rng)
						want, got := clone(x), clone(x)
						reference.Dtrsv(uplo, op, diag, n, a.Data, a.Stride, want.Data, 1)
						Trsv(op, a, got.Data)
						requireSame(t, want, got, 1e-13, "Trsv "+what)
						want, got = clone(x), clone(x)
						reference.Dtrmv(uplo, op, diag, n, a.Data, a.Stride, want.Data, 1)
						Trmv(op, a, got.Data)
						requireSame(t, want, got, 1e-13, "Trmv "+what)
					}
				}
			}
		}
	})
}

func TestVectors(t *testing.T) {
	forLevels(t, func(t *testing.T) {
		rng := random.New(1, "vectors", 0)
		for _, n := range []int{0, 1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 18, 31, 33, 100, chunk - 1, 2*chunk + 3} {
			x, y := framed(1, n, max(1, n), rng), framed(1, n, max(1, n), rng)
			require.InDelta(t, reference.Ddot(n, x.Data, 1, y.Data, 1), Dot(x.Data, y.Data), 1e-14*float64(n+1))
			want := clone(y)
			reference.Daxpy(n, 0.3, x.Data, 1, want.Data, 1)
			Axpy(0.3, x.Data, y.Data)
			requireSame(t, want, y, 1e-15, "Axpy")
		}
		for _, m := range []int{0, 1, 2, 5, 16, 33, 300} {
			for _, n := range []int{0, 1, 4, 17, 64, 520} {
				for _, op := range transposes {
					for _, alpha := range factors {
						for _, beta := range factors {
							a, x, y := shaped(op, m, n, 3, rng), framed(1, n, max(1, n), rng), framed(1, m, max(1, m), rng)
							want := clone(y)
							if n == 0 { // gonum does not change y then
								reference.Dscal(m, beta, want.Data, 1)
							} else {
								reference.Dgemv(op, a.Rows, a.Cols, alpha, a.Data, a.Stride, x.Data, 1, beta, want.Data, 1)
							}
							Gemv(op, alpha, a, x.Data, beta, y.Data)
							requireSame(t, want, y, 1e-14*float64(n+1), fmt.Sprintf("Gemv %c %d×%d %v %v", op, m, n, alpha, beta))
						}
					}
				}
			}
		}
	})
}

// spd returns B·Bᵀ + I in the upper triangle; the other holds NaN.
func spd(n, pad int, rng *rand.Rand) blas64.Symmetric {
	b, a := framed(n, n, max(1, n), rng), framed(n, n, max(1, n+pad), rng)
	reference.Dsyrk(blas.Upper, blas.NoTrans, n, n, 1, b.Data, b.Stride, 0, a.Data, a.Stride)
	for i := range n {
		a.Data[i*a.Stride+i]++
		for j := range i {
			a.Data[i*a.Stride+j] = math.NaN()
		}
	}
	return blas64.Symmetric{N: n, Data: a.Data, Stride: a.Stride, Uplo: blas.Upper}
}

func TestCholesky(t *testing.T) {
	forLevels(t, func(t *testing.T) {
		rng := random.New(1, "cholesky", 0)
		for _, n := range []int{0, 1, 2, 3, 7, 8, 9, 20, 64, 65, 127, 128, 129, 200, 330} {
			a := spd(n, 3, rng)
			want, got := clone(square(a)), clone(square(a))
			require.True(t, lapackPotrf(blas64.Symmetric{N: n, Data: want.Data, Stride: want.Stride, Uplo: blas.Upper}))
			require.True(t, Cholesky(blas64.Symmetric{N: n, Data: got.Data, Stride: got.Stride, Uplo: blas.Upper}))
			for i := range n { // the lower triangle is scratch
				copy(got.Data[i*got.Stride:i*got.Stride+i], want.Data[i*want.Stride:])
			}
			requireSame(t, want, got, 1e-12*float64(n), fmt.Sprint("Cholesky ", n))

			l := dominant(n, 2, blas.Lower, blas.NonUnit, rng)
			inv := framed(n, n, max(1, n+1), rng)
			InvertLower(inv, l)
			eye := clone(inv)
			Trmm(blas.Left, blas.NoTrans, 1, l, eye)
			for i := range n {
				for j := range n {
					want := 0.0
					if i == j {
						want = 1
					}
					require.InDelta(t, want, eye.Data[i*eye.Stride+j], 1e-13)
					if j > i {
						require.Zero(t, inv.Data[i*inv.Stride+j])
					}
				}
			}
			gram := framed(n, n, max(1, n+2), rng)
			wantGram := clone(gram)
			reference.Dsyrk(blas.Upper, blas.Trans, n, n, 1, inv.Data, inv.Stride, 0, wantGram.Data, wantGram.Stride)
			GramLower(blas64.Symmetric{N: n, Data: gram.Data, Stride: gram.Stride, Uplo: blas.Upper}, inv)
			requireSame(t, wantGram, gram, 1e-13, fmt.Sprint("GramLower ", n))
		}
	})
}

func TestCopyToLower(t *testing.T) {
	forLevels(t, func(t *testing.T) {
		rng := random.New(1, "copy", 0)
		for n := range 30 {
			a := framed(n, n, max(1, n+n%3), rng)
			want := clone(a)
			for i := range n {
				for j := range i {
					want.Data[i*a.Stride+j] = a.Data[j*a.Stride+i]
				}
			}
			CopyToLower(a)
			requireSame(t, want, a, 0, fmt.Sprint(n))
		}
	})
}

func square(a blas64.Symmetric) blas64.General {
	return blas64.General{Rows: a.N, Cols: a.N, Stride: a.Stride, Data: a.Data}
}

func TestCholeskyRejects(t *testing.T) {
	forLevels(t, func(t *testing.T) {
		for _, n := range []int{1, 5, 9, 70, 200} {
			for _, at := range []int{0, n / 2, n - 1} {
				for _, v := range []float64{-1, 0, math.NaN(), math.Inf(1), math.Inf(-1)} {
					a := spd(n, 0, random.New(1, "rejects", n))
					a.Data[at*a.Stride+at] = v
					require.False(t, Cholesky(a), "%v at %d of %d", v, at, n)
					a = spd(n, 0, random.New(1, "rejects", n))
					a.Data[at*a.Stride+n-1] = v
					if at < n-1 && v-v != 0 {
						require.False(t, Cholesky(a), "%v in row %d of %d", v, at, n)
					}
				}
			}
		}
	})
}

// results runs every routine on one set of inputs. Results of dot products are separate,
// because the Go kernels sum them in another order.
func results(n int) (all, dots []blas64.General) {
	rng := random.New(2, "results", n)
	keep := func(m blas64.General) { all = append(all, m) }
	for _, tA := range transposes {
		for _, tB := range transposes {
			m, k := n+13, n+290
			a, b, c := shaped(tA, m, k, 1, rng), shaped(tB, k, n, 0, rng), framed(m, n, n, rng)
			Gemm(tA, tB, 0.7, a, b, 1.3, c)
			keep(c)
		}
		for _, uplo := range []blas.Uplo{blas.Lower, blas.Upper} {
			a, c := shaped(tA, n, n+30, 1, rng), framed(n, n, n, rng)
			Syrk(tA, 0.7, a, 1, blas64.Symmetric{N: n, Data: c.Data, Stride: n, Uplo: uplo})
			keep(c)
		}
		a, x, y := shaped(tA, n, n+5, 1, rng), framed(1, n+5, n+5, rng), framed(1, n, n, rng)
		Gemv(tA, 0.7, a, x.Data, 0.1, y.Data)
		dots = append(dots, y)
	}
	forTriangles(func(side blas.Side, uplo blas.Uplo, op blas.Transpose, diag blas.Diag) {
		a := dominant(n, 0, uplo, diag, rng)
		b := framed(n, n+29, n+29, rng)
		if side == blas.Right {
			b = framed(n+29, n, n, rng)
		}
		c, x := clone(b), framed(1, n, n, rng)
		Trsm(side, op, 0.7, a, b)
		Trmm(side, op, 0.7, a, c)
		Trsv(op, a, x.Data)
		Trmv(op, a, x.Data)
		keep(b)
		keep(c)
		dots = append(dots, x)
	})
	c, y := framed(n, n, n, rng), framed(1, n, n, rng)
	Symv(0.7, upper(c), framed(1, n, n, rng).Data, 0.1, y.Data)
	dots = append(dots, y)
	Gemmt(0.7, framed(n+30, n, n, rng), framed(n+30, n, n, rng), upper(c))
	keep(c)
	n = 2*n + 70
	a := spd(n, 0, rng)
	Cholesky(a)
	for i := range n { // below the diagonal is scratch
		clear(a.Data[i*n : i*n+i])
	}
	keep(square(a))
	inv, gram := framed(n, n, n, rng), framed(n, n, n, rng)
	InvertLower(inv, dominant(n, 0, blas.Lower, blas.NonUnit, rng))
	GramLower(blas64.Symmetric{N: n, Data: gram.Data, Stride: n, Uplo: blas.Upper}, inv)
	keep(inv)
	keep(gram)
	return all, dots
}

// fused reports whether the Go kernels round a multiply-add once, as the assembly does.
func fused() bool { return mulAdd(1+0x1p-30, 1+0x1p-30, -1-0x1p-29) != 0 }

// Results depend neither on the number of goroutines nor on AVX2 or AVX-512.
func TestReproducible(t *testing.T) {
	defer func(l cpu.Level, s float64, n int) { level, share = l, s; runtime.GOMAXPROCS(n) }(level, share, runtime.GOMAXPROCS(0))
	share = 1e4
	same := func(want, got []blas64.General, tol float64, what string) {
		for i := range got {
			requireSame(t, want[i], got[i], tol, fmt.Sprintf("result %d, %s", i, what))
		}
	}
	for _, n := range []int{1, 7, 50, 130} {
		level = cpu.Supported
		runtime.GOMAXPROCS(1)
		want, wantDots := results(n)
		for _, l := range levels() {
			level = l
			runtime.GOMAXPROCS(1)
			serial, serialDots := results(n)
			tol, tolDots := 0.0, 0.0
			if l == cpu.Go {
				tolDots = 1e-10
				if !fused() {
					tol = 1e-10
				}
			}
			same(want, serial, tol, fmt.Sprintf("n = %d, %v against %v", n, l, cpu.Supported))
			same(wantDots, serialDots, tolDots, fmt.Sprintf("n = %d, %v against %v", n, l, cpu.Supported))
			for _, procs := range []int{2, 3, 5} {
				if n < 50 || l == cpu.Go && procs != 3 {
					continue
				}
				runtime.GOMAXPROCS(procs)
				got, gotDots := results(n)
				same(serial, got, 0, fmt.Sprintf("n = %d, %v, %d goroutines", n, l, procs))
				same(serialDots, gotDots, 0, fmt.Sprintf("n = %d, %v, %d goroutines", n, l, procs))
			}
		}
	}
}

// An entry of a product does not depend on the other entries: one row or column alone
// has the same numbers.
func TestEntriesAlone(t *testing.T) {
	forLevels(t, func(t *testing.T) {
		rng := random.New(1, "alone", 0)
		const m, n, k = 203, 111, 300
		for _, tA := range transposes {
			for _, tB := range transposes {
				a, b := shaped(tA, m, k, 0, rng), shaped(tB, k, n, 0, rng)
				c, row, col := framed(m, n, n, rng), framed(1, n, n, rng), framed(m, 1, 1, rng)
				Gemm(tA, tB, 1.1, a, b, 0, c)
				i, j := rng.IntN(m), rng.IntN(n)
				ai, bj := a, b
				if tA == blas.NoTrans {
					ai.Data, ai.Rows = a.Data[i*a.Stride:], 1
				} else {
					ai.Data, ai.Cols = a.Data[i:], 1
				}
				if tB == blas.NoTrans {
					bj.Data, bj.Cols = b.Data[j:], 1
				} else {
					bj.Data, bj.Rows = b.Data[j*b.Stride:], 1
				}
				Gemm(tA, tB, 1.1, ai, b, 0, row)
				Gemm(tA, tB, 1.1, a, bj, 0, col)
				require.Equal(t, c.Data[i*n:(i+1)*n], row.Data)
				for r := range m {
					require.Equal(t, c.Data[r*n+j], col.Data[r])
				}
			}
		}
	})
}

// Copies made because of the stride of rows do not change results.
func TestCrowded(t *testing.T) {
	forLevels(t, func(t *testing.T) {
		rng := random.New(1, "crowded", 0)
		const n, cols = 150, 512
		require.True(t, crowded(cols))
		x := framed(n, cols, cols, rng)
		moved := framed(n, cols, cols+3, rng)
		same := func(what string) {
			t.Helper()
			for i := range n {
				require.Equal(t, x.Data[i*cols:(i+1)*cols], moved.Data[i*moved.Stride:i*moved.Stride+cols], what)
			}
		}
		for i := range n {
			copy(moved.Data[i*moved.Stride:], x.Data[i*cols:(i+1)*cols])
		}
		forTriangles(func(_ blas.Side, uplo blas.Uplo, op blas.Transpose, diag blas.Diag) {
			l := dominant(n, 0, uplo, diag, rng)
			Trsm(blas.Left, op, 1, l, x)
			Trsm(blas.Left, op, 1, l, moved)
			same("Trsm")
		})
		a, c, d := framed(60, n, n, rng), framed(60, cols, cols, rng), framed(60, cols, cols, rng)
		Gemm(blas.NoTrans, blas.NoTrans, 1, a, x, 0, c)
		Gemm(blas.NoTrans, blas.NoTrans, 1, a, moved, 0, d)
		requireSame(t, c, d, 0, "Gemm")
	})
}

// With beta or alpha 0 the unused operands are not read. Otherwise NaN and infinities
// propagate through every product, also through products with zero.
func TestNaN(t *testing.T) {
	forLevels(t, func(t *testing.T) {
		rng := random.New(1, "nan", 0)
		for _, n := range []int{3, 20, 70} {
			nan := framed(n, n, n, rng)
			for i := range nan.Data {
				nan.Data[i] = math.NaN()
			}
			a, zero, c := framed(n, n, n, rng), framed(n, n, n, rng), clone(nan)
			clear(zero.Data)
			Gemm(blas.NoTrans, blas.NoTrans, 1, zero, a, 0, c)
			requireSame(t, zero, c, 0, "beta 0")
			Gemm(blas.NoTrans, blas.NoTrans, 0, nan, nan, 1, c)
			requireSame(t, zero, c, 0, "alpha 0")
			a.Data[1] = math.Inf(1)
			Gemm(blas.NoTrans, blas.NoTrans, 1, zero, a, 0, c)
			for i := range n {
				for j := range n {
					require.Equal(t, j == 1, math.IsNaN(c.Data[i*n+j]), "0·∞ at (%d, %d)", i, j)
				}
			}
		}
	})
}

func TestPanics(t *testing.T) {
	g := func(r, c, s, n int) blas64.General {
		return blas64.General{Rows: r, Cols: c, Stride: s, Data: make([]float64, n)}
	}
	no := blas.NoTrans
	for name, f := range map[string]func(){
		"dense: product of 2×3 and 4×5 into 2×5":                                 func() { Gemm(no, no, 1, g(2, 3, 3, 6), g(4, 5, 5, 20), 0, g(2, 5, 5, 10)) },
		"dense: A is 2×3 with stride 3 in 5 numbers":                             func() { Gemm(no, no, 1, g(2, 3, 3, 5), g(3, 5, 5, 15), 0, g(2, 5, 5, 10)) },
		"dense: B is 3×5 with stride 4":                                          func() { Gemm(no, no, 1, g(2, 3, 3, 6), g(3, 5, 4, 15), 0, g(2, 5, 5, 10)) },
		fmt.Sprintf("dense: C is 2×5 with stride %d in 10 numbers", math.MaxInt): func() { Gemm(no, no, 1, g(2, 3, 3, 6), g(3, 5, 5, 15), 0, g(2, 5, math.MaxInt, 10)) },
		"dense: vector of length 3, want 2":                                      func() { Gemv(no, 1, g(2, 3, 3, 6), make([]float64, 3), 0, make([]float64, 3)) },
		"dense: triangular solve of size 2 with 3×1 on side L": func() {
			Trsm(blas.Left, no, 1, blas64.Triangular{N: 2, Stride: 2, Data: make([]float64, 4), Uplo: blas.Lower, Diag: blas.Unit}, g(3, 1, 1, 3))
		},
	} {
		require.PanicsWithValue(t, name, f)
	}
}

func FuzzGemm(f *testing.F) {
	f.Add(uint16(3), uint16(5), uint16(7), uint8(0), uint64(1))
	f.Add(uint16(200), uint16(17), uint16(260), uint8(0b1111), uint64(2))
	f.Fuzz(func(t *testing.T, m16, n16, k16 uint16, forms uint8, seed uint64) {
		m, n, k := int(m16%300), int(n16%300), int(k16%600)
		rng := rand.New(rand.NewPCG(seed, 1))
		tA, tB := transposes[forms&1], transposes[forms>>1&1]
		beta, alpha := factors[(forms>>2)%3], factors[(forms>>4)%3]
		a, b, c := shaped(tA, m, k, rng.IntN(9), rng), shaped(tB, k, n, rng.IntN(9), rng), shaped(blas.NoTrans, m, n, rng.IntN(9), rng)
		want := clone(c)
		reference.Dgemm(tA, tB, m, n, k, alpha, a.Data, a.Stride, b.Data, b.Stride, beta, want.Data, want.Stride)
		Gemm(tA, tB, alpha, a, b, beta, c)
		requireSame(t, want, c, 1e-14*float64(k+1), "Gemm")
	})
}

func FuzzTrsm(f *testing.F) {
	f.Add(uint16(3), uint16(5), uint8(0), uint64(1))
	f.Add(uint16(140), uint16(99), uint8(0b1111), uint64(2))
	f.Fuzz(func(t *testing.T, n16, cols16 uint16, forms uint8, seed uint64) {
		n, cols := int(n16%300), int(cols16%300)
		rng := rand.New(rand.NewPCG(seed, 1))
		op, uplo, diag, side := transposes[forms&1], blas.Lower, blas.NonUnit, blas.Left
		rows, columns := n, cols
		if forms&2 != 0 {
			uplo = blas.Upper
		}
		if forms&4 != 0 {
			diag = blas.Unit
		}
		if forms&8 != 0 {
			side, rows, columns = blas.Right, cols, n
		}
		a, b := dominant(n, rng.IntN(9), uplo, diag, rng), shaped(blas.NoTrans, rows, columns, rng.IntN(9), rng)
		want := clone(b)
		reference.Dtrsm(side, uplo, op, diag, rows, columns, 1, a.Data, a.Stride, want.Data, want.Stride)
		Trsm(side, op, 1, a, b)
		requireSame(t, want, b, 1e-13, "Trsm")
	})
}
