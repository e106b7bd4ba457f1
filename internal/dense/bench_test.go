package dense

import (
	"fmt"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/functionspace/bo/internal/random"
)

// report adds GFLOP/s.
func report(b *testing.B, flops float64) {
	b.ReportMetric(flops*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "GF/s")
}

func BenchmarkGemm(b *testing.B) {
	for _, size := range [][3]int{{1, 50, 50}, {8, 8, 8}, {16, 16, 16}, {32, 32, 32}, {50, 50, 50}, {500, 50, 50}, {50, 50, 500},
		{64, 64, 64}, {128, 128, 128}, {256, 256, 256}, {512, 512, 512}, {1024, 1024, 1024}, {2048, 2048, 2048}} {
		m, n, k := size[0], size[1], size[2]
		rng := random.New(1, "bench", 0)
		for _, tA := range transposes {
			for _, tB := range transposes {
				if tA == blas.Trans && tB == blas.Trans {
					continue
				}
				x, y, z := shaped(tA, m, k, 0, rng), shaped(tB, k, n, 0, rng), framed(m, n, n, rng)
				name := fmt.Sprintf("%c%c/%dx%dx%d", tA, tB, m, n, k)
				b.Run("bo/"+name, func(b *testing.B) {
					for b.Loop() {
						Gemm(tA, tB, 1, x, y, 0, z)
					}
					report(b, 2*float64(m)*float64(n)*float64(k))
				})
				if m <= 1024 {
					b.Run("gonum/"+name, func(b *testing.B) {
						for b.Loop() {
							reference.Dgemm(tA, tB, m, n, k, 1, x.Data, x.Stride, y.Data, y.Stride, 0, z.Data, z.Stride)
						}
						report(b, 2*float64(m)*float64(n)*float64(k))
					})
				}
			}
		}
	}
}

var benchSizes = []int{20, 50, 100, 256, 512, 1024, 2048}

func BenchmarkSyrk(b *testing.B) {
	for _, n := range benchSizes {
		rng := random.New(1, "bench", 0)
		x, z := framed(n, n, n, rng), framed(n, n, n, rng)
		b.Run(fmt.Sprintf("bo/N/%d", n), func(b *testing.B) {
			for b.Loop() {
				Syrk(blas.NoTrans, 1, x, 0, blas64.Symmetric{N: n, Data: z.Data, Stride: n, Uplo: blas.Upper})
			}
			report(b, float64(n)*float64(n)*float64(n))
		})
		b.Run(fmt.Sprintf("gonum/N/%d", n), func(b *testing.B) {
			for b.Loop() {
				reference.Dsyrk(blas.Upper, blas.NoTrans, n, n, 1, x.Data, n, 0, z.Data, n)
			}
			report(b, float64(n)*float64(n)*float64(n))
		})
	}
}

func BenchmarkTrsm(b *testing.B) {
	for _, op := range transposes {
		for _, n := range benchSizes {
			rng := random.New(1, "bench", 0)
			l, x := dominant(n, 0, blas.Lower, blas.NonUnit, rng), framed(n, n, n, rng)
			b.Run(fmt.Sprintf("bo/%c/%d", op, n), func(b *testing.B) {
				for b.Loop() {
					Trsm(blas.Left, op, 1, l, x)
				}
				report(b, float64(n)*float64(n)*float64(n))
			})
			x = framed(n, n, n, rng)
			b.Run(fmt.Sprintf("gonum/%c/%d", op, n), func(b *testing.B) {
				for b.Loop() {
					reference.Dtrsm(blas.Left, blas.Lower, op, blas.NonUnit, n, n, 1, l.Data, n, x.Data, n)
				}
				report(b, float64(n)*float64(n)*float64(n))
			})
		}
	}
}

func BenchmarkCholesky(b *testing.B) {
	for _, n := range append(benchSizes, 4000) {
		a := spd(n, 0, random.New(1, "bench", 0))
		flops := float64(n) * float64(n) * float64(n) / 3
		work := clone(square(a))
		b.Run(fmt.Sprintf("bo/%d", n), func(b *testing.B) {
			for b.Loop() {
				copy(work.Data, a.Data)
				Cholesky(blas64.Symmetric{N: n, Data: work.Data, Stride: n, Uplo: blas.Upper})
			}
			report(b, flops)
		})
		b.Run(fmt.Sprintf("gonum/%d", n), func(b *testing.B) {
			for b.Loop() {
				copy(work.Data, a.Data)
				lapack64.Potrf(blas64.Symmetric{N: n, Data: work.Data, Stride: n, Uplo: blas.Upper})
			}
			report(b, flops)
		})
	}
}

func BenchmarkSymv(b *testing.B) {
	for _, n := range benchSizes {
		rng := random.New(1, "bench", 0)
		a, x, y := framed(n, n, n, rng), framed(1, n, n, rng), framed(1, n, n, rng)
		b.Run(fmt.Sprintf("bo/%d", n), func(b *testing.B) {
			for b.Loop() {
				Symv(1, upper(a), x.Data, 0, y.Data)
			}
			report(b, 2*float64(n)*float64(n))
		})
		b.Run(fmt.Sprintf("gonum/%d", n), func(b *testing.B) {
			for b.Loop() {
				reference.Dsymv(blas.Upper, n, 1, a.Data, n, x.Data, 1, 0, y.Data, 1)
			}
			report(b, 2*float64(n)*float64(n))
		})
	}
}

func BenchmarkInverse(b *testing.B) {
	for _, n := range benchSizes {
		rng := random.New(1, "bench", 0)
		l, inv, gram := dominant(n, 0, blas.Lower, blas.NonUnit, rng), framed(n, n, n, rng), framed(n, n, n, rng)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				InvertLower(inv, l)
				GramLower(blas64.Symmetric{N: n, Data: gram.Data, Stride: n, Uplo: blas.Upper}, inv)
			}
			report(b, 2*float64(n)*float64(n)*float64(n)/3)
		})
	}
}
