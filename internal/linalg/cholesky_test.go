package linalg

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/gradcheck"
	"github.com/functionspace/bo/internal/random"
)

// randomSPD returns B Bᵀ + I.
func randomSPD(n int, rng *rand.Rand) *mat.SymDense {
	a := mat.NewSymDense(n, nil)
	Syrk(a, 1, N, randomDense(n, n, rng), 0)
	for i := range n {
		a.SetSym(i, i, a.At(i, i)+1)
	}
	return a
}

func randomDense(r, c int, rng *rand.Rand) *mat.Dense {
	m := mat.NewDense(r, c, nil)
	for i := range m.RawMatrix().Data {
		m.RawMatrix().Data[i] = rng.NormFloat64()
	}
	return m
}

// strided returns a copy of m inside a larger matrix.
func strided(m *mat.Dense) *mat.Dense {
	r, c := m.Dims()
	big := mat.NewDense(r+2, c+3, nil)
	for i := range big.RawMatrix().Data {
		big.RawMatrix().Data[i] = 1e300
	}
	view := big.Slice(1, r+1, 2, c+2).(*mat.Dense)
	view.Copy(m)
	return view
}

func lower(c *Cholesky) *mat.Dense {
	l := mat.NewDense(c.N(), c.N(), nil)
	for i := range l.RawMatrix().Data {
		l.RawMatrix().Data[i] = math.NaN()
	}
	c.Lower(l)
	return l
}

func requireClose(t *testing.T, want, got mat.Matrix, tol float64, what string) {
	t.Helper()
	var diff mat.Dense
	diff.Sub(want, got)
	require.LessOrEqual(t, mat.Max(&absolute{&diff}), tol, what)
}

type absolute struct{ mat.Matrix }

func (a *absolute) At(i, j int) float64 {
	v := math.Abs(a.Matrix.At(i, j))
	if math.IsNaN(v) {
		return math.Inf(1)
	}
	return v
}

func TestFactorizeAndSolve(t *testing.T) {
	for _, n := range []int{1, 2, 3, 17, 64, 65, 150} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			rng := random.New(1, "cholesky", n)
			a := randomSPD(n, rng)
			before := mat.DenseCopyOf(a)
			c, err := Factorize(a)
			require.NoError(t, err)
			require.Zero(t, c.Jitter())
			require.Equal(t, n, c.N())
			require.True(t, mat.Equal(before, a), "the matrix is left as it was")
			tol := 1e-12 * float64(n*n)

			l := lower(c)
			var llt mat.Dense
			llt.Mul(l, l.T())
			requireClose(t, a, &llt, tol, "L Lᵀ")
			for i := range n {
				require.Len(t, c.row(i), i+1)
				require.Equal(t, l.At(i, i), c.row(i)[i])
				for j := i + 1; j < n; j++ {
					require.Zero(t, c.At(i, j))
				}
			}
			logDet, sign := mat.LogDet(a)
			require.Equal(t, 1.0, sign)
			require.InDelta(t, logDet, c.LogDet(), tol)

			b := randomDense(n, 5, rng)
			solve := func(f func(*mat.Dense)) *mat.Dense {
				x := strided(b)
				f(x)
				return x
			}
			var back mat.Dense
			back.Mul(a, solve(c.Solve))
			requireClose(t, b, &back, tol, "A A⁻¹b")
			back.Mul(l, solve(c.SolveLower))
			requireClose(t, b, &back, tol, "L L⁻¹b")
			back.Mul(l.T(), solve(c.SolveUpper))
			requireClose(t, b, &back, tol, "Lᵀ L⁻ᵀb")

			solveVec := func(f func([]float64)) *mat.Dense {
				v := mat.Col(nil, 0, b)
				f(v)
				return mat.NewDense(n, 1, v)
			}
			column := b.Slice(0, n, 0, 1)
			back.Reset()
			back.Mul(a, solveVec(c.SolveVec))
			requireClose(t, column, &back, tol, "A A⁻¹v")
			back.Mul(l, solveVec(c.SolveLowerVec))
			requireClose(t, column, &back, tol, "L L⁻¹v")
			back.Mul(l.T(), solveVec(c.SolveUpperVec))
			requireClose(t, column, &back, tol, "Lᵀ L⁻ᵀv")
			back.Mul(l, column)
			requireClose(t, &back, solveVec(c.MulLowerVec), tol, "L v")

			inverse := mat.NewSymDense(n, nil)
			c.Inverse(inverse)
			var eye mat.Dense
			eye.Mul(a, inverse)
			for i := range n {
				eye.Set(i, i, eye.At(i, i)-1)
			}
			requireClose(t, mat.NewDense(n, n, nil), &eye, tol, "A A⁻¹")
			diag := make([]float64, n)
			c.InverseDiag(diag)
			for i, v := range diag {
				require.InDelta(t, inverse.At(i, i), v, tol)
			}
		})
	}
}

func TestFactorizeEmpty(t *testing.T) {
	c, err := Factorize(&mat.SymDense{})
	require.NoError(t, err)
	assert.Zero(t, c.N())
	assert.Zero(t, c.LogDet())
	c.SolveVec(nil)
	c.MulLowerVec(nil)
	c.InverseDiag(nil)
	c.Inverse(&mat.SymDense{})
	c.Solve(&mat.Dense{})
	assert.Zero(t, c.CholeskyVJP(&mat.Dense{}).SymmetricDim())

	a := randomSPD(4, random.New(1, "empty", 0))
	extended, err := c.Extend(&mat.Dense{}, a)
	require.NoError(t, err)
	whole, err := Factorize(a)
	require.NoError(t, err)
	requireClose(t, lower(whole), lower(extended), 0, "an empty matrix extended")
}

func TestFactorizeReadsUpperTriangle(t *testing.T) {
	// SymDense stores its upper triangle; the other triangle is undefined.
	data := []float64{4, 2, math.NaN(), 3}
	c, err := Factorize(mat.NewSymDense(2, data))
	require.NoError(t, err)
	require.InDelta(t, 1, c.At(1, 0), 1e-15)
	require.InDelta(t, math.Sqrt2, c.At(1, 1), 1e-15)
}

func TestJitter(t *testing.T) {
	ones := func(n int, scale, nugget float64) *mat.SymDense {
		a := mat.NewSymDense(n, nil)
		for i := range n {
			for j := i; j < n; j++ {
				a.SetSym(i, j, scale)
			}
			a.SetSym(i, i, scale*(1+nugget))
		}
		return a
	}
	for _, scale := range []float64{1e-12, 1, 1e12} {
		c, err := Factorize(ones(30, scale, 0))
		require.NoError(t, err)
		assert.InEpsilon(t, 1e-10*scale, c.Jitter(), 1e-9, "a matrix of rank one needs the first jitter")

		for n := 2; n < 40; n++ {
			c, err = Factorize(ones(n, scale*(1+0.1*float64(n)), 0))
			require.NoError(t, err)
			assert.NotZero(t, c.Jitter(), "a remainder of rounding errors is no pivot, %d×%d", n, n)
		}

		c, err = Factorize(ones(30, scale, 1e-9))
		require.NoError(t, err)
		assert.Zero(t, c.Jitter(), "a nugget is enough")

		// Smallest eigenvalue -3e-7 of the scale: the first sufficient jitter is 1e-6.
		c, err = Factorize(ones(30, scale, -3e-7))
		require.NoError(t, err)
		assert.InEpsilon(t, 1e-6*scale, c.Jitter(), 1e-6)
		l := lower(c)
		var llt mat.Dense
		llt.Mul(l, l.T())
		assert.InEpsilon(t, scale*(1-3e-7)+c.Jitter(), llt.At(3, 3), 1e-12)

		_, err = Factorize(ones(30, scale, -1e-3))
		assert.ErrorIs(t, err, ErrNotPositiveDefinite)

		for _, c := range []struct{ nugget, first, want float64 }{
			{1e-9, 1e-12, 0},
			{0, 1e-12, 1e-12},
			{0, 1e-15, 30 * 0x1p-52}, // 1e-15 is below the rounding error
			{0, 1e-8, 1e-10},
			{-5e-5, 3e-13, 1e-4 * (1 - 5e-5)},
		} {
			got, err := FactorizeFrom(ones(30, scale, c.nugget), c.first*scale)
			require.NoError(t, err)
			assert.InDelta(t, c.want*scale, got.Jitter(), 1e-9*c.want*scale, "%+v", c)
		}
		_, err = FactorizeFrom(ones(30, scale, -1e-3), scale*1e-12)
		assert.ErrorIs(t, err, ErrNotPositiveDefinite)
	}
}

func TestFactorizeRejects(t *testing.T) {
	for name, a := range map[string]*mat.SymDense{
		"NaN on the diagonal":   mat.NewSymDense(2, []float64{1, 0, 0, math.NaN()}),
		"NaN off the diagonal":  mat.NewSymDense(2, []float64{1, math.NaN(), 0, 1}),
		"NaN far from it":       mat.NewSymDense(3, []float64{1, 0, math.NaN(), 0, 1, 0, 0, 0, 1}),
		"infinite":              mat.NewSymDense(2, []float64{math.Inf(1), 0, 0, 1}),
		"infinite off diagonal": mat.NewSymDense(2, []float64{1, math.Inf(1), 0, 1}),
		"zero":                  mat.NewSymDense(2, nil),
		"negative":              mat.NewSymDense(1, []float64{-1}),
		"indefinite":            mat.NewSymDense(2, []float64{1, 2, 2, 1}),
	} {
		_, err := Factorize(a)
		assert.ErrorIs(t, err, ErrNotPositiveDefinite, name)
	}
}

func TestExtend(t *testing.T) {
	for _, n := range []int{1, 5, 40} {
		for _, m := range []int{1, 2, 7} {
			a := randomSPD(n+m, random.New(2, "extend", n*100+m))
			head := a.SliceSym(0, n).(*mat.SymDense)
			corner := a.SliceSym(n, n+m).(*mat.SymDense)
			cross := mat.NewDense(n, m, nil)
			for i := range n {
				for j := range m {
					cross.Set(i, j, a.At(i, n+j))
				}
			}
			c, err := Factorize(head)
			require.NoError(t, err)
			before := mat.DenseCopyOf(lower(c))
			got, err := c.Extend(strided(cross), corner)
			require.NoError(t, err)
			want, err := Factorize(a)
			require.NoError(t, err)
			requireClose(t, lower(want), lower(got), 1e-11, "extended factor")
			require.Zero(t, got.Jitter())
			requireClose(t, before, lower(c), 0, "the old factor is unchanged")
		}
	}
}

func TestExtendJitter(t *testing.T) {
	// A duplicate row without noise: the Schur complement is zero up to rounding,
	// with any sign.
	for i := range 20 {
		rng := random.New(3, "duplicate", i)
		a := randomSPD(6, rng)
		c, err := Factorize(a)
		require.NoError(t, err)
		cross := mat.NewDense(6, 1, nil)
		for k := range 6 {
			cross.Set(k, 0, a.At(k, 2))
		}
		corner := mat.NewSymDense(1, []float64{a.At(2, 2)})
		got, err := c.Extend(cross, corner)
		require.NoError(t, err)
		require.Positive(t, got.Jitter())
		require.LessOrEqual(t, got.Jitter(), 1e-8*a.At(2, 2))
		l := lower(got)
		var llt mat.Dense
		llt.Mul(l, l.T())
		require.InDelta(t, a.At(2, 2)+got.Jitter(), llt.At(6, 6), 1e-12*a.At(2, 2))
	}

	// The extended factor keeps the jitter of the old factor.
	rankOne := mat.NewSymDense(3, []float64{1, 1, 1, 1, 1, 1, 1, 1, 1})
	c, err := Factorize(rankOne)
	require.NoError(t, err)
	require.Positive(t, c.Jitter())
	got, err := c.Extend(mat.NewDense(3, 1, []float64{0.5, 0.5, 0.5}), mat.NewSymDense(1, []float64{2}))
	require.NoError(t, err)
	require.Equal(t, c.Jitter(), got.Jitter())

	_, err = c.Extend(mat.NewDense(3, 1, []float64{2, 2, 2}), mat.NewSymDense(1, []float64{1}))
	require.ErrorIs(t, err, ErrNotPositiveDefinite)
	_, err = c.Extend(mat.NewDense(3, 1, []float64{2, math.NaN(), 2}), mat.NewSymDense(1, []float64{1}))
	require.ErrorIs(t, err, ErrNotPositiveDefinite)
}

func TestCholeskyVJP(t *testing.T) {
	for _, n := range []int{1, 2, 3, 8} {
		rng := random.New(4, "vjp", n)
		a, lbar := randomSPD(n, rng), randomDense(n, n, rng)
		// F = Σ_{i≥j} lbar_ij L_ij; the part of lbar above the diagonal is not used.
		f := func(upper []float64) float64 {
			c, err := Factorize(symmetric(n, upper))
			require.NoError(t, err)
			var s float64
			for i := range n {
				for j, v := range c.row(i) {
					s += lbar.At(i, j) * v
				}
			}
			return s
		}
		c, err := Factorize(a)
		require.NoError(t, err)
		abar := c.CholeskyVJP(strided(lbar))
		var upper, grad []float64
		for i := range n {
			for j := i; j < n; j++ {
				upper = append(upper, a.At(i, j))
				g := abar.At(i, j)
				if i != j { // a_ij and a_ji move together
					g *= 2
				}
				grad = append(grad, g)
			}
		}
		require.NoError(t, gradcheck.Gradient(f, upper, grad, 1e-8), "n = %d", n)
	}
}

func symmetric(n int, upper []float64) *mat.SymDense {
	a := mat.NewSymDense(n, nil)
	k := 0
	for i := range n {
		for j := i; j < n; j++ {
			a.SetSym(i, j, upper[k])
			k++
		}
	}
	return a
}

func TestProducts(t *testing.T) {
	rng := random.New(5, "products", 0)
	a, b, dst := randomDense(4, 3, rng), randomDense(4, 5, rng), randomDense(3, 5, rng)
	var want mat.Dense
	want.Mul(a.T(), b)
	want.Scale(2, &want)
	var old mat.Dense
	old.Scale(-0.5, dst)
	want.Add(&want, &old)
	got := strided(dst)
	Mul(got, 2, T, a, N, b, -0.5)
	requireClose(t, &want, got, 1e-14, "Mul")

	x, y := []float64{1, -2, 3}, []float64{1, 1, 1, 1}
	MulVec(y, 1, N, a, x, 3)
	for i := range 4 {
		require.InDelta(t, a.At(i, 0)-2*a.At(i, 1)+3*a.At(i, 2)+3, y[i], 1e-14)
	}

	s := mat.NewSymDense(3, nil)
	Syrk(s, 1, T, a, 0)
	var ata mat.Dense
	ata.Mul(a.T(), a)
	requireClose(t, &ata, s, 1e-14, "Syrk")

	require.InDelta(t, 14, Dot(x, x), 1e-15)
	Axpy(2, []float64{1, 1, 1}, x)
	require.Equal(t, []float64{3, 0, 5}, x)
}

func TestShapePanics(t *testing.T) {
	c, err := Factorize(mat.NewSymDense(2, []float64{2, 0, 0, 2}))
	require.NoError(t, err)
	require.PanicsWithValue(t, "linalg: vector of length 3, want 2", func() { c.SolveVec(make([]float64, 3)) })
	require.Panics(t, func() { c.Solve(mat.NewDense(3, 1, nil)) })
	require.Panics(t, func() { c.InverseDiag(nil) })
	require.Panics(t, func() { c.Inverse(mat.NewSymDense(3, nil)) })
	require.Panics(t, func() { c.MulLowerVec(make([]float64, 3)) })
	require.Panics(t, func() { c.CholeskyVJP(mat.NewDense(2, 3, nil)) })
	require.Panics(t, func() { _, _ = c.Extend(mat.NewDense(3, 1, nil), mat.NewSymDense(1, nil)) })

	a, b := mat.NewDense(2, 3, nil), mat.NewDense(2, 4, nil)
	require.PanicsWithValue(t, "linalg: product of 2×3 and 2×4 into 3×4", func() { Mul(mat.NewDense(3, 4, nil), 1, N, a, N, b, 0) })
	require.Panics(t, func() { Mul(mat.NewDense(4, 4, nil), 1, T, a, N, b, 0) })
	require.Panics(t, func() { MulVec(make([]float64, 3), 1, N, a, make([]float64, 3), 0) })
	require.Panics(t, func() { Syrk(mat.NewSymDense(3, nil), 1, N, a, 0) })
	require.Panics(t, func() { Dot(make([]float64, 2), make([]float64, 3)) })
	require.Panics(t, func() { Axpy(1, make([]float64, 2), make([]float64, 3)) })
}

var sizes = []int{20, 100, 500}

func BenchmarkFactorize(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			a := randomSPD(n, random.New(1, "bench", n))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Factorize(a); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkExtend(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			c, err := Factorize(randomSPD(n, random.New(1, "bench", n)))
			if err != nil {
				b.Fatal(err)
			}
			cross, corner := mat.NewDense(n, 1, nil), mat.NewSymDense(1, []float64{2})
			for b.Loop() {
				if _, err := c.Extend(cross, corner); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkSolveLower(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprintf("%dx1024", n), func(b *testing.B) {
			rng := random.New(1, "bench", n)
			c, err := Factorize(randomSPD(n, rng))
			if err != nil {
				b.Fatal(err)
			}
			x := randomDense(n, 1024, rng)
			work := mat.NewDense(n, 1024, nil)
			for b.Loop() {
				work.Copy(x)
				c.SolveLower(work)
			}
		})
	}
}

func BenchmarkCholeskyVJP(b *testing.B) {
	for _, n := range []int{4, 20, 100} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			rng := random.New(1, "bench", n)
			c, err := Factorize(randomSPD(n, rng))
			if err != nil {
				b.Fatal(err)
			}
			lbar := randomDense(n, n, rng)
			for b.Loop() {
				c.CholeskyVJP(lbar)
			}
		})
	}
}

// An overwritten factor equals a new factor.
func TestFactorizeAgain(t *testing.T) {
	rng := random.New(1, "again", 0)
	var c Cholesky
	for _, n := range []int{7, 40, 1, 3, 40} {
		a := randomSPD(n, rng)
		want, err := Factorize(a)
		require.NoError(t, err)
		require.NoError(t, c.Factorize(a))
		require.Equal(t, n, c.N())
		require.True(t, mat.Equal(lower(want), lower(&c)))
		if n == 7 {
			require.ErrorIs(t, c.Factorize(mat.NewSymDense(9, nil)), ErrNotPositiveDefinite)
		}
	}
}
