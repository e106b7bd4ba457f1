package classify

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/gradcheck"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate/internal/hyper"
)

func labelled(n, classes int) (*mat.Dense, []int) {
	rng := random.New(3, "labels", classes)
	x, y := mat.NewDense(n, 2, nil), make([]int, n)
	for i := range n {
		a, b := rng.Float64(), rng.Float64()
		x.SetRow(i, []float64{a, b})
		y[i] = min(classes-1, int(float64(classes)*(0.5+0.5*math.Sin(5*a)*b+0.1*rng.NormFloat64())))
		y[i] = max(y[i], 0)
	}
	return x, y
}

// The gradient of the whole objective of fitPrior: evidence at the mode, which
// moves with the hyperparameters, and priors.
func TestEvidenceGradient(t *testing.T) {
	for _, classes := range []int{2, 3, 4} {
		x, y := labelled(14, classes)
		layout, err := hyper.New(prior.Spec{Kernel: "matern52+linear", Noise: new(1.)}, 2, false)
		require.NoError(t, err)
		s := &search{Vector: layout, l: Latents(classes), means: true, x: x, y: y}
		require.Len(t, s.Free, len(s.Params)-1)
		v := s.starts(1, nil)[0]
		for i := range v {
			v[i] += 0.3 * math.Sin(float64(i+1))
		}
		grad := make([]float64, len(v))
		f := func(v []float64) float64 {
			var a *mat.Dense
			return s.loss(context.Background(), v, make([]float64, len(v)), &a)
		}
		var a *mat.Dense
		s.loss(context.Background(), v, grad, &a)
		require.NoError(t, gradcheck.Gradient(f, v, grad, 1e-6), "%d classes", classes)
	}
}

func TestLikelihoodDerivatives(t *testing.T) {
	for _, l := range []int{1, 3} {
		f := mat.NewDense(l, 4, nil)
		y := []int{0, 1, 1, min(l, 2)}
		if l == 1 {
			y[3] = 0
		}
		for i := range f.RawMatrix().Data {
			f.RawMatrix().Data[i] = 3 * math.Sin(float64(2*i))
		}
		prob, grad := mat.NewDense(l, 4, nil), mat.NewDense(l, 4, nil)
		value := func(v []float64) float64 {
			return LogProb(mat.NewDense(l, 4, nil), mat.NewDense(l, 4, nil), mat.NewDense(l, 4, v), y)
		}
		LogProb(prob, grad, f, y)
		require.NoError(t, gradcheck.Gradient(value, f.RawMatrix().Data, grad.RawMatrix().Data, 1e-8))

		// W v is minus the derivative of the gradient along v.
		v := mat.NewDense(l, 4, nil)
		for i := range v.RawMatrix().Data {
			v.RawMatrix().Data[i] = math.Cos(float64(i))
		}
		at := func(h float64) []float64 {
			g, moved := mat.NewDense(l, 4, nil), mat.NewDense(l, 4, nil)
			moved.Scale(h, v)
			moved.Add(moved, f)
			LogProb(mat.NewDense(l, 4, nil), g, moved, y)
			return g.RawMatrix().Data
		}
		up, down := at(1e-5), at(-1e-5)
		MulCurvature(v, Diagonal(prob))
		for i, w := range v.RawMatrix().Data {
			require.InDelta(t, -(up[i]-down[i])/2e-5, w, 1e-8)
		}
	}
	// Far out nothing overflows.
	f := mat.NewDense(1, 2, []float64{800, -800})
	require.InDelta(t, -1600, LogProb(f, mat.NewDense(1, 2, nil), f, []int{0, 1}), 1e-9)
}

// tr(RK) is the derivative of log|I + sKW| with respect to log s at 1.
func TestEffective(t *testing.T) {
	for _, classes := range []int{2, 3} {
		x, y := labelled(10, classes)
		l := Latents(classes)
		p := Prior{Kernel: prior.ScaleBy(3, prior.RBF(2)), Means: make([]float64, l)}
		mode, err := FindMode(context.Background(), p.Grams(x), p.Means, y, nil)
		require.NoError(t, err)
		logDet := func(s float64) float64 {
			k := p.Grams(x)[0]
			k.ScaleSym(s, k)
			f, err := NewFactor(slices.Repeat([]*mat.SymDense{k}, l), mode.D)
			require.NoError(t, err)
			return f.LogDet()
		}
		require.InDelta(t, (logDet(math.Exp(1e-4))-logDet(math.Exp(-1e-4)))/2e-4, mode.Factor.Effective(), 1e-6)
	}
}

// Two softmax latent functions with kernel k equal one logistic latent function with kernel 2k.
func TestTwoSoftmaxLatentsAreOneLogistic(t *testing.T) {
	x, y := labelled(12, 2)
	k := mat.NewSymDense(12, nil)
	prior.RBF(2).Gram(k, x)
	two, err := FindMode(context.Background(), slices.Repeat([]*mat.SymDense{k}, 2), []float64{0, 0}, y, nil)
	require.NoError(t, err)
	double := mat.NewSymDense(12, nil)
	double.ScaleSym(2, k)
	one, err := FindMode(context.Background(), slices.Repeat([]*mat.SymDense{double}, 1), []float64{0}, y, nil)
	require.NoError(t, err)
	require.InDelta(t, one.Evidence, two.Evidence, 1e-9)
	require.InDeltaSlice(t, one.Prob.RawRowView(0), two.Prob.RawRowView(1), 1e-9)
}

// With the inputs among C the sparse process equals the exact process.
func TestSparseTarget(t *testing.T) {
	x, y := labelled(30, 3)
	p := Prior{Kernel: prior.ScaleBy(4, prior.Matern32(2).WithParams([]float64{0.4, 0.4})), Means: []float64{0.2, 0, -0.1}}
	mode, err := FindMode(context.Background(), p.Grams(x), p.Means, y, nil)
	require.NoError(t, err)
	got, err := sparseTarget(context.Background(), p, x, x, y)
	require.NoError(t, err)
	for c, w := range p.At(mode, x, x) {
		require.InDeltaSlice(t, mode.F.RawRowView(c), w.Mean, 1e-9)
		require.InDeltaSlice(t, w.Mean, got[c].Mean, 2e-3)
		require.InDeltaSlice(t, w.Cov.RawSymmetric().Data, got[c].Cov.RawSymmetric().Data, 2e-3)
	}
}
