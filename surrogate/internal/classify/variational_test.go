package classify

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/prior"
)

func variational(t *testing.T, k []*mat.SymDense, m []float64, y []int) *Approximation {
	mode, err := FindMode(context.Background(), k, m, y, nil)
	require.NoError(t, err)
	q, err := Variational(context.Background(), k, m, y, mode)
	require.NoError(t, err)
	return q
}

// The result for two classes maximises the lower bound Σ_i E log p(y_i|f_i) - KL(q|p) over a and W, computed here with
// dense matrices and a sum over a grid.
func TestVariationalMaximisesTheBound(t *testing.T) {
	x, y := labelled(6, 2)
	const mean = 0.3
	k := mat.NewSymDense(6, nil)
	prior.ScaleBy(20, prior.RBF(2).WithParams([]float64{0.4, 0.4})).Gram(k, x)
	linalg.AddDiagonal(k, 1e-3)
	q := variational(t, []*mat.SymDense{k}, []float64{mean}, y)

	var inverse mat.Dense
	require.NoError(t, inverse.Inverse(k))
	bound := func(v []float64) float64 {
		a, w := mat.NewVecDense(6, v[:6]), v[6:]
		var rise mat.VecDense
		rise.MulVec(k, a)
		precision := mat.DenseCopyOf(&inverse)
		for i, d := range w {
			precision.Set(i, i, precision.At(i, i)+d)
		}
		var cov, product mat.Dense
		require.NoError(t, cov.Inverse(precision))
		product.Mul(&inverse, &cov)
		logDet, _ := mat.LogDet(&product)
		value := -0.5 * (mat.Trace(&product) + mat.Dot(a, &rise) - 6 - logDet)
		for i, label := range y {
			sd, sum, weight := math.Sqrt(cov.At(i, i)), 0.0, 0.0
			for z := -9.0; z <= 9; z += 0.01 {
				f := mean + rise.AtVec(i) + sd*z
				if label == 0 {
					f = -f
				}
				density := math.Exp(-z * z / 2)
				sum += density * (math.Min(f, 0) - math.Log1p(math.Exp(-math.Abs(f))))
				weight += density
			}
			value += sum / weight
		}
		return value
	}
	at := slices.Concat(q.A.RawRowView(0), q.D.RawRowView(0))
	for i := range at {
		moved := slices.Clone(at)
		h := 1e-3 * math.Abs(at[i])
		moved[i] = at[i] + h
		up := bound(moved)
		moved[i] = at[i] - h
		require.InDelta(t, 0, (up-bound(moved))/(2*h)*math.Abs(at[i]), 1e-3, "element %d", i)
	}
}

// Two softmax latent functions with kernel k equal one logistic latent function with kernel 2k, up to the
// quadrature.
func TestVariationalOfTwoSoftmaxLatents(t *testing.T) {
	x, y := labelled(12, 2)
	k, double := mat.NewSymDense(12, nil), mat.NewSymDense(12, nil)
	prior.ScaleBy(9, prior.RBF(2)).Gram(k, x)
	double.ScaleSym(2, k)
	two := variational(t, []*mat.SymDense{k, k}, []float64{0, 0}, y)
	one := variational(t, []*mat.SymDense{double}, []float64{0}, y)
	a, b := one.covariances([]*mat.SymDense{double}), two.covariances([]*mat.SymDense{k, k})
	for i := range 12 {
		row := b.RawRowView(i)
		v := row[0] + row[3] - row[1] - row[2]
		require.InDelta(t, one.F.At(0, i), two.F.At(1, i)-two.F.At(0, i), 0.02)
		require.InDelta(t, a.At(i, 0), v, 0.02*v)
	}
}

// For variances from tiny to large a is the expected gradient, for mixed labels and for labels of one class.
func TestVariationalConverges(t *testing.T) {
	for _, classes := range []int{2, 3, 5} {
		variances := []float64{1e-4, 1, 100}
		if classes == 2 {
			variances = append(variances, 1000)
		}
		for _, variance := range variances {
			for _, equal := range []bool{false, true} {
				x, y := labelled(30, classes)
				if equal {
					clear(y)
				}
				p := Prior{Kernel: prior.ScaleBy(variance, prior.RBF(2)), Means: make([]float64, Latents(classes))}
				k := p.Grams(x)
				q := variational(t, k, p.Means, y)
				expected, cov := newExpectations(len(k)), q.covariances(k)
				for j, label := range y {
					expected.at(q.F, cov.RawRowView(j), j)
					for c, prob := range expected.prob {
						want := -prob
						if len(k) > 1 && c == label || len(k) == 1 && label == 1 {
							want++
						}
						require.InDelta(t, want, q.A.At(c, j), 0.01, "%d classes, variance %g, equal labels: %v", classes, variance, equal)
					}
				}
			}
		}
	}
	// The value at a point without prior variance is the mean.
	x, y := labelled(30, 2)
	k := mat.NewSymDense(30, nil)
	prior.ScaleBy(3, prior.RBF(2)).Gram(k, x)
	for i := range 30 {
		k.SetSym(0, i, 0)
	}
	require.InDelta(t, 0.5, variational(t, []*mat.SymDense{k}, []float64{0.5}, y).F.At(0, 0), 1e-12)

	p := Prior{Kernel: prior.ScaleBy(1e9, prior.RBF(2)), Means: []float64{0}}
	mode, warnings, err := p.Condition(t.Context(), x, y)
	require.NoError(t, err)
	require.Len(t, warnings, 1)
	require.NotNil(t, mode.Prob, "Laplace's approximation")
}
