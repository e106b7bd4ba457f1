package fspace

import (
	"math/rand/v2"

	"github.com/functionspace/bo/internal/nn"
)

// InitialWeights draws the weights that training starts from: those of
// nn.Network.Init with hidden biases of standard deviation bias, and mean as the
// output bias. In the first layer bias is relative to spread, half the width of
// the scaled box, so that the units lie all over it. Without biases a tanh
// network starts as an odd function of the centre of the box, and its tangent
// kernel ties each point to its mirror image.
func InitialWeights(net *nn.Network, bias, spread, mean float64, rng *rand.Rand) []float64 {
	w := net.Init(rng)
	at, in, sd := 0, net.In, bias*spread
	for _, h := range net.Hidden {
		at += in * h
		for i := range h {
			w[at+i] = sd * rng.NormFloat64()
		}
		at += h
		in, sd = h, bias
	}
	w[len(w)-1] = mean
	return w
}
