package mfvi

import (
	"context"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/nn"
	"github.com/functionspace/bo/internal/optimize"
	"github.com/functionspace/bo/surrogate/internal/mapnet"
	"github.com/functionspace/bo/surrogate/internal/train"
)

// startScale is ρ at the start: standard deviations of 0.0067.
const startScale = -5

// bound is the variational bound as a function of the vector (log δ, log σ², m, ρ).
type bound struct {
	Model
	p *mapnet.Problem
}

// parts cuts v, or a gradient, into m and ρ.
func (b *bound) parts(v []float64) (m, rho []float64) {
	k := b.p.Net.NumParams()
	return v[2 : 2+k], v[2+k:]
}

func (b *bound) hypers(v []float64) mapnet.Hypers {
	return b.p.Clamp(mapnet.Hypers{Precision: math.Exp(v[0]), Noise: math.Exp(v[1])})
}

// start is the state of an earlier fit if its length is right, else a maximum of
// the posterior or initial weights.
func (b *bound) start(ctx context.Context, state []float64, rng *rand.Rand) (v []float64, warnings []string, err error) {
	k := b.p.Net.NumParams()
	v = make([]float64, 2+2*k)
	if len(state) == len(v) {
		copy(v, state)
		return v, nil, nil
	}
	w, h := b.p.Start(nil, rng)
	if b.Begin == "map" {
		f, err := b.p.Fit(ctx, b.p.Cheap(), w, h, rng)
		if err != nil {
			return nil, nil, err
		}
		w, h, warnings = f.W, f.Hypers, f.Warnings
	}
	v[0], v[1] = math.Log(h.Precision), math.Log(h.Noise)
	m, rho := b.parts(v)
	copy(m, w)
	for i := range rho {
		rho[i] = startScale
	}
	return v, warnings, nil
}

// noise returns n standard normal vectors, each second one the negative of the one
// before.
func (b *bound) noise(n int, rng *rand.Rand) [][]float64 {
	out := make([][]float64, n)
	for i := range out {
		out[i] = make([]float64, b.p.Net.NumParams())
		for j := range out[i] {
			if i%2 == 0 {
				out[i][j] = rng.NormFloat64()
			} else {
				out[i][j] = -out[i-1][j]
			}
		}
	}
	return out
}

// scales returns s = softplus(ρ) and ds/dρ.
func (b *bound) scales(v []float64) (s, slope []float64) {
	_, rho := b.parts(v)
	s, slope = make([]float64, len(rho)), make([]float64, len(rho))
	for i, r := range rho {
		// With e = exp(-|r|), softplus is max(r,0) + log(1+e).
		e := math.Exp(-math.Abs(r))
		s[i], slope[i] = max(r, 0)+math.Log1p(e), 1/(1+e)
		if r < 0 {
			slope[i] *= e
		}
	}
	return s, slope
}

// loss is minus the bound and the log priors for a batch and given draws, and
// writes its gradient.
func (b *bound) loss(grad, v []float64, x *mat.Dense, y []float64, eps [][]float64, t *nn.Tape) float64 {
	h := b.hypers(v)
	m, _ := b.parts(v)
	s, slope := b.scales(v)
	dm, drho := b.parts(grad)
	value, dprecision, dnoise := b.p.LogPrior(h)
	value, dprecision, dnoise = -value, -dprecision, -dnoise
	clear(grad)

	scale := float64(len(b.p.Y)) / float64(len(y)*len(eps))
	w, dw := make([]float64, len(m)), make([]float64, len(m))
	for _, e := range eps {
		for i, e := range e {
			w[i] = m[i] + s[i]*e
		}
		t.Record(b.p.Net, w, x)
		clear(dw)
		misfit, dn := mapnet.Misfit(dw, t, y, h.Noise, scale)
		value += misfit
		dnoise += dn
		for i, g := range dw {
			dm[i] += g
			drho[i] += g * e[i] * slope[i]
		}
	}
	// KL = ½ Σ [δ(m² + s²) - 1 - log δs²]
	for i, mean := range m {
		square := h.Precision * (mean*mean + s[i]*s[i])
		value += 0.5 * (square - 1 - math.Log(h.Precision*s[i]*s[i]))
		dprecision += 0.5 * (square - 1)
		dm[i] += h.Precision * mean
		drho[i] += (h.Precision*s[i] - 1/s[i]) * slope[i]
	}
	if b.Precision == nil {
		grad[0] = dprecision
	}
	if b.Noise == nil {
		grad[1] = dnoise
	}
	return value
}

// train moves v to smaller losses.
func (b *bound) train(ctx context.Context, v []float64, rng *rand.Rand) error {
	opt, grad, tape := optimize.Adam{}, make([]float64, len(v)), new(nn.Tape)
	s := train.Schedule{Phase: "bound", Steps: b.Updates, Every: 20, Rate: b.Pace}
	return s.Run(ctx, func(_ int, rate float64) error {
		x, y := b.p.Minibatch(rng)
		b.loss(grad, v, x, y, b.noise(b.Draws, rng), tape)
		opt.Step(rate, v, grad)
		h := b.hypers(v)
		v[0], v[1] = math.Log(h.Precision), math.Log(h.Noise)
		return nil
	})
}
