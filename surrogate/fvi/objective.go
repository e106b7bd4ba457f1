package fvi

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/nn"
	"github.com/functionspace/bo/surrogate/internal/domain"
	"github.com/functionspace/bo/surrogate/internal/variational"
)

// batch holds the data and random numbers of one step.
type batch struct {
	x      *mat.Dense // measurement points: the observations, then points of the box
	y      []float64  // observations at the first rows of x
	weight float64    // weight of the log likelihood: N/B or 1, annealed
	eps    *mat.Dense // ε, a row for each of the k functions
	eta    *mat.Dense // η, the injected noise, k×|x|, of unit variance
}

// objective is the negative of the functional evidence bound,
//
//	F = weight Σ_batch E_q[ ½ log 2πσ² + (y - f(x))²/(2σ²) ] + KL( q(f(C)) * N(0, γ²I) ‖ p(f(C)) * N(0, γ²I) ).
//
// Only its gradient is computed, with k draws f_i = f(·, m + s∘ε_i).
type objective struct {
	net    *nn.Network
	inputs domain.Affine
	prior  scored
	inject float64 // γ
	method method  // estimator of scores

	tapes []nn.Tape
}

// gradient writes the gradient of F. It costs O(k|C|p + k³ + k²|C| + |C|³).
func (o *objective) gradient(v *variational.Gaussian, b batch, grad *variational.Gaussian, rng *rand.Rand) error {
	f := o.draw(v, b)
	pull, err := o.pull(f, b, rng)
	if err != nil {
		return err
	}
	clear(grad.Vector)
	o.backward(v, b, pull, grad)
	return nil
}

// draw returns the functions at the measurement points, k×|C|, and records them.
func (o *objective) draw(v *variational.Gaussian, b batch) *mat.Dense {
	k, p := b.eps.Dims()
	m, _ := b.x.Dims()
	if len(o.tapes) != k {
		o.tapes = make([]nn.Tape, k)
	}
	f, u, s, w := mat.NewDense(k, m, nil), o.inputs.Apply(b.x), v.Scales(), make([]float64, p)
	for i := range k {
		for j, e := range b.eps.RawRowView(i) {
			w[j] = v.M[j] + s[j]*e
		}
		o.tapes[i].Record(o.net, w, u)
		copy(f.RawRowView(i), o.tapes[i].Value())
	}
	return f
}

// pull returns ∇ log q - ∇ log p at each of the functions with noise injected, k×|C|. This is k
// times the adjoint of f_i in the divergence (eq. 7 of the paper, whose first term is 0).
func (o *objective) pull(f *mat.Dense, b batch, rng *rand.Rand) (*mat.Dense, error) {
	noisy := mat.DenseCopyOf(f)
	k, m := noisy.Dims()
	for i := range k {
		linalg.Axpy(o.inject, b.eta.RawRowView(i), noisy.RawRowView(i))
	}
	own, err := o.method.estimate(noisy, nil)
	if err != nil {
		return nil, fmt.Errorf("fvi: score of the functions: %w", err)
	}
	q, p := mat.NewDense(k, m, nil), mat.NewDense(k, m, nil)
	own.score(q, noisy)
	if err := o.prior.score(p, noisy, b.x, rng); err != nil {
		return nil, fmt.Errorf("fvi: score of the prior: %w", err)
	}
	q.Sub(q, p)
	return q, nil
}

// backward adds the gradient of the drawn functions for a given pull, and returns the function
// with this gradient,
//
//	weight (1/k) Σ_i Σ_batch [ ½ log 2πσ² + (y - f_i(x))²/(2σ²) ] + (1/k) Σ_i pull_i·f_i.
func (o *objective) backward(v *variational.Gaussian, b batch, pull *mat.Dense, grad *variational.Gaussian) float64 {
	k, p := b.eps.Dims()
	each, sd2, s := 1/float64(k), math.Exp(2*v.LogSD[0]), v.Scales()
	g, fbar := make([]float64, p), make([]float64, pull.RawMatrix().Cols)
	var squares, value float64
	for i := range k {
		f := o.tapes[i].Value()
		for c, d := range pull.RawRowView(i) {
			fbar[c] = each * d
			value += each * d * f[c]
		}
		for c, y := range b.y {
			e := f[c] - y
			squares += each * e * e
			fbar[c] += b.weight * each * e / sd2
		}
		clear(g)
		o.tapes[i].VJP(g, fbar)
		for j, e := range b.eps.RawRowView(i) {
			grad.M[j] += g[j]
			grad.LogS[j] += g[j] * e * s[j]
		}
	}
	n := float64(len(b.y))
	grad.LogSD[0] += b.weight * (n - squares/sd2)
	return value + b.weight*(0.5*n*math.Log(2*math.Pi)+n*v.LogSD[0]+squares/(2*sd2))
}
