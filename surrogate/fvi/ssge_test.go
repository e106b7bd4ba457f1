package fvi

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/gradcheck"
	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/racetest"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/space"
)

func normal(n, d int, seed uint64) *mat.Dense {
	x, rng := mat.NewDense(n, d, nil), random.New(seed, "normal", 0)
	for i := range x.RawMatrix().Data {
		x.RawMatrix().Data[i] = rng.NormFloat64()
	}
	return x
}

// The median of all n² differences, zeros included, is the difference at position n²/2 in descending order.
func TestWidths(t *testing.T) {
	for _, n := range []int{2, 3, 6, 7, 50} {
		x := normal(n, 2, uint64(n))
		got := widths(x)
		for j := range 2 {
			var gaps []float64
			for a := range n {
				for b := range n {
					gaps = append(gaps, math.Abs(x.At(a, j)-x.At(b, j)))
				}
			}
			slices.Sort(gaps)
			require.InDelta(t, math.Sqrt2*gaps[n*n-(n*n+1)/2], got[j], 1e-9, "%d values", n)
		}
	}
	require.Equal(t, []float64{1}, widths(mat.NewDense(3, 1, []float64{2, 2, 2})))
}

// The matrix products equal the sums of the definition, with the derivative of the kernel by
// finite differences.
func TestSpectralIsItsDefinition(t *testing.T) {
	const n, d, share = 7, 2, 0.9
	x, at, w := normal(n, d, 1), normal(3, d, 2), []float64{0.9, 1.4}
	k := func(a, b []float64) float64 {
		return math.Exp(-0.5 * (math.Pow((a[0]-b[0])/w[0], 2) + math.Pow((a[1]-b[1])/w[1], 2)))
	}
	gram := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range n {
			gram.SetSym(i, j, k(x.RawRowView(i), x.RawRowView(j)))
		}
	}
	var eigen mat.EigenSym
	require.True(t, eigen.Factorize(gram, true))
	values := eigen.Values(nil)
	var u mat.Dense
	eigen.VectorsTo(&u)
	want := mat.NewDense(3, d, nil)
	var sum float64
	kept := 0
	for j := n - 1; j >= 0; j-- {
		if sum += values[j]; sum >= share*n && kept > 0 {
			break
		}
		kept++
		beta := make([]float64, d)
		for b := range n {
			for a := range n {
				for c := range d {
					const h = 1e-5
					moved := slices.Clone(x.RawRowView(a))
					moved[c] += h
					up := k(moved, x.RawRowView(b))
					moved[c] -= 2 * h
					beta[c] -= math.Sqrt(n) / values[j] * u.At(b, j) * (up - k(moved, x.RawRowView(b))) / (2 * h) / n
				}
			}
		}
		for i := range 3 {
			var psi float64
			for b := range n {
				psi += math.Sqrt(n) / values[j] * k(at.RawRowView(i), x.RawRowView(b)) * u.At(b, j)
			}
			linalg.Axpy(psi, beta, want.RawRowView(i))
		}
	}
	require.Greater(t, kept, 1)
	require.Less(t, kept, n)
	s, err := newSpectral(x, w, share)
	require.NoError(t, err)
	got := mat.NewDense(3, d, nil)
	s.score(got, at)
	require.InDeltaSlice(t, want.RawMatrix().Data, got.RawMatrix().Data, 1e-7)
}

// compare returns the cosine between an estimate and the true score, and the slope of the
// regression of the estimate on the score. Both use the metric of the covariance.
func compare(estimate, score *mat.Dense, cov mat.Matrix) (cosine, slope float64) {
	var weighted mat.Dense
	weighted.Mul(score, cov)
	st, ss := inner(estimate, &weighted), inner(score, &weighted)
	weighted.Mul(estimate, cov)
	return st / math.Sqrt(ss*inner(estimate, &weighted)), st / ss
}

// The score of N(0,I) is estimated from 100 samples. One draw of an independent implementation
// had cosines .85, .79, .76, .88, .94 and slopes 1.14, 1.00, .80, .41, .13. Slopes of single
// draws vary by .15, .06, .03 at d = 1, 5, 20. Calibrated slopes are 1.
func TestScoreOfGaussians(t *testing.T) {
	racetest.SkipNumerical(t)
	for _, c := range []struct {
		d                                 int
		cosine, slope, within, calibrated float64
	}{
		{1, 0.85, 1.14, 0.25, 0.1}, {5, 0.79, 1.00, 0.15, 0.1}, {20, 0.76, 0.80, 0.05, 0.05},
		{100, 0.88, 0.41, 0.02, 0}, {400, 0.94, 0.13, 0.02, 0},
	} {
		unit := mat.NewSymDense(c.d, nil)
		for i := range c.d {
			unit.SetSym(i, i, 1)
		}
		for _, plain := range []bool{true, false} {
			if !plain && c.d >= 100 {
				continue // the covariance is singular
			}
			const draws = 3
			var cosine, slope float64
			for i := range draws {
				x := normal(100, c.d, uint64(i))
				truth, got := new(mat.Dense), mat.NewDense(100, c.d, nil)
				truth.Scale(-1, x)
				e, err := method{share: 0.99, plain: plain, ridge: 1e-4}.estimate(x, nil)
				require.NoError(t, err)
				e.score(got, x)
				dc, ds := compare(got, truth, unit)
				cosine, slope = cosine+dc/draws, slope+ds/draws
			}
			t.Logf("d = %d plain %t: cosine %.2f, slope %.2f", c.d, plain, cosine, slope)
			require.InDelta(t, c.cosine, cosine, 0.12)
			if plain {
				require.InDelta(t, c.slope, slope, c.within)
			} else {
				require.InDelta(t, 1, slope, c.calibrated)
			}
		}
	}
}

// For values of a smooth function at 30 points the plain estimator loses most of the score.
func TestScoreOfDependentValues(t *testing.T) {
	const d = 30
	cov := mat.NewSymDense(d, nil)
	p := prior.Process{Kernel: prior.Matern52(1).WithParams([]float64{0.3}), Noise: 1e-4}
	p.Covariance(cov, space.Sobol(d, 1, random.New(1, "x", 0)))
	chol, err := linalg.Factorize(cov)
	require.NoError(t, err)
	x := normal(100, d, 5)
	for i := range 100 {
		chol.MulLowerVec(x.RawRowView(i))
	}
	truth, got := mat.DenseCopyOf(x.T()), mat.NewDense(100, d, nil)
	chol.Solve(truth)
	truth.Scale(-1, truth)
	truth = mat.DenseCopyOf(truth.T())
	var slopes []float64
	for _, plain := range []bool{true, false} {
		e, err := method{share: 0.99, plain: plain, ridge: 1e-4}.estimate(x, nil)
		require.NoError(t, err)
		e.score(got, x)
		cosine, slope := compare(got, truth, cov)
		t.Logf("plain %t: cosine %.2f, slope %.2f", plain, cosine, slope)
		slopes = append(slopes, slope)
	}
	require.Less(t, slopes[0], 0.5)
	require.InDelta(t, 1, slopes[1], 0.25)
}

// The whitened estimate of the score of A x is A⁻ᵀ times the estimate for x.
func TestWhitenedEstimateIsEquivariant(t *testing.T) {
	x := normal(30, 2, 3)
	y := mat.NewDense(30, 2, nil)
	for i := range 30 {
		a, b := x.At(i, 0), x.At(i, 1)
		y.SetRow(i, []float64{2 * a, 3*a + 0.1*b})
	}
	whitened := method{share: 0.99}
	of, got := mat.NewDense(30, 2, nil), mat.NewDense(30, 2, nil)
	e, err := whitened.estimate(x, nil)
	require.NoError(t, err)
	e.score(of, x)
	e, err = whitened.estimate(y, nil)
	require.NoError(t, err)
	e.score(got, y)
	for i := range 30 {
		s := of.RawRowView(i)
		require.InDeltaSlice(t, []float64{(s[0] - 30*s[1]) / 2, 10 * s[1]}, got.RawRowView(i), 1e-6)
	}
}

// The score of a process is the gradient of its log density.
func TestScoreOfAProcess(t *testing.T) {
	const inject = 0.1
	g := gaussian{prior.Process{Kernel: prior.Matern52(2).WithParams([]float64{0.5, 0.8}), Mean: 0.4, Noise: 7}, inject}
	x, f, score := space.Sobol(4, 2, random.New(1, "x", 0)), normal(2, 4, 1), mat.NewDense(2, 4, nil)
	require.NoError(t, g.score(score, f, x, nil))
	noisy := g.process
	noisy.Noise = inject * inject
	for i := range 2 {
		density := func(f []float64) float64 {
			lp, err := noisy.LogMarginal(x, f)
			require.NoError(t, err)
			return lp
		}
		require.NoError(t, gradcheck.Gradient(density, f.RawRowView(i), score.RawRowView(i), 1e-7))
	}
}

func BenchmarkEstimate(b *testing.B) {
	x := normal(50, 40, 1)
	m, out := method{share: 0.99, ridge: 1e-4}, mat.NewDense(50, 40, nil)
	for b.Loop() {
		e, err := m.estimate(x, nil)
		if err != nil {
			b.Fatal(err)
		}
		e.score(out, x)
	}
}
