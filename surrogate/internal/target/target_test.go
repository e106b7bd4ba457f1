package target

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/nn"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/space"
)

// The data term plus the prior term differs from the quadratic around the target by a
// constant. This holds for the exact process, and for the sparse process with inducing points
// at the inputs.
func TestTargetCompletesTheSquare(t *testing.T) {
	for _, repeat := range []int{1, 300} { // 1200 observations of 4 inputs
		c := space.Sobol(7, 2, random.New(1, "c", 0))
		p := prior.Process{Kernel: prior.Matern32(2).WithParams([]float64{0.5, 0.8}), Mean: 0.4, Noise: 0.1 * float64(repeat)}
		x, y := mat.NewDense(4*repeat, 2, nil), make([]float64, 4*repeat)
		for i := range y {
			x.SetRow(i, c.RawRowView(i%4))
			y[i] = math.Sin(float64(i%4)) + float64(i/4%2)
		}
		to, err := New(p, c, x, y)
		require.NoError(t, err)
		mean, v := to.Mean, to.Cov
		k := mat.NewSymDense(7, nil)
		p.Kernel.Gram(k, c)
		quadratic := func(a *mat.SymDense, f []float64) float64 {
			chol, err := linalg.Factorize(a)
			require.NoError(t, err)
			r := append([]float64(nil), f...)
			chol.SolveLowerVec(r)
			return 0.5 * linalg.Dot(r, r)
		}
		gap := func(f []float64) float64 {
			centred, off := make([]float64, 7), make([]float64, 7)
			for i := range f {
				centred[i], off[i] = f[i]-p.Mean, f[i]-mean[i]
			}
			sum := quadratic(k, centred) - quadratic(v, off)
			for i, y := range y {
				sum += (y - f[i%4]) * (y - f[i%4]) / (2 * p.Noise)
			}
			return sum
		}
		require.InEpsilon(t, gap(make([]float64, 7)), gap([]float64{1, -1, 2, 0.5, 0, 3, 1}), 1e-6)
	}
}

// A deep network reaches the target. A network without hidden layers reaches the
// least-squares solution.
func TestLeastSquares(t *testing.T) {
	rng := random.New(2, "ls", 0)
	x := space.Uniform(30, 2, rng)
	target := make([]float64, 30)
	for i := range target {
		row := x.RawRowView(i)
		target[i] = math.Sin(3*row[0]) + row[1]
	}
	v := mat.NewSymDense(30, nil)
	prior.RBF(2).WithParams([]float64{0.5, 0.5}).Gram(v, x)
	linalg.AddDiagonal(v, 1e-3)
	net := &nn.Network{In: 2, Hidden: []int{20, 20}}
	w := net.InitBiased(0.5, 1, 0.7, rng)
	require.Equal(t, 0.7, w[len(w)-1])
	fit := LeastSquares{Net: net, Inputs: x, Target: target}
	left, taken, err := fit.Minimize(t.Context(), w, v, 50, 1e-4)
	require.NoError(t, err)
	require.Less(t, left, 30*1e-4)
	require.Less(t, taken, 50)
	f := make([]float64, 30)
	net.Forward(f, w, x)
	require.InDeltaSlice(t, target, f, 0.02)

	linear := &nn.Network{In: 2}
	w = linear.Init(rng)
	one := mat.NewSymDense(30, nil)
	linalg.AddDiagonal(one, 1)
	fit = LeastSquares{Net: linear, Inputs: x, Target: target}
	_, _, err = fit.Minimize(t.Context(), w, one, 100, 0)
	require.NoError(t, err)
	grad := make([]float64, 3)
	tape := linear.Record(w, x)
	floats.SubTo(f, tape.Value(), target)
	tape.VJP(grad, f)
	require.InDeltaSlice(t, []float64{0, 0, 0}, grad, 1e-6)
}

// The sparse posterior of Titsias (2009) is exact if the inducing points contain the inputs.
func TestSparseTargetIsExactWithTheDataInside(t *testing.T) {
	c := space.Sobol(20, 2, random.New(1, "c", 0))
	x, y := c.Slice(0, 12, 0, 2).(*mat.Dense), make([]float64, 12)
	for i := range y {
		y[i] = math.Sin(5 * x.At(i, 0))
	}
	p := prior.Process{Kernel: prior.Matern52(2).WithParams([]float64{0.3, 0.6}), Mean: 0.3, Noise: 0.1}
	exact, err := exactTarget(p, c, x, y)
	require.NoError(t, err)
	sparse, err := sparseTarget(p, c, x, y)
	require.NoError(t, err)
	require.InDeltaSlice(t, exact.Mean, sparse.Mean, 1e-8)
	require.True(t, mat.EqualApprox(exact.Cov, sparse.Cov, 1e-8))
}
