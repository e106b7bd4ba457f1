package gfsvi

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/gradcheck"
	"github.com/functionspace/bo/internal/racetest"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/gp"
	"github.com/functionspace/bo/surrogate/internal/variational"
	"github.com/functionspace/bo/surrogate/network"
	"github.com/functionspace/bo/surrogate/surrogatetest"
)

func TestLabelsConformance(t *testing.T) {
	for name, m := range map[string]Model{
		"low rank":  {Network: surrogate.Network{Hidden: []int{8}}, Context: 15, Rank: 8, Steps: 20},
		"diagonal":  {Network: surrogate.Network{Hidden: []int{6}}, Context: 15, Covariance: "diagonal", Steps: 100},
		"random":    {Network: surrogate.Network{Hidden: []int{8}}, Context: 15, Start: "random", Steps: 250, Rate: 0.06, Batch: 20, Measure: "box"},
		"published": {Preset: surrogate.Published, Network: surrogate.Network{Hidden: []int{8}}, Context: 15, Steps: 250, Rate: 0.06},
	} {
		t.Run(name, func(t *testing.T) { surrogatetest.RunClassifier(t, m) })
	}
}

// The gradient of the objective at given draws is correct.
func TestLabelObjectiveGradient(t *testing.T) {
	rng := random.New(1, "labels", 0)
	for _, l := range []int{1, 3} {
		for _, rank := range []int{0, 2} {
			p := &labelProblem{}
			size := variational.NewLowRank(small(4).net.NumParams(), rank).Vector
			theta := make([]float64, l*len(size))
			for i := range theta {
				theta[i] = 0.4 * rng.NormFloat64()
			}
			parts := func(theta []float64) []*variational.Gaussian {
				var q []*variational.Gaussian
				for c := range l {
					q = append(q, variational.NewLowRank(small(4).net.NumParams(), rank).With(theta[c*len(size):(c+1)*len(size)]))
				}
				return q
			}
			for range l {
				p.parts = append(p.parts, &problem{objective: *small(4)})
			}
			b := batch{x: space.Uniform(9, 2, rng), measure: 6, y: []float64{0, 1, 0, 1}, weight: 2.5}
			if l > 1 {
				b.y[3] = 2
			}
			z := p.draws(4, rng)
			grad := make([]float64, len(theta))
			_, err := p.eval(parts(theta), b, z, parts(grad))
			require.NoError(t, err)
			value := func(at []float64) float64 {
				f, err := p.eval(parts(at), b, z, nil)
				require.NoError(t, err)
				return f
			}
			require.NoError(t, gradcheck.Gradient(value, theta, grad, 1e-5), "%d latents, rank %d", l, rank)
		}
	}
}

// At the first three labels no weight of this network changes its value.
func TestLabelsWithoutWeights(t *testing.T) {
	f := network.Func(func(x network.Node) network.Node {
		return x.Dense(5, 1).Apply(network.Tanh).Dense(1, 0).Mul(x.Columns(0, 1))
	})
	d := surrogate.Labels{X: space.Uniform(10, 2, random.New(1, "x", 0)), Y: []int{0, 1, 0, 1, 0, 1, 1, 1, 0, 1}, Classes: 2}
	for i := range 3 {
		d.X.Set(i, 0, 0)
	}
	p, err := Model{Network: surrogate.Network{Architecture: f}, Steps: 10, Context: 20}.FitLabels(t.Context(), d, random.New(1, "fit", 0))
	require.NoError(t, err)
	prob := mat.NewDense(10, 2, nil)
	p.Predict(prob, d.X)
	for _, v := range prob.RawMatrix().Data {
		require.True(t, v >= 0 && v <= 1)
	}
}

// Probabilities are near the probabilities of the exact process with the same prior.
func TestLabelsAgainstTheProcess(t *testing.T) {
	racetest.SkipNumerical(t)
	for _, classes := range []int{2, 3} {
		rng := random.New(5, "rings", classes)
		d := surrogate.Labels{X: mat.NewDense(40, 2, nil), Y: make([]int, 40), Classes: classes, Lo: []float64{0, 0}, Hi: []float64{1, 1}}
		for i := range d.Y {
			a, b := rng.Float64(), rng.Float64()
			d.X.SetRow(i, []float64{a, b})
			d.Y[i] = min(classes-1, int(float64(classes)*math.Hypot(a-0.5, b-0.5)/0.6))
		}
		spec := prior.Spec{Kernel: "rbf", Lengthscale: []float64{0.4}, Variance: new(4.), Mean: prior.MeanZero}
		x := space.Uniform(50, 2, rng)
		ask := func(c surrogate.Classifier) *mat.Dense {
			p, err := c.FitLabels(context.Background(), d, random.New(1, "fit", 0))
			require.NoError(t, err)
			require.Empty(t, p.Warnings())
			prob := mat.NewDense(50, classes, nil)
			p.Predict(prob, x)
			return prob
		}
		want, got := ask(gp.Model{Spec: spec}), ask(Model{Spec: spec, Network: surrogate.Network{Hidden: []int{20, 20}}, Context: 50, Rank: 40, Steps: 60})
		var sum, worst float64
		for i, v := range want.RawMatrix().Data {
			e := math.Abs(got.RawMatrix().Data[i] - v)
			sum += e / float64(len(want.RawMatrix().Data))
			worst = max(worst, e)
		}
		t.Logf("%d classes: mean difference of probabilities %.3f, largest %.3f", classes, sum, worst)
		require.Less(t, sum, 0.04)
		require.Less(t, worst, 0.15)
	}
}
