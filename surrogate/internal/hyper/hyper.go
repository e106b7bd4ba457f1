// Package hyper is the hyperparameters of a prior as a vector: the logarithms of
// the ones that are not fixed, the noise variance last.
package hyper

import (
	"math"

	"github.com/functionspace/bo/prior"
)

// Vector lays out hyperparameters. Variables of a fit other than these may follow.
type Vector struct {
	Kernel prior.Kernel
	Params []prior.Param // of the kernel, then the noise
	Free   []int         // of Params, the ones that are fitted
}

// New returns the layout of a Spec for dim inputs.
func New(s prior.Spec, dim int, noiseFree bool) (Vector, error) {
	kernel, params, err := s.Hyperparameters(dim, noiseFree)
	h := Vector{Kernel: kernel, Params: params}
	for i, p := range params {
		if !p.Fixed {
			h.Free = append(h.Free, i)
		}
	}
	return h, err
}

// Values returns all hyperparameters at v.
func (h Vector) Values(v []float64) []float64 {
	theta := make([]float64, len(h.Params))
	for i, p := range h.Params {
		theta[i] = p.Value
	}
	for i, at := range h.Free {
		theta[at] = math.Exp(v[i])
	}
	return theta
}

// Process is the prior of mean 0 at v.
func (h Vector) Process(v []float64) prior.Process {
	theta := h.Values(v)
	last := len(theta) - 1
	return prior.Process{Kernel: h.Kernel.WithParams(theta[:last]), Noise: theta[last]}
}

// Bounds are the bounds of a vector of length n. Other variables lie within reach
// of 0.
func (h Vector) Bounds(n int, reach float64) (lo, hi []float64) {
	for _, at := range h.Free {
		lo, hi = append(lo, math.Log(h.Params[at].Lo)), append(hi, math.Log(h.Params[at].Hi))
	}
	for len(lo) < n {
		lo, hi = append(lo, -reach), append(hi, reach)
	}
	return lo, hi
}

// Penalize returns a loss less the log density of the hyperparameters at v, and
// writes the gradient, given the derivatives of the loss with respect to the
// logarithms of all hyperparameters.
func (h Vector) Penalize(loss float64, grad, v, dloss []float64) float64 {
	for i, at := range h.Free {
		grad[i] = dloss[at]
		if q := h.Params[at].Prior; q != nil {
			theta := math.Exp(v[i])
			lp, dlp := q.LogProb(theta)
			loss -= lp
			grad[i] -= dlp * theta
		}
	}
	return loss
}
