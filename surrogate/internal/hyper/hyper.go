// Package hyper represents the free hyperparameters of a prior as a vector of logarithms, with
// the noise variance last.
package hyper

import (
	"math"

	"github.com/functionspace/bo/prior"
)

// Vector is the layout of a vector of hyperparameters. Other variables of a fit may follow
// them.
type Vector struct {
	Kernel prior.Kernel
	Params []prior.Param // hyperparameters of the kernel, then the noise variance
	Free   []int         // indices of the fitted hyperparameters in Params
}

// New returns the layout for a Spec and dim inputs.
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

// Process returns the process with mean 0 and the hyperparameters at v.
func (h Vector) Process(v []float64) prior.Process {
	theta := h.Values(v)
	last := len(theta) - 1
	return prior.Process{Kernel: h.Kernel.WithParams(theta[:last]), Noise: theta[last]}
}

// Bounds returns the bounds of a vector of length n. Other variables have the bounds ±reach.
func (h Vector) Bounds(n int, reach float64) (lo, hi []float64) {
	for _, at := range h.Free {
		lo, hi = append(lo, math.Log(h.Params[at].Lo)), append(hi, math.Log(h.Params[at].Hi))
	}
	for len(lo) < n {
		lo, hi = append(lo, -reach), append(hi, reach)
	}
	return lo, hi
}

// Penalize returns loss minus the log prior density of the hyperparameters at v, and writes
// the gradient. dloss holds the derivatives of loss with respect to the logarithms of all
// hyperparameters.
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
