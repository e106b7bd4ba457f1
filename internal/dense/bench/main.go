//go:build linux

// Command bench compares package dense with OpenBLAS, in alternating calls:
//
//	cc -O2 -o peer openblas/openblas.c -lopenblas -lm
//	go run . [-rounds 11] [-threads 1,2] [-only gemm] [-cpu] ./peer
//
// For each case it prints the fastest call of each in GFLOP/s and the ratio of the two.
// It also prints the median over rounds of the ratio of the fastest calls in a round. On
// a busy machine the first ratio is more reliable. With one thread, -cpu measures processor time
// instead of elapsed time.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/functionspace/bo/internal/cpu"
	"github.com/functionspace/bo/internal/dense"
)

func main() {
	log.SetFlags(0)
	rounds := flag.Int("rounds", 11, "rounds of each case")
	seconds := flag.Float64("seconds", 0.02, "of one library in one round")
	threads := flag.String("threads", "1,2", "numbers of threads")
	only := flag.String("only", "", "cases that begin so")
	processor := flag.Bool("cpu", false, "time of the processor, not of the clock")
	flag.Parse()
	clock = unix.CLOCK_MONOTONIC
	var args []string
	if *processor {
		clock = unix.CLOCK_PROCESS_CPUTIME_ID
		args = []string{"cpu"}
	}
	if flag.NArg() != 1 {
		log.Fatal("usage: bench [flags] OPENBLAS")
	}
	peer := start(flag.Arg(0), args...)
	fmt.Printf("%s; dense: %v; %d rounds\n", strings.TrimSpace(peer.line()), cpu.Best, *rounds)
	fmt.Printf("%-22s %8s %8s %8s %8s %8s\n", "case", "threads", "dense", "openblas", "ratio", "median")
	for _, c := range cases() {
		if !strings.HasPrefix(c.name, *only) {
			continue
		}
		for _, text := range strings.Split(*threads, ",") {
			var p int
			fmt.Sscan(text, &p)
			runtime.GOMAXPROCS(p)
			run := c.prepare()
			mine, theirs := math.Inf(1), math.Inf(1)
			var ratios []float64
			for range *rounds {
				fmt.Fprintf(peer.in, "%s %d %d %d %d %g\n", c.routine, c.m, c.n, c.k, p, *seconds)
				var t float64
				fmt.Sscan(peer.line(), &t)
				peer.signal(unix.SIGSTOP) // its idle threads spin for a while
				s := fastest(run, *seconds)
				peer.signal(unix.SIGCONT)
				mine, theirs = min(mine, s), min(theirs, t)
				ratios = append(ratios, t/s)
			}
			slices.Sort(ratios)
			fmt.Printf("%-22s %8d %8.1f %8.1f %8.2f %8.2f\n", c.name, p, c.flops/mine, c.flops/theirs, theirs/mine, ratios[len(ratios)/2])
		}
	}
}

type process struct {
	in  io.Writer
	out *bufio.Reader
	cmd *exec.Cmd
}

func (p process) signal(s os.Signal) { check(p.cmd.Process.Signal(s)) }

func start(path string, args ...string) process {
	cmd := exec.Command(path, args...)
	in, err := cmd.StdinPipe()
	check(err)
	out, err := cmd.StdoutPipe()
	check(err)
	check(cmd.Start())
	return process{in, bufio.NewReader(out), cmd}
}

func (p process) line() string {
	s, err := p.out.ReadString('\n')
	check(err)
	return s
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// fastest returns the nanoseconds of the fastest call within the given time.
func fastest(run func() time.Duration, seconds float64) float64 {
	best := math.Inf(1)
	for end := time.Now().Add(time.Duration(1e9 * seconds)); ; {
		best = min(best, float64(run()))
		if time.Now().After(end) {
			return best
		}
	}
}

type benchCase struct {
	name, routine string
	m, n, k       int
	flops         float64
	prepare       func() func() time.Duration
}

func cases() []benchCase {
	var all []benchCase
	op := map[byte]blas.Transpose{'N': blas.NoTrans, 'T': blas.Trans}
	gemm := func(form string, m, n, k int) {
		all = append(all, benchCase{fmt.Sprintf("gemm %s %dx%dx%d", form, m, n, k), "gemm" + form, m, n, k, 2 * float64(m) * float64(n) * float64(k),
			func() func() time.Duration {
				a, b, c := operand(form[0], m, k), operand(form[1], k, n), operand('N', m, n)
				return timed(nil, func() { dense.Gemm(op[form[0]], op[form[1]], 1, a, b, 0, c) })
			}})
	}
	for _, form := range []string{"NN", "NT", "TN"} {
		for _, n := range []int{16, 32, 50, 64, 100, 128, 256, 512, 1024, 2048} {
			gemm(form, n, n, n)
		}
		gemm(form, 500, 50, 50)
		gemm(form, 50, 50, 500)
		gemm(form, 20, 200, 1000)
		gemm(form, 2000, 100, 1000)
	}
	for _, n := range []int{50, 100, 128, 256, 512, 1024, 2048, 4000} {
		cube := float64(n) * float64(n) * float64(n)
		for _, form := range []string{"N", "T"} {
			all = append(all, benchCase{fmt.Sprintf("syrk %s %d", form, n), "syrk" + form, n, n, n, cube, func() func() time.Duration {
				a, c := operand('N', n, n), operand('N', n, n)
				return timed(nil, func() {
					dense.Syrk(op[form[0]], 1, a, 0, blas64.Symmetric{N: n, Data: c.Data, Stride: n, Uplo: blas.Upper})
				})
			}})
		}
		for _, form := range []string{"N", "T"} {
			all = append(all, benchCase{fmt.Sprintf("trsm %s %d", form, n), "trsm" + form, n, n, n, cube, func() func() time.Duration {
				a, c := dominant(n), operand('N', n, n)
				l := blas64.Triangular{N: n, Data: a.Data, Stride: n, Uplo: blas.Lower, Diag: blas.NonUnit}
				return timed(nil, func() { dense.Trsm(blas.Left, op[form[0]], 1, l, c) })
			}})
		}
	}
	for _, n := range []int{20, 50, 100, 128, 256, 512, 1024, 2048, 4000} {
		all = append(all, benchCase{fmt.Sprintf("potrf %d", n), "potrf", n, n, n, float64(n) * float64(n) * float64(n) / 3, func() func() time.Duration {
			a, c := dominant(n), operand('N', n, n)
			return timed(func() { copy(c.Data, a.Data) }, func() {
				dense.Cholesky(blas64.Symmetric{N: n, Data: c.Data, Stride: n, Uplo: blas.Upper})
			})
		}})
	}
	return all
}

func timed(before, f func()) func() time.Duration {
	return func() time.Duration {
		if before != nil {
			before()
		}
		start := now()
		f()
		return now() - start
	}
}

var clock int32

func now() time.Duration {
	var t unix.Timespec
	check(unix.ClockGettime(clock, &t))
	return time.Duration(t.Nano())
}

func operand(form byte, rows, cols int) blas64.General {
	if form == 'T' {
		rows, cols = cols, rows
	}
	data := make([]float64, rows*cols)
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range data {
		data[i] = rng.Float64() - 0.5
	}
	return blas64.General{Rows: rows, Cols: cols, Stride: cols, Data: data}
}

// dominant returns a positive definite matrix with well-conditioned triangles.
func dominant(n int) blas64.General {
	a := operand('N', n, n)
	for i := range a.Data {
		a.Data[i] /= float64(n)
		if i%(n+1) == 0 {
			a.Data[i] = 2
		}
	}
	return a
}
