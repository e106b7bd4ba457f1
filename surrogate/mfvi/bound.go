package mfvi

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/functionspace/bo/surrogate/internal/mapnet"
)

// startScale is the initial ρ. It gives standard deviations of 0.0067.
const startScale = -5

// gaussians is the family of independent weights w = m + s∘ε, ε ~ N(0, I), with parameters
// (m, ρ) and s = softplus(ρ).
type gaussians struct {
	weights     int
	independent bool // draws are independent instead of in pairs
}

func (gaussians) Params(w []float64) []float64 {
	return append(slices.Clone(w), slices.Repeat([]float64{startScale}, len(w))...)
}

// Noise returns standard normal vectors, in pairs ±ε unless they are independent.
func (q gaussians) Noise(n int, rng *rand.Rand) [][]float64 {
	out := make([][]float64, n)
	for i := range out {
		out[i] = make([]float64, q.weights)
		for j := range out[i] {
			if i%2 == 0 || q.independent {
				out[i][j] = rng.NormFloat64()
			} else {
				out[i][j] = -out[i-1][j]
			}
		}
	}
	return out
}

func (gaussians) At(theta []float64) mapnet.Law { return at(theta) }

func at(theta []float64) *law {
	k := len(theta) / 2
	l := &law{m: theta[:k], s: make([]float64, k), slope: make([]float64, k)}
	for i, r := range theta[k:] {
		// With e = exp(-|r|), softplus is max(r,0) + log(1+e).
		e := math.Exp(-math.Abs(r))
		l.s[i], l.slope[i] = max(r, 0)+math.Log1p(e), 1/(1+e)
		if r < 0 {
			l.slope[i] *= e
		}
	}
	return l
}

// law is q at given parameters.
type law struct {
	m, s, slope []float64 // slope is ds/dρ
}

func (l *law) Weights(w, eps []float64) {
	for i, e := range eps {
		w[i] = l.m[i] + l.s[i]*e
	}
}

func (l *law) WeightsVJP(grad, eps, bar []float64) {
	k := len(l.m)
	for i, g := range bar {
		grad[i] += g
		grad[k+i] += g * eps[i] * l.slope[i]
	}
}

// Penalty returns KL(q ‖ N(0, I/δ)) = ½ Σ [δ(m² + s²) - 1 - log δs²].
func (l *law) Penalty(grad []float64, dprecision *float64, precision float64) float64 {
	k, value := len(l.m), 0.0
	for i, mean := range l.m {
		s := l.s[i]
		square := precision * (mean*mean + s*s)
		value += 0.5 * (square - 1 - math.Log(precision*s*s))
		*dprecision += 0.5 * (square - 1)
		grad[i] += precision * mean
		grad[k+i] += (precision*s - 1/s) * l.slope[i]
	}
	return value
}
