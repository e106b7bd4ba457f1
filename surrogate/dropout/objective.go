package dropout

import (
	"math/rand/v2"
	"slices"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/nn"
	"github.com/functionspace/bo/surrogate/internal/mapnet"
)

// masked is the family of weights w with the outgoing weights of dropped hidden units set
// to 0. Its parameters are w.
type masked struct {
	net  *nn.Network
	drop float64 // probability that a hidden unit is set to 0
}

func (masked) Params(w []float64) []float64 { return slices.Clone(w) }

// Noise draws masks.
func (f masked) Noise(n int, rng *rand.Rand) [][]float64 {
	masks := make([][]float64, n)
	for k := range masks {
		masks[k] = f.mask(rng)
	}
	return masks
}

// mask draws a factor for every weight: the factor of the hidden unit for its outgoing
// weights, 1 for biases and for weights of inputs.
func (f masked) mask(rng *rand.Rand) []float64 {
	z := slices.Repeat([]float64{1}, f.net.NumParams())
	for _, l := range f.net.Layers()[1:] {
		for unit := range l.In {
			factor := 1 / (1 - f.drop)
			if rng.Float64() < f.drop {
				factor = 0
			}
			linalg.Fill(z[l.At+unit*l.Out:][:l.Out], factor)
		}
	}
	return z
}

// apply multiplies w by a mask.
func (f masked) apply(w []float64, rng *rand.Rand) { law(w).Weights(w, f.mask(rng)) }

func (masked) At(theta []float64) mapnet.Law { return law(theta) }

// law holds the weights without a mask.
type law []float64

func (l law) Weights(w, mask []float64) {
	for i, z := range mask {
		w[i] = z * l[i]
	}
}

func (l law) WeightsVJP(grad, mask, bar []float64) {
	for i, z := range mask {
		grad[i] += z * bar[i]
	}
}

// Penalty returns ½ δ|w|². It leaves dprecision unchanged, because δ is constant.
func (l law) Penalty(grad []float64, _ *float64, precision float64) float64 {
	linalg.Axpy(precision, l, grad)
	return 0.5 * precision * linalg.Dot(l, l)
}
