package gfsvi

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/shape"
	"github.com/functionspace/bo/internal/subset"
	"github.com/functionspace/bo/surrogate/internal/target"
	"github.com/functionspace/bo/surrogate/internal/variational"
)

const (
	// startRows is the largest number of observations in the start.
	startRows = 500

	// startRidge is the ridge added to Θ, relative to its mean diagonal, to find the smallest
	// weights of a function.
	startRidge = 1e-6

	targetSteps     = 100  // steps that fit m to the exact process
	targetTolerance = 3e-3 // nats per point
	scaleSteps      = 30

	leastScale = 1e-6 // lower bound of s
)

// start sets q near its optimum at a fixed batch: m to the mean of the exact process, or
// beyond target.MaxExact observations to the result of startMean; U to the leading directions
// of the process's posterior; s by multiplicative updates. It warns if m remains far from the
// optimum.
func (p *problem) start(ctx context.Context, v *variational.Gaussian, rng *rand.Rand) (warnings []string, err error) {
	b, err := p.startBatch(rng)
	if err != nil {
		return nil, fmt.Errorf("gfsvi: start: %w", err)
	}
	process := p.process
	n, _ := p.data.Dims()
	if n > target.MaxExact {
		if err := p.startMean(ctx, v, rng); err != nil {
			return nil, fmt.Errorf("gfsvi: start: %w", err)
		}
		process.Noise = math.Exp(2 * v.LogSD[0])
	}
	to, err := target.New(process, b.x, p.data.X, p.data.Y)
	if err != nil {
		return nil, fmt.Errorf("gfsvi: start: %w", err)
	}
	if n <= target.MaxExact {
		// The target is the minimum of F without covariances over all functions.
		left, err := to.Train(ctx, p.net, p.inputs, p.process.Kernel, v.M, targetSteps, targetTolerance)
		if err != nil {
			return nil, fmt.Errorf("gfsvi: start: %w", err)
		}
		warnings = target.Missed(left)
	}
	p.objective.prepare(v, b)
	if v.Rank() > 0 {
		if err := p.startLowRank(v, to.Cov); err != nil {
			return nil, err
		}
	}
	return warnings, p.startScales(ctx, v, b)
}

// startBatch returns a Halton set, or the points of the source, and the training inputs, all of
// them measurement points.
func (p *problem) startBatch(rng *rand.Rand) (batch, error) {
	n, _ := p.data.Dims()
	size, k := min(n, startRows), 2*p.Context
	x, y := subset.TakeBoth(p.data.X, p.data.Y, rng.Perm(n)[:size])
	c := p.source.Points(p.box, k, rng, p.box.Halton)
	b := batch{x: new(mat.Dense), measure: c.RawMatrix().Rows + size, y: y, weight: float64(n) / float64(size)}
	b.x.Stack(c, x)
	return b, p.source.Err()
}

// startLowRank sets U to the smallest weights with J U = F. The matrix F Fᵀ has the leading directions of the
// covariance of the exact process given the data.
func (p *problem) startLowRank(v *variational.Gaussian, cov *mat.SymDense) error {
	m := cov.SymmetricDim()
	l := linalg.PivotedCholesky(cov, 1e-6, m)
	_, q := l.Dims()
	gram := mat.NewSymDense(q, nil)
	linalg.Syrk(gram, 1, linalg.T, l, 0)
	_, vectors, err := linalg.Eigen(gram) // ascending
	if err != nil {
		return fmt.Errorf("gfsvi: start: posterior covariance: %w", err)
	}
	r := min(v.Rank(), q)
	f := mat.NewDense(m, r, nil)
	linalg.Mul(f, 1, linalg.N, l, linalg.T, vectors.Slice(q-r, q, 0, q).(*mat.Dense), 0)

	theta := mat.NewSymDense(m, nil)
	j := shape.Rows(p.objective.j, 0, m)
	linalg.Syrk(theta, 1, linalg.N, j, 0)
	linalg.AddDiagonal(theta, startRidge*mat.Trace(theta)/float64(m))
	chol, err := linalg.Factorize(theta)
	if err != nil {
		return fmt.Errorf("gfsvi: start: tangent kernel: %w", err)
	}
	chol.Solve(f)
	linalg.Mul(shape.Rows(v.Ut, 0, r), 1, linalg.T, f, linalg.N, j, 0)
	return nil
}

// startScales minimises F over s² by variational.Scales.
func (p *problem) startScales(ctx context.Context, v *variational.Gaussian, b batch) error {
	o, k := &p.objective, mat.NewSymDense(b.measure, nil)
	o.process.Kernel.Gram(k, shape.Rows(b.x, 0, b.measure))
	precision := b.weight * math.Exp(-2*v.LogSD[0])
	if err := v.FitScales(ctx, &o.tape, o.j, k, len(b.y), precision, o.gamma*float64(b.measure), leastScale, scaleSteps); err != nil {
		return fmt.Errorf("gfsvi: start: %w", err)
	}
	return nil
}
