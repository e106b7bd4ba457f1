package main

import (
	"context"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/linear"
)

// Fourier is Bayesian linear regression on random cosines. It approximates a Gaussian
// process with an RBF kernel, and its cost is linear in the number of observations.
type Fourier struct{ Lengthscale float64 }

const size, noise = 100, 1e-5

func (m Fourier) Fit(ctx context.Context, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
	if err := d.Validate(); err != nil {
		return nil, err
	}
	omega := mat.NewDense(d.X.RawMatrix().Cols, size, nil)
	omega.Apply(func(_, _ int, _ float64) float64 { return rng.NormFloat64() / m.Lengthscale }, omega)
	p, err := linear.Regress(ctx, linear.WithMean(cosines{omega}, 0), noise, d)
	if err != nil {
		return nil, err
	}
	return p, nil
}

// cosines are the features φ_k(x) = √(2/100) cos(ω_k·x + k) as prior.Features.
type cosines struct{ omega *mat.Dense }

func (c cosines) Dim() int { return c.omega.RawMatrix().Rows }
func (c cosines) Len() int { return size }

func (c cosines) Eval(phi, x *mat.Dense) {
	phi.Mul(x, c.omega)
	phi.Apply(func(_, k int, v float64) float64 { return math.Sqrt(2./size) * math.Cos(v+float64(k)) }, phi)
}

func (c cosines) EvalVJP(dx, x, phibar *mat.Dense) {
	var slope, grad mat.Dense
	slope.Mul(x, c.omega)
	slope.Apply(func(_, k int, v float64) float64 { return -math.Sqrt(2./size) * math.Sin(v+float64(k)) }, &slope)
	slope.MulElem(&slope, phibar)
	grad.Mul(&slope, c.omega.T())
	dx.Add(dx, &grad)
}
