package surrogate_test

import (
	"context"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/fsplaplace"
	"github.com/functionspace/bo/surrogate/gfsvi"
	"github.com/functionspace/bo/surrogate/gp"
	"github.com/functionspace/bo/surrogate/gwi"
	"github.com/functionspace/bo/surrogate/laplace"
	"github.com/functionspace/bo/surrogate/rff"
	"github.com/functionspace/bo/surrogate/svgp"
)

// An unscaled posterior, scaled again, is the posterior of Scaled.
func TestUnscaled(t *testing.T) {
	p, err := surrogate.Scaled{Model: rff.Model{}, Mean: wave{}}.Fit(t.Context(), someData(), random.New(1, "fit", 0))
	require.NoError(t, err)
	inner, inputs, output := p.(surrogate.Unscaler).Unscaled()
	x := mat.NewDense(2, 2, []float64{0.2, 0.3, 0.9, 0.5})
	mean, variance, m, v, shift := make([]float64, 2), make([]float64, 2), make([]float64, 2), make([]float64, 2), make([]float64, 2)
	p.Predict(mean, variance, x)
	inner.Predict(m, v, inputs.Apply(x))
	wave{}.Eval(shift, nil, x)
	for i := range m {
		require.InDelta(t, mean[i], output.Invert(m[i])+shift[i], 1e-12)
		require.InDelta(t, variance[i], v[i]*output.SD*output.SD, 1e-12)
	}
	inputs[0].SD = 0
	_, kept, _ := p.(surrogate.Unscaler).Unscaled()
	require.NotZero(t, kept[0].SD)
}

// Functions at points have the moments of Joint.
func TestSampleAt(t *testing.T) {
	p, err := laplace.Model{Restarts: 1}.Fit(t.Context(), someData(), random.New(1, "fit", 0))
	require.NoError(t, err)
	x := mat.NewDense(3, 2, []float64{0.2, 0.3, 0.9, 0.5, 1.4, 1.2})
	const n = 2000
	f := surrogate.SampleAt(p, n, x, random.New(2, "paths", 0))
	mean, cov := make([]float64, 3), mat.NewSymDense(3, nil)
	p.Joint(mean, cov, x)
	for j := range 3 {
		var sum float64
		for i := range n {
			sum += f.At(i, j) / n
		}
		require.InDelta(t, mean[j], sum, 5*math.Sqrt(cov.At(j, j)/n))
	}
	require.True(t, surrogate.SampleAt(p, 0, x, nil).IsEmpty())
}

// In fsp-laplace with an unscaled factor, the linearised network of the weights' moments has the
// moments of the posterior.
func TestWeightsOfFSPLaplace(t *testing.T) {
	m := fsplaplace.Model{Network: surrogate.Network{Hidden: []int{12}}, Factor: "cholesky", Context: 40}
	p, err := m.Fit(t.Context(), someData(), random.New(1, "fit", 0))
	require.NoError(t, err)
	x := mat.NewDense(2, 2, []float64{0.2, 0.3, 0.9, 0.5})
	wanted, wantedCov := make([]float64, 2), mat.NewSymDense(2, nil)
	p.Joint(wanted, wantedCov, x)
	w := p.(surrogate.WeightPosterior)
	mean, cov := w.WeightMoments()
	// The Jacobian by differences of networks.
	j, at := mat.NewDense(2, len(mean), nil), make([]float64, 2)
	w.WithWeights(mean).Eval(at, nil, x)
	require.InDeltaSlice(t, wanted, at, 1e-10)
	for k := range mean {
		const h = 1e-5
		up, down := append([]float64(nil), mean...), append([]float64(nil), mean...)
		up[k], down[k] = up[k]+h, down[k]-h
		a, b := make([]float64, 2), make([]float64, 2)
		w.WithWeights(up).Eval(a, nil, x)
		w.WithWeights(down).Eval(b, nil, x)
		for i := range 2 {
			j.Set(i, k, (a[i]-b[i])/(2*h))
		}
	}
	var half, got mat.Dense
	half.Mul(j, cov)
	got.Mul(&half, j.T())
	require.True(t, mat.EqualApprox(&got, wantedCov, 1e-6))
}

// The features and the coefficients give the covariance between any points, here the correlation of
// two predictions.
func ExampleFeaturePosterior() {
	posterior, err := fsplaplace.Model{Network: surrogate.Network{Hidden: []int{20}}}.Fit(context.Background(), parabola(), rand.New(rand.NewPCG(1, 2)))
	if err != nil {
		log.Fatal(err)
	}
	p := posterior.(surrogate.FeaturePosterior)
	offset, phi := p.Features(mat.NewDense(2, 1, []float64{0.30, 0.31}))
	m, sigma := p.Coefficients()

	var mean mat.VecDense
	mean.MulVec(phi, mat.NewVecDense(len(m), m))
	var product, cov mat.Dense
	product.Mul(phi, sigma)
	cov.Mul(&product, phi.T())
	fmt.Printf("mean %.2f\n", offset[0]+mean.AtVec(0))
	fmt.Printf("correlation %.2f\n", cov.At(0, 1)/math.Sqrt(cov.At(0, 0)*cov.At(1, 1)))
	// Output:
	// mean 0.09
	// correlation 1.00
}

// Weights drawn from the posterior, and the linearised networks with these weights.
func ExampleWeightPosterior() {
	model := gfsvi.Model{Network: surrogate.Network{Hidden: []int{10}}, Steps: 50}
	posterior, err := model.Fit(context.Background(), parabola(), rand.New(rand.NewPCG(1, 2)))
	if err != nil {
		log.Fatal(err)
	}
	p := posterior.(surrogate.WeightPosterior)
	mean, cov := p.WeightMoments()
	fmt.Println(len(mean), "weights, covariance of size", cov.SymmetricDim())

	x, f := mat.NewDense(1, 1, []float64{0.6}), make([]float64, 1)
	p.WithWeights(mean).Eval(f, nil, x)
	fmt.Printf("the network at 0.6: %.1f\n", f[0])

	offset, jacobian := posterior.(surrogate.FeaturePosterior).Features(x)
	w := p.SampleWeights(2, rand.New(rand.NewPCG(3, 4)))
	for i := range 2 {
		var step mat.VecDense
		step.SubVec(w.RowView(i), mat.NewVecDense(len(mean), mean))
		fmt.Printf("a linearised network: %.1f\n", offset[0]+mat.Dot(jacobian.RowView(0), &step))
	}
	fmt.Printf("a function at 0.6: %.1f\n", surrogate.SampleAt(p, 1, x, rand.New(rand.NewPCG(5, 6))).At(0, 0))
	// Output:
	// 31 weights, covariance of size 31
	// the network at 0.6: 0.4
	// a linearised network: 0.4
	// a linearised network: 0.4
	// a function at 0.6: 0.4
}

// parabola returns the function x² at nine points of [0,1].
func parabola() surrogate.Dataset {
	d := surrogate.Dataset{X: mat.NewDense(9, 1, nil)}
	for i := range 9 {
		x := float64(i) / 8
		d.X.Set(i, 0, x)
		d.Y = append(d.Y, x*x)
	}
	return d
}

// kernelInGo is a kernel that package prior does not know.
type kernelInGo struct{ prior.Kernel }

func (k kernelInGo) WithParams(theta []float64) prior.Kernel {
	return kernelInGo{k.Kernel.WithParams(theta)}
}

// Draws of a prior with a kernel written in Go have the variance of the kernel in the box of the dataset. The
// box may be far from the unit cube.
func TestDrawsOfAKernelInGo(t *testing.T) {
	d := surrogate.Dataset{X: mat.NewDense(8, 1, nil), Lo: []float64{10}, Hi: []float64{11}}
	for i := range 8 {
		d.X.Set(i, 0, 10+float64(i)/10)
		d.Y = append(d.Y, math.Sin(6*float64(i)/10))
	}
	spec := prior.Spec{Custom: kernelInGo{prior.Matern52(1)}, Lengthscale: []float64{0.2}, Variance: new(1.), Noise: new(1e-3)}
	x := mat.NewDense(2, 1, []float64{10.35, 11})
	exact, err := gp.Model{Spec: spec}.Fit(t.Context(), d, random.New(1, "fit", 0))
	require.NoError(t, err)
	want, variance := make([]float64, 2), make([]float64, 2)
	exact.Predict(want, variance, x)
	for name, m := range map[string]surrogate.Model{
		"gp":        gp.Model{Spec: spec},
		"gp sparse": gp.Model{Spec: spec, Exact: 7},
		"svgp":      svgp.Model{Spec: spec},
		"gwi-svgp":  gwi.SVGP{Options: gwi.Options{Spec: spec, Steps: 1}},
		"rff":       rff.Model{Spec: spec, Features: 60},
	} {
		p, err := m.Fit(t.Context(), d, random.New(1, "fit", 0))
		require.NoError(t, err, name)
		mean := make([]float64, 2)
		surrogate.Means(p, mean, x)
		require.InDeltaSlice(t, want, mean, 0.05, name)
		const n = 60
		f, sum := surrogate.SampleAt(p, n, x, random.New(2, "paths", 0)), 0.
		for i := range n {
			sum += (f.At(i, 1) - mean[1]) * (f.At(i, 1) - mean[1]) / n
		}
		require.InEpsilon(t, variance[1], sum, 0.6, name)
	}
}
