package fvi

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/internal/subset"
	"github.com/functionspace/bo/surrogate/internal/target"
	"github.com/functionspace/bo/surrogate/internal/variational"
)

const (
	// A fitted start uses startPoints points of the box and at most startRows observations.
	startPoints, startRows = 100, 400

	meanSteps     = 100
	meanTolerance = 3e-3 // nats per point

	scaleSteps = 30
	// leastScale and mostScale bound s at a fitted start. For a larger s the network differs much
	// from its linearisation.
	leastScale, mostScale = 1e-6, 0.2
)

// start sets the initial q, the number of steps and the rate. With an earlier q, m and s start
// there, and so does the noise unless the prior or the settings give it. It warns if m
// remains far from its target.
func (p *problem) start(ctx context.Context, v *variational.Gaussian, earlier []float64, rng *rand.Rand) (warnings []string, err error) {
	copy(v.M, p.net.InitBiased(*p.Bias, p.inputs.Spread(p.box), p.mean, rng))
	v.SetScales(variational.PublishedScale)
	v.LogSD[0] = p.startLogSD
	if p.Noise != nil {
		v.LogSD[0] = 0.5 * math.Log(*p.Noise)
	}
	if p.published() {
		linalg.Fill(v.LogS, publishedLogS)
	}
	if earlier != nil {
		noise := v.LogSD[0]
		copy(v.Vector, earlier)
		if p.process != nil || p.Noise != nil {
			v.LogSD[0] = noise
		}
	}
	p.setSchedule(earlier != nil)
	if p.Start != startFitted {
		return nil, nil
	}
	x, y := subset.AtMost(p.data.X, p.data.Y, startRows, rng)
	seen := len(y)
	if p.process == nil {
		return nil, target.FitData(ctx, p.net, p.inputs.Apply(x), y, v.M)
	}
	c := new(mat.Dense)
	c.Stack(p.source.Points(p.box, startPoints, random.Split(rng, "box", 0), p.box.Halton), x)
	if err := p.source.Err(); err != nil {
		return nil, err
	}
	to, err := target.New(*p.process, c, p.data.X, p.data.Y)
	if err != nil {
		return nil, err
	}
	left, err := to.Train(ctx, p.net, p.inputs, p.process.Kernel, v.M, meanSteps, meanTolerance)
	if err != nil {
		return nil, err
	}
	warnings = target.Missed(left)
	if n := len(p.data.Y); n > priorRows && p.Noise == nil {
		// The prior was fitted to a part of the data. The errors of the network on all data may be
		// larger.
		f := make([]float64, seen)
		p.net.Forward(f, v.M, p.inputs.Apply(x))
		var sum float64
		for i, y := range y {
			sum += (y - f[i]) * (y - f[i]) / float64(seen)
		}
		v.LogSD[0] = max(v.LogSD[0], 0.5*math.Log(sum))
	}
	if earlier != nil {
		return warnings, nil
	}
	return warnings, p.startScales(ctx, v, c, seen)
}

// setSchedule sets the number of steps and the rate unless they are given.
func (p *problem) setSchedule(warm bool) {
	n, steps, rate := len(p.data.Y), processSteps, slowRate
	switch {
	case p.published():
		steps = publishedPasses * max(1, n/p.Batch)
	case p.Start != startFitted:
		steps = randomSteps
	case n > priorRows:
		steps, rate = min(max(n, leastSteps), mostSteps), fastRate
	case p.process == nil:
		steps = samplerSteps
	}
	if warm {
		steps /= 2
	}
	p.Steps, p.Rate = cmp.Or(p.Steps, steps), cmp.Or(p.Rate, rate)
}

// startScales sets s to the optimum for the network linearised at m, measured at the rows of c.
// The last rows of c are observations.
func (p *problem) startScales(ctx context.Context, v *variational.Gaussian, c *mat.Dense, observed int) error {
	tape := p.net.Record(v.M, p.inputs.Apply(c))
	k := mat.NewSymDense(tape.Len(), nil)
	p.process.Kernel.Gram(k, c)
	precision := float64(len(p.data.Y)) / float64(observed) * math.Exp(-2*v.LogSD[0])
	if err := v.FitScales(ctx, tape, tape.NewJacobian(), k, observed, precision, p.inject*p.inject, leastScale, scaleSteps); err != nil {
		return err
	}
	for i := range v.LogS {
		v.LogS[i] = min(v.LogS[i], math.Log(mostScale))
	}
	return nil
}
