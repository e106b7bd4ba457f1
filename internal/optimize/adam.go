package optimize

import (
	"fmt"
	"math"
)

// Adam is the stochastic optimiser of Kingma and Ba (2015) with β₁ = 0.9,
// β₂ = 0.999 and ε = 1e-8. The zero value is ready.
type Adam struct {
	t    int
	m, v []float64
}

// Step moves x in place against the gradient at x, with the given learning rate.
func (a *Adam) Step(rate float64, x, grad []float64) {
	const b1, b2, eps = 0.9, 0.999, 1e-8
	if a.m == nil {
		a.m, a.v = make([]float64, len(x)), make([]float64, len(x))
	}
	if len(x) != len(a.m) || len(grad) != len(a.m) {
		panic(fmt.Sprintf("optimize: x and gradient have length %d and %d, want %d", len(x), len(grad), len(a.m)))
	}
	a.t++
	c1, c2 := 1-math.Pow(b1, float64(a.t)), 1-math.Pow(b2, float64(a.t))
	for i, g := range grad {
		a.m[i] = b1*a.m[i] + (1-b1)*g
		a.v[i] = b2*a.v[i] + (1-b2)*g*g
		x[i] -= rate * (a.m[i] / c1) / (math.Sqrt(a.v[i]/c2) + eps)
	}
}

// Cosine returns the factor of the initial learning rate at a step of steps. It falls
// from 1 to end along half a cosine.
func Cosine(end float64, step, steps int) float64 {
	return end + 0.5*(1-end)*(1+math.Cos(math.Pi*float64(step)/float64(steps)))
}
