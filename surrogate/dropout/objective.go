package dropout

import (
	"context"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/nn"
	"github.com/functionspace/bo/internal/optimize"
	"github.com/functionspace/bo/surrogate/internal/mapnet"
	"github.com/functionspace/bo/surrogate/internal/train"
)

// objective is a function of the vector (log δ, log σ², w); δ does not move.
type objective struct {
	Model
	p *mapnet.Problem
}

func (o *objective) hypers(v []float64) mapnet.Hypers {
	return o.p.Clamp(mapnet.Hypers{Precision: math.Exp(v[0]), Noise: math.Exp(v[1])})
}

// start is the state of an earlier fit if its length is right, else a maximum of
// the posterior or initial weights.
func (o *objective) start(ctx context.Context, state []float64, rng *rand.Rand) (v []float64, warnings []string, err error) {
	w, h := o.p.Start(state, rng)
	if o.Begin == "map" && len(state) != 2+len(w) {
		f, err := o.p.Fit(ctx, o.p.Cheap(), w, h, rng)
		if err != nil {
			return nil, nil, err
		}
		w, h, warnings = f.W, f.Hypers, f.Warnings
	}
	return append([]float64{math.Log(h.Precision), math.Log(h.Noise)}, w...), warnings, nil
}

// mask draws a factor for every weight: that of the hidden unit it leads away from,
// and 1 for biases and for weights on inputs.
func (o *objective) mask(rng *rand.Rand) []float64 {
	net := o.p.Net
	z := make([]float64, net.NumParams())
	for i := range z {
		z[i] = 1
	}
	at, in := 0, net.In
	for l := range len(net.Hidden) + 1 {
		out := 1
		if l < len(net.Hidden) {
			out = net.Hidden[l]
		}
		for unit := range in {
			if l == 0 {
				break
			}
			factor := 1 / (1 - o.Drop)
			if rng.Float64() < o.Drop {
				factor = 0
			}
			for j := range out {
				z[at+unit*out+j] = factor
			}
		}
		at, in = at+(in+1)*out, out
	}
	return z
}

// loss is the objective for a batch and given masks, and writes its gradient.
func (o *objective) loss(grad, v []float64, x *mat.Dense, y []float64, masks [][]float64, t *nn.Tape) float64 {
	h, w := o.hypers(v), v[2:]
	clear(grad)
	lp, _, dln := o.p.LogPrior(h)
	value, dnoise := -lp+0.5*h.Precision*linalg.Dot(w, w), -dln
	linalg.Axpy(h.Precision, w, grad[2:])
	scale := float64(len(o.p.Y)) / float64(len(y)*len(masks))
	masked, dw := make([]float64, len(w)), make([]float64, len(w))
	for _, z := range masks {
		for i, f := range z {
			masked[i] = f * w[i]
		}
		t.Record(o.p.Net, masked, x)
		clear(dw)
		misfit, dn := mapnet.Misfit(dw, t, y, h.Noise, scale)
		value += misfit
		dnoise += dn
		for i, f := range z {
			grad[2+i] += f * dw[i]
		}
	}
	if o.Noise == nil {
		grad[1] = dnoise
	}
	return value
}

// train moves v to smaller losses.
func (o *objective) train(ctx context.Context, v []float64, rng *rand.Rand) error {
	opt, grad, tape := optimize.Adam{}, make([]float64, len(v)), new(nn.Tape)
	masks := make([][]float64, o.Draws)
	s := train.Schedule{Phase: "dropout", Steps: o.Updates, Every: 20, Rate: o.Pace}
	return s.Run(ctx, func(_ int, rate float64) error {
		x, y := o.p.Minibatch(rng)
		for k := range masks {
			masks[k] = o.mask(rng)
		}
		o.loss(grad, v, x, y, masks, tape)
		opt.Step(rate, v, grad)
		v[1] = math.Log(o.hypers(v).Noise)
		return nil
	})
}
