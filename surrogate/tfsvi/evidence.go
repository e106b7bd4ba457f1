package tfsvi

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/nn"
	"github.com/functionspace/bo/internal/optimize"
	"github.com/functionspace/bo/internal/subset"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/regression"
)

const (
	// evidenceRows is the largest number of observations in the evidence.
	evidenceRows = 500

	leastSpread, mostSpread = 1e-3, 100
	leastScale, mostScale   = 1e-4, 1e2 // bounds of the prior scale of the output weights

	// With more than manyInputs inputs and fewer than rowsPerSpread observations for each, one of heldPart
	// observations is held out: the evidence can overfit the spread of each input.
	manyInputs, rowsPerSpread, heldPart = 20, 5, 5
)

// spreads are the starts of the search for the spread of each input.
var spreads = []float64{2.5, 10}

// evidence is the log evidence of Bayesian linear regression on the initial hidden layers,
// plus log priors,
//
//	log N(y; 0, v ΦΦᵀ + σ²I) + log p(spread) + log p(v) + log p(σ²),  Φ = (a, 1),
//
// with a the activations of the last hidden layer. From y the terms of a network written in Go that do
// not depend on the output weights are subtracted. It is a function of
// (log spread_1 … log spread_d, log v, log σ²). The first biases are proportional to the root
// mean square spread.
type evidence struct {
	net    *nn.Network
	w      []float64 // weights for spreads of 1
	x      *mat.Dense
	y      []float64
	length prior.Density // prior of √d/(2 spread), in units of the box
	size   prior.Density // prior of v times the number of output weights
	noise  prior.Density

	u, du  *mat.Dense // the network's inputs
	at, dw []float64
	linear regression.LastLayer
}

// firstBiases returns the indices of the biases of the first hidden layer among the weights.
func firstBiases(net *nn.Network) (from, to int) {
	if len(net.Hidden) == 0 {
		return 0, 0
	}
	return net.In * net.Hidden[0], (net.In + 1) * net.Hidden[0]
}

func rootMeanSquare(x []float64) float64 { return math.Sqrt(linalg.Dot(x, x) / float64(len(x))) }

func (e *evidence) reserve() {
	n, d := e.x.Dims()
	e.u, e.du = mat.NewDense(n, d, nil), mat.NewDense(n, d, nil)
	e.at, e.dw = slices.Clone(e.w), make([]float64, len(e.w))
	clear(e.at[len(e.at)-e.net.Outputs():])
	e.linear = regression.NewLastLayer(e.net, n)
}

// eval returns the value and writes the gradient. It costs O(nk min(n,k) + np).
func (e *evidence) eval(theta, grad []float64) float64 {
	n, d := e.x.Dims()
	spread := make([]float64, d)
	for j := range spread {
		spread[j] = math.Exp(theta[j])
	}
	linalg.ScaleColumns(e.u, e.x, spread)
	from, to := firstBiases(e.net)
	rms := rootMeanSquare(spread)
	for i := from; i < to; i++ {
		e.at[i] = rms * e.w[i]
	}
	scale := math.Exp(0.5 * theta[d])
	e.linear.Record(e.net, e.at, e.u, scale)
	noise := math.Exp(theta[d+1])
	if e.linear.Compute(e.linear.Features, e.linear.Residual(e.y), noise) != nil {
		return math.Inf(-1)
	}

	clear(grad)
	clear(e.dw)
	e.du.Zero()
	grad[d] = e.linear.VJP(e.dw, e.du)
	for i := range n {
		u := e.u.RawRowView(i)
		for j, g := range e.du.RawRowView(i) {
			grad[j] += g * u[j]
		}
	}
	drms := linalg.Dot(e.dw[from:to], e.w[from:to])
	grad[d+1] = e.linear.Noise

	value := e.linear.Value
	k := float64(e.net.Outputs())
	for j, s := range spread {
		grad[j] += drms * s * s / (float64(d) * rms)
		length := math.Sqrt(float64(d)) / (2 * s)
		lp, dlp := e.length.LogProb(length)
		value += lp
		grad[j] -= dlp * length
	}
	lp, dlp := e.size.LogProb(k * scale * scale)
	value += lp
	grad[d] += dlp * k * scale * scale
	lp, dlp = e.noise.LogProb(noise)
	value += lp
	grad[d+1] += dlp * noise
	return value
}

// learn sets the spreads, the scale of the output weights and σ to the maximum of the evidence
// with the given weights. It does not change fixed values. With few observations for each of many
// inputs, held-out observations decide whether the inputs have one common spread.
func (p *problem) learn(ctx context.Context, w []float64, rng *rand.Rand) error {
	x, y := subset.AtMost(p.data.X, p.data.Y, evidenceRows, rng)
	n, d := x.Dims()
	e := p.newEvidence(w, x, y)
	surrogate.Report(ctx, surrogate.Progress{Phase: "evidence"})
	common := false
	if d > manyInputs && n < rowsPerSpread*d && p.Spread == 0 && p.net.Custom == nil {
		most := math.Inf(-1)
		restX, restY := subset.TakeBoth(x, y, rng.Perm(n)[:n-n/heldPart])
		rest := p.newEvidence(w, restX, restY)
		for _, tie := range []bool{false, true} {
			theta, err := p.search(ctx, rest, tie)
			if err != nil {
				return err
			}
			// log p(held | rest) = log p(all) - log p(rest)
			if density := e.density(theta) - rest.density(theta); density > most {
				common, most = tie, density
			}
		}
	}
	theta, err := p.search(ctx, e, common)
	if err != nil {
		return err
	}
	p.spread = make([]float64, d)
	for j := range p.spread {
		p.spread[j] = math.Exp(theta[j])
	}
	p.outputScale, p.startLogSD = math.Exp(0.5*theta[d]), 0.5*theta[d+1]
	return nil
}

func (p *problem) newEvidence(w []float64, x *mat.Dense, y []float64) *evidence {
	_, d := x.Dims()
	e := &evidence{
		net: p.net, w: w, x: p.box.Inputs(1).For(p.net).Apply(x), y: y,
		length: prior.LengthscalePrior(d), size: prior.LogNormal{Mu: 1, Sigma: 1}, noise: prior.NoisePrior(),
	}
	if p.data.NoiseFree {
		e.noise = prior.Gamma{Shape: 0.5, Rate: 1} // the prior of ADR 9 (docs/adr)
	}
	e.reserve()
	return e
}

// density returns the log evidence without the log priors.
func (e *evidence) density(theta []float64) float64 {
	if math.IsInf(e.eval(theta, make([]float64, len(theta))), -1) {
		return math.Inf(-1)
	}
	return e.linear.Value
}

// search returns the maximiser of the evidence from several starts. With tie all inputs have one
// common spread.
func (p *problem) search(ctx context.Context, e *evidence, tie bool) ([]float64, error) {
	_, d := e.x.Dims()
	start, lo, hi := make([]float64, d+2), make([]float64, d+2), make([]float64, d+2)
	set := func(i int, at, least, most float64) {
		start[i], lo[i], hi[i] = math.Log(at), math.Log(least), math.Log(most)
	}
	set(d, 1/float64(p.net.Outputs()), leastScale*leastScale, mostScale*mostScale)
	if p.PriorScale > 0 && !p.fixed {
		v := p.PriorScale * p.PriorScale
		set(d, v, v, v)
	}
	least := math.Exp(2 * p.leastLogSD())
	set(d+1, 1e-2, least, 10)
	if p.Noise != nil {
		set(d+1, *p.Noise, *p.Noise, *p.Noise)
	}
	loss, common := func(theta, grad []float64) float64 {
		value := e.eval(theta, grad)
		floats.Scale(-1, grad)
		return -value
	}, 0
	if tie {
		loss, common = tied(loss, d), d-1
	}
	starts, fixed := spreads, p.Spread
	if p.net.Custom != nil {
		fixed = 1 // inputs are not scaled
	}
	if fixed > 0 {
		starts = spreads[:1]
	}
	best := optimize.Result{F: math.Inf(1)}
	for _, s := range starts {
		for j := range d {
			set(j, s, leastSpread, mostSpread)
			if fixed > 0 {
				set(j, fixed, fixed, fixed)
			}
		}
		r, err := optimize.Minimize(ctx, loss, start[common:], lo[common:], hi[common:], optimize.Settings{MaxIter: 100, FuncTol: 1e-6})
		if err != nil {
			return nil, err
		}
		if r.F < best.F {
			best = r
		}
	}
	if math.IsInf(best.F, 1) {
		return nil, fmt.Errorf("tfsvi: start: evidence of the features: %w", linalg.ErrNotPositiveDefinite)
	}
	return append(slices.Repeat(best.X[:1], common), best.X...), nil
}

// tied returns loss as a function of one common log spread in place of the first d variables.
func tied(loss func(theta, grad []float64) float64, d int) func(theta, grad []float64) float64 {
	return func(theta, grad []float64) float64 {
		all := append(slices.Repeat(theta[:1], d-1), theta...)
		each := make([]float64, len(all))
		value := loss(all, each)
		grad[0] = floats.Sum(each[:d])
		copy(grad[1:], each[d:])
		return value
	}
}
