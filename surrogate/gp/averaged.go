package gp

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/surrogate"
)

// averagedDraws is the number of posteriors of a mixture.
const averagedDraws = 16

// mostDrawn is the largest number of hyperparameters that are drawn: more would take seconds.
const mostDrawn = 50

// mixture has the moments of an equal mixture of K posteriors p_k at draws of the hyperparameters:
//
//	mean(x)   = Σ_k mean_k(x)/K
//	cov(x,x') = Σ_k (cov_k(x,x') + (mean_k(x) - mean(x))(mean_k(x') - mean(x')))/K
type mixture []*posterior

// average sets the mixture of p over draws of the hyperparameters that the model learns from d, if observations and
// hyperparameters are few. The draws are made at the first use, and depend on the data and the fit alone.
func (m Model) average(p *posterior, d surrogate.Dataset) {
	if len(d.Y) == 1 || len(d.Y) > m.Averaged || len(p.Learned) > mostDrawn {
		return
	}
	spec, start := m.Spec.ByValue().WithNoises(p.noise), p.Learned
	// The caller may overwrite the dataset and the values of the settings before the first use.
	d = surrogate.Dataset{X: p.Z, Y: p.y, Lo: p.Lo, Hi: p.Hi, Noise: p.noise, NoiseFree: d.NoiseFree}
	spec.Lengthscale, spec.Inputs = slices.Clone(spec.Lengthscale), slices.Clone(spec.Inputs)
	spec.Isotropic, spec.Variance, spec.Noise = copied(spec.Isotropic), copied(spec.Variance), copied(spec.Noise)
	p.mixture = sync.OnceValue(func() mixture {
		ctx := context.Background()
		states, err := spec.Draws(ctx, d.X, d.Y, d.NoiseFree, start, averagedDraws, rand.New(rand.NewPCG(0, 0)))
		if err != nil {
			return nil
		}
		var parts mixture
		for _, state := range states {
			fitted, err := spec.At(ctx, d.X, d.Y, d.NoiseFree, state)
			if err != nil {
				continue
			}
			if part, err := newPosterior(fitted.Process, d); err == nil {
				parts = append(parts, part)
			}
		}
		return parts
	})
}

// copied returns a pointer to a copy of a setting, or nil.
func copied[T any](setting *T) *T {
	if setting == nil {
		return nil
	}
	return new(*setting)
}

// Averaged returns the moments of a mixture over 16 draws of the hyperparameters from their posterior. It is p with one
// observation, more than Model.Averaged, or more than 50 hyperparameters, after Condition, and if none is drawn.
func (p *posterior) Averaged() surrogate.Moments {
	if p.mixture != nil {
		if m := p.mixture(); len(m) > 0 {
			return m
		}
	}
	return p
}

// Noise returns the mean noise variance.
func (m mixture) Noise() float64 {
	var sum float64
	for _, p := range m {
		sum += p.Noise()
	}
	return sum / float64(len(m))
}

func (m mixture) Predict(mean, variance []float64, x *mat.Dense) {
	means, share := make([][]float64, len(m)), 1/float64(len(m))
	own := make([]float64, len(mean))
	clear(mean)
	clear(variance)
	for k, p := range m {
		means[k] = make([]float64, len(mean))
		p.Predict(means[k], own, x)
		floats.AddScaled(mean, share, means[k])
		floats.AddScaled(variance, share, own)
	}
	for _, mu := range means {
		floats.Sub(mu, mean)
		for i, e := range mu {
			variance[i] += share * e * e
		}
	}
}

func (m mixture) Joint(mean []float64, cov *mat.SymDense, x *mat.Dense) {
	n, share := len(mean), 1/float64(len(m))
	means, own := make([][]float64, len(m)), mat.NewSymDense(n, nil)
	clear(mean)
	cov.Zero()
	for k, p := range m {
		means[k] = make([]float64, n)
		p.Joint(means[k], own, x)
		floats.AddScaled(mean, share, means[k])
		own.ScaleSym(share, own)
		cov.AddSym(cov, own)
	}
	for _, mu := range means {
		floats.Sub(mu, mean)
		cov.SymRankOne(cov, share, mat.NewVecDense(n, mu))
	}
}
