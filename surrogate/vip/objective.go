package vip

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/nn"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/internal/subset"
	"github.com/functionspace/bo/surrogate/internal/mapnet"
	"github.com/functionspace/bo/surrogate/internal/regression"
)

// objective is minus the evidence and the log priors, as a function of (log σ², ρ, μ). Weight i
// of draw s is unit_i (μ_i + exp(ρ_i) ε_si). Each weight may have its own μ and
// ρ. Otherwise the weights of a layer share one ρ, its biases share another, and μ is 0 and
// not in the vector.
type objective struct {
	p     *mapnet.Problem
	eps   [][]float64 // S×weights
	unit  []float64   // 1/√fan-in of weights, 1 of biases
	group []int       // index in ρ of each weight
	scale int         // length of ρ
	means bool        // μ is part of the vector

	tapes    []nn.Tape
	evidence regression.Evidence
	phi      *mat.Dense
	mean, r  []float64
}

func newObjective(p *mapnet.Problem, draws int, each bool, rng *rand.Rand) *objective {
	k := p.Net.NumParams()
	o := &objective{
		p: p, unit: make([]float64, k), group: make([]int, k), means: each, tapes: make([]nn.Tape, draws),
		phi: mat.NewDense(len(p.Y), draws, nil), mean: make([]float64, len(p.Y)), r: make([]float64, len(p.Y)),
	}
	for k, l := range p.Net.Layers() {
		for i := range (l.In + 1) * l.Out {
			o.group[l.At+i], o.unit[l.At+i] = 2*k, 1/math.Sqrt(float64(l.In))
			if i >= l.In*l.Out {
				o.group[l.At+i], o.unit[l.At+i] = 2*k+1, 1
			}
		}
	}
	o.scale = 2 * (len(p.Net.Hidden) + 1)
	if each {
		o.scale, o.group = k, subset.All(k)
	}
	for range draws {
		e := make([]float64, k)
		random.Normal(e, rng)
		o.eps = append(o.eps, e)
	}
	return o
}

// start returns the initial vector: unit scales, and the initial noise variance of package
// mapnet.
func (o *objective) start(rng *rand.Rand) []float64 {
	v := make([]float64, o.len())
	_, h := o.p.Start(nil, rng)
	v[0] = math.Log(h.Noise)
	return v
}

func (o *objective) len() int {
	if o.means {
		return 1 + 2*o.scale
	}
	return 1 + o.scale
}

// bounds returns the bounds: the limits of package mapnet for the noise, ±5 for ρ.
func (o *objective) bounds() (lo, hi []float64) {
	lo, hi = make([]float64, o.len()), make([]float64, o.len())
	for i := range lo {
		lo[i], hi[i] = math.Inf(-1), math.Inf(1)
	}
	lo[0] = math.Log(o.p.Clamp(mapnet.Hypers{}).Noise)
	hi[0] = math.Log(o.p.Clamp(mapnet.Hypers{Noise: math.Inf(1)}).Noise)
	for i := range o.scale {
		lo[1+i], hi[1+i] = -5, 5
	}
	return lo, hi
}

func (o *objective) noise(v []float64) float64 {
	return o.p.Clamp(mapnet.Hypers{Noise: math.Exp(v[0])}).Noise
}

// weights returns the weights of draw s.
func (o *objective) weights(v []float64, s int) []float64 {
	w := make([]float64, len(o.unit))
	for i, u := range o.unit {
		w[i] = u * math.Exp(v[1+o.group[i]]) * o.eps[s][i]
		if o.means {
			w[i] += u * v[1+o.scale+i]
		}
	}
	return w
}

// loss returns the objective and writes its gradient, in O(S n p + n S min(n,S)).
func (o *objective) loss(v, grad []float64) float64 {
	noise := o.noise(v)
	for s := range o.eps {
		o.tapes[s].Record(o.p.Net, o.weights(v, s), o.p.X)
		for i, f := range o.tapes[s].Value() {
			o.phi.Set(i, s, f)
		}
	}
	centre(o.mean, o.phi)
	for i, y := range o.p.Y {
		o.r[i] = y - o.mean[i]
	}
	if o.evidence.Compute(o.phi, o.r, noise) != nil {
		return math.Inf(1)
	}
	for i := range o.r {
		o.r[i] = -o.evidence.R[i] // the adjoint of m
	}
	centreVJP(o.r, &o.evidence.Phi)

	clear(grad)
	dw, bar := make([]float64, len(o.unit)), make([]float64, len(o.r))
	for s, e := range o.eps {
		for i := range bar {
			bar[i] = o.evidence.Phi.At(i, s)
		}
		clear(dw)
		o.tapes[s].VJP(dw, bar)
		for i, g := range dw {
			g *= o.unit[i]
			grad[1+o.group[i]] -= g * math.Exp(v[1+o.group[i]]) * e[i]
			if o.means {
				grad[1+o.scale+i] -= g
			}
		}
	}
	lp, _, dnoise := o.p.LogPrior(mapnet.Hypers{Precision: 1, Noise: noise})
	if o.p.Noise == nil {
		grad[0] = -o.evidence.Noise - dnoise
	}
	linalg.Axpy(1, v[1:], grad[1:])
	return -o.evidence.Value - lp + 0.5*linalg.Dot(v[1:], v[1:])
}
