package linalg

import (
	"fmt"
	"math"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/random"
)

// spectrum returns QᵀΛQ for a random orthogonal Q.
func spectrum(values []float64) *mat.SymDense {
	n := len(values)
	var qr mat.QR
	qr.Factorize(randomDense(n, n, random.New(6, "spectrum", n)))
	var q mat.Dense
	qr.QTo(&q)
	scaled := mat.DenseCopyOf(&q)
	for i := range n {
		for j, v := range values {
			scaled.Set(i, j, scaled.At(i, j)*v)
		}
	}
	full := mat.NewDense(n, n, nil)
	Mul(full, 1, N, scaled, T, &q, 0)
	a := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			a.SetSym(i, j, 0.5*(full.At(i, j)+full.At(j, i)))
		}
	}
	return a
}

// eigenproblems returns matrices of size n that are difficult for eigensolvers.
func eigenproblems(n int) map[string]*mat.SymDense {
	values := func(f func(i int) float64) []float64 {
		out := make([]float64, n)
		for i := range out {
			out[i] = f(i)
		}
		return out
	}
	tridiagonal := func(d, e func(i int) float64) *mat.SymDense {
		a := mat.NewSymDense(n, nil)
		for i := range n {
			a.SetSym(i, i, d(i))
			if i > 0 {
				a.SetSym(i-1, i, e(i-1))
			}
		}
		return a
	}
	constant := func(v float64) func(int) float64 { return func(int) float64 { return v } }
	rng := random.New(7, "eigen", n)
	random, ones, rankOne := mat.NewSymDense(n, nil), mat.NewSymDense(n, nil), mat.NewSymDense(n, nil)
	vector := randomDense(n, 1, rng)
	for i := range n {
		for j := i; j < n; j++ {
			random.SetSym(i, j, rng.NormFloat64())
			ones.SetSym(i, j, 1)
			rankOne.SetSym(i, j, vector.At(i, 0)*vector.At(j, 0))
		}
	}
	scaled := func(s float64) *mat.SymDense {
		a := mat.NewSymDense(n, nil)
		a.ScaleSym(s, random)
		return a
	}
	smooth := mat.NewSymDense(n, nil) // an RBF kernel
	for i := range n {
		for j := i; j < n; j++ {
			smooth.SetSym(i, j, math.Exp(-0.5*float64((i-j)*(i-j))*9/float64(n*n)))
		}
	}
	return map[string]*mat.SymDense{
		"random":          random,
		"spd":             randomSPD(n, rng),
		"zero":            mat.NewSymDense(n, nil),
		"identity":        tridiagonal(constant(1), constant(0)),
		"diagonal":        tridiagonal(func(i int) float64 { return float64((i * 7) % (n + 1)) }, constant(0)),
		"ones":            ones,
		"rank one":        rankOne,
		"smooth":          smooth,
		"two clusters":    spectrum(values(func(i int) float64 { return 1 + float64(i%2)*1e-14 + float64(i%3/2) })),
		"one apart":       spectrum(values(func(i int) float64 { return math.Copysign(1, float64(i)-0.5) })),
		"graded":          spectrum(values(func(i int) float64 { return math.Pow(10, -16*float64(i)/float64(n)) })),
		"rank deficient":  spectrum(values(func(i int) float64 { return max(0, float64(n/2-i)) })),
		"laplace":         tridiagonal(constant(2), constant(-1)),
		"wilkinson":       tridiagonal(func(i int) float64 { return math.Abs(float64(i) - float64(n-1)/2) }, constant(1)),
		"graded diagonal": tridiagonal(func(i int) float64 { return math.Pow(2, -float64(i)) }, func(i int) float64 { return math.Pow(2, -float64(i)-1) }),
		"weak coupling":   tridiagonal(func(i int) float64 { return float64(i % 3) }, func(i int) float64 { return 1e-9 * float64(i%2) }),
		"huge":            scaled(1e306),
		"tiny":            scaled(1e-300),
		"subnormal":       scaled(1e-310),
	}
}

// requireEigen checks V and Λ against a, relative to the scale of a.
func requireEigen(t *testing.T, a *mat.SymDense, what string) {
	t.Helper()
	n := a.SymmetricDim()
	before := mat.DenseCopyOf(a)
	values, v, err := Eigen(a)
	require.NoError(t, err, what)
	require.True(t, mat.Equal(before, a), "the matrix is left as it was")
	require.Len(t, values, n)
	eps := 0x1p-52 * math.Max(10, float64(n))
	norm := max(mat.Max(&absolute{a}), math.SmallestNonzeroFloat64)
	for i := 1; i < n; i++ {
		require.LessOrEqual(t, values[i-1], values[i], what)
	}

	gram, eye := mat.NewSymDense(n, nil), mat.NewDiagDense(n, nil)
	Syrk(gram, 1, N, v, 0)
	for i := range n {
		eye.SetDiag(i, 1)
	}
	requireClose(t, eye, gram, eps, what+": V Vᵀ - I")

	left, scaled, residual := mat.NewDense(n, n, nil), mat.NewDense(n, n, nil), mat.NewDense(n, n, nil)
	for i, l := range values {
		for j := range n {
			scaled.Set(i, j, l/norm*v.At(i, j))
			left.Set(i, j, a.At(i, j)/norm)
		}
	}
	Mul(residual, 1, N, v, N, left, 0)
	floor := 0.0
	if norm < 0x1p-1000 { // values are subnormal
		floor = float64(n) * math.SmallestNonzeroFloat64 / norm
	}
	requireClose(t, scaled, residual, eps*max(1, math.Sqrt(float64(n)))+floor, what+": V A - Λ V")

	if norm < 1e304 && norm > 1e-290 {
		var reference mat.EigenSym
		require.True(t, reference.Factorize(a, false))
		for i, l := range reference.Values(nil) {
			require.InDelta(t, l/norm, values[i]/norm, 2*eps*float64(max(1, n)), "%s: eigenvalue %d", what, i)
		}
	}
}

func TestEigen(t *testing.T) {
	for _, n := range []int{1, 2, 3, 4, 5, 8, 17, 20, 21, 32, 47, 48, 49, 50, 64, 81, 113, 150} {
		for name, a := range eigenproblems(n) {
			requireEigen(t, a, fmt.Sprintf("%s, %d", name, n))
		}
	}
	values, v, err := Eigen(&mat.SymDense{})
	require.NoError(t, err)
	require.Empty(t, values)
	require.True(t, v.IsEmpty())
}

func TestEigenRejects(t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		for _, at := range [][2]int{{0, 0}, {2, 2}, {0, 2}} {
			a := mat.NewSymDense(3, []float64{1, 2, 3, 2, 4, 5, 3, 5, 6})
			a.SetSym(at[0], at[1], bad)
			_, _, err := Eigen(a)
			require.ErrorIs(t, err, ErrNotFinite)
		}
	}
}

// Results do not depend on the number of goroutines.
func TestEigenReproducible(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	a := eigenproblems(400)["smooth"]
	b := randomSPD(400, random.New(8, "eigen", 0))
	for _, m := range []*mat.SymDense{a, b} {
		runtime.GOMAXPROCS(1)
		values, v, err := Eigen(m)
		require.NoError(t, err)
		for _, procs := range []int{2, 3} {
			runtime.GOMAXPROCS(procs)
			again, w, err := Eigen(m)
			require.NoError(t, err)
			require.Equal(t, values, again)
			require.True(t, mat.Equal(v, w))
		}
	}
}

func BenchmarkEigen(b *testing.B) {
	for _, n := range []int{20, 50, 100, 200, 500, 1000} {
		a := randomSPD(n, random.New(1, "bench", n))
		b.Run(fmt.Sprintf("bo/%d", n), func(b *testing.B) {
			for b.Loop() {
				Eigen(a)
			}
		})
		b.Run(fmt.Sprintf("gonum/%d", n), func(b *testing.B) {
			for b.Loop() {
				var e mat.EigenSym
				e.Factorize(a, true)
				var v mat.Dense
				e.VectorsTo(&v)
			}
		})
	}
}
