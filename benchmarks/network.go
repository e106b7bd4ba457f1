package benchmarks

import (
	"fmt"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/nn"
	"github.com/functionspace/bo/internal/random"
)

// NetworkDraw returns the network task of Li et al. (2024) on [0,1]^d: the negative
// of a network with one hidden layer of 256 tanh units. All weights and biases are
// drawn from N(0,1), not scaled by the number of inputs. Each seed is another draw.
// The draws of the source need its random generator.
//
// Minimum is not proven: it is the lowest value that descents from the best of 2¹⁴
// points find. With seed 0 and d = 10 the values at uniform points have mean 19.6 and standard deviation 5.5.
// Of 200 descents from uniform points 132 end at the minimum, -12.115.
func NetworkDraw(d int, seed uint64) Objective {
	net := &nn.Network{In: d, Hidden: []int{256}, Activation: nn.Tanh}
	rng := random.New(seed, "network draw", d)
	weights := make([]float64, net.NumParams())
	for i := range weights {
		weights[i] = rng.NormFloat64()
	}
	negative := func(value []float64, grad, x *mat.Dense) {
		if grad == nil {
			net.Forward(value, weights, x)
		} else {
			tape := net.Record(weights, x)
			copy(value, tape.Value())
			tape.InputGrad(grad)
			grad.Scale(-1, grad)
		}
		floats.Scale(-1, value)
	}
	return Objective{
		Name:    fmt.Sprintf("network%d", d),
		Summary: "a network of 256 tanh units with random weights",
	}.drawn(negative, d)
}
