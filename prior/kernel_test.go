package prior

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/gradcheck"
	"github.com/functionspace/bo/internal/kernelgrad"
	"github.com/functionspace/bo/internal/linalg"
)

// expressions cover every kernel and every combination, with 3 inputs.
var expressions = []string{
	"rbf", "matern12", "matern32", "matern52", "rq", "periodic", "linear", "polynomial(degree=3)",
	"arccos", "arccos(depth=3)", "white", "constant",
	"rbf(ard=false)", "periodic(ard=false)", "linear(ard=false)", "rq[2,0]", "polynomial[1]",
	"rbf*periodic+linear", "rbf*(linear+constant)*white+0.5*matern12[1]", "matern32*rq*arccos", "potential", "stream", "potential+0.3*stream[1,2,0]*rbf",
}

func parsed(t testing.TB, expr string, dim int) Kernel {
	t.Helper()
	k, err := Parse(expr, dim)
	require.NoError(t, err)
	return k
}

// varied returns k with hyperparameters that differ from one another.
func varied(k Kernel) Kernel {
	theta := make([]float64, len(k.Params()))
	for i := range theta {
		theta[i] = 0.4 + 0.3*float64(i%5)
	}
	return k.WithParams(theta)
}

func points(rng *rand.Rand, n, d int) *mat.Dense {
	x := mat.NewDense(n, d, nil)
	for i := range n {
		for j := range d {
			x.Set(i, j, rng.Float64())
		}
	}
	return x
}

func normals(rng *rand.Rand, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = rng.NormFloat64()
	}
	return out
}

func symmetric(rng *rand.Rand, n int) *mat.SymDense {
	return mat.NewSymDense(n, normals(rng, n*n))
}

func nan(n int) []float64 {
	out := make([]float64, n)
	fill(out, math.NaN())
	return out
}

// EachKernel calls f for kernels of every kind; the tests of package prior_test use it too.
func EachKernel(t *testing.T, f func(t *testing.T, k Kernel, rng *rand.Rand)) {
	for _, expr := range expressions {
		t.Run(expr, func(t *testing.T) {
			f(t, varied(parsed(t, expr, 3)), rand.New(rand.NewPCG(1, 2)))
		})
	}
	for _, expr := range []string{"rbf", "rq[c,x]*linear", "matern52(ard=false)+matern12[c]*periodic"} {
		for _, byValue := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s,by value %v", expr, byValue), func(t *testing.T) {
				k, err := parse(expr, 3, nominalInputs, false, byValue)
				require.NoError(t, err)
				f(t, varied(k), rand.New(rand.NewPCG(1, 2)))
			})
		}
	}
}

func TestGramGradient(t *testing.T) {
	EachKernel(t, func(t *testing.T, k Kernel, rng *rand.Rand) {
		x, sbar, got := points(rng, 5, 3), symmetric(rng, 5), mat.NewDense(5, 3, nil)
		kernelgrad.Gram(k, got, x, sbar)
		require.NoError(t, gradcheck.Gradient(func([]float64) float64 {
			g := mat.NewSymDense(5, nan(25))
			k.Gram(g, x)
			var s float64
			for i := range 5 {
				for j := range 5 {
					s += g.At(i, j) * sbar.At(i, j)
				}
			}
			return s
		}, x.RawMatrix().Data, got.RawMatrix().Data, 1e-7))
	})
}

// The bounds are absolute; package priortest has them in units of the variance.
func TestKernelIdentities(t *testing.T) {
	EachKernel(t, func(t *testing.T, k Kernel, rng *rand.Rand) {
		x := points(rng, 12, 3)
		gram, cross, diag := mat.NewSymDense(12, nan(144)), mat.NewDense(12, 12, nan(144)), nan(12)
		k.Gram(gram, x)
		k.Cross(cross, x, x)
		k.Diag(diag, x)
		for i := range 12 {
			require.InDelta(t, diag[i], gram.At(i, i), 1e-12*(1+diag[i]))
			for j := range i {
				require.InDelta(t, gram.At(i, j), cross.At(i, j), 1e-12)
				require.InDelta(t, cross.At(j, i), cross.At(i, j), 1e-12)
			}
		}
	})
}

func TestTapes(t *testing.T) {
	EachKernel(t, func(t *testing.T, k Kernel, rng *rand.Rand) {
		x, gram := points(rng, 12, 3), mat.NewSymDense(12, nan(144))
		k.Gram(gram, x)
		addDiag(gram, 1e-9*mat.Trace(gram))
		chol, err := linalg.Factorize(gram)
		require.NoError(t, err)
		require.Zero(t, chol.Jitter())

		// The tape gives the same Gram matrix and the same gradient.
		sbar := symmetric(rng, 12)
		taped, want := mat.NewSymDense(12, nan(144)), mat.NewSymDense(12, nil)
		k.Gram(want, x)
		tape, theta := newTape(k, x), []float64{}
		for _, p := range k.Params() {
			theta = append(theta, p.Value)
		}
		tape.gram(taped, make([]float64, len(theta))) // does not affect the next call
		tape.gram(taped, theta)
		require.True(t, mat.EqualApprox(want, taped, 1e-14))
		a, b := make([]float64, len(theta)), make([]float64, len(theta))
		tape.pull(a, sbar)
		k.ParamVJP(b, x, sbar)
		require.InDeltaSlice(t, b, a, 1e-11)
	})
}

// Names of hyperparameters are unique, and Parse accepts the text of a kernel.
func TestKernelTexts(t *testing.T) {
	for _, expr := range expressions {
		k, names := parsed(t, expr, 3), map[string]bool{}
		for _, p := range k.Params() {
			require.False(t, names[p.Name], p.Name)
			names[p.Name] = true
		}
		again := parsed(t, k.String(), 3)
		require.Equal(t, k.String(), again.String())
		require.Len(t, again.Params(), len(k.Params()))
	}
}

func TestGradientAtCoincidentPoints(t *testing.T) {
	for _, expr := range []string{"rbf", "matern12", "matern32", "matern52", "rq", "periodic"} {
		k := parsed(t, expr, 2)
		x := mat.NewDense(1, 2, []float64{0.3, 0.7})
		dx := mat.NewDense(1, 2, nil)
		k.CrossVJP(dx, x, x, mat.NewDense(1, 1, []float64{1}))
		require.Equal(t, []float64{0, 0}, dx.RawMatrix().Data, expr)
		value := mat.NewDense(1, 1, nil)
		k.Cross(value, x, x)
		require.Equal(t, 1.0, value.At(0, 0), expr)
	}
}

func TestExtremeInputs(t *testing.T) {
	x := mat.NewDense(3, 1, []float64{-1e200, 0, 1e308})
	for _, expr := range []string{"rbf", "matern12", "matern32", "matern52", "rq"} {
		k, gram := parsed(t, expr, 1), mat.NewSymDense(3, nil)
		k.Gram(gram, x)
		require.InDelta(t, 0, gram.At(0, 2), 1e-100, expr)
		grad := make([]float64, len(k.Params()))
		k.ParamVJP(grad, x, symmetric(rand.New(rand.NewPCG(1, 1)), 3))
		for _, g := range grad {
			require.True(t, finite(g), expr)
		}
	}
}

func TestShapesPanic(t *testing.T) {
	x, wide := mat.NewDense(4, 3, nil), mat.NewDense(4, 5, nil)
	for _, expr := range expressions {
		k := parsed(t, expr, 3)
		require.Panics(t, func() { k.Gram(mat.NewSymDense(4, nil), wide) }, expr)
		require.Panics(t, func() { k.Cross(mat.NewDense(4, 4, nil), wide, wide) }, expr)
		require.Panics(t, func() { k.Diag(make([]float64, 4), wide) }, expr)
		require.Panics(t, func() { k.Gram(mat.NewSymDense(3, nil), x) }, expr)
		require.Panics(t, func() { k.Cross(mat.NewDense(4, 3, nil), x, x) }, expr)
		require.Panics(t, func() { k.Diag(make([]float64, 3), x) }, expr)
		require.Panics(t, func() { k.WithParams(make([]float64, 99)) }, expr)
	}
}

func BenchmarkKernel(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	x, y := points(rng, 20, 6), points(rng, 200, 6)
	for _, expr := range []string{"matern52", "rbf*periodic+linear", "arccos(depth=3)"} {
		k := parsed(b, expr, 6)
		gram, cross, dx := mat.NewSymDense(200, nil), mat.NewDense(20, 200, nil), mat.NewDense(20, 6, nil)
		b.Run("Gram/"+expr, func(b *testing.B) {
			for b.Loop() {
				k.Gram(gram, y)
			}
		})
		b.Run("Cross/"+expr, func(b *testing.B) {
			for b.Loop() {
				k.Cross(cross, x, y)
			}
		})
		b.Run("CrossVJP/"+expr, func(b *testing.B) {
			for b.Loop() {
				k.CrossVJP(dx, x, y, cross)
			}
		})
	}
}

func TestDensities(t *testing.T) {
	for _, d := range []Density{LogNormal{Mu: -0.3, Sigma: 0.8}, Gamma{Shape: 2.5, Rate: 0.7}, Gamma{Shape: 0.9, Rate: 2}} {
		for _, at := range []float64{0.05, 0.7, 4} {
			_, slope := d.LogProb(at)
			require.NoError(t, gradcheck.Gradient(func(x []float64) float64 {
				lp, _ := d.LogProb(x[0])
				return lp
			}, []float64{at}, []float64{slope}, 1e-6))
		}
		// The density integrates to 1: midpoints on a grid in log θ.
		var total, mean float64
		const step = 1e-3
		for l := -40.0; l < 8; l += step {
			lp, _ := d.LogProb(math.Exp(l))
			total += math.Exp(lp+l) * step
			mean += math.Exp(lp+2*l) * step
		}
		require.InDelta(t, 1, total, 1e-6)

		rng := rand.New(rand.NewPCG(3, 4))
		var draws float64
		for range 20000 {
			draws += d.Sample(rng) / 20000
		}
		require.InDelta(t, mean, draws, 0.05*mean)
	}
	require.InDelta(t, math.Sqrt(6)*math.Exp(math.Sqrt2-3), LengthscalePrior(6).Mode(), 1e-12)
	_, slope := LengthscalePrior(6).LogProb(LengthscalePrior(6).Mode())
	require.InDelta(t, 0, slope, 1e-12)
	require.InDelta(t, math.Exp(-5), NoisePrior().Mode(), 1e-12)
}
