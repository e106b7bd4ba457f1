package tfsvi

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/gradcheck"
	"github.com/functionspace/bo/internal/nn"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate/internal/variational"
)

// example returns a batch of 4 observations with two context sets, and q of a small network of
// 2 inputs.
func example(net *nn.Network, rank int, seed uint64) (*variational.Gaussian, batch) {
	rng := random.New(seed, "example", 0)
	v := variational.NewOutput(net.NumParams(), rank)
	for i := range v.Vector {
		v.Vector[i] = 0.5 * rng.NormFloat64()
	}
	b := batch{x: space.Uniform(4, 2, rng), y: []float64{0.1, -0.4, 1.2, 0.6}, weight: 2.5, noise: mat.NewDense(3, len(v.M), nil)}
	for range 2 {
		b.sets = append(b.sets, space.Uniform(5, 2, rng))
	}
	for i := range b.noise.RawMatrix().Data {
		b.noise.RawMatrix().Data[i] = rng.NormFloat64()
	}
	return v, b
}

// The gradient of the objective at given draws is correct.
func TestObjectiveGradient(t *testing.T) {
	for _, hidden := range [][]int{{}, {5}, {4, 3}} {
		for _, fixed := range []bool{false, true} {
			for _, diagonal := range []bool{false, true} {
				for _, full := range []bool{false, true} {
					o := &objective{net: &nn.Network{In: 2, Hidden: hidden}, fixed: fixed, diagonal: diagonal, scale: 0.8, jitter: 1e-2}
					rank := 0
					if full {
						rank = o.net.Outputs()
					}
					v, b := example(o.net, rank, 1)
					grad := variational.NewOutput(len(v.M), rank)
					_, err := o.eval(v, b, grad)
					require.NoError(t, err)
					value := func(at []float64) float64 {
						f, err := o.eval(v.With(at), b, nil)
						require.NoError(t, err)
						return f
					}
					require.NoError(t, gradcheck.Gradient(value, v.Vector, grad.Vector, 1e-6), "%v fixed %t diagonal %t rank %d", hidden, fixed, diagonal, rank)
				}
			}
		}
	}
}

// With stop-gradient the gradient equals the gradient for a network with constant J, which is
// the network linearised at m. Without hidden layers this is the network itself.
func TestStopGradient(t *testing.T) {
	o := &objective{net: &nn.Network{In: 2, Hidden: []int{4}}, scale: 0.8, jitter: 1e-2, stop: true}
	v, b := example(o.net, 0, 2)
	grad := variational.NewOutput(len(v.M), 0)
	d, err := o.divergence(v, b.sets[0])
	require.NoError(t, err)
	d.addGrad(grad)
	at := append([]float64(nil), v.M...)
	value := func(m []float64) float64 {
		shifted := &divergence{o: o, j: d.j, t: d.t}
		delta := make([]float64, 5)
		for i := range delta {
			for k, g := range d.j.RawRowView(i) {
				delta[i] += g * m[k]
			}
		}
		require.NoError(t, shifted.joint(delta))
		return shifted.value
	}
	require.NoError(t, gradcheck.Gradient(value, at, grad.M, 1e-7))
}

// For a linear model the divergence at p independent points equals the divergence of the
// weights.
func TestLinearModelHasTheDivergenceOfItsWeights(t *testing.T) {
	const scale = 0.7
	o := &objective{net: &nn.Network{In: 2}, scale: scale, jitter: 1e-10}
	v, _ := example(o.net, 0, 3)
	d, err := o.divergence(v, space.Sobol(3, 2, random.New(1, "c", 0)))
	require.NoError(t, err)
	var want float64
	for i, s := range v.Scales() {
		want += 0.5 * ((s*s+v.M[i]*v.M[i])/(scale*scale) - 1 - 2*math.Log(s/scale))
	}
	require.InEpsilon(t, want, d.value, 1e-6)
}

// Among several context sets, the set with the largest divergence enters the objective.
func TestWorstContextSet(t *testing.T) {
	o := &objective{net: &nn.Network{In: 2, Hidden: []int{4}}, scale: 0.8, jitter: 1e-2}
	v, b := example(o.net, 0, 4)
	both, err := o.eval(v, b, nil)
	require.NoError(t, err)
	var each []float64
	for _, c := range b.sets {
		one := b
		one.sets = []*mat.Dense{c}
		f, err := o.eval(v, one, nil)
		require.NoError(t, err)
		each = append(each, f)
	}
	require.Equal(t, max(each[0], each[1]), both)
}
