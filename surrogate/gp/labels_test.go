package gp

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/classify"
	"github.com/functionspace/bo/surrogate/surrogatetest"
)

func matrix(rows [][]float64) *mat.Dense {
	x := mat.NewDense(len(rows), len(rows[0]), nil)
	for i, r := range rows {
		x.SetRow(i, r)
	}
	return x
}

// testdata/classify/laplace.py computes the numbers of Laplace's approximation: for two classes with
// scikit-learn, for more with dense NumPy.
func TestLaplaceAgainstOracles(t *testing.T) {
	text, err := os.ReadFile("../../testdata/classify/laplace.json")
	require.NoError(t, err)
	type common struct {
		Kernel   string
		X, At    [][]float64
		Y        []int
		Evidence float64
	}
	var oracle struct {
		Binary []struct {
			common
			Gradient, Mean, Variance, Probability []float64
		}
		Multiclass []struct {
			common
			Means       []float64
			Mean        [][]float64
			Cov         [][][]float64
			Probability [][]float64
		}
	}
	require.NoError(t, json.Unmarshal(text, &oracle))
	fit := func(c common, means []float64, classes int) classify.Posterior {
		kernel, err := prior.Parse(c.Kernel, len(c.X[0]))
		require.NoError(t, err)
		l := &classify.Conditioned{Prior: classify.Prior{Kernel: kernel, Means: means}, X: matrix(c.X)}
		l.Given, err = classify.FindMode(context.Background(), l.Grams(l.X), means, c.Y, nil)
		require.NoError(t, err)
		require.InDelta(t, c.Evidence, l.Given.Evidence, 1e-8)
		return classify.Posterior{Process: l, Labels: classes}
	}
	require.Len(t, oracle.Binary, 3)
	for _, c := range oracle.Binary {
		t.Run(c.Kernel, func(t *testing.T) {
			post := fit(c.common, []float64{0}, 2)
			at, m := matrix(c.At), len(c.At)
			mean, variance, prob := mat.NewDense(m, 1, nil), mat.NewDense(m, 1, nil), mat.NewDense(m, 2, nil)
			post.Latent(mean, variance, at)
			post.Predict(prob, at)
			for i := range m {
				require.InDelta(t, c.Mean[i], mean.At(i, 0), 1e-6)
				require.InDelta(t, c.Variance[i], variance.At(i, 0), 1e-6*(1+c.Variance[i]))
				require.InDelta(t, c.Probability[i], prob.At(i, 1), 2e-3, "scikit-learn approximates the logistic function by five error functions")
				require.InDelta(t, 1, prob.At(i, 0)+prob.At(i, 1), 1e-15)
			}
			l := post.Process.(*classify.Conditioned)
			kbar, _ := l.Given.Adjoint()
			kernel := l.Kernel
			grad := make([]float64, len(kernel.Params()))
			kernel.ParamVJP(grad, matrix(c.X), kbar)
			// scikit-learn's ConstantKernel comes first, and so does our variance.
			require.Equal(t, "variance", kernel.Params()[0].Name)
			if len(c.Gradient) == 2 { // one lengthscale for all inputs
				for _, v := range grad[2:] {
					grad[1] += v
				}
			}
			require.InDeltaSlice(t, c.Gradient, grad[:len(c.Gradient)], 1e-6)
		})
	}
	require.Len(t, oracle.Multiclass, 2)
	for _, c := range oracle.Multiclass {
		t.Run(c.Kernel, func(t *testing.T) {
			l, at, m := len(c.Means), matrix(c.At), len(c.At)
			post := fit(c.common, c.Means, l)
			mean, cov, prob := mat.NewDense(m, l, nil), mat.NewDense(m, l*l, nil), mat.NewDense(m, l, nil)
			post.Moments(mean, cov, at)
			post.Predict(prob, at)
			for i := range m {
				require.InDeltaSlice(t, c.Mean[i], mean.RawRowView(i), 1e-7)
				require.InDeltaSlice(t, c.Probability[i], prob.RawRowView(i), 2e-3)
				for a := range l {
					require.InDeltaSlice(t, c.Cov[i][a], cov.RawRowView(i)[a*l:(a+1)*l], 1e-7)
				}
			}
		})
	}
}

// The probabilities are within 0.05 of the exact ones, which testdata/classify/sampled.py samples. Laplace's
// approximation is farther off in each problem.
func TestLabelsAgainstSamples(t *testing.T) {
	type problem struct {
		Kernel string
		X, At  [][]float64
		Y      []int
		Means  []float64
	}
	var known struct{ Binary, Multiclass []problem }
	var exact struct {
		Problems []struct {
			Kernel             string
			Probability, Error [][]float64
		}
	}
	read := func(file string, v any) {
		text, err := os.ReadFile("../../testdata/classify/" + file)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(text, v))
	}
	read("laplace.json", &known)
	read("sampled.json", &exact)
	for i, c := range append(known.Binary, known.Multiclass...) {
		t.Run(c.Kernel, func(t *testing.T) {
			want := exact.Problems[i]
			require.Equal(t, c.Kernel, want.Kernel)
			kernel, err := prior.Parse(c.Kernel, len(c.X[0]))
			require.NoError(t, err)
			classes := len(want.Probability[0])
			p := classify.Prior{Kernel: kernel, Means: append([]float64(nil), c.Means...)}
			if classes == 2 {
				p.Means = []float64{0}
			}
			d := surrogate.Labels{X: matrix(c.X), Y: c.Y, Classes: classes}
			post, err := newClassPosterior(t.Context(), p, d)
			require.NoError(t, err)
			mode, err := classify.FindMode(t.Context(), p.Grams(d.X), p.Means, c.Y, nil)
			require.NoError(t, err)
			laplace := classify.Posterior{Process: &classify.Conditioned{Prior: p, X: d.X, Given: mode}, Labels: classes}
			farthest := func(q classify.Posterior) float64 {
				prob := mat.NewDense(len(c.At), classes, nil)
				q.Predict(prob, matrix(c.At))
				var far float64
				for i, row := range want.Probability {
					for c, v := range row {
						require.Less(t, want.Error[i][c], 0.01)
						far = max(far, math.Abs(prob.At(i, c)-v))
					}
				}
				return far
			}
			got, other := farthest(post), farthest(laplace)
			t.Logf("largest difference %.3f, of Laplace's approximation %.3f", got, other)
			require.Less(t, got, 0.05)
			require.Less(t, got, other)
		})
	}
}

func TestLabelsConformance(t *testing.T) {
	surrogatetest.RunClassifier(t, Model{})
	surrogatetest.RunClassifier(t, Model{Spec: prior.Spec{Kernel: "rbf+linear", Mean: prior.MeanZero}})
}

// Far from all labels the latent function has the prior, which is symmetric about
// its mean.
func TestLabelsFarAway(t *testing.T) {
	d := surrogate.Labels{X: mat.NewDense(4, 1, []float64{0, 0.2, 0.8, 1}), Y: []int{1, 1, 1, 0}, Classes: 2}
	post, err := Model{Spec: prior.Spec{Kernel: "rbf", Lengthscale: []float64{0.3}, Mean: prior.MeanZero}}.FitLabels(context.Background(), d, random.New(1, "fit", 0))
	require.NoError(t, err)
	prob := mat.NewDense(1, 2, nil)
	post.Predict(prob, mat.NewDense(1, 1, []float64{50}))
	require.InDelta(t, 0.5, prob.At(0, 1), 1e-12)

	_, err = Model{Spec: prior.Spec{Noise: new(0.1)}}.FitLabels(context.Background(), d, random.New(1, "fit", 0))
	require.ErrorIs(t, err, prior.ErrSpec)
	require.EqualError(t, err, "gp: invalid prior: labels have no noise variance")
	_, err = Model{}.FitLabels(context.Background(), surrogate.Labels{X: mat.NewDense(5001, 1, nil), Y: make([]int, 5001), Classes: 2}, random.New(1, "fit", 0))
	require.EqualError(t, err, "gp: 5001 labels, at most 5000: fsp-laplace takes more")
}

func BenchmarkFitLabels(b *testing.B) {
	rng := random.New(1, "labels", 0)
	for _, classes := range []int{2, 4} {
		d := surrogate.Labels{X: mat.NewDense(100, 2, nil), Y: make([]int, 100), Classes: classes}
		for i := range d.Y {
			u, v := rng.Float64(), rng.Float64()
			d.X.SetRow(i, []float64{u, v})
			d.Y[i] = int(float64(classes) * (u + v) / 2)
		}
		b.Run(fmt.Sprint(classes), func(b *testing.B) {
			for b.Loop() {
				_, err := Model{}.FitLabels(context.Background(), d, random.New(1, "fit", 0))
				require.NoError(b, err)
			}
		})
	}
}
