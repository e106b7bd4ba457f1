package hmc

import (
	"math"
	"math/rand/v2"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/surrogate/internal/mapnet"
	"github.com/functionspace/bo/surrogate/internal/regression"
)

// posterior is the density, given y, of the vector (v, log 1/δ, log(σ²-floor)), where v
// is √δ times the weights of the hidden layers. The vector has no entry for a fixed δ
// or σ². A posterior is not safe for concurrent use.
type posterior struct {
	p      *mapnet.Problem
	hidden int     // weights of the hidden layers
	floor  float64 // lower bound of σ²

	w, dw    []float64 // weights of the network, 0 for the output layer, and gradient
	evidence regression.LastLayer
}

func newPosterior(p *mapnet.Problem) *posterior {
	k := p.Net.NumParams()
	return &posterior{
		p: p, hidden: k - p.Net.Outputs(), floor: p.Clamp(mapnet.Hypers{}).Noise,
		w: make([]float64, k), dw: make([]float64, k),
		evidence: regression.NewLastLayer(p.Net, len(p.Y)),
	}
}

// pack returns the vector for given weights and hyperparameters.
func (t *posterior) pack(w []float64, h mapnet.Hypers) []float64 {
	q := make([]float64, t.hidden, t.hidden+2)
	for i := range q {
		q[i] = w[i] * math.Sqrt(h.Precision)
	}
	if t.p.Precision == nil {
		q = append(q, -math.Log(h.Precision))
	}
	if t.p.Noise == nil {
		q = append(q, math.Log(max(h.Noise-t.floor, 1e-3*t.floor)))
	}
	return q
}

// unpack sets the weights of the hidden layers and returns the hyperparameters.
func (t *posterior) unpack(q []float64) mapnet.Hypers {
	var h mapnet.Hypers
	rest := q[t.hidden:]
	if t.p.Precision != nil {
		h.Precision = *t.p.Precision
	} else {
		h.Precision, rest = math.Exp(-rest[0]), rest[1:]
	}
	if t.p.Noise != nil {
		h.Noise = *t.p.Noise
	} else {
		h.Noise = t.floor + math.Exp(rest[0])
	}
	scale := 1 / math.Sqrt(h.Precision)
	for i, v := range q[:t.hidden] {
		t.w[i] = scale * v
	}
	return h
}

// features sets Φ = (a, 1)/√δ, with a the activations of the last hidden layer. The
// network is Φ times z, where z, √δ times the output weights, is N(0, I) a priori. A network
// written in Go may have a term without z.
func (t *posterior) features(q []float64) mapnet.Hypers {
	h := t.unpack(q)
	t.evidence.Record(t.p.Net, t.w, t.p.X, 1/math.Sqrt(h.Precision))
	return h
}

func (t *posterior) logDensity(grad, q []float64) float64 {
	h := t.features(q)
	if t.evidence.Compute(t.evidence.Features, t.evidence.Residual(t.p.Y), h.Noise) != nil {
		return math.Inf(-1)
	}
	scale := 1 / math.Sqrt(h.Precision)
	clear(t.dw)
	dscale := t.evidence.VJP(t.dw, nil) // with respect to log 1/δ
	v, k := q[:t.hidden], t.hidden
	logp := t.evidence.Value - 0.5*linalg.Dot(v, v)
	for i := range v {
		grad[i] = scale*t.dw[i] - v[i]
	}
	dscale += 0.5 * linalg.Dot(t.w[:k], t.dw[:k])

	// The priors are densities of 1/δ and σ²-floor, and the chain samples their
	// logarithms: the terms 1 and rest[0] are the Jacobian.
	extra := h.Noise - t.floor
	lp, dprecision, dextra := t.p.LogPrior(mapnet.Hypers{Precision: h.Precision, Noise: extra})
	logp += lp
	rest, drest := q[k:], grad[k:]
	if t.p.Precision == nil {
		logp += rest[0]
		drest[0] = 1 - dprecision + dscale
		rest, drest = rest[1:], drest[1:]
	}
	if t.p.Noise == nil {
		logp += rest[0]
		drest[0] = 1 + dextra + t.evidence.Noise*extra/h.Noise
	}
	return logp
}

// network draws the output weights given the hidden layers. It returns all weights.
func (t *posterior) network(q []float64, rng *rand.Rand) ([]float64, mapnet.Hypers, error) {
	h := t.features(q)
	out, err := regression.Draw(t.evidence.Features, t.evidence.Residual(t.p.Y), h.Noise, rng)
	if err != nil {
		return nil, h, err
	}
	w := append([]float64(nil), t.w[:t.hidden]...)
	for _, v := range out {
		w = append(w, v/math.Sqrt(h.Precision))
	}
	return w, h, nil
}
